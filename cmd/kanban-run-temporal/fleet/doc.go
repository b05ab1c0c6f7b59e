// Package fleet holds the workflow that a Temporal server has for each board. An activity on some
// worker runs the board, again and again, until the board is complete or a person has to decide.
//
//	submit ─► Board ─► run (activity, on a worker) ─► outcome ─► complete: done
//	             ▲                                       │    ├► usage limit: a timer
//	             └───────────────────────────────────────┘    ├► a person is needed: a signal with
//	                                                          │  the decision
//	                                                          └► another: the workflow fails with
//	                                                             the run's text
//
// The state of a board is a branch of its repository, so the board can go on even if the server has
// lost the workflow's history.
package fleet
