package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/roles"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if ext := filepath.Ext(name); ext == ".sh" || ext == "" {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFiles: of a command count the program, the script behind an interpreter, the files of a
// shell's text, and those of make and its like; not what it reads or writes, nor what the system has.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"check.sh", "tools/x.py", "data.csv", "calls.txt", "Makefile", "package.json", "bin/tool", "job", "check.mk", "tools/y", "notes.md", "run.log"} {
		write(t, dir, name, "x")
	}
	outside := "/usr/bin/sh"
	for command, want := range map[string]string{
		"./check.sh data.csv":                                "check.sh",
		"actor -log calls.txt":                               "",
		"sh check.sh data.csv":                               "check.sh",
		"bash -eu check.sh":                                  "check.sh",
		"python3 tools/x.py data.csv":                        "tools/x.py",
		"python3.12 -m tools.x":                              "tools/x.py tools/x/__main__.py",
		"env A=1 timeout 60 ./check.sh data.csv":             "check.sh",
		"timeout -k 5 10m sh check.sh":                       "check.sh",
		"make check":                                         "GNUmakefile Makefile makefile",
		"make -C tools all":                                  "tools/GNUmakefile tools/Makefile tools/makefile",
		"npm test":                                           "package.json",
		"sh -c|./check.sh >data.csv && npm test 2>calls.txt": "check.sh package.json",
		"bash -lc|cd tools; python3 tools/x.py":              "tools/tools/x.py tools/x.py",
		"env -u X ./check.sh":                                "check.sh",
		"timeout -s KILL 60 ./check.sh":                      "check.sh",
		"timeout 60 cat data.csv":                            "",
		"flock calls.txt sh job":                             "job",
		"make -fcheck.mk":                                    "GNUmakefile Makefile check.mk makefile",
		"sh -c|cd tools && ./y":                              "tools/y",
		"sh -c|sh check.sh notes.md >>run.log":               "check.sh",
		"sh -c|[ ! -f pre.sh ] || . ./pre.sh":                "pre.sh",
		"claude -p":                                          "",
	} {
		argv := strings.Fields(command)
		if before, text, is := strings.Cut(command, "|"); is {
			argv = append(strings.Fields(before), text)
		}
		path := outside
		if strings.Contains(argv[0], "/") {
			path = filepath.Join(dir, argv[0])
		}
		var got []string
		for _, f := range Files(argv, path, dir, dir) {
			rel, err := filepath.Rel(dir, f)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if got := Files([]string{"tool"}, filepath.Join(dir, "bin/tool"), dir, dir); !slices.Equal(got, []string{filepath.Join(dir, "bin/tool")}) {
		t.Errorf("a program that PATH finds in the work tree: %q", got)
	}
}

// TestValues: of settings and roles count the values that decide, however they are written.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	w := watch{top: dir, decides: func(role string) bool { return role == "Manager" }, seen: map[source]look{}}
	settings, roles := filepath.Join(dir, ".kanban-run.yaml"), filepath.Join(dir, "roles")
	sources := []source{{event.SettingsFile, settings, ""}, {event.RoleFile, roles, ""}, {event.ServersFile, filepath.Join(dir, "mcp.json"), "Architect"}}
	known := w.values(sources)
	changes := func() (names []string) {
		t.Helper()
		now := w.values(sources)
		for _, f := range difference(known, now) {
			names = append(names, f.Name()+"@"+strings.Join(f.Roles, ","))
		}
		known = now
		slices.Sort(names)
		return names
	}
	for _, step := range []struct{ file, text, want string }{
		{".kanban-run.yaml", "timeout: 5m\nexec: {default: a, Manager: b}\n", "exec in .kanban-run.yaml@ exec.Manager in .kanban-run.yaml@Manager"},
		{".kanban-run.yaml", "# the same\nexec:\n  Manager: b\n  default: a\ntimeout: 9m\n", ""},
		{".kanban-run.yaml", "exec: {default: a, Manager: c}\nenv: {pass: [A]}\n", "env in .kanban-run.yaml@ exec.Manager in .kanban-run.yaml@Manager"},
		{"roles/Implementor.md", "---\nname: Implementor\nmodel: a\n---\nWork.\n", "model in roles/Implementor.md@Implementor name in roles/Implementor.md@Implementor"},
		{"roles/Implementor.md", "---\nname: Implementor\nmodel: a\ntimeout: 5m\n---\nWork more.\n", ""},
		{"roles/Manager.md", "---\nname: Manager\n---\nManage.\n", "name in roles/Manager.md@Manager prompt in roles/Manager.md@Manager"},
		{"roles/Manager.md", "---\nname: Manager\n---\nEnd it.\n", "prompt in roles/Manager.md@Manager"},
		{"mcp.json", "{}", "mcp.json@Architect"},
		{".kanban-run.yaml", "- no settings", ".kanban-run.yaml@ env in .kanban-run.yaml@ exec in .kanban-run.yaml@ exec.Manager in .kanban-run.yaml@Manager"},
	} {
		write(t, dir, step.file, step.text)
		if got := strings.Join(changes(), " "); got != step.want {
			t.Errorf("%s with %q: %q, want %q", step.file, step.text, got, step.want)
		}
	}
	if err := os.Remove(filepath.Join(roles, "Manager.md")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(changes(), " "); got != "name in roles/Manager.md@Manager prompt in roles/Manager.md@Manager" {
		t.Errorf("a role that is gone: %q", got)
	}
	path := write(t, dir, "mcp.json", "[]")
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(changes(), " "); got != "mcp.json@Architect" {
		t.Errorf("a file whose time was set back: %q", got)
	}
}

// TestReach: an agent gets or decides more if it decides at all, gets another secret, a larger
// permission or another tool.
func TestReach(t *testing.T) {
	worker := event.Reach{Permission: 1, Secrets: []string{"A"}, Tools: []string{"Read"}}
	for name, tt := range map[string]struct {
		other event.Reach
		more  bool
	}{
		"the same":   {event.Reach{Permission: 1, Secrets: []string{"A"}, Tools: []string{"Read"}}, false},
		"less":       {event.Reach{Tools: []string{}}, false},
		"decides":    {event.Reach{Decides: true, Tools: []string{}}, true},
		"permission": {event.Reach{Permission: 2, Tools: []string{}}, true},
		"secret":     {event.Reach{Secrets: []string{"A", "B"}, Tools: []string{}}, true},
		"tool":       {event.Reach{Tools: []string{"Bash"}}, true},
		"any tool":   {event.Reach{}, true},
	} {
		if got := tt.other.Exceeds(worker); got != tt.more {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAccept: what a person has accepted is settled for the work tree, and only with that value.
func TestAccept(t *testing.T) {
	dir := t.TempDir()
	c := flow.Changed{ChangedFile: event.ChangedFile{By: event.ProgramFile, File: "a.sh", SHA: "1"}, Task: "t.md"}
	if err := update(dir, func(x *index) bool { x.add(c); x.add(c); return true }); err != nil {
		t.Fatal(err)
	}
	if err := Accept(dir, []flow.Changed{c}); err != nil {
		t.Fatal(err)
	}
	err := update(dir, func(x *index) bool {
		other := c.ChangedFile
		other.SHA = "2"
		if len(x.Changed) != 0 || !x.hasAccepted(c.ChangedFile) || x.hasAccepted(other) {
			t.Errorf("%+v", x)
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".kanban-run/changed.json", "garbage")
	if err := update(dir, func(x *index) bool { return len(x.Accepted) > 0 }); err != nil {
		t.Errorf("garbage in the index: %v", err)
	}
}

// TestLookInTurn: what a judge's start has looked at in a turn is still a change of that turn.
func TestLookInTurn(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, ".kanban-run.yaml", "env: {pass: [A]}\n")
	k := NewKeeper(Turn{Dir: dir, Roster: &roster.Roster{Settings: &config.Settings{}, Roles: &roles.Set{}, Places: roster.Places{Settings: path}}})
	k.known, k.reads = k.look(), k.watch.reads
	write(t, dir, ".kanban-run.yaml", "env: {pass: [B]}\n")
	if len(difference(k.known, k.look())) != 1 || len(k.changes()) != 1 || k.changes() != nil {
		t.Error("the change is lost, or found twice")
	}
}

// TestSecretInAName: what a run keeps of a role file with a secret in its name does not have the
// secret. The change stands as long as the file does, also for a run to which the secret is unknown.
func TestSecretInAName(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "roles")
	cast := &roster.Roster{Settings: &config.Settings{}, Roles: &roles.Set{}, Places: roster.Places{Roles: []string{folder}}}
	redact := func(text string) string { return strings.ReplaceAll(text, "tok3n", "[REDACTED_SECRET]") }
	run := func(clean func(string) string) *Keeper {
		k := NewKeeper(Turn{Dir: dir, Roster: cast, Redact: clean, Folder: rundir.Dir{Path: filepath.Join(dir, ".kanban-run", "runs", "b")}})
		k.known = k.look()
		return k
	}
	write(t, dir, "roles/Nobody.md", "---\nname: Nobody\n---\nx\n")
	write(t, dir, ".kanban-run/runs/b/x", "")
	k := run(redact)
	path := write(t, dir, "roles/tok3n.md", "---\nname: Other\n---\ny\n")
	changes := k.changes()
	if len(changes) == 0 {
		t.Fatal("the new role is no change")
	}
	if err := k.keep(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(knownFile(k.Folder.Path))
	if err != nil || strings.Contains(string(text), "tok3n") || !strings.Contains(string(text), "roles/[REDACTED_SECRET].md") {
		t.Errorf("kept %s, %v", text, err)
	}
	for _, f := range changes {
		c := flow.Changed{ChangedFile: f}
		if f.File != "roles/[REDACTED_SECRET].md" {
			t.Errorf("changed %s", f.File)
		}
		for _, later := range []*Keeper{k, run(redact), run(nil)} {
			if later.valueOf(c) != f.SHA || !isOf(&roster.Player{Role: roles.Role{Name: "Other"}}, []string{"[REDACTED_SECRET]"}) {
				t.Errorf("%s of %s does not stand", f.Field, f.File)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, clean := range []func(string) string{redact, nil} {
		if got := run(clean).valueOf(flow.Changed{ChangedFile: changes[0]}); got != "" {
			t.Errorf("the file is gone, and the change stands with %q", got)
		}
	}
}
