package roster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/redact"
)

// isCallersOwn reports whether an environment variable belongs to the git command, the agent
// session or the terminal multiplexer that started kanban-run. In a git hook, GIT_INDEX_FILE would
// make an agent stage its files into the caller's commit. An agent that finds CLAUDECODE behaves as
// a part of the caller's session. What an agent starts in the caller's tmux is a child of that
// server, and would live on.
func isCallersOwn(name string) bool {
	return slices.Contains(gitLocalVariables(), name) || matchAny([]string{
		"CLAUDECODE", "CLAUDE_CODE_SESSION*", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_SSE_PORT", "CODEX_SANDBOX*", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE",
		"OPENCODE_PID", "OPENCODE_RUN_ID",
		"TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY", "SCREENDIR", "ZELLIJ*",
	}, name)
}

// gitLocalVariables returns the environment variables that git rev-parse --local-env-vars lists. It
// leaves out GIT_CONFIG_COUNT, because containers use that variable to set safe.directory and
// proxies.
func gitLocalVariables() []string {
	return []string{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_OBJECT_DIRECTORY",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
		"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
		"GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_REF_STORAGE_FORMAT",
	}
}

// The environment variables that configure git. GIT_CONFIG_COUNT is the number of key-value pairs.
// The other two are prefixes of names that end with the pair's number.
const (
	gitConfigCount = "GIT_CONFIG_COUNT"
	gitConfigKey   = "GIT_CONFIG_KEY_"
	gitConfigValue = "GIT_CONFIG_VALUE_"
)

// withoutSecretGitConfig returns an environment without two kinds of git's key-value pairs: those
// that git would not read, and those that look secret. The parameter "pass" is a list of patterns.
// A pair that looks secret stays if the name of the pair's GIT_CONFIG_VALUE variable matches one of
// these patterns. The remaining pairs are numbered anew. The second result holds the names of the
// variables with the secret values.
func withoutSecretGitConfig(base, pass []string) (env, withheld []string) {
	values := map[string]string{}
	for _, entry := range base {
		name, value, _ := strings.Cut(entry, "=")
		if name == gitConfigCount || strings.HasPrefix(name, gitConfigKey) || strings.HasPrefix(name, gitConfigValue) {
			values[name] = value
		} else {
			env = append(env, entry)
		}
	}
	count, _ := strconv.Atoi(values[gitConfigCount])
	kept := 0
	for i := range min(count, len(values)) {
		name := gitConfigValue + strconv.Itoa(i)
		key, hasKey := values[gitConfigKey+strconv.Itoa(i)]
		value, hasValue := values[name]
		switch {
		case !hasKey || !hasValue:
		case !matchAny(pass, name) && isSecretGitConfig(key, value):
			withheld = append(withheld, name)
		default:
			env = append(env, fmt.Sprint(gitConfigKey, kept, "=", key), fmt.Sprint(gitConfigValue, kept, "=", value))
			kept++
		}
	}
	if kept > 0 {
		env = append(env, fmt.Sprint(gitConfigCount, "=", kept))
	}
	return env, withheld
}

// isSecretGitConfig reports whether a setting of git may hold a secret: http.extraHeader can hold a
// login, and an address can hold a password.
func isSecretGitConfig(key, value string) bool {
	name := strings.ToUpper(key[strings.LastIndexByte(key, '.')+1:])
	return name == "EXTRAHEADER" || redact.IsSecretName(name) || redact.IsSecretValue(value) ||
		redact.IsSecretValue(key)
}
