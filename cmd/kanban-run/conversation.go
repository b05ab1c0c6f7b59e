package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/supervise"
)

// conversation is the keyboard and the screen of a person who talks with an agent.
type conversation struct {
	out      *console.Printer
	keyboard supervise.Keyboard
	resize   <-chan struct{}
	screen   *os.File
	restore  func() error // restores the terminal
}

// openConversation sets the terminal to raw mode, so that output does not mix with input. The
// method close restores the terminal. Without a terminal, each line of standard input is a message.
func openConversation(t *terminal) (*conversation, error) {
	keys, isFile := t.stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(keys.Fd())) || !term.IsTerminal(int(t.screen.Fd())) {
		lines, err := readLines(t.stdin)
		return &conversation{
			out:      t.stdout,
			screen:   t.screen,
			keyboard: supervise.Keyboard{Lines: lines, Unattended: true, Err: err},
			restore:  func() error { return nil },
		}, nil
	}
	fd := int(keys.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("take the terminal: %w", err)
	}
	interrupts := make(chan struct{}, 1)
	typed := &keysReader{keys: keys, interrupts: interrupts}
	line := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{typed, t.screen}, "> ")
	line.SetBracketedPasteMode(true)
	line.AutoCompleteCallback = grow
	c := &conversation{out: console.New(line, t.secrets), screen: t.screen}
	resized, stop := onResize()
	c.resize = resized
	c.fit(line)
	c.keyboard = supervise.Keyboard{Lines: editLines(line, typed, func() { c.fit(line) }), Interrupts: interrupts}
	c.restore = func() error {
		stop()
		line.SetBracketedPasteMode(false)
		_, err := io.WriteString(t.screen, "\r\n")
		return errors.Join(err, term.Restore(fd, old))
	}
	return c, nil
}

func (c *conversation) close() error { return c.restore() }

// fit sets the size of the line editor to the size of the screen.
func (c *conversation) fit(line *term.Terminal) {
	if rows, columns := c.size(); columns > 0 {
		_ = line.SetSize(int(columns), int(rows))
	}
}

// size returns the screen's size in characters, or 24 by 80 if it is unknown.
func (c *conversation) size() (rows, columns uint16) {
	w, h, err := term.GetSize(int(c.screen.Fd()))
	if err != nil || w <= 0 || h <= 0 || w > 1<<15 || h > 1<<15 {
		return 24, 80
	}
	return uint16(h), uint16(w)
}

const ctrlC = 3

// keysReader turns Ctrl-C in the input into an interrupt, because the line editor would end at
// Ctrl-C, as it ends at Ctrl-D.
type keysReader struct {
	keys       io.Reader
	interrupts chan<- struct{}
}

func (k *keysReader) Read(p []byte) (int, error) {
	for {
		n, err := k.keys.Read(p)
		kept := bytes.ReplaceAll(p[:n], []byte{ctrlC}, nil)
		if len(kept) < n {
			select {
			case k.interrupts <- struct{}{}:
			default: // an interrupt is pending already
			}
		}
		copy(p, kept)
		if len(kept) > 0 || err != nil || n == 0 {
			return len(kept), err
		}
	}
}

// maxEdited is the only length of a line, in characters, at which the line editor silently drops
// typed keys. At a greater length it takes them again.
const maxEdited = 4096

// grow inserts a key into a line of exactly maxEdited characters, because the line editor would
// drop the key. The line is longer then, so that the editor takes further keys itself. Without grow
// the editor would cut a paste that the terminal does not mark as a paste.
func grow(line string, at int, key rune) (longer string, next int, ok bool) {
	if len(line) < maxEdited || key < ' ' || !utf8.ValidRune(key) || utf8.RuneCountInString(line) != maxEdited {
		return "", 0, false
	}
	return line[:at] + string(key) + line[at:], at + utf8.RuneLen(key), true
}

// maxTyped bounds the typed messages that wait for the receiver. Further messages are lost.
const maxTyped = 1000

// editLines returns a channel with the messages that are typed. A paste is one message, even with
// many lines. To notice Ctrl-C, editLines reads on even after Ctrl-D, and even while the receiver
// takes no message.
func editLines(line *term.Terminal, typed *keysReader, before func()) <-chan string {
	lines := make(chan string, maxTyped)
	go func() {
		var pasted []string
		for {
			before()
			text, err := line.ReadLine()
			if errors.Is(err, term.ErrPasteIndicator) {
				pasted = append(pasted, text)
				continue
			}
			if err != nil {
				break
			}
			select {
			case lines <- strings.Join(append(pasted, text), "\n"):
			default:
			}
			pasted = nil
		}
		close(lines)
		_, _ = io.Copy(io.Discard, typed)
	}()
	return lines
}

// maxMessage bounds a message that is a line of standard input, in bytes.
const maxMessage = 8 << 20

// readLines returns a channel with the lines of the input. Each line is a message. The second
// result is a function that returns the error that ended the input, or nil if there was no error.
func readLines(from io.Reader) (messages <-chan string, failed func() error) {
	lines := make(chan string)
	scan := bufio.NewScanner(from)
	scan.Buffer(nil, maxMessage)
	go func() {
		defer close(lines)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	return lines, func() error {
		err := scan.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			return &usageError{
				text: fmt.Sprintf("a message is longer than %s: each line of standard input is one",
					agent.Size(maxMessage)),
				hint: "put it into a file, and say what to do with that: echo 'Read FILE, and …' | " +
					"kanban-run supervise",
			}
		}
		if err != nil {
			return fmt.Errorf("read the messages: %w", err)
		}
		return nil
	}
}

// Notice shows a message of kanban-run itself.
func (c *conversation) Notice(text string) { _ = c.out.Printf("== %s\n", text) }

// Agent shows an event of the agent.
func (c *conversation) Agent(e agent.Event) { c.show("", e) }

// Supervisor shows an event of the supervisor, with the prefix "supervisor: ".
func (c *conversation) Supervisor(e agent.Event) { c.show("supervisor: ", e) }

func (c *conversation) show(speaker string, e agent.Event) {
	switch e.Kind {
	case agent.Text:
		text := strings.TrimSpace(e.Text)
		if text != "" {
			_ = c.out.Printf("%s%s\n", console.Lines(speaker), console.Lines(text))
		}
	case agent.ToolStarted:
		_ = c.out.Printf("%s[%s] %s\n", console.Lines(speaker), e.Tool, e.Text)
	case agent.Retry, agent.Warning:
		_ = c.out.Printf("%s%s\n", console.Lines(speaker), e.String())
	}
}
