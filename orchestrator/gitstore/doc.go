// Package gitstore keeps the state of a board's run as commits on a branch of the repository that
// its agents work in, so that the board can go on in another clone. A commit, a checkpoint, holds
// the files of the work tree, committed or not, and of the run's folder what a run needs to go
// on: its journal above all.
//
//	journal committed ─► add -A, write-tree ─► secrets? ─► commit-tree ─► update-ref ─► push ─► what happened is told
//	start: fetch ─► which is ahead, this folder or the branch? ─► read-tree, or nothing ─► journal opened
//
// The branch, the index and the work tree of the user stay as they are. Git works in a folder of
// the run with settings of its own: no filter, no conversion of line ends and no attribute changes
// a byte, and nothing that an agent has written into the repository's settings counts. The objects
// are in the user's repository, so that the branch is one like any other.
package gitstore
