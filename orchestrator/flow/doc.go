// Package flow decides what a run does next. It is pure: it reads no clock, no file and no process.
//
// A [State] is a fold over the events of a journal, with one transition for each kind of event
// (transition.go). [Next] takes the state and the board and returns one effect. The run journals
// the intent, performs the effect and journals the outcome. A crash leaves at worst an intent
// without an outcome, which the same fold shows as [Step.Running].
//
// The files are in three layers, and call only downwards (TestFlowBySubject of package orchestrator):
//
//	lists     next.go: what is done next; run.go, step.go, attempt.go: what follows events that concern
//	          several subjects; reopen.go, undone.go: what an edited board undoes; end.go: the end of a
//	          board; history.go, rollback.go: whole journals
//	subjects  a file each, supervision and quarantine with files of their model: which events the subject
//	          applies, what it proposes to Next, and how it carries out a person's decision
//	state     state.go, call.go, running.go: the state, its open call and its running attempt; rest.go:
//	          the statuses of tasks; spending.go
package flow
