// Package agent holds one conversation with one agent: it starts the agent by way of an adapter, sees it to its end, and
// returns a reply whose format is right or the reason why it is not.
package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"time"

	"kanban-run/orchestrator/proc"
)

// Contract says how a reply is judged.
type Contract int

// A single instruction is judged like a task; only the Manager's reply says what comes next.
const (
	TaskContract Contract = iota
	ManagerContract
	InstructionContract
)

func (c Contract) String() string {
	switch c {
	case TaskContract:
		return "task"
	case ManagerContract:
		return "manager"
	case InstructionContract:
		return "instruction"
	default:
		return "contract " + strconv.Itoa(int(c))
	}
}

// Schema names the JSON Schema of the contract's replies.
func (c Contract) Schema() string {
	if c == ManagerContract {
		return "manager-reply"
	}
	return "reply"
}

// Status is what an agent says of its work. All four are valid: seed 004, "Status Values".
type Status string

// The values of Status.
const (
	OK       Status = "ok"
	Blocked  Status = "blocked"
	Error    Status = "error"
	Escalate Status = "escalate"
)

// Reply is an agent's reply in the right format. The rest is the Manager's: NextTask is nil at the end of the work, and with
// SameTasks, which long lists only have, Tasks is nil and stands for the very list that the Manager was given.
type Reply struct {
	Status    Status
	Message   string
	NextTask  *string
	Tasks     []string
	SameTasks bool
}

// Failure is the reason why a reply is not in the right format. The agent is started again with the same input.
type Failure struct{ Reason string }

func (f *Failure) Error() string { return f.Reason }

func failed(format string, args ...any) *Failure { return &Failure{fmt.Sprintf(format, args...)} }

// ConfigError is a mistake that no retry can mend: a command that does not exist, a login that is missing.
type ConfigError struct {
	Text string
	Fix  string // what to do about it
	Err  error  // what the system said, or nil
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

// Assignment is what an agent is asked to do, before any adapter has put it into its own form.
type Assignment struct {
	Role     string
	Contract Contract
	Input    []byte   // one JSON object, for standard input
	InputSum string   // a SHA-256, in hex, that stands for Input; "": that of Input itself
	Prompt   string   // the role's system prompt
	Command  []string // of an exec agent
	Args     []string // added to the command line
	Model    string
	Tools    []string
	Dir      string // work directory
	Env      []string
	Timeout  time.Duration
	Grace    time.Duration
}

// Invocation is an assignment in the form in which a program is started. It is the same, to the byte, in every attempt: seed
// 004, "Retry Rule (CRITICAL)".
type Invocation struct {
	Argv    []string // Argv[0] is the program's path
	Stdin   []byte
	Sum     string // a SHA-256, in hex, that stands for Stdin; "": that of Stdin itself
	Env     []string
	Dir     string
	Timeout time.Duration
	Grace   time.Duration

	Tasks     []byte    // the list of tasks in the Manager's input, as it stands there: a reply that repeats it is not read again
	Room      []byte    // memory for the reply, which is nobody else's until Outcome.Rest is not needed any more; nil: none
	MaxOutput int64     // in bytes, of both streams together; 0 is no bound
	Mark      proc.Mark // by which EndLeftovers finds its processes; no part of what the agent can see
}

// Digest is the SHA-256, in hex, of all that the agent can see: argv, the sum that stands for stdin, environment and folder.
// Every part goes in with its length before it, so that no two different invocations read the same.
func (i Invocation) Digest() string {
	stdin := i.Sum
	if stdin == "" {
		sum := sha256.Sum256(i.Stdin)
		stdin = hex.EncodeToString(sum[:])
	}
	h := sha256.New()
	addAll(h, i.Argv)
	add(h, []byte(stdin))
	addAll(h, i.Env)
	add(h, []byte(i.Dir))
	return hex.EncodeToString(h.Sum(nil))
}

func addAll(h hash.Hash, words []string) {
	addLength(h, len(words))
	for _, w := range words {
		add(h, []byte(w))
	}
}

func add(h hash.Hash, part []byte) {
	addLength(h, len(part))
	h.Write(part)
}

func addLength(h hash.Hash, n int) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

// NewMark makes the mark of a step's agents, in hex.
func NewMark() string { return strconv.FormatUint(uint64(proc.NewMark()), 16) }

// ParseMark reads a mark; 0 is none.
func ParseMark(s string) proc.Mark {
	mark, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return proc.Mark(mark)
}

// EndLeftovers ends what agents with the mark left behind when the run that started them died.
func EndLeftovers(mark string) error { return proc.EndMarked(ParseMark(mark)) }

// Adapter knows one kind of agent program.
type Adapter interface {
	Name() string
	// Check finds what can be wrong before anything is started. Errors: *ConfigError.
	Check(Assignment) error
	// Invoke gives the program's command line and input. It is a function of the assignment alone. Errors: *ConfigError.
	Invoke(Assignment) (Invocation, error)
	// Reader reads the standard output of one attempt and passes on what happens. emit must be safe for concurrent use.
	Reader(emit func(Event)) Reader
}

// Reader is given an agent's standard output, in bounded memory, and says in the end where the reply in it is.
type Reader interface {
	io.Writer
	// Reply returns the text of the reply; with a Failure, what there is of it.
	Reply(proc.Exit) ([]byte, *Failure)
}

// Known lists the names of the adapters of this package, sorted.
func Known() []string { return []string{"exec", "stub"} }
