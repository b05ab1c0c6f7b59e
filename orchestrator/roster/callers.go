package roster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/redact"
)

// isCallersOwn reports whether an environment variable belongs to the git command or the agent
// session that started kanban-run. In a git hook GIT_INDEX_FILE would make an agent stage its files
// into the caller's commit, and an agent that finds CLAUDECODE behaves as a part of the caller's
// session.
func isCallersOwn(name string) bool {
	return slices.Contains(gitLocalVariables(), name) || matchAny([]string{
		"CLAUDECODE", "CLAUDE_CODE_SESSION*", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_SSE_PORT", "CODEX_SANDBOX*", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE",
		"OPENCODE_PID", "OPENCODE_RUN_ID",
	}, name)
}

// gitLocalVariables returns the environment variables that git calls local to a repository (git
// rev-parse --local-env-vars). GIT_CONFIG_COUNT is left out, because containers use it to set
// safe.directory and proxies.
func gitLocalVariables() []string {
	return []string{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_OBJECT_DIRECTORY",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
		"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
		"GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_REF_STORAGE_FORMAT",
	}
}

// The environment variables that configure git. GIT_CONFIG_COUNT is the number of pairs of a key
// and a value; the other two are prefixes, followed by the pair's number.
const (
	gitConfigCount = "GIT_CONFIG_COUNT"
	gitConfigKey   = "GIT_CONFIG_KEY_"
	gitConfigValue = "GIT_CONFIG_VALUE_"
)

// withoutSecretGitConfig returns an environment without the pairs of git's settings that look
// secret and are not in pass, and without the pairs that git does not read. It numbers the other
// pairs anew. withheld holds the names of the variables with the secret values.
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
