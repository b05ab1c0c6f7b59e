package agent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// Resident is an adapter whose program can stay between calls: it reads messages from standard
// input, one JSON object a line, answers each with one JSON object on one line of standard
// output, and sleeps meanwhile.
type Resident interface {
	Adapter
	// Stay is Invoke for a program that stays: Stdin is the message, the assignment's input in one
	// line with its end. Errors: *ConfigError, or a fault of the input.
	Stay(Assignment) (Invocation, error)
	// Turn reads the answer to one message. It emits a Result event once the answer is there, and
	// ignores the output after it. End is called when the turn is over, whether the program has
	// ended or stays.
	Turn(contract.Kind, Host) Reader
}

// Stay is Invoke with the input in one line.
func (e execAdapter) Stay(a Assignment) (Invocation, error) {
	inv, err := e.Invoke(a)
	if err != nil {
		return Invocation{}, err
	}
	inv.Stdin, err = messageLine(a.Input)
	return inv, err
}

func (execAdapter) Turn(_ contract.Kind, h Host) Reader { return NewAnswerReader(h) }

// messageLine returns a JSON value in one line, with its end.
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
// It gives up at any other line, after which answers could not be matched with messages.
func NewAnswerReader(h Host) Reader {
	r := &answerReader{host: h}
	r.Lines = Lines{Max: contract.MaxReply, Each: r.read, Long: r.rejectLong}
	return r
}

type answerReader struct {
	Lines
	host   Host
	answer string            // or the beginning of the line that is no answer
	fault  *contract.Failure // of the line that is no answer
	over   bool              // there is an answer, or a fault
}

func (r *answerReader) read(line []byte) {
	line = bytes.Trim(line, space)
	switch {
	case r.over || len(line) == 0:
	case line[0] == '{' && json.Valid(line):
		r.answer, r.over = string(line), true
		r.host.Emit(Event{Kind: Result})
	default:
		r.reject(line, contract.Failed("it printed a line that is not a JSON object"))
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

// beginning returns the part of a wrong line for people.
func beginning(line []byte) string {
	if len(line) <= maxJunk {
		return string(line)
	}
	return string(WholeRunes(line[:maxJunk]))
}

// End takes an answer, even of a program that has ended after it, but no part of a line.
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
