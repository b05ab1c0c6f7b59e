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

// Names that a server knows.
const (
	WorkflowType = "Board"   // of the workflow
	RunActivity  = "Run"     // of the activity that runs a board once
	AckSignal    = "ack"     // brings a Decision
	Queue        = "boards"  // where workers look for boards, unless they are told another
	OutcomeMemo  = "outcome" // memo: how the last run ended, Running while one is under way
	TextMemo     = "text"    // memo: what the run said at its end
	HintMemo     = "hint"    // memo: what a person can do
	RunsMemo     = "runs"    // memo: how many runs have ended, since the workflow's history began
)

// What a board is in while there is no outcome.
const (
	Running = "running" // a run works on it, or is about to
	Stopped = "stopped" // the workflow was cancelled or terminated
)

// Search attributes, by which boards can be listed. They have to be known to the server.
var (
	OutcomeAttribute = temporal.NewSearchAttributeKeyKeyword("KanbanOutcome")
	CostAttribute    = temporal.NewSearchAttributeKeyFloat64("KanbanCost") // in USD, of all runs
	StepAttribute    = temporal.NewSearchAttributeKeyInt64("KanbanStep")   // how many are finished
)

// Job is a board that is to be run until it is complete: the input of the workflow.
type Job struct {
	Repository string `json:"repository"` // its address, as git clone takes it; without secrets
	Board      string `json:"board"`      // path in the repository
	Attributes bool   `json:"attributes"` // the server knows the search attributes
}

// Check says what is wrong with a job.
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

// Branch is the branch that has the state of the board.
func (j Job) Branch() string { return "board/" + j.Board }

// isBranch says whether kanban-run calls the branch of a board by the board's path.
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

// isOdd reports whether a character of an address is an escape or cannot be printed.
func isOdd(r rune) bool { return r == '%' || r == '\\' || !unicode.IsPrint(r) }

// hasDots reports whether an address has . or .. as a part.
func hasDots(address string) bool {
	parts := strings.FieldsFunc(address, func(r rune) bool { return r == '/' || r == ':' })
	return slices.ContainsFunc(parts, func(part string) bool { return part == "." || part == ".." })
}

// isSecret says whether the user part of an address is more than a name: https://TOKEN@host
// has no password, and is one.
func isSecret(u *url.URL) bool {
	_, password := u.User.Password()
	return password || u.Scheme == "http" || u.Scheme == "https"
}

// ID is the workflow's: there is one for each board. Different addresses of a
// repository give the same one.
func (j Job) ID() string {
	address := j.Repository
	if u, err := url.Parse(address); err == nil && (u.Host != "" || u.Scheme == "file") {
		address = u.Host + u.Path
	} else if host, path, found := strings.Cut(address, ":"); found && !strings.Contains(host, "/") {
		// git@host:team/project.git
		_, host, _ = cutLast(host, "@")
		address = host + "/" + strings.TrimPrefix(path, "/")
	}
	return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git") + "//" + j.Board
}

// cutLast cuts around the last sep; without one, after is all of s.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// Call is the input of the activity: a board that is to be run once.
type Call struct {
	Job
	Decision *Decision `json:"decision,omitempty"` // about the board, which waits for one; nil: it does not
}

// Decision is what a person says about a board that waits: the arguments of kanban-run ack.
type Decision struct {
	Choice string `json:"choice,omitempty"` // "": none
	Note   string `json:"note,omitempty"`

	// What the board waits with: the decision counts for no other question.
	Steps    int    `json:"steps"` // finished
	Question string `json:"question"`
}

// Beat is what a worker says of a run at each heartbeat.
type Beat struct {
	Now    string  `json:"now"`    // what the run does
	Steps  int     `json:"steps"`  // finished
	Cost   float64 `json:"cost"`   // USD
	Worker string  `json:"worker"` // on which it runs
}

// Ending is how a run ended: the activity's result.
type Ending struct {
	Outcome string  `json:"outcome"` // as kanban-run --json has it, or Killed
	Text    string  `json:"text"`
	Asks    string  `json:"asks,omitempty"` // where a person is needed: what kanban-run itself said
	Said    string  `json:"said,omitempty"` // by the agent of the last task, where a person is needed
	Hint    string  `json:"hint,omitempty"`
	Code    int     `json:"exit_code"`
	Until   string  `json:"until,omitempty"` // with a usage limit: its end, in RFC 3339
	Steps   int     `json:"steps"`           // finished, by all runs
	Cost    float64 `json:"cost"`            // USD, of all runs
	Worker  string  `json:"worker"`          // on which it ran
}

// Outcomes of a run.
const (
	Complete    = "complete"
	NeedsPerson = "needs_person"
	Frozen      = "frozen"
	Later       = "later"
	Interrupted = "interrupted"
	Owned       = "owned"
	Failed      = "failed"
	Invalid     = "invalid"
	Exhausted   = "exhausted"
	Limited     = "limit_reached"
	Killed      = "killed" // it ended without a word
)

// AsksPerson says whether an outcome waits for a decision.
func AsksPerson(outcome string) bool { return outcome == NeedsPerson || outcome == Frozen }
