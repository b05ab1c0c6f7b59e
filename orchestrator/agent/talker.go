package agent

// Talker is an adapter whose tool reads messages as long as its input is open, and reports after
// each whether it is done.
type Talker interface {
	Adapter
	// Talk returns the command line of a conversation, in Follow.Session if there is one. Errors:
	// *ConfigError.
	Talk(Assignment) (Invocation, error)
	// Message returns a person's message in the tool's form.
	Message(text string) []byte
	// Interrupt returns the request to stop the current work and wait for the next message.
	Interrupt() []byte
}
