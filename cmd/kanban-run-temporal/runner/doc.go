// Package runner runs a board once, for a worker: it clones the repository, starts kanban-run in
// the clone, sends the server the state of the run every third of a lease, and returns its end.
//
//	call ─► allowed? ─► clone ─► kanban-run --checkpoint git ─► its end ─► clone removed
//	                                      └► kanban-run status ─► heartbeat
//
// This package uses kanban-run only through its command line and the JSON that it prints.
package runner
