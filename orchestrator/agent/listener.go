package agent

import (
	"crypto/rand"
	"fmt"
)

// Listener is an adapter whose program reads on while it works, where its [Invocation.Listens].
// Its methods make lines for the program's standard input.
type Listener interface {
	Adapter
	// Ask returns a question that is answered beside the work, and leaves no trace in it. An
	// [Answered] event with the ID follows.
	Ask(id, question string) []byte
	// Tell returns a message to the agent. A [Heard] event with the ID follows once the agent has
	// it: after the open call, or after the text that its model writes.
	Tell(id, text string) []byte
	// Withdraw takes back a message that the agent has not heard yet.
	Withdraw(id string) []byte
	// EndCall ends an open call of a tool, and not the turn; nil if the program cannot do that.
	EndCall(tool string) []byte
}

// NewMessageID makes the ID of a question or a message: a UUID of version 4.
func NewMessageID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
