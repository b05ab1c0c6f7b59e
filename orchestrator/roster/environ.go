package roster

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/option"
	"kanban-run/orchestrator/redact"
)

// EnvRule selects the environment variables that an agent gets.
type EnvRule struct {
	option.Env
	Keys []string // patterns of variables that the tool needs, passed even if they look secret
}

// proxies are the variables that name the way to the internet. Such a value is a secret if it has a
// password.
var proxies = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}

// leadsOut reports whether a variable names the way to a server.
func leadsOut(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "_PROXY") && name != "NO_PROXY" || strings.HasSuffix(name, "_BASE_URL") || strings.HasSuffix(name, "_ENDPOINT")
}

// waysLeftOut returns the variables of base that name the way to a server and are not in env.
func waysLeftOut(base, env []string) (names []string) {
	for _, entry := range base {
		name, value, _ := strings.Cut(entry, "=")
		has := func(entry string) bool { return strings.HasPrefix(entry, name+"=") }
		if value != "" && leadsOut(name) && !slices.ContainsFunc(env, has) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// merge returns the settings' rule r combined with a role's rule o. An entry of o.Set replaces the
// entry of the same name in r.Set. If o.Only is not empty, it replaces r.Only.
func (r EnvRule) merge(o option.Env) EnvRule {
	set := map[string]string{}
	maps.Copy(set, r.Set)
	maps.Copy(set, o.Set)
	if len(o.Only) > 0 {
		r.Only = o.Only
	}
	r.Pass, r.Set = slices.Concat(r.Pass, o.Pass), set
	return r
}

// outerMark is the environment variable by which an outer kanban-run finds this process. Agents do
// not get this variable, because its value would differ in a later run that repeats their call.
// Package proc gives each agent a mark of its own.
const outerMark = "KANBAN_RUN_MARK"

// environment returns the variables of base and rule that an agent gets, sorted by name, and the
// names of the withheld variables: those that look secret, control the CI job, or belong to the
// program that started kanban-run. The webhook for notifications is in neither result, because no
// agent needs it. The results depend on base and rule alone, so that a retry gets the same
// environment. Source: seed 004, "Retry Rule (CRITICAL)".
func environment(base []string, rule EnvRule) (env, withheld []string) {
	entries := map[string]string{}
	if len(rule.Only) == 0 {
		base, withheld = withoutSecretGitConfig(base, rule.Pass)
	}
	for _, entry := range base {
		name, value, ok := strings.Cut(entry, "=")
		switch {
		case !ok || name == "" || name == outerMark || name == "KANBAN_RUN_NOTIFY_WEBHOOK":
		case len(rule.Only) > 0:
			if matchAny(rule.Only, name) {
				entries[name] = entry
			}
		case matchAny(rule.Pass, name):
			entries[name] = entry
		case isCallersOwn(name),
			!matchAny(rule.Keys, name) &&
				(controlsCI(name) || redact.IsSecretName(name) || redact.IsSecretValue(value)):
			withheld = append(withheld, name)
		default:
			entries[name] = entry
		}
	}
	for name, value := range rule.Set {
		entries[name] = name + "=" + value
	}
	env = slices.AppendSeq(make([]string, 0, len(entries)), maps.Values(entries))
	sort.Strings(env)
	sort.Strings(withheld)
	return env, slices.DeleteFunc(withheld, func(name string) bool { _, set := rule.Set[name]; return set })
}

// Environment returns the environment of a program that is not an agent, such as the command for
// notifications: the variables of base that the rule in the settings passes, and those that it
// sets.
func Environment(base []string, s *config.Settings) []string {
	env, _ := environment(base, EnvRule{Env: s.Env})
	return env
}

// AgentEnviron returns the environment of a program that is not an agent, but that an agent may
// have written.
func (r *Roster) AgentEnviron() []string { return Environment(r.Environ, r.Settings) }

// PublicEnviron returns the environment of a program that needs no secret, such as one that is asked
// for its version: the variables of base and rule that are no secret and do not control the CI job,
// whatever the rule passes.
func PublicEnviron(base []string, rule EnvRule) []string {
	env, _ := environment(base, EnvRule{Env: option.Env{Set: rule.Set, Only: rule.Only}})
	return slices.DeleteFunc(env, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return controlsCI(name) || redact.IsSecretName(name) || redact.IsSecretValue(value)
	})
}

// controlsCI reports whether an environment variable lets a process control a GitHub Actions job or
// act in the job's name.
func controlsCI(name string) bool {
	return matchAny([]string{"GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
		"GITHUB_TOKEN", "ACTIONS_*"}, name)
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// Secrets returns the environment variables to redact: those whose name or value looks secret.
func Secrets(environ []string) []redact.Secret {
	var secrets []redact.Secret
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if redact.IsSecretName(name) || redact.IsSecretValue(value) {
			secrets = append(secrets, redact.Secret{Name: name, Value: value})
		}
	}
	return secrets
}
