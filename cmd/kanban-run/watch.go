package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"kanban-run/orchestrator/projection"
)

// enterScreen and leaveScreen switch a terminal to its alternate screen and back. The main screen
// keeps its contents.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	drawTime    = time.Second
)

// watchStatus draws the status of boards every drawTime until no run is at work, q is typed or a
// signal arrives. It returns the status that it read last.
func (u *setup) watchStatus(t *terminal, names []string, boards []*projection.Board) (now []*projection.Board, err error) {
	stop, _, release := t.contexts(func(bool) {})
	defer release()
	if err := t.stdout.PrintTrusted(enterScreen); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.stdout.PrintTrusted(leaveScreen)) }()
	readers := readersOf(u.looker(keepRecent), names)
	left, restore := t.awaitQ()
	defer restore()
	for slices.ContainsFunc(boards, (*projection.Board).IsAtWork) {
		if err := t.drawStatus(names, boards); err != nil {
			return nil, err
		}
		select {
		case <-stop.Done():
			return boards, nil
		case <-left:
			return boards, nil
		case <-time.After(drawTime):
		}
		if boards, err = readAll(readers); !isShown(err) {
			return nil, err
		}
	}
	return boards, nil
}

// awaitQ returns a channel that is closed when q, Ctrl-C, Ctrl-D or Ctrl-\ is typed. Without a
// terminal it returns a nil channel. The terminal does not echo until restore is called.
func (t *terminal) awaitQ() (left <-chan struct{}, restore func()) {
	keyboard, ok := t.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(keyboard.Fd())) {
		return nil, func() {}
	}
	before, err := term.MakeRaw(int(keyboard.Fd()))
	if err != nil {
		return nil, func() {} // Ctrl-C still sends a signal
	}
	typed := make(chan struct{})
	go func() { // ends with the process
		defer close(typed)
		for key := make([]byte, 1); ; {
			if _, err := keyboard.Read(key); err != nil || strings.Contains("qQ\x03\x04\x1c", string(key)) {
				return
			}
		}
	}()
	return typed, func() { _ = term.Restore(int(keyboard.Fd()), before) }
}

// drawStatus draws the status of boards over the last drawing. It cuts what the terminal has no
// room for.
func (t *terminal) drawStatus(names []string, boards []*projection.Board) error {
	width, height := sizeOf(t.screen)
	clock := time.Now().Format("15:04:05")
	head := runewidth.Truncate(t.stdout.Sprintf("kanban-run status --watch %s", strings.Join(names, " ")),
		max(0, width-len(clock)-3), "…")
	lines := []string{runewidth.FillRight(head, width-len(clock)-1) + clock, ""}
	lines = append(lines, t.screenOf().Watch(boards, height-len(lines))...)
	if len(lines) > height {
		lines = append(lines[:max(1, height-1)], "…")
	}
	return t.stdout.PrintTrusted("\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J")
}
