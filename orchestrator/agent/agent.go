// Package agent holds the common part of adapters of agent programs: the assignment, the start of
// the program, and the events in its output. An agent runs in package attempt.
package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// ConfigError is a mistake that no retry mends: a command that does not exist, a missing login.
type ConfigError struct {
	Text string
	Fix  string // the remedy
	Err  error  // the system's error, or nil

	Missing bool // only the program is missing
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

// LaterError reports that the provider refuses work for now: a usage limit is reached.
type LaterError struct {
	Text  string    // in the provider's words
	Reset time.Time // the end of the limit; zero if it is unknown
}

func (e *LaterError) Error() string {
	if e.Reset.IsZero() {
		return e.Text
	}
	return fmt.Sprintf("%s (until %s)", e.Text, e.Reset.UTC().Format(time.RFC3339))
}

// Hint returns the remedy: the same command, later.
func (e *LaterError) Hint() string { return "the same command goes on once the limit is over" }

// LimitError reports that an agent has reached a limit of its attempt. Another attempt would reach
// it, too.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// Hint returns the remedy.
func (e *LimitError) Hint() string {
	return "raise max_turns or max_cost of the role, or --max-attempt-cost, or make the task smaller; the " +
		"same command goes on in its session, or starts the attempt afresh where it has none"
}

// Permission is the extent of an agent's actions without asking: a run is unattended.
type Permission string

// The values of Permission; "" is the adapter's default.
const (
	ReadOnly Permission = "read-only" // look at the work directory, and change nothing
	Edit     Permission = "edit"      // change files in the work directory, too
	Full     Permission = "full"      // all that the user could do
)

// Assignment is the work of an agent, in a form common to all adapters.
type Assignment struct {
	Role     string
	Contract contract.Kind
	Input    []byte // one JSON object
	Prompt   string // the role's system prompt
	// Command belongs to an exec agent, or replaces the program of another adapter.
	Command    []string
	Args       []string // added to the command line
	Model      string
	Tools      []string // nil: all
	Denied     []string // tools that it must not use
	Permission Permission
	MaxTurns   int   // of the model in one attempt; 0: no limit
	MaxCost    int64 // of one attempt, in millionths of a US dollar; 0: no limit
	// MCP is the path of a file that names MCP servers, in the tool's own form; "": only those of
	// the tool's settings.
	MCP     string
	MCPText []byte // the file's content; nil until it is read, see [ReadMCP]
	// MCPTimeout bounds one call of the servers' tools, for a tool that can end it alone; 0: the
	// tool's own limit.
	MCPTimeout time.Duration
	Review     bool // a review will fork and resume the session
	Follow     *Follow
	Dir        string // work directory
	Scratch    string // folder for [Invocation.Files]
	Env        []string
	Timeout    time.Duration
	Grace      time.Duration
}

// Follow is the continuation of an earlier call's session.
type Follow struct {
	Session string
	Fork    bool   // in a copy of the session, which stays as it is
	Text    string // the prompt in place of Input
}

// Invocation describes the start of a program. It is the same, to the byte, in every attempt: seed
// 004, "Retry Rule (CRITICAL)".
type Invocation struct {
	Argv    []string // Argv[0] is the program's path
	Stdin   []byte
	Env     []string
	Dir     string
	Timeout time.Duration
	Grace   time.Duration

	Files []File // written before the program starts

	Listens bool // Stdin stays open until the result, so that a [Listener] can send more

	MaxOutput int64     // in bytes, of both streams together; 0: no limit
	Mark      proc.Mark // by which EndLeftovers finds its processes; not part of the Digest
}

// File is a file that a command line names.
type File struct {
	Path string
	Data []byte
}

// Digest returns the SHA-256, in hex, of all that the agent can see: argv, the SHA-256 of stdin,
// environment, folder and files. Each part follows its length, so that two invocations never have
// the same bytes.
func (i Invocation) Digest() string {
	stdin := sha256.Sum256(i.Stdin)
	all := make([]byte, 0, 8<<10)
	all = addAll(all, i.Argv)
	all = add(all, hex.EncodeToString(stdin[:]))
	all = addAll(all, i.Env)
	all = add(all, i.Dir)
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

// NewMark returns a mark for a step's agents, in hex.
func NewMark() string { return strconv.FormatUint(uint64(proc.NewMark()), 16) }

// IsAtWork reports whether a process has a mark: an agent, or a process that one left behind.
func IsAtWork(mark string) bool { return proc.Lives(ParseMark(mark)) }

// IsWithin reports whether this process was started by an agent with a mark.
func IsWithin(mark string) bool { return proc.IsWithin(ParseMark(mark)) }

// ParseMark parses a mark; 0 is no mark.
func ParseMark(s string) proc.Mark {
	mark, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return proc.Mark(mark)
}

// EndLeftovers ends the processes with the mark, which outlived the run that started them.
func EndLeftovers(mark string) error { return proc.EndMarked(ParseMark(mark)) }

// Adapter knows one kind of agent program.
type Adapter interface {
	Name() string
	// Check finds the faults that a start would meet. Errors: *ConfigError.
	Check(Assignment) error
	// Invoke depends on the assignment alone. Errors: *ConfigError.
	Invoke(Assignment) (Invocation, error)
	// Reader reads the standard output of one attempt, and passes its events to the host.
	Reader(contract.Kind, Host) Reader
	// Tool describes the program behind the adapter.
	Tool() Tool
}

// Host receives the events of a running attempt. Its functions are safe for concurrent use.
type Host struct {
	Emit func(Event)
	Told func(id string) bool // a message with this ID was sent; nil: every message was
	// GiveUp ends the attempt at once: its outcome is the *ConfigError, *LaterError, *LimitError or
	// *contract.Failure.
	GiveUp func(error)
}

// Reader reads an agent's standard output, in bounded memory.
type Reader interface {
	io.Writer
	// End is called once, after the last byte.
	End(proc.Exit) Report
}

// StderrReader is a Reader for a tool that reports some failures on standard error only.
type StderrReader interface {
	Reader
	// ReadStderr is called once, before End, with the last lines of standard error.
	ReadStderr(tail string)
}

// Report is the result of a Reader's reading of an attempt that has ended.
type Report struct {
	Reply   string            // its text; with a Failure, the received part
	Failure *contract.Failure // the reason why there is no reply
	Err     error             // *ConfigError, *LaterError or *LimitError: a retry fails, too
	Session string            // "" if the tool has no sessions
	Spent   *Spending         // nil: the tool does not report it
	// Cumulative: Spent includes earlier attempts in the session, and the session that it was
	// forked from.
	Cumulative bool
}

// Tool describes the program behind an adapter. The zero value is an unknown program.
type Tool struct {
	Program string            // its name in PATH
	Install string            // the command that installs it
	Tested  string            // the version that the adapter was tested with
	Options []string          // needed by the adapter, as the program's help spells them
	Help    []string          // arguments that print that help; --version prints its version
	Ignores []string          // ignored options of a role: tools, named otherwise here, and model
	Keys    []string          // variables that it needs though they look secret; * matches any text
	Env     map[string]string // variables that it gets unless they are set
	Resumes bool              // it goes on in a session that an earlier call has named
	Free    bool              // it asks no model, so that it costs nothing
	Signals Signals           // the signs of work in its output
}

// Signals describe the signs of work in a program's output. The zero value is a program of which
// only the existence of output is known.
type Signals struct {
	Session bool // its session, and from then on its model's activity
	Calls   bool // calls of tools when they begin; else only when they end
	Apart   bool // it runs commands in sessions of their own, so that their work can be told apart
}
