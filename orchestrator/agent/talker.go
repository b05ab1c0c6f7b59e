package agent

// Talker is an adapter whose tool reads messages as long as its input is open, and says after each
// whether it is done.
type Talker interface {
	Adapter
	// Talk is the command line of a conversation, in Follow.Session if there is one. Errors:
	// *ConfigError.
	Talk(Assignment) (Invocation, error)
	// Message is a person's message in the tool's form.
	Message(text string) []byte
	// Interrupt asks the tool to stop what it is doing, and to wait for the next message.
	Interrupt() []byte
}
