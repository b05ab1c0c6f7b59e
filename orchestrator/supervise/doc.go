// Package supervise runs an agent and its supervisor for a person at a terminal. The agent works
// until it stops, a supervisor checks the work in a fork of the session, and the verdict is the
// agent's next message. Once the work is complete, it is the person's turn. Source: seed 003.
package supervise
