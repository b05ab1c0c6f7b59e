// Package gitstore keeps the state of a board's run as commits on a branch of the repository that
// its agents work in, so that a run in another clone can continue. A checkpoint, one commit, holds
// the files of the work tree, committed or not, and those of the run's folder that such a run
// needs, its journal above all.
//
//	save:  journal committed ─► objects apart: add -A, write-tree, commit-tree ─► secrets?
//	       ─► objects taken in ─► update-ref ─► push ─► events to the observer
//	start: the way to the remote is the journaled one? ─► fetch
//	       ─► the branch is newer than this folder? ─► no file of a person would be lost?
//	       ─► restoring noted ─► files written ─► journal opened
//
// The branch, the index and the work tree of the user stay as they are. Package git gives each call
// its own folder in place of the repository's: settings and hooks that an agent has written there
// have no effect. The index is kept in memory between the calls. The objects are in the user's
// repository, so that the branch is an ordinary one.
package gitstore
