// Package failpoint kills or delays the program at named places of the code, in builds with the
// tag failpoints. In all others its functions are empty and compile to nothing.
//
// A test arms one place by the environment:
//
//	KANBAN_TEST_FAILPOINT=NAME@N=VICTIM
//
// When NAME is reached for the N-th time, VICTIM gets SIGKILL: self, the process that reached it;
// parent, the process that started it (a runner's guardian); both, the parent first. The victim
// none waits a second there, and goes on: a test does something meanwhile.
package failpoint
