// Package fleet holds a Temporal server's workflow of a board: an activity on some worker runs the
// board, again and again, until the board is complete or a person has to see to it.
//
//	submit ─► Board ─► run (activity, on a worker) ─► outcome ─► complete: done
//	             ▲                                       │    ├► usage limit: a timer
//	             └───────────────────────────────────────┘    ├► a person is needed: a signal with
//	                                                          │  the decision
//	                                                          └► another: the workflow fails with
//	                                                             the run's text
//
// The state of a board is a branch of its repository. A board needs nothing from the server to go
// on: the workflow's history may be lost.
package fleet
