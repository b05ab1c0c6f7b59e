// Package supervise is seed 003 for a person at a terminal: the agent works until it stops, a supervisor looks at its work in a fork of
// the session, and what it has to say is the agent's next message, until the work is complete and it is the person's turn again.
package supervise
