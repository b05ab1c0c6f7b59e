// Package failpoint kills or delays the program at named places of the code, in builds with the
// tag failpoints. In all other builds its functions do nothing and compile to nothing.
//
// A test arms one place by an environment variable:
//
//	KANBAN_TEST_FAILPOINT=NAME@N=VICTIM
//
// When a process reaches NAME for the N-th time, VICTIM gets SIGKILL: self, this process; parent,
// the process that started it (a runner's guardian); both, the parent first. With the victim none
// the process waits there for a second and goes on, so that a test can act meanwhile.
package failpoint
