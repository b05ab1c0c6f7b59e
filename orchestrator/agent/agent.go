// Package agent is what adapters of agent programs have in common: what an agent is asked, how its
// program is started, and what its output says. An agent runs in package attempt.
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

// ConfigError is a mistake that no retry can mend: a command that does not exist, a missing login.
type ConfigError struct {
	Text string
	Fix  string // what to do about it
	Err  error  // what the system said, or nil

	Missing bool // only the program is missing
}

func (e *ConfigError) Error() string {
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

// Unwrap returns what the system said.
func (e *ConfigError) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *ConfigError) Hint() string { return e.Fix }

// LaterError says that the provider refuses work for now: a usage limit is reached.
type LaterError struct {
	Text  string    // in the provider's words
	Reset time.Time // when the limit ends; zero when the provider does not say
}

func (e *LaterError) Error() string {
	if e.Reset.IsZero() {
		return e.Text
	}
	return fmt.Sprintf("%s (until %s)", e.Text, e.Reset.UTC().Format(time.RFC3339))
}

// Hint says when to try again.
func (e *LaterError) Hint() string { return "the same command goes on once the limit is over" }

// LimitError says that an agent has reached a limit of its attempt. Another attempt would reach it,
// too.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// Hint says what to do about it.
func (e *LimitError) Hint() string {
	return "raise max_turns or max_cost of the role, or --max-attempt-cost, or make the task smaller; the " +
		"same command goes on in its session, or starts the attempt afresh where it has none"
}

// Permission says what an agent may do without asking: a run is unattended.
type Permission string

// The values of Permission; "" is what the adapter does unless it is told.
const (
	ReadOnly Permission = "read-only" // look at the work directory, and change nothing
	Edit     Permission = "edit"      // change files in the work directory, too
	Full     Permission = "full"      // all that the user could do
)

// Assignment is what an agent is asked to do, in no adapter's own form.
type Assignment struct {
	Role       string
	Contract   contract.Kind
	Input      []byte   // one JSON object
	Prompt     string   // the role's system prompt
	Command    []string // of an exec agent; of any other the program to start in place of the adapter's own
	Args       []string // added to the command line
	Model      string
	Tools      []string // nil: all that there are
	Denied     []string // tools that it must not use
	Permission Permission
	MaxTurns   int   // of the model in one attempt; 0: no limit
	MaxCost    int64 // of one attempt, in millionths of a US dollar; 0: no limit
	// path of a file that names MCP servers, in the tool's own form; "": only those of the tool's settings
	MCP        string
	MCPText    []byte        // the file's content; nil: not read yet, see [ReadMCP]
	MCPTimeout time.Duration // of one call of the servers' tools, for a tool that can end it alone; 0: the tool's own
	Review     bool          // a review will fork and resume the session
	Follow     *Follow
	Dir        string // work directory
	Scratch    string // folder for [Invocation.Files]
	Env        []string
	Timeout    time.Duration
	Grace      time.Duration
}

// Follow says that a call continues the session of an earlier one.
type Follow struct {
	Session string
	Fork    bool   // in a copy of the session, which stays as it is
	Text    string // what the agent is told in place of Input
}

// Invocation is how a program is started. It is the same, to the byte, in every attempt: seed 004,
// "Retry Rule (CRITICAL)".
type Invocation struct {
	Argv    []string // Argv[0] is the program's path
	Stdin   []byte
	Env     []string
	Dir     string
	Timeout time.Duration
	Grace   time.Duration

	Files []File // written before the program starts

	Listens bool // Stdin stays open until the result, so that a [Listener] can be told more

	MaxOutput int64     // in bytes, of both streams together; 0 is no bound
	Mark      proc.Mark // by which EndLeftovers finds its processes; not part of the Digest
}

// File is one that a command line names.
type File struct {
	Path string
	Data []byte
}

// Digest is the SHA-256, in hex, of what the agent can see: argv, the SHA-256 of stdin,
// environment, folder and files. Each part follows its length, so that two invocations never make
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

// NewMark makes the mark of a step's agents, in hex.
func NewMark() string { return strconv.FormatUint(uint64(proc.NewMark()), 16) }

// IsAtWork says whether a process has a mark: an agent, or what one left behind.
func IsAtWork(mark string) bool { return proc.Lives(ParseMark(mark)) }

// IsWithin says whether this process was started by an agent with a mark.
func IsWithin(mark string) bool { return proc.IsWithin(ParseMark(mark)) }

// ParseMark reads a mark; 0 is none.
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
	// Reader reads the standard output of one attempt, and tells the host what happens.
	Reader(contract.Kind, Host) Reader
	// Tool describes the program behind the adapter.
	Tool() Tool
}

// Host is told what happens while an attempt runs. Its functions are safe for concurrent use.
type Host struct {
	Emit func(Event)
	Told func(id string) bool // whether a message with this ID was sent; nil: any was
	// ends the attempt at once: the *ConfigError, *LaterError, *LimitError or *contract.Failure is its outcome
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

// Report is what a Reader found in the output of an attempt that has ended.
type Report struct {
	Reply   string            // its text; with a Failure, what there is of it
	Failure *contract.Failure // why there is none
	Err     error             // *ConfigError, *LaterError or *LimitError: why another attempt would fail, too
	Session string            // "" where the tool has none
	Spent   *Spending         // nil: the tool does not say
	// Spent is of the whole session, and of the one that it was forked from, and not only of this attempt
	Cumulative bool
}

// Tool describes the program behind an adapter. The zero value is that of an unknown program.
type Tool struct {
	Program string            // its name in PATH
	Install string            // how it is installed
	Tested  string            // the version that the adapter was tested with
	Options []string          // which the adapter needs, as the program's help spells them
	Help    []string          // arguments that print that help; its version is printed by --version
	Ignores []string          // options of a role that it ignores: tools, where it has other names for them, and model
	Keys    []string          // variables that it needs although they look secret; * matches any text
	Env     map[string]string // variables that it is given unless they are set
	Resumes bool              // it goes on in a session that an earlier call has named
	Free    bool              // it asks no model, so that it costs nothing
	Signals Signals           // what its output tells of its work
}

// Signals are what the output of a program tells of its work. The zero value is that of a program
// of which nothing is seen but that it prints.
type Signals struct {
	Session bool // its session, and from then on what its model does
	Calls   bool // calls of tools when they begin; else only when they end
	Apart   bool // it runs commands in sessions of their own, so that their work can be told from its own
}
