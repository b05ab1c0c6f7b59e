// Package fleet is what a Temporal server knows of boards: a workflow for each, which has
// its board run by an activity on some worker, again and again, until the board is complete
// or a person has to see to it.
//
//	submit ─► Board ─► run (activity, on a worker) ─► how it ended ─► complete: done
//	             ▲                                        │        ├► a usage limit: a timer until its end
//	             └────────────────────────────────────────┘        ├► a person is needed: a signal with the decision
//	                                                               └► anything else: the workflow fails with what the run said
//
// The state of a board is a branch of its repository. The server has nothing that a board needs to
// go on: its history may be lost.
package fleet
