package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
)

// dryRun is the outcome of a dry run that reached the end. It is not event.Complete, because the
// board itself is not changed.
const dryRun event.Outcome = "dry_run"

// outputs are the values of the step's outputs.
type outputs struct {
	outcome  event.Outcome
	steps    int
	used     event.Used
	undone   int      // tasks that are not done, on all boards
	counted  bool     // undone is set
	unknown  bool     // the tasks of a board are not known
	cost     string   // "" if it is not known
	texts    []string // one line for each board, or for an error
	journals []string
}

// note keeps what the last run of a board has come to, for the outputs.
func (j *job) note(b *projection.Board) {
	j.outputs.steps += b.LastRun.Steps
	j.outputs.used = j.outputs.used.Plus(b.LastRun.Used.Used)
	j.noteText(b.Board, b.Reason.Said+b.Unreviewed())
	j.noteUndone(b.Board)
	j.noteJournal(b.Board)
}

// noteText keeps the text of a board, on one line, for the outputs.
func (j *job) noteText(board, text string) {
	line := inert.Line(j.out.Hide(board + ": " + text))
	j.outputs.texts = append(j.outputs.texts, strings.Join(strings.Fields(line), " "))
}

// noteUndone counts the tasks of a board that are not done, for the outputs.
func (j *job) noteUndone(board string) {
	b, err := inspect.Looker{Keep: keepLast}.Look(board)
	if err != nil && !errors.As(err, new(*ledger.NoRunError)) {
		j.outputs.unknown = true
		return
	}
	j.outputs.counted = true
	j.outputs.undone += b.Left()
}

// noteJournal keeps the path of a board's journal, if there is a journal, for the outputs.
func (j *job) noteJournal(board string) {
	if dir, err := inspect.Locate(board); err == nil && exists(dir.Journal()) {
		j.outputs.journals = append(j.outputs.journals, dir.Journal())
	}
}

// close writes the outputs of the step, however the run ended.
func (j *job) close(code int) error {
	if j == nil || j.outputFile == "" {
		return nil
	}
	if !fits(j.outputs.outcome, code) {
		j.outputs.outcome = outcomeOf(code)
	}
	end := rand.Text() // random, so that no value holds this end mark
	o := j.outputs
	text := fmt.Sprintf("outcome=%s\nexit-code=%d\nsteps=%d\ncost=%s\ncost-usd=%s\ninput-tokens=%d\noutput-tokens=%d\nundone=%s\n",
		o.outcome, code, o.steps, cmp.Or(o.cost, "unknown"), strconv.FormatFloat(float64(o.used.Cost)/1e6, 'f', -1, 64), o.used.Input, o.used.Output, o.undoneText())
	for _, o := range []struct {
		name  string
		lines []string
	}{{"text", j.outputs.texts}, {"journal", j.outputs.journals}} {
		text += fmt.Sprintf("%s<<%s\n%s\n%s\n", o.name, end, fitVariable(j.out.Hide(strings.Join(o.lines, "\n"))), end)
	}
	return j.appendTo(j.outputFile, text)
}

// undoneText returns the number of undone tasks, or "" if it is not known, as for a run that refused
// its boards.
func (o outputs) undoneText() string {
	if o.unknown || !o.counted {
		return ""
	}
	return fmt.Sprint(o.undone)
}

// maxOutput bounds an output of several lines, in bytes. Later steps take it in an environment
// variable, and the system starts no program with one of more than 128 KiB.
const maxOutput = 64 << 10

// fitVariable cuts a text to what fits into an environment variable, between two lines if it can.
func fitVariable(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	const rest = "…"
	cut := strings.ToValidUTF8(text[:maxOutput-len(rest)], "")
	if at := strings.LastIndexByte(cut, '\n'); at > 0 {
		cut = cut[:at+1]
	}
	return cut + rest
}

// fits reports whether a run with this outcome may have ended with this exit code.
func fits(o event.Outcome, code int) bool {
	switch o {
	case event.Complete, dryRun:
		return code == exitComplete
	case event.Incomplete:
		return code == exitComplete || code == exitNeedsPerson
	default:
		return o != "" && code != exitComplete
	}
}

// outcomeOf returns the outcome for the exit code of a run that did not report its outcome.
func outcomeOf(code int) event.Outcome {
	all := []event.Outcome{event.Complete, event.Invalid, event.Owned, event.Later}
	codes := []int{exitComplete, exitInvalid, exitOwned, exitLater}
	if i := slices.Index(codes, code); i >= 0 {
		return all[i]
	}
	if slices.Contains([]int{exitInterrupted, exitTerminated, exitQuit, exitKilled}, code) {
		return event.Interrupted
	}
	return event.Failed
}
