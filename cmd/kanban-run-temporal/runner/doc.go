// Package runner runs a board once, for a worker. It clones the repository, starts kanban-run in
// the clone, sends the server three heartbeats per lease with the state of the run, and returns the
// end of the run.
//
//	call ─► allowed? ─► clone ─► kanban-run --checkpoint git ─► the end ─► clone removed
//	                                      └► kanban-run status ─► heartbeat
//
// This package uses kanban-run only through its command line and the JSON that it prints.
package runner
