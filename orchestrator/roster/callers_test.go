package roster

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/option"
)

// TestCallersOwn: agents get neither the repository of the git command that started kanban-run nor the session of the
// agent that did, nor the terminal's server, unless they are named. The keys of a tool do not name them.
func TestCallersOwn(t *testing.T) {
	base := []string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_MAX_RETRIES=2", "CLAUDE_CODE_OAUTH_TOKEN=x", "CLAUDE_CODE_SESSION_ID=s",
		"CODEX_SANDBOX=seatbelt", "GEMINI_CLI=1", "GIT_AUTHOR_NAME=n", "GIT_DIR=/r/.git", "GIT_INDEX_FILE=/r/.git/index", "GIT_SSH_COMMAND=ssh -4",
		"SCREENDIR=/run/screen", "STY=1.pts-0.host", "TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%0", "TMUX_TMPDIR=/run/user/0", "ZELLIJ=0", "ZELLIJ_SESSION_NAME=s"}
	tests := []struct {
		name          string
		rule          EnvRule
		env, withheld []string
	}{
		{"with the keys of a tool", EnvRule{Keys: []string{"CLAUDE_CODE_*"}},
			[]string{"CLAUDE_CODE_MAX_RETRIES=2", "CLAUDE_CODE_OAUTH_TOKEN=x", "GIT_AUTHOR_NAME=n", "GIT_SSH_COMMAND=ssh -4"},
			[]string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CODEX_SANDBOX", "GEMINI_CLI", "GIT_DIR", "GIT_INDEX_FILE",
				"SCREENDIR", "STY", "TMUX", "TMUX_PANE", "TMUX_TMPDIR", "ZELLIJ", "ZELLIJ_SESSION_NAME"}},
		{"named", EnvRule{Env: option.Env{Pass: []string{"GIT_*", "CLAUDE*", "CODEX_SANDBOX", "GEMINI_CLI", "SCREENDIR", "STY", "TMUX*", "ZELLIJ*"}}}, base, nil},
		{"the strict list", EnvRule{Env: option.Env{Only: []string{"GIT_DIR"}}}, []string{"GIT_DIR=/r/.git"}, nil},
		{"set", EnvRule{Env: option.Env{Only: []string{"X"}, Set: map[string]string{"GIT_DIR": "/own"}}}, []string{"GIT_DIR=/own"}, nil},
	}
	for _, tt := range tests {
		env, withheld := environment(base, tt.rule)
		if diff := cmp.Diff([][]string{tt.env, tt.withheld}, [][]string{env, withheld}); diff != "" {
			t.Errorf("%s: environment, withheld: -want +got\n%s", tt.name, diff)
		}
	}
}

// TestGitLocalVariables holds the list to what the installed git says.
func TestGitLocalVariables(t *testing.T) {
	out, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Skipf("there is no git here: %v", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if name != gitConfigCount && !slices.Contains(gitLocalVariables(), name) {
			t.Errorf("git has the local variable %s", name)
		}
	}
}

// TestGitConfigOfEnvironment: a pair whose value is withheld goes with its key, and the rest is numbered anew.
func TestGitConfigOfEnvironment(t *testing.T) {
	pairs := []string{"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=http.https://example.com/.extraHeader", "GIT_CONFIG_VALUE_1=Authorization: basic eDp5",
		"GIT_CONFIG_KEY_2=url.https://x:ghp_0123456789abcdefghijABCDEFGHIJ012345@example.com/.insteadOf", "GIT_CONFIG_VALUE_2=https://example.com/",
		"GIT_CONFIG_KEY_3=http.proxy", "GIT_CONFIG_VALUE_3=http://proxy:3128"}
	whole := slices.Sorted(slices.Values(pairs))
	tests := []struct {
		name          string
		base, pass    []string
		env, withheld []string
	}{
		{"two secrets", pairs, nil, []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_KEY_1=http.proxy",
			"GIT_CONFIG_VALUE_0=*", "GIT_CONFIG_VALUE_1=http://proxy:3128"}, []string{"GIT_CONFIG_VALUE_1", "GIT_CONFIG_VALUE_2"}},
		{"passed", pairs, []string{"GIT_CONFIG_*"}, whole, nil},
		{"none secret", []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}, nil,
			[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}, nil},
		{"the only pair", []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=x: y"}, nil,
			[]string{}, []string{"GIT_CONFIG_VALUE_0"}},
		{"what git does not read", []string{"GIT_CONFIG_COUNT=x", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=x: y"}, nil, []string{}, nil},
		{"a huge count", []string{"GIT_CONFIG_COUNT=2000000000", "GIT_CONFIG_KEY_0=core.abbrev", "GIT_CONFIG_VALUE_0=9"}, nil,
			[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.abbrev", "GIT_CONFIG_VALUE_0=9"}, nil},
	}
	for _, tt := range tests {
		env, withheld := environment(tt.base, EnvRule{Env: option.Env{Pass: tt.pass}})
		if diff := cmp.Diff([][]string{tt.env, tt.withheld}, [][]string{env, withheld}); diff != "" {
			t.Errorf("%s: environment, withheld: -want +got\n%s", tt.name, diff)
		}
	}
}
