// Package flow decides what a run does next. It is pure: it reads no clock, no file and no process.
//
// A [State] is a fold over the events of a journal, with one transition for each kind of event
// (transition.go). [Next] takes the state and the board and returns one effect. The run journals
// the intent, performs the effect and journals the outcome. A crash leaves at worst an intent
// without an outcome, which the same fold shows as [Step.Running].
package flow
