// Package runner runs a board once, for a worker: it clones the repository, starts kanban-run in
// the clone, tells the server every third of a lease what the run does, and says how it ended.
//
//	call ─► allowed? ─► clone ─► kanban-run --checkpoint git ─► how it ended ─► clone removed
//	                                      └► kanban-run status ─► heartbeat
//
// kanban-run is a program like any other here: what it prints as JSON is all that
// this package knows of it.
package runner
