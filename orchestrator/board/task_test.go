package board

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/frontmatter"
)

func writeTask(t testing.TB, name, text string) *Place {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return openPlace(t, dir, filepath.Join(dir, "kanban.yaml"))
}

func TestReadTask(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             Task
	}{
		{"role", "t.md", "---\nrole: Architect\ncreated: 2026-02-25T14:35:13\n---\n# Title\n",
			Task{Role: "Architect", RoleLine: 2, Title: "Title"}},
		{"assignee", "t.md", "---\ntitle: My task\nassignee: Implementor\nstate: done\n---\n# Other\n",
			Task{Role: "Implementor", RoleLine: 3, State: "done", Title: "My task"}},
		{"both", "t.md", "---\nassignee: B\nrole: A\n---\n", Task{Role: "A", RoleLine: 3}},
		{"an empty role", "t.md", "---\nrole:\nassignee: B\nstatus: todo\n---\n",
			Task{Role: "B", RoleLine: 3, State: "todo"}},
		{"no frontmatter", "t.md", "Text\n# Title\n", Task{Title: "Title"}},
		{"empty file", "t.md", "", Task{}},
		{"empty frontmatter", "t.md", "---\n---\n", Task{}},
		{"byte order mark and CRLF", "t.md", "\ufeff---\r\nrole: A\r\n---\r\n# T\r\n",
			Task{Role: "A", RoleLine: 2, Title: "T"}},
		{"a state that is no text", "t.md", "---\nrole: A\nstate: 3\ntitle: [x]\n---\n",
			Task{Role: "A", RoleLine: 2, State: "3"}},
		{"YAML", "t.yaml", "role: A\n", Task{Role: "A", RoleLine: 1}},
		{"a long body", "t.md", "---\nrole: A\n---\n" + strings.Repeat("text\n", 1<<20), Task{Role: "A", RoleLine: 2}},
		{"garbage in the body", "t.md", "---\nrole: A\n---\n# \xff\x00\n",
			Task{Role: "A", RoleLine: 2, Title: "\ufffd\x00"}},
		{"any name is a role", "t.md", "---\nrole: ../Manager\n---\n", Task{Role: "../Manager", RoleLine: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := writeTask(t, c.file, c.text)
			got, err := p.ReadTask(c.file)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Ref = Ref{Path: c.file, Abs: filepath.Join(p.Dir(), c.file), Exists: true}
			if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreUnexported(Task{}), cmpopts.IgnoreFields(Task{}, "Mark", "Header")); diff != "" {
				t.Errorf("ReadTask (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadTaskRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"never closed", "t.md", "---\nrole: A\n", "t.md:1:1: the frontmatter is opened and never closed"},
		{"closed too late", "t.md", "---\nrole: A\n" + strings.Repeat("# c\n", 1<<15) + "---\n",
			"t.md:1:1: the frontmatter does not end within the first 64 KiB"},
		{"YAML too long", "t.yaml", "role: A\n" + strings.Repeat("# c\n", 1<<15),
			"t.yaml: a task in YAML may have 64 KiB"},
		{"role twice", "t.md", "---\nrole: A\nrole: B\n---\n", "t.md:3:1: the key \"role\" is already on line 2"},
		{"role is a list", "t.md", "---\nrole: [A, B]\n---\n", "t.md:2:7: role must be the name of one role"},
		{"role is a number", "t.md", "---\nrole: 7\n---\n", "t.md:2:7: role must be the name of one role"},
		{"role is a boolean", "t.md", "---\nrole: true\n---\n", "t.md:2:7: role must be the name of one role"},
		{"assignee is a map", "t.md", "---\nrole: A\nassignee: {a: b}\n---\n",
			"t.md:3:11: assignee must be the name of one role"},
		{"role is blank", "t.md", "---\nrole: ' '\n---\n", "t.md:2:7: role is no name of a role"},
		{"role with an escape", "t.md", "---\nrole: \"\\e\"\n---\n", "t.md:2:7: role is no name of a role"},
		{"TOML", "t.md", "+++\nrole = 'A'\n+++\n", "t.md:1:1: this is TOML"},
		{"a fence in a block", "t.md", "---\ntext: |\n  ---\nrole: A\n---\n", "t.md:3:1: an indented ---"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := writeTask(t, c.file, c.text).ReadTask(c.file)
			var p *frontmatter.Problem
			if !errors.As(err, &p) || !strings.HasPrefix(p.Error(), c.want) || p.Hint() == "" {
				t.Errorf("ReadTask = %v, want a *frontmatter.Problem with a hint that begins %q", err, c.want)
			}
		})
	}
	if _, err := writeTask(t, "t.md", "").ReadTask("x.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadTask of a missing file = %v, want fs.ErrNotExist", err)
	}
}

// Seed 004, "Agent Role Mapping", and determine_role.
func TestRoleFor(t *testing.T) {
	for _, c := range []struct{ phase, sub, role, want string }{
		{"design", "", "", "Architect"}, {"plan", "", "", "Manager"}, {"execute", "review", "", "Architect"},
		{"execute", "", "", "Implementor"},
		{"execute", "other", "", "Implementor"}, {"validate", "", "", "Architect"}, {"", "", "", "Implementor"},
		{"exploration", "", "", "Implementor"},
		{"Design", "", "", "Architect"}, {"EXECUTE", " Review ", "", "Architect"},
		{"design", "review", "Painter", "Painter"},
	} {
		if got := RoleFor(&Board{Phase: c.phase, SubPhase: c.sub}, &Task{Role: c.role}); got != c.want {
			t.Errorf("RoleFor(phase %q, sub_phase %q, role %q) = %q, want %q", c.phase, c.sub, c.role, got, c.want)
		}
	}
	if got := RoleFor(&Board{Phase: "design"}, nil); got != "Architect" {
		t.Errorf("RoleFor without a task = %q, want Architect", got)
	}
}
