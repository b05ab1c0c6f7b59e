// Package event has the events of a run, one struct for each kind, as the journal keeps them. It is
// pure: it reads no clock, no file and no process.
//
// The events about one subject are in one file: run, step, attempt, review, board, watch, judge,
// message, tool, provider, supervision, quarantine, aside, playbook (the other rules of seed 002),
// teardown and custody (the owner of a journal, and the treatment of foreign writes). A new kind of
// event needs a struct with its kind and its sentence, a place in the list "types", and a
// transition in package flow.
package event
