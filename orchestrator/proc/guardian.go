package proc

import "syscall"

// The guardian is a small process above the one that does the work, the runner. It has one task:
// when the runner ends, even by a kill, the guardian ends all processes that the runner started,
// and only then releases the files that the runner had locked.
//
//	guardian ── the link, a socket ── runner ── agents
//
// Both are reapers of orphans (see Adopt). If the runner dies, its agents become children of
// the guardian, which kills them. If the guardian dies, the link ends, and the runner is to
// kill its agents and leave: see Link.Lost. If both die at once, the next run finds the
// remaining processes by their mark: see EndMarked.
//
// Only the guardian acts on signals from outside, and it sends each over the link. A terminal
// signals both processes, and timeout(1) signals first the guardian and then both. The runner
// discards the signals that reach it directly, so one request counts once.

// RunnerCommand is the first argument that makes this program the runner. It is not for people.
const RunnerCommand = "guarded-runner"

// Fate is the end of the runner.
type Fate struct {
	Code   int            // told by Link.Leave, or the exit status; -1: killed or not started
	Told   bool           // the runner called Link.Leave; if not, and if Signal is 0, it crashed
	Signal syscall.Signal // that ended the runner; 0: it ended by itself
	Asked  syscall.Signal // the last signal that the guardian took; 0: it took no signal
}
