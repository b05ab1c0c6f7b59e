package main

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/report"
)

// The other screen of a terminal, which leaves what was there before as it was.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	drawTime    = time.Second
)

// watchStatus draws where a board's run stands, until the run ends or a signal comes. It returns the last status.
func (u *setup) watchStatus(t *terminal, board string, verbose bool) (status report.Status, err error) {
	stop, _, release := t.contexts(func(bool) {})
	defer release()
	if err := t.stdout.PrintTrusted(enterScreen); err != nil {
		return status, err
	}
	defer func() { err = errors.Join(err, t.stdout.PrintTrusted(leaveScreen)) }()
	for {
		if status, err = u.status(board); err != nil || !status.Running {
			return status, err
		}
		if err := t.drawStatus(status, verbose); err != nil {
			return status, err
		}
		select {
		case <-stop.Done():
			return status, nil
		case <-time.After(drawTime):
		}
	}
}

// drawStatus draws a status over the last one, as far as the terminal has room.
func (t *terminal) drawStatus(status report.Status, verbose bool) error {
	width, height, err := term.GetSize(int(t.screen.Fd()))
	if err != nil || width <= 0 || height <= 1 {
		width, height = 80, 24
	}
	var text bytes.Buffer
	if err := status.WriteText(console.New(&text, t.secrets), verbose); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = runewidth.Truncate(line, width, "…") + "\x1b[K"
	}
	if len(lines) > height {
		lines = append(lines[:height-1], "…\x1b[K")
	}
	return t.stdout.PrintTrusted("\x1b[H" + strings.Join(lines, "\r\n") + "\x1b[J")
}
