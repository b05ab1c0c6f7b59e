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

// desk is where a person sits: the keyboard and the screen of a conversation.
type desk struct {
	out      *console.Printer
	keyboard supervise.Keyboard
	resize   <-chan struct{}
	screen   *os.File
	restore  func() error // of the terminal
}

// openDesk takes the terminal, if there is one: it is raw then, so that the agent's words and the person's do not mix, and close gives it
// back as it was.
func openDesk(t *terminal) (*desk, error) {
	keys, isFile := t.stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(keys.Fd())) || !term.IsTerminal(int(t.screen.Fd())) {
		lines, err := readLines(t.stdin)
		return &desk{out: t.stdout, screen: t.screen, keyboard: supervise.Keyboard{Lines: lines, Unattended: true, Err: err}, restore: func() error { return nil }}, nil
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
	d := &desk{out: console.New(line, t.secrets), screen: t.screen}
	resized, stop := onResize()
	d.resize = resized
	d.fit(line)
	d.keyboard = supervise.Keyboard{Lines: editLines(line, typed, func() { d.fit(line) }), Interrupts: interrupts}
	d.restore = func() error {
		stop()
		line.SetBracketedPasteMode(false)
		_, err := io.WriteString(t.screen, "\r\n")
		return errors.Join(err, term.Restore(fd, old))
	}
	return d, nil
}

func (d *desk) close() error { return d.restore() }

// fit tells the editor of lines how wide the screen is.
func (d *desk) fit(line *term.Terminal) {
	if rows, columns := d.size(); columns > 0 {
		_ = line.SetSize(int(columns), int(rows))
	}
}

// size is that of the screen; without one the size that terminals have by custom.
func (d *desk) size() (rows, columns uint16) {
	w, h, err := term.GetSize(int(d.screen.Fd()))
	if err != nil || w <= 0 || h <= 0 || w > 1<<15 || h > 1<<15 {
		return 24, 80
	}
	return uint16(h), uint16(w)
}

const ctrlC = 3

// keysReader takes Ctrl-C out of what is typed: the editor of lines could not tell it from Ctrl-D.
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
			default: // one is waiting to be heard
			}
		}
		copy(p, kept)
		if len(kept) > 0 || err != nil || n == 0 {
			return len(kept), err
		}
	}
}

// mostEdited is the length at which the editor of lines drops what is typed, without a word. One that is longer already grows on.
const mostEdited = 4096

// grow brings a line over that length: what terminals paste without saying so is typed, too.
func grow(line string, at int, key rune) (longer string, next int, ok bool) {
	if len(line) < mostEdited || key < ' ' || !utf8.ValidRune(key) || utf8.RuneCountInString(line) != mostEdited {
		return "", 0, false
	}
	return line[:at] + string(key) + line[at:], at + utf8.RuneLen(key), true
}

// mostTyped is how many messages may wait for their turn; what is typed after them is lost.
const mostTyped = 1000

// editLines reads what is typed. What was pasted is one message, however many lines it has. Keys are read on after Ctrl-D, and while nobody
// wants to hear: Ctrl-C is among them.
func editLines(line *term.Terminal, typed *keysReader, before func()) <-chan string {
	lines := make(chan string, mostTyped)
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

// maxMessage is how long a line of standard input may be that is a message.
const maxMessage = 8 << 20

// readLines reads messages; failed says, once there are no more, why there should have been.
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
			return &usageError{text: fmt.Sprintf("a message is longer than %s: each line of standard input is one", agent.Size(maxMessage)),
				hint: "put it into a file, and say what to do with that: echo 'Read FILE, and …' | kanban-run supervise"}
		}
		if err != nil {
			return fmt.Errorf("read the messages: %w", err)
		}
		return nil
	}
}

// Notice shows a word of the program itself.
func (d *desk) Notice(text string) { _ = d.out.Printf("== %s\n", text) }

// Agent shows what the agent does.
func (d *desk) Agent(e agent.Event) { d.show("", e) }

// Supervisor shows what the supervisor does.
func (d *desk) Supervisor(e agent.Event) { d.show("supervisor: ", e) }

func (d *desk) show(who string, e agent.Event) {
	switch e.Kind {
	case agent.Text:
		text := strings.TrimSpace(e.Text)
		if text != "" {
			_ = d.out.Printf("%s%s\n", console.Lines(who), console.Lines(text))
		}
	case agent.ToolStarted:
		_ = d.out.Printf("%s[%s] %s\n", console.Lines(who), e.Tool, e.Text)
	case agent.Retry, agent.Warning:
		_ = d.out.Printf("%s%s\n", console.Lines(who), e.String())
	}
}
