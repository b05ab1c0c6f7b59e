// Package agent holds the part that all adapters of agent programs share: the assignment, the start
// of the program, and the events in its output. Package attempt runs the program.
package agent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/proc"
)

// ConfigError is a mistake that no retry mends, such as a command that does not exist or a missing
// login.
type ConfigError struct {
	Text string
	Fix  string // the remedy
	Err  error  // the error of the system; nil if there is none

	Missing bool // the only fault is that the program cannot be started on this machine
}

func (e *ConfigError) Error() string {
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

// Unwrap returns the system's error.
func (e *ConfigError) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *ConfigError) Hint() string { return e.Fix }

// LimitError reports that an agent has reached a limit of its attempt. A retry would reach it, too.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// Hint returns the remedy.
func (e *LimitError) Hint() string {
	return "raise max_turns or max_cost of the role, or --max-attempt-cost, or make the task smaller; the " +
		"same command goes on in its session, or starts the attempt afresh where it has none"
}

// Assignment is the work of an agent, in a form common to all adapters.
type Assignment struct {
	Role     string
	Contract contract.Kind
	Input    []byte // one JSON object
	Prompt   string // the role's system prompt
	// Command is the command of an exec agent. For any other adapter it replaces the tool's
	// program; nil keeps the tool's program.
	Command []string
	Path    string   // the program's path, found when the run began; "": look for it at each start
	Args    []string // arguments to add to the command line
	Options
	MCPText []byte // content of the file MCP; nil until it is read, see [ReadMCP]
	// MCPTimeout bounds one call to an MCP server; 0 means the program's own limit. It is only for
	// programs that can end a call without ending the model's turn.
	MCPTimeout time.Duration
	Review     bool `name:"review"` // a review will follow, which forks and resumes the session
	Follow     *Follow
	Dir        string // work directory
	Scratch    string // folder for the files in [Invocation.Files]
	Env        []string
	Timeout    time.Duration
	Grace      time.Duration
}

// Follow is the continuation of an earlier call's session.
type Follow struct {
	Session string
	Fork    bool   // continue in a copy, so that the session itself stays unchanged
	Text    string // the prompt, in place of Assignment.Input
}

// Invocation describes the start of a program. Every attempt at a call starts the program with the
// same bytes. Source: seed 004, "Retry Rule (CRITICAL)".
type Invocation struct {
	Argv    []string // Argv[0] is the program's path
	Stdin   []byte
	Env     []string
	Dir     string
	Timeout time.Duration
	Grace   time.Duration

	Files []File // files to write before the program starts

	// Func, unless it is nil, runs in place of the program: in a dry run and in tests. It has to
	// return when ctx is done.
	Func func(ctx context.Context, stdout, stderr io.Writer) proc.Exit

	Listens bool // keep standard input open until the result, for a [Listener]

	MaxOutput int64     // limit in bytes for both streams together; 0 means none
	Mark      proc.Mark // mark of the program's processes, see EndLeftovers; not part of Digest
	Held      *os.File  // file with the lock of the task, which the program inherits; may be nil
}

// File is a file that the command line of an [Invocation] names.
type File struct {
	Path string
	Data []byte
}

// Digest returns the SHA-256, in hex, of all that the agent can see: argv, the SHA-256 of stdin,
// environment, folder and files. The length of each part is written before the part, so that
// different invocations never hash the same bytes.
func (i Invocation) Digest() string { return i.digest(add(addAll(nil, i.Env), i.Dir)) }

// Given returns the SHA-256, in hex, of what the program itself is given: as Digest, but without
// the surroundings, which a person may change between two runs.
func (i Invocation) Given() string { return i.digest(nil) }

// digest hashes the surroundings together with what the program is given. All versions hash in the
// same way, because they compare what they find in a journal.
func (i Invocation) digest(surroundings []byte) string {
	stdin := sha256.Sum256(i.Stdin)
	all := make([]byte, 0, 8<<10)
	all = addAll(all, i.Argv)
	all = add(all, hex.EncodeToString(stdin[:]))
	all = append(all, surroundings...)
	for _, f := range i.Files {
		all = add(all, string(f.Data))
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:])
}

func addAll(all []byte, words []string) []byte {
	all = addLength(all, len(words))
	for _, w := range words {
		all = add(all, w)
	}
	return all
}

func add(all []byte, part string) []byte { return append(addLength(all, len(part)), part...) }

func addLength(all []byte, n int) []byte { return binary.BigEndian.AppendUint64(all, uint64(n)) }

// NewMark returns a new mark for the processes of a step's agents, in hex.
func NewMark() string { return strconv.FormatUint(uint64(proc.NewMark()), 16) }

// MarkOf returns the mark that belongs to a name, in hex. Nobody can find a name for a given mark.
func MarkOf(name string) string { return strconv.FormatUint(uint64(proc.MarkOf(name)), 16) }

// IsAtWork reports whether a process with the mark lives: an agent, or a process that an agent left
// behind.
func IsAtWork(mark string) bool { return proc.Lives(ParseMark(mark)) }

// IsWithin reports whether an agent with the mark started this process.
func IsWithin(mark string) bool { return proc.IsWithin(ParseMark(mark)) }

// ParseMark parses a mark in hex. For any other text it returns 0, which is no mark.
func ParseMark(s string) proc.Mark {
	mark, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return proc.Mark(mark)
}

// EndLeftovers ends the processes with one of the marks, after the runs that started them have ended.
// See [proc.EndMarked] for the places.
func EndLeftovers(born, here durable.Place, marks ...string) error {
	all := make([]proc.Mark, len(marks))
	for i, mark := range marks {
		all[i] = ParseMark(mark)
	}
	return proc.EndMarked(born, here, all...)
}

// Adapter starts one kind of agent program and reads its output.
type Adapter interface {
	Name() string
	// Check returns the fault that would make a start fail, or nil if there is none. Errors:
	// *ConfigError.
	Check(Assignment) error
	// Invoke describes the start of the program. The result depends on the assignment alone.
	// Errors: *ConfigError.
	Invoke(Assignment) (Invocation, error)
	// Reader returns a reader of one attempt's standard output. The reader passes the events to the
	// host.
	Reader(contract.Kind, Host) Reader
	// Tool describes the program behind the adapter.
	Tool() Tool
}

// Host receives the events of a running attempt. Its functions are safe for concurrent use.
type Host struct {
	Emit func(Event)
	// Told reports whether a message with this ID was sent. If Told is nil, every message counts as
	// sent.
	Told func(id string) bool
	// GiveUp ends the attempt at once. Its argument is the outcome: a *ConfigError, *LaterError,
	// *LimitError or *contract.Failure.
	GiveUp func(error)
}

// Reader reads an agent's standard output, in bounded memory.
type Reader interface {
	io.Writer
	// End returns the report. The caller calls it once, after the last byte.
	End(proc.Exit) Report
}

// StderrReader is a Reader for a tool that reports some failures on standard error only.
type StderrReader interface {
	Reader
	// ReadStderr takes the last lines of standard error. The caller calls it once, before End.
	ReadStderr(tail string)
}

// StderrWatcher is a Reader for a tool that may wait for its provider for hours, and reports this
// only on standard error.
type StderrWatcher interface {
	Reader
	// WatchStderr takes each line of standard error as soon as it is printed. It runs in another
	// goroutine than Write.
	WatchStderr(line string)
}

// Report is the result that a [Reader] found in the output of an attempt that has ended.
type Report struct {
	Reply   string            // text of the reply; with a Failure, the part that was received
	Failure *contract.Failure // the reason why there is no reply; nil if there is a reply
	// Err is a *ConfigError, *LaterError or *LimitError, or nil. An immediate retry would fail with
	// the same error.
	Err     error
	Cut     bool // with a Failure: the tool has ended in the middle of its turn
	TooLong bool // with a Failure: the session no longer fits the model's context
	// Declined means, with a Failure, that the provider's safeguards refuse the input or the answer.
	Declined bool
	Warning  string    // a fault at the end of an attempt whose reply counts; "" if there is none
	Advice   string    // what to do about a reply that is not in the right format but prose; "": nothing
	Session  string    // "" if the tool has no sessions
	Spent    *Spending // nil if the tool does not report its spending
	// Cumulative means that Spent includes the earlier attempts in the session. In a fork it also
	// includes the session that was forked.
	Cumulative bool
	// SessionCost is the cost of the session so far, in millionths of a US dollar, including earlier
	// attempts that ended before they reported their cost. In a fork it also includes the session
	// that was forked. It is nil if the tool does not report it.
	SessionCost *int64
}

// Tool describes the program behind an adapter. The zero value is an unknown program.
type Tool struct {
	Program string            // name of the program in PATH
	Install string            // command that installs the program
	Tested  string            // version that the adapter was tested with
	Options []string          // options that the adapter needs, as the program's help spells them
	Help    []string          // arguments that print the program's help
	Ignores []string          // role options that it ignores: "model", "tools" or both
	Keys    []string          // secret environment variables that it needs; * matches any text
	Env     map[string]string // default values of its environment variables
	Resumes bool              // it can go on in a session of an earlier call
	Permits bool              // it, or its adapter, enforces the agent's permission
	// Project lists files of a project by which it may run commands whatever the permission of the
	// agent. The paths are relative to the work directory.
	Project []string
	// ByPath returns, in words, what the user has set for the repository with the top dir by its path, so that it does not
	// count in a clone; "": nothing. A nil function stands for nothing.
	ByPath  func(a Assignment, dir string) string
	Free    bool    // it asks no model and costs nothing
	EndsAt  bool    // it ends an attempt at a cost (max_cost)
	Signals Signals // the signs of work in its output
}

// Signals describes the signs of work in a program's output. For the zero value, output of any kind
// is the only sign.
type Signals struct {
	Session bool // it reports its session, and from then on its model's activity
	Calls   bool // it reports a tool call when the call begins, not only when the call ends
	Apart   bool // it runs each command in a process session of its own
}

// Getenv returns the value of a variable in an environment, or "".
func Getenv(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}
