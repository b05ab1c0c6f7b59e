package proc

import "syscall"

// The guardian is a small process above the one that does the work, the runner. It has one task:
// when the runner ends, even by a kill, the guardian ends all processes that the runner started,
// and only then releases the files that the runner had locked.
//
//	guardian ── the link, a socket ── runner ── agents
//
// The guardian and the runner both adopt orphans (see Adopt). If the runner dies, its agents become
// children of the guardian, which kills them. If the guardian dies, the link ends, and the runner
// has to kill its agents and end (see Link.Lost). If both die at once, the next run finds the
// remaining processes by their mark (see EndMarked).
//
// Only the guardian acts on signals from outside, and it sends each to the runner over the link. A
// terminal signals both processes, and timeout(1) signals first the guardian and then both. The
// runner discards the signals that reach it directly, so one request counts once.

// RunnerCommand is the first argument that makes this program the runner. Users never type it.
const RunnerCommand = "guarded-runner"

// Fate is the end of the runner.
type Fate struct {
	Code   int            // from Link.Leave, or else the exit status; -1 if killed or not started
	Told   bool           // the runner called Link.Leave; an exit without this call is a crash
	Signal syscall.Signal // signal that ended the runner; 0 if it exited
	Asked  syscall.Signal // last signal that asked the guardian to end; 0 if none
}
