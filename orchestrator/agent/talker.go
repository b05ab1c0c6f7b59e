package agent

// Talker is an adapter whose tool a person can talk to: it reads messages for as long as its input is open, and says after each
// whether it is done.
type Talker interface {
	Adapter
	// Talk gives the command line of a conversation that goes on in Follow.Session, if there is one. Its standard input and
	// output are a terminal. Errors: *ConfigError.
	Talk(Assignment) (Invocation, error)
	// Message is what a person says, in the form in which the tool reads it.
	Message(text string) []byte
	// Interrupt asks the tool to stop what it is doing, and to wait for the next message.
	Interrupt() []byte
}
