package fleet

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"go.temporal.io/sdk/temporal"
)

// Names that the workers, the command "submit" and the Temporal server share.
const (
	WorkflowType = "Board"   // name of the workflow's type
	RunActivity  = "Run"     // name of the activity that runs a board once
	AckSignal    = "ack"     // name of the signal with a Decision
	Queue        = "boards"  // default task queue of the commands "worker" and "submit"
	OutcomeMemo  = "outcome" // memo key for the last run's outcome, or for Running during a run
	TextMemo     = "text"    // memo key for the text of the last run's end
	HintMemo     = "hint"    // memo key for the action that a person has to take
	RunsMemo     = "runs"    // memo key for the number of ended runs in the workflow's history
)

// The states of a board without an outcome.
const (
	Running = "running" // a run is under way or about to begin
	Stopped = "stopped" // the workflow was cancelled or terminated
)

// The search attributes by which boards can be listed, if the server knows them.
var (
	OutcomeAttribute = temporal.NewSearchAttributeKeyKeyword("KanbanOutcome")
	CostAttribute    = temporal.NewSearchAttributeKeyFloat64("KanbanCost") // USD, sum of all runs
	StepAttribute    = temporal.NewSearchAttributeKeyInt64("KanbanStep")   // number of finished steps
)

// Job is the input of the workflow. It names the board that the workflow runs until it is complete.
type Job struct {
	Repository string `json:"repository"` // address that git clone takes, without secrets
	Board      string `json:"board"`      // path of the board in the repository
	Attributes bool   `json:"attributes"` // true if the server knows the search attributes
}

// Check returns an error for a job that could leak a secret or start a program. It also returns an
// error for names that git or a file system could misread.
func (j Job) Check() error {
	switch u, err := url.Parse(j.Repository); {
	case j.Repository == "" || strings.HasPrefix(j.Repository, "-"):
		return fmt.Errorf("%q is no address of a repository", j.Repository)
	case strings.Contains(j.Repository, "::"):
		return fmt.Errorf("%q has git start a program", j.Repository)
	case strings.ContainsFunc(j.Repository, isOdd) || hasDots(j.Repository):
		return fmt.Errorf("%q is no plain address: it has an escape, or . or .. as a part", j.Repository)
	case err == nil && u.User != nil && isSecret(u):
		return errors.New("the address of the repository has a password or a token, which would stand in the " +
			"server's history; give the worker's git a credential helper or a key instead")
	}
	if clean := filepath.ToSlash(filepath.Clean(j.Board)); j.Board == "" || clean != j.Board ||
		!filepath.IsLocal(j.Board) || strings.HasPrefix(j.Board, "-") || strings.HasPrefix(j.Board, ".git/") {
		return fmt.Errorf("%q is no path in a repository; it starts at the top of the repository, such as "+
			"boards/one/kanban.yaml", j.Board)
	}
	if !isBranch(j.Board) {
		return fmt.Errorf("%q can be no name of a branch as it is; "+
			"take letters, digits, - and _, and dots within a name", j.Board)
	}
	return nil
}

// Branch returns the name of the branch that holds the board's state.
func (j Job) Branch() string { return "board/" + j.Board }

// isBranch reports whether kanban-run uses a board's path unchanged in the name of the board's
// branch.
func isBranch(path string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("._-", r)
	}
	for name := range strings.SplitSeq(path, "/") {
		if strings.Trim(name, ".") != name || strings.Contains(name, "..") ||
			strings.HasSuffix(name, ".lock") || strings.ContainsFunc(name, other) {
			return false
		}
	}
	return true
}

// isOdd reports whether a character of an address begins an escape or cannot be printed.
func isOdd(r rune) bool { return r == '%' || r == '\\' || !unicode.IsPrint(r) }

// hasDots reports whether an address has . or .. as a part.
func hasDots(address string) bool {
	parts := strings.FieldsFunc(address, func(r rune) bool { return r == '/' || r == ':' })
	return slices.ContainsFunc(parts, func(part string) bool { return part == "." || part == ".." })
}

// isSecret reports whether the user part of an address may hold a secret. In https://TOKEN@host,
// the user is a secret even without a password.
func isSecret(u *url.URL) bool {
	_, password := u.User.Password()
	return password || u.Scheme == "http" || u.Scheme == "https"
}

// ID returns the ID of the board's workflow. Different addresses of the same repository give the
// same ID.
func (j Job) ID() string {
	address := j.Repository
	if u, err := url.Parse(address); err == nil && (u.Host != "" || u.Scheme == "file") {
		address = u.Host + u.Path
	} else if host, path, found := strings.Cut(address, ":"); found && !strings.Contains(host, "/") {
		// an address such as git@host:team/project.git
		_, host, _ = cutLast(host, "@")
		address = host + "/" + strings.TrimPrefix(path, "/")
	}
	return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git") + "//" + j.Board
}

// cutLast cuts a text around its last separator. If the text has no separator, the second result is
// the whole text.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// Call is the input of the activity, which runs a board once.
type Call struct {
	Job
	// Decision is a person's answer to the board's question, or nil if there is no answer.
	Decision *Decision `json:"decision,omitempty"`
}

// Decision is a person's answer to a board that waits for one. Choice and Note become arguments of
// kanban-run ack.
type Decision struct {
	Choice string `json:"choice,omitempty"` // word of kanban-run ack
	Note   string `json:"note,omitempty"`

	// Question is the question that the person saw, and Steps the number of steps that were finished
	// then. The decision is valid for no other question.
	Steps    int    `json:"steps"`
	Question string `json:"question"`
}

// Beat is the content of a heartbeat: the state of a run.
type Beat struct {
	Now    string  `json:"now"`    // present activity of the run, in words
	Steps  int     `json:"steps"`  // number of finished steps
	Cost   float64 `json:"cost"`   // USD, sum of all runs
	Worker string  `json:"worker"` // name of the worker that runs the board
}

// Result is the result of the activity. It describes the end of a run.
type Result struct {
	Outcome string  `json:"outcome"` // as kanban-run --json prints it, or Killed
	Text    string  `json:"text"`
	Asks    string  `json:"asks,omitempty"` // kanban-run's question; "" if no person is needed
	Said    string  `json:"said,omitempty"` // last text of an agent; "" if no person is needed
	Hint    string  `json:"hint,omitempty"`
	Code    int     `json:"exit_code"`
	Until   string  `json:"until,omitempty"` // end of the usage limit, in RFC 3339
	Steps   int     `json:"steps"`           // number of finished steps in all runs
	Cost    float64 `json:"cost"`            // USD, sum of all runs
	Worker  string  `json:"worker"`          // name of the worker that ran the board
}

// Outcomes of a run.
const (
	Complete    = "complete"
	NeedsPerson = "needs_person"
	Incomplete  = "incomplete" // counts as complete if the exit code is 0
	Frozen      = "frozen"
	Later       = "later"
	Interrupted = "interrupted"
	Owned       = "owned"
	Failed      = "failed"
	Invalid     = "invalid"
	Exhausted   = "exhausted"
	Limited     = "limit_reached"
	Killed      = "killed" // kanban-run ended without a report
)

// AsksPerson reports whether a board with this outcome waits for a decision.
func AsksPerson(outcome string) bool {
	return outcome == NeedsPerson || outcome == Incomplete || outcome == Frozen
}
