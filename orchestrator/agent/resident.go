package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// Resident is an adapter whose program can stay between calls. The program reads messages from
// standard input, one JSON object a line. It answers each message with one JSON object on one line
// of standard output, and then sleeps until the next message.
type Resident interface {
	Adapter
	// Stay is like Invoke, but for a program that stays between calls. Stdin is the first message,
	// one line that ends with a newline. Errors: *ConfigError, or a fault of the input.
	Stay(Assignment) (Invocation, error)
	// Turn returns a reader of the answer to one message. The reader emits a Result event once it
	// has the answer, and ignores the output after it. The caller calls End when the turn is over,
	// whether or not the program has ended.
	Turn(contract.Kind, Host) Reader
}

// Stay returns the invocation with the input in one line.
func (e execAdapter) Stay(a Assignment) (Invocation, error) {
	inv, err := e.Invoke(a)
	if err != nil {
		return Invocation{}, err
	}
	inv.Stdin, err = messageLine(a.Input)
	return inv, err
}

func (execAdapter) Turn(_ contract.Kind, h Host) Reader { return NewAnswerReader(h) }

// maxShown bounds the part of a line that a reason shows, in bytes.
const maxShown = 100

// messageLine returns a JSON value in one line that ends with a newline.
func messageLine(value []byte) ([]byte, error) {
	var line bytes.Buffer
	line.Grow(len(value) + 1)
	if err := json.Compact(&line, value); err != nil {
		return nil, fmt.Errorf("write the input in one line: %w", err)
	}
	line.WriteByte('\n')
	return line.Bytes(), nil
}

// NewAnswerReader returns the reader for a program that answers with one JSON object on one line.
// The reader gives up at any other line, because later answers could not be matched with messages.
func NewAnswerReader(h Host) Reader {
	r := &answerReader{host: h}
	r.Lines = Lines{Max: contract.MaxReply, Each: r.read, Long: r.rejectLong}
	return r
}

type answerReader struct {
	Lines
	host   Host
	answer string            // the answer or, if fault is set, the beginning of the faulty line
	fault  *contract.Failure // the reason why a line is no answer; nil if there is no such line
	over   bool              // answer or fault is set
}

func (r *answerReader) read(line []byte) {
	line = withoutDecoration(bytes.Trim(line, space))
	switch {
	case r.over || decoration(line) == len(line):
	case line[0] == '{' && json.Valid(line):
		r.answer, r.over = string(line), true
		r.host.Emit(Event{Kind: Result})
	default:
		r.reject(line, contract.Failed("it printed a line that is not a JSON object: %s; %s",
			strconv.Quote(Clip(string(line), maxShown)), onlyTheReply))
	}
}

func (r *answerReader) rejectLong(begin []byte) {
	if !r.over {
		r.reject(begin, contract.Failed("it printed a line that is longer than 16 MiB"))
	}
}

func (r *answerReader) reject(line []byte, fault *contract.Failure) {
	r.answer, r.fault, r.over = beginning(line), fault, true
	r.host.GiveUp(fault)
}

// beginning returns the first bytes of a line, to be shown to people.
func beginning(line []byte) string {
	if len(line) <= maxJunk {
		return string(line)
	}
	return string(WholeRunes(line[:maxJunk]))
}

// End returns the answer, even if the program ended badly after it. An incomplete line is no
// answer.
func (r *answerReader) End(exit proc.Exit) Report {
	report := Report{Reply: r.answer, Failure: r.fault}
	if r.over {
		return report
	}
	report.Reply = beginning(r.partial)
	report.Failure = contract.Failed("it ended without an answer")
	if exit.Code != 0 || exit.Signal != "" || exit.TimedOut {
		report.Failure = &contract.Failure{Reason: exit.String()}
	}
	return report
}
