// Package supervise is seed 003 for a person at a terminal. The agent works until it stops, a
// supervisor checks its work in a fork of the session, and the verdict is the agent's next message.
// Once the work is complete, it is the person's turn.
package supervise
