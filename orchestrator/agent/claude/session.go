package claude

import (
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
)

// args adds the arguments of a role. If a session is resumed, it leaves out the arguments that
// choose a session, because they were meant for the first start. `--continue` would now choose the
// newest session, which may be the supervisor's.
func (l *commandLine) args(a agent.Assignment) {
	if a.Follow == nil {
		l.add(a.Args...)
		return
	}
	l.add(withoutSession(a.Args)...)
}

// withoutSession removes the options that choose a session, with their values.
func withoutSession(args []string) []string {
	var kept []string
	for len(args) > 0 && args[0] != "--" {
		n := sessionOptions(args)
		if n == 0 {
			kept = append(kept, args[0])
		}
		args = args[max(n, 1):]
	}
	return append(kept, args...)
}

// sessionOptions returns the number of words that the first option and its value take, if the
// option chooses a session. For any other option it returns 0.
func sessionOptions(args []string) int {
	option, _, valued := strings.Cut(args[0], "=")
	switch {
	case slices.Contains([]string{"-c", "--continue", "--fork-session"}, option):
		return 1
	case slices.Contains([]string{"--session-id", "--resume-session-at"}, option):
		if valued {
			return 1
		}
		return min(2, len(args))
	case slices.Contains([]string{"-r", "--resume", "--from-pr"}, option):
		if valued || len(args) < 2 || strings.HasPrefix(args[1], "-") { // the value may be left out
			return 1
		}
		return 2
	case strings.HasPrefix(option, "-r"): // -rVALUE; no other option of claude begins with -r
		return 1
	}
	return 0
}
