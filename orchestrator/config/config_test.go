package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/option"
	"kanban-run/orchestrator/testfile"
)

// in returns the input of a run started in START with a settings file of the given text.
func in(t *testing.T, file string, environ []string, flags map[string][]string) Input {
	t.Helper()
	start := t.TempDir()
	input := Input{Flags: flags, Environ: environ, StartDir: start, KnownRole: knownRole}
	if file != "" {
		input.File = filepath.Join(start, "project", FileName)
		testfile.Write(t, input.File, file)
	}
	return input
}

func knownRole(name string) bool {
	return slices.Contains([]string{"architect", "implementor", "manager", "tech lead"}, strings.ToLower(name))
}

func load(t *testing.T, input Input) (*Settings, []Origin) {
	t.Helper()
	s, origins, err := Load(input)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return s, origins
}

// patientWatch are the defaults of the watch.
var patientWatch = Watch{Enabled: true, Profile: "patient", Policy: health.Policy{Frequency: 30 * time.Second, IdleWarning: 2 * time.Minute,
	IdleTimeout:   5 * time.Minute,
	ProgressStale: 2 * time.Minute, ModelWarning: 10 * time.Minute, DeafTimeout: 17 * time.Minute, ModelTimeout: 20 * time.Minute, MCPDefault: 30 * time.Second,
	MCPMax: time.Minute, MCPEnd: 10 * time.Minute, FirstSign: 3 * time.Minute, LeftOver: 30 * time.Second, Ceiling: 30 * time.Minute,
	Grace: 7 * time.Minute, Answer: 2 * time.Minute, Graceful: 30 * time.Second, Consent: 10 * time.Minute, Errors: 3, MaxRestarts: 2}}

func TestDefaults(t *testing.T) {
	s, _ := load(t, Input{StartDir: "/start"})
	want := &Settings{
		Run: Run{OnDivergence: "accept", OnOverlap: "wait", OnTool: "caveat", AckTimeout: time.Minute, Strict: true, MaxOutput: 1 << 30,
			Git: Git{Remote: "origin"}},
		Notify:  Notify{On: []event.Topic{"needs_person", "stuck", "loop", "tool", "limit", "later"}},
		Timeout: time.Hour, Grace: 5 * time.Second, MaxRetries: 3, Jobs: 1,
		Limits: Limits{Patience: Patience{time.Hour, 6 * time.Hour}}, StartDir: "/start", Watch: patientWatch}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(Settings{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Load differs (-want +got):\n%s", diff)
	}
	if got := s.Choose("Manager"); got != (Choice{Setting: "agent"}) {
		t.Errorf("Choose(Manager) = %+v, want nothing, so that a role file can choose", got)
	}
}

func TestEverySettingOfTheFile(t *testing.T) {
	input := in(t, `# settings
roles: my-roles
agent: {default: Stub, manager: claude}
exec: {Implementor: ./work.sh --fast, Tech Lead: lead}
stub: ../stub.yaml
timeout: 90s
grace: 0
max_retries: 0
max_steps: 7
max_cost: 2.50
max_cost_total: 9
keep_going: false
patience: {busy: 5m, limit: 12h}
max_duration: 1h30m
max_task_steps: 3
max_task_cost: $0.25
max_task_duration: 10m
max_attempt_cost: 1
jobs: 4
keep_output: true
max_output: 64M
on_divergence: freeze
on_overlap: warn
decisions: docs/DECISIONS.md
checkpoint: state/kanban
checkpoint_remote: ssh://git@example.com/boards
checkpoint_signed: true
ack_timeout: 5s
on_tool_unavailable: stop
reassign: {Implementor: [codex, Senior], manager: walk}
notify: {command: sh tell.sh, webhook: "https://example.com/hook/s3cret", on: [loop, complete]}
redact: [internal.example, $DSN, $UNSET]
watch:
  enabled: false
  profile: strict
  frequency: 10s
  idle_warning: 1m
  idle_timeout: 2m
  progress_stale: 3m
  model_warning: 4m
  model_timeout: 6m
  deaf_timeout: 5m
  mcp_timeout: {default: 7s, max: 8s, end: 9s}
  first_sign: 10m
  left_over: 11s
  ceiling: 12m
  grace: 13m
  answer: 14s
  graceful_timeout: 15s
  force_kill_after: 17s
  coordinator: person
  consent: 16m
  stages: 1m 2m 3m
  errors: 4
  max_restarts: 5
  silent_agents: warn
  resume: fresh
checkpoints:
  role: Architect
  requirement: docs/goal.md
  every: 3
  on_block: revise
env:
  pass: [NPM_TOKEN, "AWS_*"]
  set: {MODE: fast, LEVEL: 3, EMPTY: }
  only: [PATH]
`, []string{"DSN=old", "DSN=postgres://u:p@h"}, nil)
	s, _ := load(t, input)
	dir := filepath.Dir(input.File)
	want := &Settings{
		Roles: filepath.Join(dir, "my-roles"), Stub: filepath.Join(input.StartDir,
			"stub.yaml"),
		Run: Run{OnDivergence: "freeze", OnOverlap: "warn", Decisions: "docs/DECISIONS.md",
			Git: Git{true, "state/kanban", "ssh://git@example.com/boards", true, nil}, AckTimeout: 5 * time.Second,
			OnTool: "stop", Reassign: []event.Substitutes{{Role: "implementor", Agents: []string{"codex", "Senior"}},
				{Role: "manager", Agents: []string{"walk"}}}, Strict: true, KeepGoing: new(bool), KeepOutput: true, MaxOutput: 64 << 20},
		Notify: Notify{Command: "sh tell.sh", Webhook: "https://example.com/hook/s3cret",
			On: []event.Topic{"loop", "complete"}},
		Agent: "stub", Agents: map[string]string{"manager": "claude"},
		Execs:    map[string]string{"implementor": "./work.sh --fast", "tech lead": "lead"},
		ExecDirs: map[string]string{"implementor": dir, "tech lead": dir},
		Timeout:  90 * time.Second, Jobs: 4,
		Limits: Limits{Steps: 7, Cost: 2_500_000, Duration: 90 * time.Minute, TaskSteps: 3, TaskCost: 250_000,
			TaskDuration: 10 * time.Minute, AttemptCost: 1_000_000, TotalCost: 9_000_000, Patience: Patience{5 * time.Minute, 12 * time.Hour}},
		Redact: []Hidden{{"redact[0]", "internal.example"}, {"$DSN", "postgres://u:p@h"}},
		Env: option.Env{Pass: []string{"NPM_TOKEN", "AWS_*"},
			Set:  map[string]string{"MODE": "fast", "LEVEL": "3", "EMPTY": ""},
			Only: []string{"PATH"}},
		Watch: Watch{Profile: "strict", Fresh: true, Policy: health.Policy{Frequency: 10 * time.Second, IdleWarning: time.Minute,
			IdleTimeout:   2 * time.Minute,
			ProgressStale: 3 * time.Minute, ModelWarning: 4 * time.Minute, DeafTimeout: 5 * time.Minute, ModelTimeout: 6 * time.Minute, MCPDefault: 7 * time.Second,
			MCPMax: 8 * time.Second, MCPEnd: 9 * time.Second, FirstSign: 10 * time.Minute, LeftOver: 11 * time.Second, Ceiling: 12 * time.Minute,
			Grace: 13 * time.Minute, Answer: 14 * time.Second, Graceful: 15 * time.Second, Kill: 17 * time.Second, Consent: 16 * time.Minute, Person: true, Stages: health.Stages{time.Minute, 2 * time.Minute, 3 * time.Minute}, Errors: 4, MaxRestarts: 5}},
		Checkpoints: &event.Supervision{Role: "Architect", Requirement: "docs/goal.md", Every: 3,
			OnBlock: event.BlockRevise},
		StartDir: input.StartDir, FileDir: dir,
	}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
		t.Errorf("Load differs (-want +got):\n%s", diff)
	}
}

// Flags win over variables, variables over the file, the file over the defaults.
func TestPrecedence(t *testing.T) {
	const file = "timeout: 1m\njobs: 2\n"
	environ := []string{"KANBAN_RUN_TIMEOUT=2m", "KANBAN_RUN_JOBS="}
	flags := map[string][]string{"timeout": {"3m", "4m"}}
	tests := []struct {
		name      string
		file      string
		environ   []string
		flags     map[string][]string
		timeout   time.Duration
		source    string
		given     bool
		otherJobs int
	}{
		{"default", "", nil, nil, time.Hour, "default", false, 1},
		{"file", file, nil, nil, time.Minute, "project/.kanban-run.yaml:1", false, 2},
		{"variable, and an empty one is unset", file, environ, nil, 2 * time.Minute, "variable KANBAN_RUN_TIMEOUT",
			true, 2},
		{"flag, and the last one counts", file, environ, flags, 4 * time.Minute, "flag --timeout", true, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := in(t, tt.file, tt.environ, tt.flags)
			s, origins := load(t, input)
			if s.Timeout != tt.timeout || s.Jobs != tt.otherJobs || s.IsExplicit("timeout") != tt.given {
				t.Errorf("timeout = %v (given %v), jobs = %d, want %v (%v) and %d", s.Timeout, s.IsExplicit("timeout"),
					s.Jobs, tt.timeout, tt.given, tt.otherJobs)
			}
			at := slices.IndexFunc(origins, func(o Origin) bool { return o.Name == "timeout" })
			source := filepath.ToSlash(strings.TrimPrefix(origins[at].Source,
				input.StartDir+string(filepath.Separator)))
			if source != tt.source {
				t.Errorf("source of timeout = %s, want %s", source, tt.source)
			}
		})
	}
}

func TestPathsStartWhereTheyWereWritten(t *testing.T) {
	absolute := filepath.Join(t.TempDir(), "roles")
	input := in(t, "roles: a\nstub: b\nexec: ./run\n", []string{"KANBAN_RUN_STUB=c"},
		map[string][]string{"workdir": {"d"}, "exec": {"manager=./m"}, "roles": {absolute}})
	s, _ := load(t, input)
	start, project := input.StartDir, filepath.Join(input.StartDir, "project")
	got := []string{s.Workdir, s.Roles, s.Stub, s.FileDir, s.Choose("architect").Dir, s.Choose("manager").Dir}
	want := []string{filepath.Join(start, "d"), absolute, filepath.Join(start, "c"), project, project, start}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders differ (-want +got):\n%s", diff)
	}
}

func TestChoose(t *testing.T) {
	exec := func(command string) Choice { return Choice{Agent: "exec", Command: command} }
	tests := []struct {
		name        string
		file        string
		environ     []string
		flags       map[string][]string
		manager     Choice
		implementor Choice
	}{
		{"general adapter", "agent: Codex\n", nil, nil, Choice{Agent: "codex"}, Choice{Agent: "codex"}},
		{"general command", "exec: ./all\n", nil, nil, exec("./all"), exec("./all")},
		{"own command beside a general adapter", "agent: codex\nexec: {manager: ./m}\n", nil, nil, exec("./m"),
			Choice{Agent: "codex"}},
		{"own adapter beside a general command", "", nil,
			map[string][]string{"exec": {"./all"}, "agent": {"Manager=codex"}},
			Choice{Agent: "codex"}, exec("./all")},
		{"own command beats general command", "", nil, map[string][]string{"exec": {"manager=./m", "./all"}},
			exec("./m"), exec("./all")},
		{"one role from the file, another from a flag", "exec: {manager: ./m}\n", nil,
			map[string][]string{"exec": {"implementor=./i x=y"}},
			exec("./m"), exec("./i x=y")},
		// DESIGN, "Roles and adapters": a role's own flag beats the settings' line for that role, which
		// beats a general flag or variable, which beats the settings' default.
		{"the file's own command stays under a general flag", "exec: {manager: ./m}\n", nil,
			map[string][]string{"agent": {"stub"}}, exec("./m"), Choice{Agent: "stub"}},
		{"so does its own adapter under a general command", "agent: {manager: codex}\n", nil,
			map[string][]string{"exec": {"./all"}}, Choice{Agent: "codex"}, exec("./all")},
		{"and under a general variable", "agent: {default: exec, manager: walk}\nexec: ./old\n",
			[]string{"KANBAN_RUN_EXEC=./all"}, nil, Choice{Agent: "walk"}, exec("./all")},
		{"a general adapter ends the file's general command", "agent: {default: exec, manager: walk}\nexec: ./old\n", nil,
			map[string][]string{"agent": {"stub"}}, Choice{Agent: "walk"}, Choice{Agent: "stub"}},
		{"a role's own variable stays under a general flag", "", []string{"KANBAN_RUN_AGENT=manager=walk"},
			map[string][]string{"agent": {"stub"}}, Choice{Agent: "walk"}, Choice{Agent: "stub"}},
		{"a role's own flag ends the file's line", "agent: {manager: walk}\n", nil,
			map[string][]string{"agent": {"manager=codex", "stub"}}, Choice{Agent: "codex"}, Choice{Agent: "stub"}},
		{"an own exec keeps the command that it stands beside", "agent: {manager: exec}\nexec: ./old\n", nil,
			map[string][]string{"agent": {"stub"}}, exec("./old"), Choice{Agent: "stub"}},
		{"an own adapter in a variable ends the file's own command", "exec: {manager: ./m, default: ./all}\n",
			[]string{"KANBAN_RUN_AGENT=manager=claude"}, nil, Choice{Agent: "claude"}, exec("./all")},
		{"one a line in a variable", "", []string{"KANBAN_RUN_EXEC=manager=./m\n\nimplementor=./i\n"}, nil,
			exec("./m"), exec("./i")},
		{"agent exec keeps the commands that are known", "agent: claude\nexec: {manager: ./m}\n", nil,
			map[string][]string{"agent": {"exec"}},
			exec("./m"), Choice{Agent: "exec"}},
		{"agent exec for a role keeps its command", "exec: {manager: ./m}\n", nil,
			map[string][]string{"agent": {"manager=exec"}}, exec("./m"), Choice{}},
		{"agent exec for a role takes the general command", "exec: ./all\n", nil,
			map[string][]string{"agent": {"manager=exec"}},
			exec("./all"), exec("./all")},
		{"agent exec and command agree", "", nil, map[string][]string{"agent": {"exec"}, "exec": {"./all"}},
			exec("./all"), exec("./all")},
		{"acp starts the command beside it", "", nil,
			map[string][]string{"agent": {"acp", "manager=walk"}, "exec": {"copilot --acp"}},
			Choice{Agent: "walk"}, Choice{Agent: "acp", Command: "copilot --acp"}},
		{"acp for a role, too", "", nil,
			map[string][]string{"agent": {"manager=acp"}, "exec": {"manager=copilot --acp", "./all"}},
			Choice{Agent: "acp", Command: "copilot --acp"}, exec("./all")},
		{"acp in the file serves all roles", "agent: {default: acp, implementor: acp}\nexec: copilot --acp\n", nil, nil,
			Choice{Agent: "acp", Command: "copilot --acp"}, Choice{Agent: "acp", Command: "copilot --acp"}},
		{"agent acp keeps the command of an acp, and no other", "agent: {manager: acp}\nexec: {manager: copilot --acp, implementor: ./i}\n", nil,
			map[string][]string{"agent": {"manager=acp", "implementor=acp"}},
			Choice{Agent: "acp", Command: "copilot --acp"}, Choice{Agent: "acp"}},
		{"a general command of exec is none of acp's", "exec: ./all\n", nil,
			map[string][]string{"agent": {"manager=acp"}}, Choice{Agent: "acp"}, exec("./all")},
		{"nor one of acp exec's", "agent: acp\nexec: copilot --acp\n", nil,
			map[string][]string{"agent": {"manager=exec"}}, Choice{Agent: "exec"}, Choice{Agent: "acp", Command: "copilot --acp"}},
		{"a command alone is exec's", "agent: acp\nexec: copilot --acp\n", nil,
			map[string][]string{"exec": {"./all"}}, exec("./all"), exec("./all")},
		{"an equals sign later on is the command's", "", nil, map[string][]string{"exec": {"./run --a=b"}},
			exec("./run --a=b"), exec("./run --a=b")},
		{"a path is no role", "", nil, map[string][]string{"exec": {"./a=b"}}, exec("./a=b"), exec("./a=b")},
		{"a quoted word is no role", "", nil, map[string][]string{"exec": {`"a=b" c`}}, exec(`"a=b" c`),
			exec(`"a=b" c`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := load(t, in(t, tt.file, tt.environ, tt.flags))
			for role, want := range map[string]Choice{"MANAGER": tt.manager, "Implementor": tt.implementor} {
				got := s.Choose(role)
				got.Dir, got.Setting = "", ""
				if got != want {
					t.Errorf("Choose(%s) = %+v, want %+v", role, got, want)
				}
			}
		})
	}
}

// TestFault: an error about a setting begins with the place of that setting, whichever source gave it.
func TestFault(t *testing.T) {
	input := in(t, `
agent: {default: claude, Manager: codex}
reassign: {Implementor: [codex, Nemo]}
checkpoints: {every: 2}
watch:
  judge: Nemo
`, []string{"KANBAN_RUN_DECISIONS=d.md"}, map[string][]string{"exec": {"implementor=./i"}})
	s, _ := load(t, input)
	own := &frontmatter.Problem{File: "task.md", Line: 3, Text: "x"}
	for name, want := range map[string]string{
		"agent":                     "F:2:18: x",
		"agent.manager":             "F:2:35: x",
		"reassign.implementor.Nemo": "F:3:33: x",
		"checkpoints.every":         "F:4:22: x",
		"checkpoints.role":          "F:4:14: x",
		"watch.judge":               "F:6:10: x",
		"decisions":                 "variable KANBAN_RUN_DECISIONS: x",
		"exec.implementor":          "flag --exec: x",
		"notify.command":            "x",
	} {
		cause := errors.New("x")
		err := s.Fault(name, cause)
		if got := strings.ReplaceAll(err.Error(), input.File, "F"); got != want || !errors.Is(err, cause) {
			t.Errorf("Fault(%s) = %s, want %s", name, got, want)
		}
		if err := s.Fault(name, own); err != own {
			t.Errorf("Fault(%s) of an error with a place = %v, want that error", name, err)
		}
	}
}

func TestWithoutKnownRolesAnyWordIsOne(t *testing.T) {
	s, _ := load(t, Input{Flags: map[string][]string{"exec": {"Tester=./t"}}, StartDir: "/start"})
	if got := s.Choose("tester").Command; got != "./t" {
		t.Errorf("Choose(tester).Command = %q, want ./t", got)
	}
}

func TestOrigins(t *testing.T) {
	input := in(t,
		"env:\n  set: {MODE: secret1, A: secret2}\nredact: [secret3, $DSN, secret4]\nexec: {manager: ./m}\n",
		[]string{"DSN=secret5"},
		map[string][]string{"exec": {"implementor=./i"}, "jobs": {"2"}})
	input.File = filepath.Join("project", FileName)
	_, origins := load(t, input)
	want := []Origin{
		{"workdir", "chosen by the board", "default"},
		{"roles", "", "default"},
		{"agent", "claude", "default"},
		{"exec", "", "default"},
		{"exec.implementor", "./i", "flag --exec"},
		{"exec.manager", "./m", "project/.kanban-run.yaml:4"},
		{"stub", "", "default"},
		{"timeout", "1h", "default"},
		{"grace", "5s", "default"},
		{"max_retries", "3", "default"},
		{"max_steps", "0", "default"},
		{"max_cost", "0", "default"},
		{"max_cost_total", "0", "default"},
		{"max_duration", "0", "default"},
		{"max_task_steps", "0", "default"},
		{"max_task_cost", "0", "default"},
		{"max_task_duration", "0", "default"},
		{"max_attempt_cost", "0", "default"},
		{"patience", "none", "default"},
		{"patience.busy", "1h", "default"},
		{"patience.limit", "6h", "default"},
		{"until", "none", "default"},
		{"watch.enabled", "true", "default"},
		{"watch.profile", "patient", "default"},
		{"watch.frequency", "30s", "default"},
		{"watch.idle_warning", "2m", "default"},
		{"watch.idle_timeout", "5m", "default"},
		{"watch.progress_stale", "2m", "default"},
		{"watch.model_warning", "10m", "default"},
		{"watch.model_timeout", "20m", "default"},
		{"watch.deaf_timeout", "17m", "default"},
		{"watch.mcp_timeout.default", "30s", "default"},
		{"watch.mcp_timeout.max", "1m", "default"},
		{"watch.mcp_timeout.end", "10m", "default"},
		{"watch.first_sign", "3m", "default"},
		{"watch.left_over", "30s", "default"},
		{"watch.ceiling", "30m", "default"},
		{"watch.grace", "7m", "default"},
		{"watch.answer", "2m", "default"},
		{"watch.graceful_timeout", "30s", "default"},
		{"watch.force_kill_after", "0", "default"},
		{"watch.coordinator", "policy", "default"},
		{"watch.judge", "none", "default"},
		{"watch.consent", "10m", "default"},
		{"watch.stages", "role", "default"},
		{"watch.errors", "3", "default"},
		{"watch.max_restarts", "2", "default"},
		{"watch.silent_agents", "warn", "default"},
		{"watch.resume", "session", "default"},
		{"checkpoints.role", "Supervisor", "default"},
		{"checkpoints.requirement", "the first task", "default"},
		{"checkpoints.every", "none", "default"},
		{"checkpoints.on_block", "person", "default"},
		{"notify.command", "none", "default"},
		{"notify.webhook", "none", "default"},
		{"notify.on", "needs_person stuck loop tool limit later", "default"},
		{"jobs", "2", "flag --jobs"},
		{"keep_going", "none", "default"},
		{"strict", "true", "default"},
		{"keep_output", "false", "default"},
		{"max_output", "1GiB", "default"},
		{"on_divergence", "accept", "default"},
		{"ack_timeout", "1m", "default"},
		{"decisions", "none", "default"},
		{"checkpoint", "off", "default"},
		{"checkpoint_remote", "origin", "default"},
		{"checkpoint_signed", "false", "default"},
		{"secrets_allow", "none", "default"},
		{"clones", "false", "default"},
		{"clones_dir", "CHECKOUT.clones beside the checkout", "default"},
		{"clones_setup", "none", "default"},
		{"land", "false", "default"},
		{"land_verify", "none", "default"},
		{"on_overlap", "wait", "default"},
		{"on_tool_unavailable", "caveat", "default"},
		{"reassign", "none", "default"},
		{"redact", "$DSN (2 not shown)", "project/.kanban-run.yaml:3"},
		{"env.pass", "none", "default"},
		{"env.set", "MODE A", "project/.kanban-run.yaml:2"},
		{"env.only", "none", "default"},
	}
	for i := range origins {
		origins[i].Source = filepath.ToSlash(origins[i].Source)
	}
	if diff := cmp.Diff(want, origins); diff != "" {
		t.Errorf("origins differ (-want +got):\n%s", diff)
	}
}

func TestFilesWithoutSettings(t *testing.T) {
	for name, text := range map[string]string{
		"empty": " ", "comments": "# nothing\n", "null": "~\n", "BOM": "\ufefftimeout:\n",
		"CRLF":      "timeout:\r\njobs: ~\r\nenv:\r\nredact:\r\n",
		"empty env": "env: {pass: , set: , only: }\nwatch:\n", "empty watch": "watch: {resume: }\n", "empty checkpoints": "checkpoints:\n", "one document with a marker": "---\njobs: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if s, _ := load(t, in(t, text, nil, nil)); s.Timeout != time.Hour || s.Jobs != 1 {
				t.Errorf("timeout = %v, jobs = %d, want the defaults", s.Timeout, s.Jobs)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		if s, _ := load(t, Input{File: filepath.Join(t.TempDir(), FileName)}); s.FileDir != "" {
			t.Errorf("FileDir = %q, want none", s.FileDir)
		}
	})
}

// Flags, variables, help and documentation are made from the table.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Table() {
		if s.Help == "" || seen[s.Name] {
			t.Errorf("setting %s has no help or is there twice", s.Name)
		}
		seen[s.Name] = true
		if want := "KANBAN_RUN_" + strings.ReplaceAll(strings.ToUpper(s.Name), ".", "_"); s.Variable != "" && s.Variable != want {
			t.Errorf("variable of %s = %s, want %s", s.Name, s.Variable, want)
		}
		if want := strings.ReplaceAll(s.Name, "_", "-"); s.Flag != "" && s.Flag != want {
			t.Errorf("flag of %s = %s, want %s", s.Name, s.Flag, want)
		}
	}
}

// Every refusal names the place and the remedy.
func TestRefusals(t *testing.T) {
	unit := "write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"
	tests := []struct {
		name, file string
		environ    []string
		flags      map[string][]string
		want, hint string
	}{
		{name: "unknown setting", file: "jobs: 1\ntimout: 3m\n", want: `F:2:1: unknown setting "timout"`,
			hint: "did you mean timeout?"},
		{name: "dash for underscore", file: "max-retries: 3\n", want: `F:1:1: unknown setting "max-retries"`,
			hint: "did you mean max_retries?"},
		{name: "far from all", file: "colour: red\n", want: `F:1:1: unknown setting "colour"`, hint: known()},
		{name: "no top-level env.pass", file: "env.pass: [A]\n", want: `F:1:1: unknown setting "env.pass"`,
			hint: known()},
		{name: "workdir in the file", file: "workdir: x\n",
			want: "F:1:1: this file lies in the work directory and cannot name it",
			hint: "use -C DIR or KANBAN_RUN_WORKDIR"},
		{name: "a duration that rounds to none", file: "timeout: 0.0000001ns\n", want: `F:1:10: timeout: "0.0000001ns" is no duration`, hint: unit},
		{name: "a NUL in env.set", file: "env: {set: {A: \"x\\0y\"}}\n",
			want: "F:1:16: env.set: the value of A holds a NUL character, which no variable can",
			hint: "remove the character"},
		{name: "duration in the file", file: "\ntimeout: 90\n", want: `F:2:10: timeout: "90" is no duration`, hint: unit},
		{name: "duration in a flag", flags: map[string][]string{"timeout": {"-1s"}},
			want: `flag --timeout: "-1s" is no duration`, hint: unit},
		{name: "number in a variable", environ: []string{"KANBAN_RUN_JOBS=0"},
			want: `variable KANBAN_RUN_JOBS: "0" is no number of at least 1`,
			hint: "write a whole number, 1 or more"},
		{name: "a misspelt variable", environ: []string{"KANBAN_RUN_ROLE=x", "KANBAN_RUN_MARK=x",
			"KANBAN_RUN_TIMEUOT=", "KANBAN_RUN_MAXCOST=5"},
			want: "variable KANBAN_RUN_MAXCOST: no such setting", hint: "did you mean KANBAN_RUN_MAX_COST?"},
		{name: "number too large", flags: map[string][]string{"max_steps": {"99999999999999999999"}},
			want: `flag --max-steps: "99999999999999999999" is no number of at least 0`,
			hint: "write a whole number, 0 or more"},
		{name: "yes is no boolean", file: "keep_output: yes\n",
			want: `F:1:14: keep_output: "yes" is neither true nor false`, hint: "write true or false"},
		{name: "a word of two", file: "on_divergence: stop\n", want: `F:1:16: on_divergence: "stop" is not allowed here`,
			hint: "write accept or freeze"},
		{name: "a list for a value", file: "timeout: [1m]\n", want: "F:1:10: timeout must be one value",
			hint: "write timeout: VALUE"},
		{name: "unknown role in the file", file: "exec:\n  manger: ./m\n", want: `F:2:3: exec: unknown role "manger"`,
			hint: "name a role that kanban-run roles lists, or default for all of them"},
		{name: "unknown role in a flag", flags: map[string][]string{"exec": {"MODE=x ./run"}},
			want: `flag --exec: unknown role "MODE" before the =`,
			hint: "name a role that kanban-run roles lists; to set a variable for a command write env NAME=value COMMAND"},
		{name: "empty command", flags: map[string][]string{"exec": {"manager="}}, want: "flag --exec: is empty",
			hint: "name a program and its arguments"},
		{name: "empty adapter", file: "agent: ''\n", want: "F:1:8: agent: is empty", hint: "name an adapter"},
		{name: "unknown adapter", file: "agent: cluade\n", want: `F:1:8: agent: unknown adapter "cluade"`,
			hint: "did you mean claude?"},
		{name: "adapter far from all", flags: map[string][]string{"agent": {"x11"}},
			want: `flag --agent: unknown adapter "x11"`,
			hint: "the known adapters are claude, exec, stub"},
		{name: "adapter and command for all", flags: map[string][]string{"agent": {"stub"}, "exec": {"./x"}},
			want: "flag --exec: contradicts agent stub",
			hint: "give either an adapter or a command, not both, for the same role"},
		{name: "adapter and command for one", file: "agent: {manager: stub}\nexec:\n  Manager: ./x\n",
			want: "F:3:12: exec: contradicts agent stub",
			hint: "give either an adapter or a command, not both, for the same role"},
		{name: "redact is no list", file: "redact: x\n", want: "F:1:9: redact must be a list",
			hint: "write a list: [ONE, TWO]"},
		{name: "redact with an empty text", file: "redact:\n - x\n - ''\n",
			want: "F:3:4: redact must be a list of texts", hint: "quote each entry"},
		{name: "redact with half a variable", file: "redact: [$A-B]\n", want: `F:1:9: redact: "A-B" is no variable name`,
			hint: "write $NAME, or quote a text that does not begin with $"},
		{name: "env is a list", file: "env: [A]\n", want: "F:1:6: env must be a mapping",
			hint: "write env: {pass: [NAME], set: {NAME: value}}"},
		{name: "unknown key in watch", file: "watch:\n  resum: fresh\n", want: `F:2:3: unknown key "resum" in watch`, hint: "did you mean resume?"},
		{name: "a wrong word in a variable of the watch", environ: []string{"KANBAN_RUN_WATCH_RESUME=never"},
			want: `variable KANBAN_RUN_WATCH_RESUME: "never" is not allowed here`, hint: "write session or fresh"},
		{name: "watch is no mapping", file: "watch: fresh\n", want: "F:1:8: watch must be a mapping",
			hint: "write watch: {KEY: VALUE}; kanban-run config lists the keys"},
		{name: "unknown key in mcp_timeout", file: "watch:\n  mcp_timeout: {least: 3s}\n", want: `F:2:17: unknown key "least" in watch.mcp_timeout`,
			hint: "watch.mcp_timeout has the keys default, max, end"},
		{name: "a negative limit", file: "watch: {ceiling: -3m}\n", want: `F:1:18: watch.ceiling: "-3m" is no duration`,
			hint: "write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"},
		{name: "unknown key in checkpoints", file: "checkpoints:\n  evry: 3\n", want: `F:2:3: checkpoints: unknown key "evry"`, hint: "did you mean every?"},
		{name: "checkpoints is no mapping", file: "checkpoints: on\n",
			want: "F:1:14: checkpoints must be a mapping, or off",
			hint: "write checkpoints: {every: 3}, or checkpoints: off; rename the field where it means something else"},
		{name: "a task in the settings", file: "checkpoints:\n  every: 3\n  at: [{id: A, after: a.md}]\n",
			want: "F:3:3: checkpoints: at names tasks, which belong to a board",
			hint: "write at: under checkpoints: on the board that has the tasks, and every: N here"},
		{name: "no checkpoint", file: "jobs: 1\ncheckpoints:\n  role: Manager\n",
			want: "F:3:3: checkpoints: it names no checkpoint",
			hint: "write every: 3 for one after every third finished task, at: for one after a certain task, or checkpoints: off"},
		{name: "unknown role in checkpoints", file: "checkpoints:\n  every: 3\n  role: Supervizor\n",
			want: `F:3:9: checkpoints: unknown role "Supervizor"`, hint: "name a role that kanban-run roles lists"},
		{name: "unknown key in env", file: "env:\n  pas: [A]\n", want: `F:2:3: unknown key "pas" in env`,
			hint: "did you mean pass?"},
		{name: "env.pass with a dollar", file: "env:\n  pass: [$A]\n", want: `F:2:10: env.pass: "$A" is no variable name`,
			hint: "name the variable only, without $ or =; * stands for any letters"},
		{name: "env.only empty", file: "env: {only: []}\n", want: "F:1:13: env.only is empty",
			hint: "name what agents need, for example [PATH, HOME]; or remove the line"},
		{name: "env.set with a map", file: "env: {set: {A: {b: c}}}\n",
			want: `F:1:13: env.set: "A" must be a variable name with one text as its value`,
			hint: "write set: {NAME: value}"},
		{name: "key twice", file: "jobs: 1\ntimeout: 1m\n\"jobs\": 2\n",
			want: `F:3:1: the key "jobs" is already on line 1`, hint: "remove one of the two"},
		{name: "two documents", file: "jobs: 1\n---\njobs: 2\n", want: "F:2:1: a second YAML document begins here",
			hint: "keep one document in the file"},
		{name: "a list", file: "- jobs\n", want: "F:1:1: there must be key: value lines here",
			hint: "write one field a line, for example name: value"},
		{name: "no YAML", file: "# x\nexec: \"a\njobs: 1\n", want: "F:2:7: invalid YAML: found unexpected end of stream",
			hint: "close the quote"},
		{name: "no UTF-8", file: "exec: \xff\n", want: "F:1:7: this is not UTF-8", hint: "save the file as UTF-8"},
		{name: "too large", file: strings.Repeat("# x\n", maxFile/4+1), want: "F: it is larger than 64 KiB",
			hint: "the settings are one small text file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := in(t, tt.file, tt.environ, tt.flags)
			input.Adapters = []string{"claude", "exec", "stub"}
			_, _, err := Load(input)
			problem, ok := errors.AsType[*frontmatter.Problem](err)
			if !ok {
				t.Fatalf("Load = %v, want an Error", err)
			}
			got := problem.Error()
			if rest, inFile := strings.CutPrefix(got, input.File+":"); inFile && tt.file != "" {
				got = "F:" + rest
			}
			if got != tt.want {
				t.Errorf("Error() = %s, want %s", got, tt.want)
			}
			if got := problem.Hint(); got != tt.hint {
				t.Errorf("Hint() = %s, want %s", got, tt.hint)
			}
		})
	}
}

func TestAFolderIsNoSettingsFile(t *testing.T) {
	dir := t.TempDir()
	_, _, err := Load(Input{File: dir})
	if want := dir + ": it is not a regular file"; err == nil || err.Error() != want {
		t.Errorf("Load = %v, want %s", err, want)
	}
}

// Any file is read or refused with the file's name, and no value of env.set is shown.
func FuzzFile(f *testing.F) {
	f.Add([]byte("exec: {manager: ./m}\nenv: {set: {A: hidden-text}}\nredact: [hidden-text]\ntimeout: 3m\n"))
	f.Add([]byte("agent: exec\njobs: !!int 3\n? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		path := filepath.Join(t.TempDir(), FileName)
		testfile.Write(t, path, string(source))
		s, origins, err := Load(Input{File: path, KnownRole: knownRole})
		if err != nil {
			if problem, ok := errors.AsType[*frontmatter.Problem](err); !ok || problem.File != path {
				t.Fatalf("Load = %v, want an Error of the file", err)
			}
			return
		}
		if s.Jobs < 1 || s.Timeout < 0 || s.MaxRetries < 0 {
			t.Errorf("settings out of their range: %+v", s)
		}
		for _, o := range origins {
			if (o.Name == "env.set" || o.Name == "redact") && strings.Contains(o.Value, "hidden-text") {
				t.Errorf("origin %+v shows a value", o)
			}
		}
	})
}

// TestStrictWatch: the strict profile is seed 000 to the letter, unless a setting says otherwise.
func TestStrictWatch(t *testing.T) {
	s, origins := load(t, in(t, "watch: {profile: strict, grace: 1m}\n", nil, nil))
	want := patientWatch
	want.Profile, want.ModelWarning, want.ModelTimeout, want.MCPEnd, want.Grace, want.Answer, want.SilentAgents = "strict", 2*time.Minute, 5*time.Minute, time.Minute, time.Minute, 30*time.Second, true
	if diff := cmp.Diff(want, s.Watch); diff != "" {
		t.Errorf("Watch differs (-want +got):\n%s", diff)
	}
	for _, o := range origins {
		if o.Name == "watch.model_timeout" && o != (Origin{"watch.model_timeout", "5m", "watch.profile strict"}) {
			t.Errorf("origin %+v, want the profile", o)
		}
	}
	_, _, err := Load(in(t, "watch:\n  idle_warning: 9m\n", nil, nil))
	if err == nil || !strings.Contains(err.Error(), FileName+":2:17: watch.idle_warning is 9m (") || !strings.HasSuffix(err.Error(), FileName+":2), and longer than watch.idle_timeout, 5m (default)") {
		t.Errorf("Load = %v, want a warning above its timeout to be refused, with both places", err)
	}
	for text, off := range map[string]bool{"watch: off\n": true, "watch: false\n": true, "watch: on\n": false, "watch: {enabled: false}\n": true} {
		if s, _ := load(t, in(t, text, nil, nil)); s.Watch.Enabled == off {
			t.Errorf("%s: enabled = %t", text, s.Watch.Enabled)
		}
	}
}

// TestWith: a role or a task has settings of the watch for itself, which are refused with
// their place as those of the file.
func TestWith(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		want         func(*Watch)
		err          string
	}{
		{"null", "{ceiling: }", func(*Watch) {}, ""},
		{"a limit", "{model_timeout: 25m}", func(w *Watch) { w.ModelTimeout = 25 * time.Minute }, ""},
		{"a limit below a name", "{mcp_timeout: {end: 5m}}", func(w *Watch) { w.MCPEnd = 5 * time.Minute }, ""},
		{"off", "off", func(w *Watch) { w.Enabled = false }, ""},
		{"strict, but for one", "{grace: 1m, profile: strict}",
			func(w *Watch) {
				w.Profile, w.ModelWarning, w.ModelTimeout, w.MCPEnd, w.Grace, w.Answer, w.SilentAgents = "strict", 2*time.Minute, 5*time.Minute, time.Minute, time.Minute, 30*time.Second, true
			}, ""},
		{"stages", "{stages: 1s 2s 3s}", func(w *Watch) { w.Stages = health.Stages{time.Second, 2 * time.Second, 3 * time.Second} }, ""},
		{"an unknown name", "{patience: 1m}", nil, "r.md:3: watch.patience: no such setting"},
		{"no duration", "{ceiling: -3m}", nil, `r.md:3: watch.ceiling: "-3m" is no duration`},
		{"a list", "{ceiling: [3m]}", nil, `r.md:3: watch.ceiling: "a list" is no duration`},
		{"no switch", "perhaps", nil, `r.md:3: watch: "perhaps" is neither off nor a mapping`},
		{"stages that do not grow", "{stages: 3s 2s 1s}", nil, "r.md:3: watch.stages"},
		{"above the ceiling", "{model_timeout: 1h}", nil,
			"r.md:3: watch.model_timeout is 1h (r.md:3), and longer than watch.ceiling, 30m0s (settings)"},
	} {
		doc, err := frontmatter.Parse("r.md", []byte("---\nname: x\nwatch: "+tt.header+"\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, values := doc.Field("watch")
		got, err := patientWatch.With("r.md", doc.Flatten(values))
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
			}
			continue
		}
		want := patientWatch
		tt.want(&want)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", tt.name, err, diff)
		}
	}
}

// TestCheckpointsOfTheFile: each of their keys has its own place, and a text is shown on one line.
func TestCheckpointsOfTheFile(t *testing.T) {
	long := strings.Repeat("é ", 40)
	for _, tt := range []struct {
		name, file string
		want       *event.Supervision
		origins    []Origin
	}{
		{"off", "checkpoints: off\n", nil, []Origin{{"checkpoints.every", "none", "F:1"}}},
		{"false", "checkpoints: false\n", nil, []Origin{{"checkpoints.every", "none", "F:1"}}},
		{"the least", "checkpoints:\n  role:\n  every: 2\n",
			&event.Supervision{Role: "Supervisor", Every: 2,
				OnBlock: event.BlockPerson}, []Origin{{"checkpoints.every", "2", "F:3"}}},
		{"a text of two lines", "checkpoints:\n  every: 1\n  requirement: |\n    a site\n    for cats\n",
			&event.Supervision{Role: "Supervisor", Requirement: "a site\nfor cats\n", Every: 1,
				OnBlock: event.BlockPerson},
			[]Origin{{"checkpoints.requirement", "a site for cats", "F:3"}, {"checkpoints.every", "1", "F:2"}}},
		{"a long text", "checkpoints: {every: 1, requirement: " + long + "}\n",
			&event.Supervision{Role: "Supervisor", Requirement: strings.TrimSpace(long), Every: 1,
				OnBlock: event.BlockPerson},
			[]Origin{{"checkpoints.requirement", strings.Repeat("é ", 30) + "…", "F:1"},
				{"checkpoints.every", "1", "F:1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			input := in(t, tt.file, nil, nil)
			s, origins := load(t, input)
			if diff := cmp.Diff(tt.want, s.Checkpoints); diff != "" {
				t.Errorf("Checkpoints differ (-want +got):\n%s", diff)
			}
			var got []Origin
			for _, o := range origins {
				if o.Source = strings.Replace(o.Source, input.File, "F", 1); strings.HasPrefix(o.Name, "checkpoints.") && o.Source != "default" {
					got = append(got, o)
				}
			}
			if diff := cmp.Diff(tt.origins, got); diff != "" {
				t.Errorf("origins differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPartial: a variable is held against the settings file, and not against the defaults before that is known.
func TestPartial(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte("watch: {model_warning: 100ms, frequency: 100ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"KANBAN_RUN_WATCH_MODEL_TIMEOUT=600ms"}
	for _, in := range []Input{{Environ: environ, Partial: true}, {Environ: environ, File: file}} {
		if _, _, err := Load(in); err != nil {
			t.Errorf("Load(%+v): %v", in, err)
		}
	}
	if _, _, err := Load(Input{Environ: environ}); err == nil {
		t.Error("a timeout below the warning is accepted")
	}
}
