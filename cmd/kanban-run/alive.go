package main

import (
	"slices"
	"time"

	"golang.org/x/term"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/roster"
)

// Some CI systems end a step that prints nothing for ten minutes.
const (
	mostSilence = 5*time.Minute - silencePoll // time without output after which a sign of life is printed
	silencePoll = 10 * time.Second
	mostAlive   = 3 // greatest number of boards that a sign of life names
)

// isCI reports whether the program runs in a CI job, by the variable that such systems set.
func (t *terminal) isCI() bool {
	return t.job != nil || !slices.Contains([]string{"", "0", "false"}, roster.Variable(t.environ, "CI"))
}

// showLife prints a line after each time of silence in the log of a CI job, until the function stop
// is called.
func (t *terminal) showLife(boards []string) (stop func()) {
	if !t.isCI() || term.IsTerminal(int(t.live.Fd())) {
		return func() {}
	}
	return keepAlive(t.stderr, []*console.Printer{t.stdout, t.stderr}, func() []string { return headlines(boards) })
}

// keepAlive prints the lines of the function say to out when none of the printers has written
// anything for mostSilence.
func keepAlive(out *console.Printer, printers []*console.Printer, say func() []string) (stop func()) {
	began, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		looks := time.NewTicker(silencePoll)
		defer looks.Stop()
		for {
			select {
			case <-done:
				return
			case <-looks.C:
			}
			last := began
			for _, p := range printers {
				if at := p.LastWrite(); at.After(last) {
					last = at
				}
			}
			if time.Since(last) < mostSilence {
				continue
			}
			for _, line := range say() {
				_ = out.Printf("%s\n", line) // a closed pipe must not stop a run
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// headlines says how boards stand, those at work first.
func headlines(boards []string) (lines []string) {
	var others []string
	inspect.Looker{Keep: keepLast}.LookAll(boards, func(b inspect.Board, err error) {
		switch line := b.Headline(); {
		case err != nil:
		case b.Owned:
			lines = append(lines, line)
		default:
			others = append(others, line)
		}
	})
	lines = append(lines, others...)
	return lines[:min(len(lines), mostAlive)]
}
