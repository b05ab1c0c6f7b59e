// Package failpoint kills the program at named places of the code, in builds with the tag failpoints only: in all others
// every function of it is empty and the compiler leaves nothing of it.
//
// A test arms one place by the environment:
//
//	KANBAN_RUN_FAILPOINT=NAME@N=VICTIM
//
// At the N-th time that NAME is reached, VICTIM gets SIGKILL: self, the process that reached it; parent, the one that
// started it (of a runner that is its guardian); both, the parent first.
package failpoint
