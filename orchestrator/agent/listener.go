package agent

import (
	"crypto/rand"
	"fmt"
)

// Listener is an adapter whose program can read standard input even while it works. If
// [Invocation.Listens] is set, the program does so. The methods return lines for this input.
type Listener interface {
	Adapter
	// Ask returns the line of a question that the agent answers without a trace in its work. An
	// [Answered] event with the same ID follows.
	Ask(id, question string) []byte
	// Tell returns the line of a message to the agent. The agent reads the message after the open
	// call, or after the text that the model is writing. A [Heard] event with the same ID then
	// follows.
	Tell(id, text string) []byte
	// Withdraw returns a line that takes back a message that the agent has not read yet.
	Withdraw(id string) []byte
	// EndCall returns a line that ends an open call of the tool, but not the turn. It returns nil
	// if the program cannot do this.
	EndCall(tool string) []byte
}

// NewMessageID returns a new ID for a question or a message: a UUID of version 4.
func NewMessageID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
