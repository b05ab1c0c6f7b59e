package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// endTime bounds the time that a process takes to end after SIGTERM. A run needs a second or two.
const endTime = 30 * time.Second

// command returns a command that starts kanban-run in a clone, without the worker's own keys. The
// process gets SIGTERM when the context stop ends or, on Linux, when the worker dies.
func (r *Runner) command(stop context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(stop, r.Program, args...)
	c.Dir, c.Env = dir, append(environ(), "CI=") // the clone stays here, so it is no job whose machine is thrown away
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = endTime
	c.SysProcAttr = ownSession()
	return c
}

// environ returns this process's environment without the TEMPORAL_ variables, which hold keys.
func environ() (kept []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "TEMPORAL_") {
			kept = append(kept, e)
		}
	}
	return kept
}

// summary is a board's part of the last line that kanban-run --json prints.
type summary struct {
	Outcome  string `json:"outcome"`
	Text     string `json:"text"`
	Said     string `json:"said"`
	Hint     string `json:"hint"`
	Until    string `json:"until"`
	Code     int    `json:"exit_code"`
	Unpushed string `json:"unpushed"` // the branch whose checkpoints the repository lacks
	Unsaved  bool   `json:"unsaved"`  // true if some work has no checkpoint

	refusal string // reason why kanban-run ack refused a decision, or ""
}

// start runs the board until kanban-run ends, and returns the summary that it printed. Without a
// summary, the outcome is Killed. It returns an error if kanban-run could not be started.
func (r *Runner) start(stop context.Context, dir string, job fleet.Job) (summary, error) {
	args := append([]string{"run", "--json", "--no-agent-events", "--patience=0", "--checkpoint=git",
		"--checkpoint-remote=" + job.Repository}, r.Flags...)
	c := r.command(stop, dir, append(args, "--", job.Board)...)
	var out lastLine
	var words lastWords
	c.Stdout, c.Stderr = &out, &words
	// The system sends Pdeathsig when the thread that started the program ends, so this goroutine
	// keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.Start(); err != nil {
		if stop.Err() != nil {
			return summary{Outcome: fleet.Interrupted, Text: "stopped before the run began"}, nil
		}
		return summary{}, fmt.Errorf("start kanban-run: %w", err)
	}
	_ = c.Wait() // the last line of the output, or its absence, gives the outcome
	s, err := readSummary(out.line)
	if err != nil {
		code := c.ProcessState.ExitCode()
		return summary{
			Outcome: fleet.Killed,
			Code:    code,
			Text:    fmt.Sprintf("kanban-run ended with %s and without a word: %s", c.ProcessState, words),
		}, nil
	}
	return s, nil
}

// board is a board in the JSON of kanban-run, version 2.
type board struct {
	summary // of version 1
	Reason  *struct {
		Said string `json:"said"`
	} `json:"reason"` // nil in version 1
	Exit  int `json:"exit"`
	Waits struct {
		Until string `json:"until"`
	} `json:"waits"`
	Branch string `json:"unpushed_branch"`
	Tasks  []struct {
		Said string `json:"said"`
		Who  string `json:"who"`
	} `json:"tasks"`
	Totals struct {
		Steps int `json:"steps"`
		Used  struct {
			Micros float64 `json:"cost_microusd"`
		} `json:"used"`
	} `json:"totals"`
}

// read returns the summary, which version 2 has in other fields than version 1.
func (b board) read() summary {
	s := b.summary
	if b.Reason == nil {
		return s
	}
	s.Text, s.Code, s.Until, s.Unpushed = b.Reason.Said, b.Exit, b.Waits.Until, b.Branch
	for _, t := range b.Tasks {
		if t.Said != "" && t.Who == "decide" {
			s.Said = t.Said
		}
	}
	return s
}

// readSummary returns the board's summary in the last line that kanban-run printed. It returns an
// error if the line holds neither a summary of one board nor a refusal.
func readSummary(line []byte) (summary, error) {
	var last struct {
		Type string `json:"type"`
		Data struct {
			summary         // text, hint and exit code of a refusal
			Boards  []board `json:"boards"`
		} `json:"data"`
	}
	if err := json.Unmarshal(line, &last); err != nil {
		return summary{}, err
	}
	switch {
	case last.Type == "SUMMARY" && len(last.Data.Boards) == 1:
		return last.Data.Boards[0].read(), nil
	case last.Type == "REFUSED":
		last.Data.Outcome = fleet.Invalid
		return last.Data.summary, nil
	default:
		return summary{}, errors.New("no summary")
	}
}

// standing is a board's part of the output of kanban-run status --json.
type standing struct {
	Steps int `json:"steps"`
	Total struct {
		Micros float64 `json:"cost_microusd"`
	} `json:"total"`
	Text string `json:"text"`
	Open *struct {
		Step     int    `json:"step"`
		Task     string `json:"task"`
		Role     string `json:"role"`
		Attempts int    `json:"attempts"`
	} `json:"open_step"`
	Agent *struct {
		Activity string `json:"activity"`
		Health   string `json:"health"`
		Calls    []struct {
			Tool  string `json:"tool"`
			About string `json:"about"`
		} `json:"open_calls"`
	} `json:"agent"`
}

// statusTime bounds a call of kanban-run status.
const statusTime = 20 * time.Second

// ask returns the standing of the board, or the zero value if the board has no journal yet. It
// returns an error if kanban-run does not answer within statusTime.
func (r *Runner) ask(dir, board string) (standing, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	return r.askWithin(ctx, dir, board)
}

// askWithin returns the standing of the board, or the zero value if kanban-run reports an error. It
// returns an error only if kanban-run does not answer before ctx ends.
func (r *Runner) askWithin(ctx context.Context, dir, board string) (s standing, err error) {
	c := r.command(ctx, dir, "status", "--json", "--", board)
	c.WaitDelay = time.Second
	out, err := c.Output()
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if err == nil {
		s, err = readStanding(out)
	}
	if err != nil {
		return standing{}, nil // the board has no journal yet
	}
	return s, nil
}

// readStanding reads the output of kanban-run status --json about one board: an object of the board in
// version 1, and a document with a list of boards in version 2.
func readStanding(out []byte) (s standing, err error) {
	var doc struct {
		Boards []struct {
			standing
			board
		} `json:"boards"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return s, err
	}
	if len(doc.Boards) == 0 {
		err := json.Unmarshal(out, &s)
		return s, err
	}
	b := doc.Boards[0]
	s = b.standing
	s.Text, s.Steps, s.Total.Micros = b.read().Text, b.Totals.Steps, b.Totals.Used.Micros
	return s, nil
}

// line returns a line about the present activity of the run.
func (s standing) line() string {
	if s.Open == nil {
		return "between two steps"
	}
	line := fmt.Sprintf("step %d: %s, %s", s.Open.Step, s.Open.Task, s.Open.Role)
	if s.Open.Attempts > 1 {
		line += fmt.Sprintf(", attempt %d", s.Open.Attempts)
	}
	if s.Agent != nil {
		line += ", " + s.Agent.Activity
		for _, c := range s.Agent.Calls[:min(1, len(s.Agent.Calls))] {
			line += " " + c.Tool + ": " + c.About
		}
		if s.Agent.Health != "" && s.Agent.Health != "healthy" {
			line += " (" + s.Agent.Health + ")"
		}
	}
	return tail(line, 300)
}

func (s standing) cost() float64 { return s.Total.Micros / 1e6 }

// result returns the Result that the server gets.
func (s summary) result(at standing) fleet.Result {
	return fleet.Result{
		Outcome: s.Outcome,
		Text:    tail(s.Text, 1000),
		Asks:    s.asks(),
		Said:    tail(s.Said, 2000),
		Hint:    tail(s.Hint, 500),
		Code:    s.Code,
		Until:   s.Until,
		Steps:   at.Steps,
		Cost:    at.cost(),
	}
}

// asks returns the question of a board that needs a person, or "" for any other board.
func (s summary) asks() string {
	if !fleet.AsksPerson(s.Outcome) {
		return ""
	}
	return tail(s.Text, 1000)
}

// tail returns a text unchanged if it has at most the given number of bytes. Of a longer text it
// returns "…" and the end.
func tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-most:], "")
}

// lastLine keeps the last whole line that is written to it.
type lastLine struct{ line, rest []byte }

func (l *lastLine) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if end := bytes.LastIndexByte(l.rest, '\n'); end >= 0 {
		begin := bytes.LastIndexByte(l.rest[:end], '\n') + 1
		l.line = bytes.Clone(l.rest[begin:end])
		l.rest = bytes.Clone(l.rest[end+1:])
	}
	return len(p), nil
}

// lastWords keeps the end of a program's standard error, for a person.
type lastWords struct{ text []byte }

// maxWords bounds lastWords, in bytes.
const maxWords = 500

func (w *lastWords) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-maxWords):]
	return len(p), nil
}

// userOfAddress matches the user in an address. The user may be a token.
var userOfAddress = regexp.MustCompile(`//[^/@\s]*@`)

// String returns the text in one line, without the users in addresses.
func (w lastWords) String() string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(w.text), "")), " ")
	return userOfAddress.ReplaceAllString(line, "//…@")
}
