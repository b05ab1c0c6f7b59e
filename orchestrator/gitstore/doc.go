// Package gitstore keeps the state of a board's run as commits on a branch of the repository that
// its agents work in, so that a run in another clone can continue. A checkpoint is one commit. It
// holds the files of the work tree, committed or not, and the files of the run's folder that the
// other run needs, above all the journal.
//
//	save:  journal committed ─► new objects, in a separate folder: add -A, write-tree, commit-tree
//	       ─► no secret? ─► objects moved into the repository ─► update-ref ─► push
//	       ─► events to the observer
//	start: the route to the remote is the same as in the journal? ─► fetch
//	       ─► the branch is newer than the local journal? ─► no file of a person would be lost?
//	       ─► the file "restoring" written ─► files written ─► journal opened
//
// The branch, the index and the work tree of the user stay as they are. Package git calls git with
// a private folder in place of .git, so settings and hooks that an agent has written into .git have
// no effect. The index is kept in memory between the calls. The objects are in the user's
// repository, so that the branch is an ordinary one.
package gitstore
