package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/event"
)

// Setting describes one setting for the help text, the completion and the documentation.
type Setting struct {
	Name     string // name in the settings file and in Input.Flags
	Flag     string // name without dashes; "" if there is no flag
	Short    string // one letter, or ""
	Opposite string // "FLAG: HELP" of the flag that gives false; "" if there is none
	Value    string // the flag's argument in the help text; "" for a switch
	Variable string // environment variable; "" if there is none
	InFile   bool
	Repeated bool   // has several values: flags, lines of the variable, or a map by role in the file
	Default  string // value, or words for a default that is not a fixed value
	Help     string
}

// row is a Setting with its setter. The setter is nil if applyOne itself handles the setting.
type row struct {
	Setting
	set func(s *Settings, value, dir string) error
}

// Table returns all settings in the order of the help text.
func Table() []Setting {
	var all []Setting
	for _, r := range rows() {
		all = append(all, r.Setting)
	}
	return all
}

// rows returns all settings. Callers must not change the list.
var rows = sync.OnceValue(func() []row {
	return slices.Concat(agentRows(), limitRows(), patienceRows(), watchRows(), checkpointRows(), notifyRows(), otherRows())
})

// agentRows returns the settings that choose the agents, and the place and the time of their work.
func agentRows() []row {
	return []row{
		{Setting{Name: "workdir", Flag: "workdir", Short: "C", Value: "DIR", Variable: "KANBAN_RUN_WORKDIR",
			Default: "chosen by the board", Help: "run in DIR: agents work there and paths start there"},
			func(s *Settings, v, dir string) error { s.Workdir = s.fromDir(dir, v); return nil }},
		{Setting{Name: "roles", Flag: "roles", Value: "DIR", Variable: "KANBAN_RUN_ROLES", InFile: true,
			Help: "look for role files in DIR before .kanban-run/roles"},
			func(s *Settings, v, dir string) error { s.Roles = s.fromDir(dir, v); return nil }},
		{Setting{Name: "agent", Flag: "agent", Value: "[ROLE=]ADAPTER", Variable: "KANBAN_RUN_AGENT", InFile: true,
			Repeated: true, Default: DefaultAgent, Help: "adapter of every role that has none of its own, or of ROLE"}, nil},
		{Setting{Name: "exec", Flag: "exec", Value: "[ROLE=]COMMAND", Variable: "KANBAN_RUN_EXEC", InFile: true,
			Repeated: true,
			Help: "program that works for every role that has none of its own, or for ROLE: JSON on stdin, " +
				"JSON on stdout; beside --agent [ROLE=]acp the program speaks ACP"}, nil},
		{Setting{Name: "stub", Flag: "stub", Value: "FILE", Variable: "KANBAN_RUN_STUB", InFile: true,
			Help: "what stub agents do instead of answering well"},
			func(s *Settings, v, dir string) error { s.Stub = s.fromDir(dir, v); return nil }},
		{Setting{Name: "timeout", Flag: "timeout", Value: "DURATION", Variable: "KANBAN_RUN_TIMEOUT", InFile: true,
			Default: "1h", Help: "stop an agent's attempt after DURATION; 0: never"},
			func(s *Settings, v, _ string) (err error) { s.Timeout, err = parseDuration(v); return err }},
		{Setting{Name: "grace", Variable: "KANBAN_RUN_GRACE", InFile: true, Default: "5s",
			Help: "time between asking an agent to stop and killing it"},
			func(s *Settings, v, _ string) (err error) { s.Grace, err = parseDuration(v); return err }},
		{Setting{Name: "max_retries", Flag: "max-retries", Value: "N", Variable: "KANBAN_RUN_MAX_RETRIES",
			InFile: true, Default: "3", Help: "start an agent up to N times again when its reply is invalid"},
			func(s *Settings, v, _ string) (err error) { s.MaxRetries, err = parseNumber(v, 0); return err }},
	}
}

// limitRows returns the settings that bound a run as a whole and each of its tasks.
func limitRows() []row {
	return []row{
		{Setting{Name: "max_steps", Flag: "max-steps", Value: "N", Variable: "KANBAN_RUN_MAX_STEPS", InFile: true,
			Default: "0", Help: "stop after N steps; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.Steps, err = parseNumber(v, 0); return err }},
		{Setting{Name: "max_cost", Flag: "max-cost", Value: "USD", Variable: "KANBAN_RUN_MAX_COST", InFile: true,
			Default: "0", Help: "stop once the agents have cost USD, as far as they tell; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.Cost, err = parseDollars(v); return err }},
		{Setting{Name: "max_cost_total", Flag: "max-cost-total", Value: "USD", Variable: "KANBAN_RUN_MAX_COST_TOTAL", InFile: true,
			Default: "0", Help: "stop once the agents of all boards of the command have cost USD; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.TotalCost, err = parseDollars(v); return err }},
		{Setting{Name: "max_duration", Flag: "max-duration", Value: "DURATION", Variable: "KANBAN_RUN_MAX_DURATION",
			InFile: true, Default: "0", Help: "stop once agents have worked, and waited for providers, for DURATION; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.Duration, err = parseDuration(v); return err }},
		{Setting{Name: "max_task_steps", Flag: "max-task-steps", Value: "N", Variable: "KANBAN_RUN_MAX_TASK_STEPS",
			InFile: true, Default: "0", Help: "stop before step N+1 of the same task; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.TaskSteps, err = parseNumber(v, 0); return err }},
		{Setting{Name: "max_task_cost", Flag: "max-task-cost", Value: "USD", Variable: "KANBAN_RUN_MAX_TASK_COST",
			InFile: true, Default: "0", Help: "stop once a task has cost USD; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.TaskCost, err = parseDollars(v); return err }},
		{Setting{Name: "max_task_duration", Flag: "max-task-duration", Value: "DURATION",
			Variable: "KANBAN_RUN_MAX_TASK_DURATION", InFile: true, Default: "0",
			Help: "stop once agents have worked on a task for DURATION; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.TaskDuration, err = parseDuration(v); return err }},
		{Setting{Name: "max_attempt_cost", Flag: "max-attempt-cost", Value: "USD",
			Variable: "KANBAN_RUN_MAX_ATTEMPT_COST", InFile: true, Default: "0",
			Help: "have an agent end its attempt at USD, if its adapter can; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.Limits.AttemptCost, err = parseDollars(v); return err }},
	}
}

// watchRows returns the settings of the watch over running agents.
func watchRows() []row {
	limit := func(name, value, help string, field func(*Watch) *time.Duration) row {
		variable := "KANBAN_RUN_WATCH_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
		return row{Setting{Name: "watch." + name, Variable: variable, InFile: true, Default: value, Help: help},
			func(s *Settings, v, _ string) (err error) { *field(&s.Watch), err = parseDuration(v); return err }}
	}
	return []row{
		{Setting{Name: "watch.enabled", Variable: "KANBAN_RUN_WATCH_ENABLED", InFile: true, Default: "true",
			Help: "look at running agents, and restart those that hang; watch: off in the file is false"},
			func(s *Settings, v, _ string) error {
				on, err := parseBool(v)
				s.Watch.Off = !on
				return err
			}},
		{Setting{Name: "watch.profile", Variable: "KANBAN_RUN_WATCH_PROFILE", InFile: true, Default: "patient",
			Help: "patient, or strict: an agent that is silent for five minutes is ended"},
			func(s *Settings, v, _ string) error { s.Watch.Profile = v; return checkOneOf(v, "patient", "strict") }},
		limit("frequency", "30s", "time between two looks at an agent",
			func(w *Watch) *time.Duration { return &w.Frequency }),
		limit("idle_warning", "2m", "warn of an agent without a sign for so long; it waits for no model",
			func(w *Watch) *time.Duration { return &w.IdleWarning }),
		limit("idle_timeout", "5m", "and end it",
			func(w *Watch) *time.Duration { return &w.IdleTimeout }),
		limit("progress_stale", "2m", "warn of an agent that is active without progress",
			func(w *Watch) *time.Duration { return &w.ProgressStale }),
		limit("model_warning", "10m", "warn of a model that does not answer",
			func(w *Watch) *time.Duration { return &w.ModelWarning }),
		limit("model_timeout", "20m", "and end its agent",
			func(w *Watch) *time.Duration { return &w.ModelTimeout }),
		limit("deaf_timeout", "17m", "or end it so early, if it has not answered two questions either",
			func(w *Watch) *time.Duration { return &w.DeafTimeout }),
		limit("mcp_timeout.default", "30s", "warn of a call of an MCP tool that takes longer",
			func(w *Watch) *time.Duration { return &w.MCPDefault }),
		limit("mcp_timeout.max", "1m", "call it critical",
			func(w *Watch) *time.Duration { return &w.MCPMax }),
		limit("mcp_timeout.end", "10m", "and end its agent",
			func(w *Watch) *time.Duration { return &w.MCPEnd }),
		limit("first_sign", "3m", "end an agent that gives no sign after its start",
			func(w *Watch) *time.Duration { return &w.FirstSign }),
		limit("left_over", "30s", "end a program that is there so long after its result",
			func(w *Watch) *time.Duration { return &w.LeftOver }),
		limit("ceiling", "30m", "end an agent without progress for so long, but for a command that works",
			func(w *Watch) *time.Duration { return &w.Ceiling }),
		limit("grace", "7m", "after its start an agent may be idle for so long",
			func(w *Watch) *time.Duration { return &w.Grace }),
		limit("answer", "2m", "a silent agent that can be asked has so long for its answer; 0: it is not asked",
			func(w *Watch) *time.Duration { return &w.Answer }),
		limit("graceful_timeout", "30s", "a hung agent has so long to end by itself",
			func(w *Watch) *time.Duration { return &w.Graceful }),
		limit("force_kill_after", "0", "kill a hung agent so long after it was asked to end; 0: twice graceful_timeout",
			func(w *Watch) *time.Duration { return &w.Kill }),
		{Setting{Name: "watch.coordinator", Variable: "KANBAN_RUN_WATCH_COORDINATOR", InFile: true, Default: "policy",
			Help: "policy, or person: a person has to consent before a hung agent is ended (kanban-run inbox, ack)"},
			func(s *Settings, v, _ string) error {
				s.Watch.Coordinator = v
				return checkOneOf(v, "policy", "person")
			}},
		{Setting{Name: "watch.judge", Variable: "KANBAN_RUN_WATCH_JUDGE", InFile: true, Default: noDefault,
			Help: "role that answers the five questions before a hung agent is ended; without it the evidence does"},
			func(s *Settings, v, _ string) error { s.Watch.Judge = v; return nil }},
		limit("consent", "10m", "a person has so long for it, then the run ends with exit code 3; "+
			"a judge has, too, then the evidence decides",
			func(w *Watch) *time.Duration { return &w.Consent }),
		{Setting{Name: "watch.stages", Variable: "KANBAN_RUN_WATCH_STAGES", InFile: true, Default: "role",
			Help: "tell of an agent without progress after three times, such as 15m 45m 60m; " +
				"role: by the kind of its role; off: never"},
			func(s *Settings, v, _ string) (err error) { s.Watch.Stages, err = parseStages(v); return err }},
		{Setting{Name: "watch.errors", Variable: "KANBAN_RUN_WATCH_ERRORS", InFile: true, Default: "3",
			Help: "warn of so many errors in a row; 0: never"},
			func(s *Settings, v, _ string) (err error) { s.Watch.Errors, err = parseNumber(v, 0); return err }},
		{Setting{Name: "watch.max_restarts", Variable: "KANBAN_RUN_WATCH_MAX_RESTARTS", InFile: true, Default: "2",
			Help: "restart the agent of a call up to so often"},
			func(s *Settings, v, _ string) (err error) { s.Watch.MaxRestarts, err = parseNumber(v, 0); return err }},
		{Setting{Name: "watch.silent_agents", Variable: "KANBAN_RUN_WATCH_SILENT_AGENTS", InFile: true, Default: "warn",
			Help: "warn or act: of an agent that tells nothing of its work, such as exec, silence proves nothing"},
			func(s *Settings, v, _ string) error { s.Watch.SilentAgents = v; return checkOneOf(v, "warn", "act") }},
		{Setting{Name: "watch.resume", Variable: "KANBAN_RUN_WATCH_RESUME", InFile: true, Default: "session",
			Help: "session: work that was cut short goes on in its session, where the agent has one; " +
				"fresh: it starts again"},
			func(s *Settings, v, _ string) error { s.Watch.Resume = v; return checkOneOf(v, "session", "fresh") }},
	}
}

func otherRows() []row {
	return []row{
		{Setting{Name: "jobs", Flag: "jobs", Short: "j", Value: "N", Variable: "KANBAN_RUN_JOBS", InFile: true,
			Default: "1", Help: "run up to N boards side by side"},
			func(s *Settings, v, _ string) (err error) { s.Jobs, err = parseNumber(v, 1); return err }},
		{Setting{Name: "keep_going", Flag: "keep-going", Short: "k", Variable: "KANBAN_RUN_KEEP_GOING", InFile: true, Default: noDefault,
			Opposite: "no-keep-going: stop at the first task that fails, also where tasks declare needs",
			Help:     "set a task aside that fails, and go on with the next; without it where tasks declare needs"},
			func(s *Settings, v, _ string) error {
				on, err := parseBool(v)
				s.KeepGoing = &on
				return err
			}},
		{Setting{Name: "strict", Flag: "strict", Opposite: "lenient: exit with 0 when a board ends with tasks undone",
			Variable: "KANBAN_RUN_STRICT", InFile: true,
			Default: "true", Help: "exit with 3 when a board ends with tasks undone"},
			func(s *Settings, v, _ string) (err error) { s.Strict, err = parseBool(v); return err }},
		{Setting{Name: "keep_output", Flag: "keep-output", Variable: "KANBAN_RUN_KEEP_OUTPUT", InFile: true,
			Default: "false", Help: "keep the full output of every attempt, not only of failed ones"},
			func(s *Settings, v, _ string) (err error) { s.KeepOutput, err = parseBool(v); return err }},
		{Setting{Name: "max_output", Variable: "KANBAN_RUN_MAX_OUTPUT", InFile: true, Default: "1GiB",
			Help: "stop an agent's attempt that prints more; 0: no limit"},
			func(s *Settings, v, _ string) (err error) { s.MaxOutput, err = parseSize(v); return err }},
		{Setting{Name: "on_divergence", Variable: "KANBAN_RUN_ON_DIVERGENCE", InFile: true, Default: "accept",
			Help: "accept or freeze a board that something other than the Manager changed"},
			func(s *Settings, v, _ string) error { s.OnDivergence = v; return checkOneOf(v, "accept", "freeze") }},
		{Setting{Name: "ack_timeout", Variable: "KANBAN_RUN_ACK_TIMEOUT", InFile: true, Default: "1m",
			Help: "a supervisor has so long to answer the request to shut down, " +
				"and is asked again three times on a board that is over"},
			func(s *Settings, v, _ string) (err error) { s.AckTimeout, err = parseDuration(v); return err }},
		{Setting{Name: "decisions", Variable: "KANBAN_RUN_DECISIONS", InFile: true, Default: noDefault,
			Help: "file that operational escalations and notes are appended to; " +
				"without it DECISIONS.md beside the board, if that is there"},
			func(s *Settings, v, _ string) error { s.Decisions = v; return nil }},
		{Setting{Name: "checkpoint", Flag: "checkpoint", Value: "git|BRANCH", Variable: "KANBAN_RUN_CHECKPOINT",
			InFile: true, Default: "off",
			Help: "git: keep the state of a board as commits, on the branch board/NAME or on BRANCH, " +
				"so that it can go on in another clone"},
			func(s *Settings, v, _ string) error {
				s.Git.On, s.Git.Branch = v != "off" && v != "", ""
				if s.Git.On && v != "git" {
					s.Git.Branch = v
				}
				return checkBranch(s.Git.Branch)
			}},
		{Setting{Name: "checkpoint_remote", Flag: "checkpoint-remote", Value: "REMOTE",
			Variable: "KANBAN_RUN_CHECKPOINT_REMOTE", InFile: true, Default: "origin",
			Help: "name or address of the repository that gets that branch; none: it stays here"},
			func(s *Settings, v, _ string) error { s.Git.Remote = v; return nil }},
		{Setting{Name: "checkpoint_signed", Variable: "KANBAN_RUN_CHECKPOINT_SIGNED", InFile: true, Default: "false",
			Help: "go on only from a checkpoint whose signature git trusts"},
			func(s *Settings, v, _ string) (err error) { s.Git.Signed, err = parseBool(v); return err }},
		{Setting{Name: "secrets_allow", InFile: true, Default: "none",
			Help: "files, by path or by git's name of their contents, that checkpoints may hold " +
				"although they look like secrets"}, nil},
		{Setting{Name: "on_overlap", Variable: "KANBAN_RUN_ON_OVERLAP", InFile: true, Default: "wait",
			Help: "wait for, or only warn of, another board's step that works on the same files"},
			func(s *Settings, v, _ string) error { s.OnOverlap = v; return checkOneOf(v, "wait", "warn") }},
		{Setting{Name: "on_tool_unavailable", Variable: "KANBAN_RUN_ON_TOOL_UNAVAILABLE", InFile: true,
			Default: "caveat",
			Help:    "caveat, retry, skip or stop: what becomes of an agent whose tool is not there"},
			func(s *Settings, v, _ string) error {
				s.OnTool = event.OnTool(v)
				return checkOneOf(v, "caveat", "retry", "skip", "stop")
			}},
		{Setting{Name: "reassign", InFile: true, Default: "none",
			Help: "agents that take a role's work over, one after the other, when its own has come to nothing"}, nil},
		{Setting{Name: "redact", InFile: true, Default: "none",
			Help: "texts that no output may show; $NAME is the value of that variable"}, nil},
		{Setting{Name: "env.pass", InFile: true, Default: "none",
			Help: "variables that agents get although they look secret"}, nil},
		{Setting{Name: "env.set", InFile: true, Default: "none",
			Help: "variables that agents get with the given values"}, nil},
		{Setting{Name: "env.only", InFile: true, Default: "none", Help: "the only variables that agents get"}, nil},
	}
}

// valueError is the error of a refused value. The caller adds the place.
type valueError struct{ text, fix string }

func (e *valueError) Error() string { return e.text }

func parseDuration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d == 0 && strings.ContainsAny(v, "123456789") { // less than a nanosecond
		return 0, &valueError{fmt.Sprintf("%q is no duration", v),
			"write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"}
	}
	return d, nil
}

// parseStages reads three rising times. It returns nil for "role" and an empty list for "off".
func parseStages(v string) ([]time.Duration, error) {
	switch v {
	case "role":
		return nil, nil
	case "off":
		return []time.Duration{}, nil
	}
	bad := &valueError{fmt.Sprintf("%q are no three times, each longer than the one before", v),
		"write for example 15m 45m 60m, or role, or off"}
	var all []time.Duration
	for _, word := range strings.Fields(v) {
		d, err := parseDuration(word)
		if err != nil || len(all) > 0 && d <= all[len(all)-1] {
			return nil, bad
		}
		all = append(all, d)
	}
	if len(all) != 3 || all[0] == 0 {
		return nil, bad
	}
	return all, nil
}

func parseNumber(v string, least int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < least {
		return 0, &valueError{fmt.Sprintf("%q is no number of at least %d", v, least),
			fmt.Sprintf("write a whole number, %d or more", least)}
	}
	return n, nil
}

var sizes = lazyPattern(`^([0-9]{1,9})(?i: ?([kmg])(?:i?b)?)?$`)

// parseSize reads a number of bytes. K, M and G are powers of 1024 in every spelling.
func parseSize(v string) (int64, error) {
	m := sizes().FindStringSubmatch(v)
	if m == nil {
		return 0, &valueError{fmt.Sprintf("%q is no size", v),
			"write a number of bytes, or one with its unit, for example 200M or 1GiB; 0 is none"}
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n << (10 * (strings.Index("kmg", strings.ToLower(m[2])) + min(len(m[2]), 1))), err
}

var amounts = lazyPattern(`^\$?([0-9]{1,7})(?:\.([0-9]{1,6}))?$`)

// parseDollars reads an amount in US dollars and returns exact millionths.
func parseDollars(v string) (int64, error) {
	m := amounts().FindStringSubmatch(v)
	if m == nil {
		return 0, &valueError{fmt.Sprintf("%q is no amount", v),
			"write an amount in US dollars, for example 2.50; 0 is none"}
	}
	return strconv.ParseInt(m[1]+(m[2] + "000000")[:6], 10, 64)
}

func parseBool(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, &valueError{fmt.Sprintf("%q is neither true nor false", v), "write true or false"}
	}
	return b, nil
}

var notInBranches = lazyPattern(`^[-/]|[\x00-\x20\x7f~^:?*[\\]|\.\.|//|/\.|^\.|@\{|[./]$|\.lock(/|$)`)

// checkBranch refuses a name that git refuses for a branch, before git is asked.
func checkBranch(name string) error {
	if notInBranches().MatchString(name) {
		return &valueError{fmt.Sprintf("%q can be no branch", name), "write git, or the name of a branch"}
	}
	return nil
}

func checkOneOf(v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return &valueError{fmt.Sprintf("%q is not allowed here", v), "write " + strings.Join(allowed, " or ")}
}
