// Package failpoint kills or delays the program at named places of the code, in builds with the
// tag failpoints. In all other builds its functions do nothing and compile to nothing.
//
// A test arms one place with an environment variable:
//
//	KANBAN_TEST_FAILPOINT=NAME@N=VICTIM
//
// When a process reaches NAME for the N-th time, VICTIM gets SIGKILL. VICTIM is "self" (this
// process), "parent" (the process that started it, such as a runner's guardian) or "both" (the
// parent first). If VICTIM is "hold:FILE", the process makes FILE and waits until the test, which
// acts meanwhile, has removed FILE.
package failpoint
