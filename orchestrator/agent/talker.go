package agent

// Talker is an adapter whose tool reads messages as long as its input is open, and reports a result
// after each message.
type Talker interface {
	Adapter
	// Talk returns the start of a conversation. If Follow.Session is set, the conversation goes on
	// in that session. Errors: *ConfigError.
	Talk(Assignment) (Invocation, error)
	// Message returns a person's message in the tool's form.
	Message(text string) []byte
	// Interrupt returns the request to stop the current work and wait for the next message.
	Interrupt() []byte
}
