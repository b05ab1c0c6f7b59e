// Package gitstore keeps the state of a board's run as commits on a branch of the repository that
// its agents work in, so that the board can go on in another clone. A commit, a checkpoint, holds
// the files of the work tree, committed or not, and of the run's folder what a run needs to go
// on: its journal above all.
//
//	journal committed ─► objects apart: add -A, write-tree, commit-tree ─► secrets? ─► objects taken in ─► update-ref ─► push ─► what happened is told
//	start: the way to the remote is the journaled one? ─► fetch ─► which is ahead, this folder or the branch?
//	       ─► nothing, or: nothing of a person's is in the way? ─► restoring noted ─► files written ─► journal opened
//
// The branch, the index and the work tree of the user stay as they are. Package git gives each call a
// folder of its own in place of the repository's: nothing that an agent has written there counts. The
// index is kept in memory between the calls. The objects are in the user's repository, so that the
// branch is one like any other.
package gitstore
