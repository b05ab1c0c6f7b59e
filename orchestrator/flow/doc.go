// Package flow decides what a run does next. It is pure: it reads no clock, no file and no process.
//
// A [State] is a fold over the events of a journal, with one transition a kind (transition.go);
// [Next] looks at the state and at the board as it was just read and returns one effect. The run
// journals the intent, performs the effect and journals the outcome, so a crash leaves at worst an
// intent without an outcome, which the same fold shows as [Step.Running].
package flow
