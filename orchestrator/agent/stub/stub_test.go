package stub_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/testfile"
)

// play calls a stub agent in this process.
func play(t *testing.T, role, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = stub.Main(append([]string{"--role", role}, args...), strings.NewReader(input), &out, &errs)
	return code, out.String(), errs.String()
}

// project makes a work directory with those files the current one.
func project(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
}

const taskInput = `{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}`

func TestReplies(t *testing.T) {
	project(t, map[string]string{"a.md": "", "b.md": ""})
	for _, tt := range []struct{ name, role, input, rules, want string }{
		{"a task", "Implementor", taskInput, "", `{"status":"ok","message":"stub Implementor: tasks/a.md"}`},
		{"an instruction", "Architect", `{"instruction":"think <hard>"}`, "", `{"status":"ok","message":"stub Architect: think <hard>"}`},
		{"the Manager", "Manager", `{"kanban_file":"k","done_task":"a.md","tasks":["a.md","b.md"]}`, "",
			`{"status":"ok","message":"stub Manager: a.md is done","next_task":"b.md","tasks":["a.md","b.md"]}`},
		{"no tasks", "Manager", `{"kanban_file":"k","done_task":"a.md","tasks":[]}`, "",
			`{"status":"ok","message":"stub Manager: a.md is done","next_task":null,"tasks":[]}`},
		{"what a rule says", "Implementor", taskInput, "- {status: blocked, message: no}", `{"status":"blocked","message":"no"}`},
		{"the first rule that fits", "Implementor", taskInput,
			"- {role: Architect, message: A}\n- {task: tasks/b.md, message: B}\n- {attempt: 2, message: C}\n- {role: implementor, task: a.md, attempt: [1, 2], message: D}\n- {message: E}",
			`{"status":"ok","message":"D"}`},
		{"a rule for another task of that name", "Implementor", taskInput, "- {task: other/a.md, message: no}", `{"status":"ok","message":"stub Implementor: tasks/a.md"}`},
		{"a path written otherwise", "Implementor", taskInput, "- {task: ./tasks//a.md, message: yes}", `{"status":"ok","message":"yes"}`},
		{"the Manager's rule", "Manager", `{"kanban_file":"k","done_task":"a.md","tasks":["a.md","b.md"]}`,
			"- {role: Manager, next_task: null, tasks: [x.md]}", `{"status":"ok","message":"stub Manager: a.md is done","next_task":null,"tasks":["x.md"]}`},
		{"the Manager's next_task", "Manager", `{"kanban_file":"k","done_task":"a.md","tasks":["a.md"]}`,
			"- {role: Manager, next_task: y.md}", `{"status":"ok","message":"stub Manager: a.md is done","next_task":"y.md","tasks":["a.md"]}`},
		{"a wait", "Implementor", taskInput, "- {do: slow, for: 1ms, message: late}", `{"status":"ok","message":"late"}`},
		{"no wait at all", "Implementor", taskInput, "- {do: slow, for: 0, message: now}", `{"status":"ok","message":"now"}`},
		{"what its tool tells", "Implementor", taskInput, "- tell: {input: 1000, output: 50, cost: 0.01, session: s1}",
			`{"status":"ok","message":"stub Implementor: tasks/a.md","told":{"input":1000,"cached":0,"output":50,"cost":0.01,"session":"s1"}}`},
		{"no rules", "Implementor", taskInput, "# none yet", `{"status":"ok","message":"stub Implementor: tasks/a.md"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{}
			if tt.rules != "" {
				args = append(args, "--file", testfile.Write(t, filepath.Join(t.TempDir(), "stub.yaml"), tt.rules))
			}
			code, stdout, stderr := play(t, tt.role, tt.input, args...)
			if want := tt.want + "\n"; code != 0 || stdout != want || stderr != "" {
				t.Errorf("Main = %d, %q, %q, want 0, %q", code, stdout, stderr, want)
			}
		})
	}
}

// TestManagerWalks: the next entry behind the done task that is there and not done.
func TestManagerWalks(t *testing.T) {
	project(t, map[string]string{
		"a.md": "", "b.md": "", "c.md": "---\nrole: x\nstate: todo\n---\nstate: done\n",
		"done.md": "---\r\nrole: x\r\nstate: 'Done'  # yes\r\n---\r\n", "complete.md": "---\nstatus: completed\n---\n",
		"unclosed.md": "---\nstate: done\n", "text.md": "state: done\n",
	})
	if err := os.Mkdir("folder.md", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, done, tasks, want, warning string }{
		{"next", "a.md", `"a.md","b.md","c.md"`, `"b.md"`, ""},
		{"end", "c.md", `"a.md","b.md","c.md"`, `null`, ""},
		{"not listed", "x.md", `"a.md [done]","b.md","c.md"`, `"b.md"`, ""},
		{"not listed, all done", "x.md", `"a.md [done]","done.md"`, `null`, ""},
		{"missing files are skipped", "a.md", `"a.md","gone.md","gone2.md","c.md"`, `"c.md"`, "gone.md is skipped"},
		{"a folder is skipped", "a.md", `"a.md","folder.md","c.md"`, `"c.md"`, "folder.md is skipped: folder.md: it is a folder"},
		{"what is done is skipped", "a.md", `"a.md","b.md [done]","done.md","complete.md","c.md"`, `"c.md"`, ""},
		{"a state in the text is none", "a.md", `"a.md","text.md"`, `"text.md"`, ""},
		{"a header that is not closed is skipped", "a.md", `"a.md","unclosed.md","c.md"`, `"c.md"`, "unclosed.md is skipped: unclosed.md:1:1: the frontmatter is opened and never closed"},
		{"marked while it was current", "a.md", `"a.md [done]","b.md"`, `"b.md"`, ""},
		{"written otherwise", "./a.md", `"b.md","a.md","c.md"`, `"c.md"`, ""},
		{"twice in the list", "a.md", `"a.md","a.md","b.md"`, `"b.md"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := play(t, "Manager", `{"kanban_file":"k","done_task":"`+tt.done+`","tasks":[`+tt.tasks+`]}`)
			if want := `"next_task":` + tt.want + `,"tasks":[` + tt.tasks + `]}`; code != 0 || !strings.Contains(stdout, want) {
				t.Errorf("Main = %d, %s, want %s in it", code, stdout, want)
			}
			if !strings.Contains(stderr, tt.warning) || tt.warning == "" && stderr != "" {
				t.Errorf("stderr = %q, want %q in it", stderr, tt.warning)
			}
		})
	}
}

// TestManagerKnowsNeeds: where a task needs others, the first of the list that is ready is next, and the board
// is marked for the next call.
func TestManagerKnowsNeeds(t *testing.T) {
	project(t, map[string]string{"a.md": "", "b.md": "", "c.md": "---\nneeds: [a.md, ./b.md]\n---\n",
		"kanban.yaml": "current: b.md\ntasks: [c.md, b.md, a.md]\n"})
	for _, tt := range []struct{ done, tasks, next, board string }{
		{"b.md", `"c.md","b.md","a.md"`, `"a.md"`, "[c.md, 'b.md [done]', a.md]"},
		{"a.md", `"c.md","b.md","a.md"`, `"c.md"`, "[c.md, 'b.md [done]', 'a.md [done]']"},
		{"c.md", `"c.md","b.md","a.md"`, "null", "['c.md [done]', 'b.md [done]', 'a.md [done]']"},
	} {
		code, stdout, stderr := play(t, "Manager", `{"kanban_file":"kanban.yaml","done_task":"`+tt.done+`","tasks":[`+tt.tasks+`]}`)
		if code != 0 || !strings.Contains(stdout, `"next_task":`+tt.next) || stderr != "" {
			t.Errorf("after %s: Main = %d, %s, %s, want %s", tt.done, code, stdout, stderr, tt.next)
		}
		if text, err := os.ReadFile("kanban.yaml"); err != nil || !strings.Contains(string(text), "tasks: "+tt.board) {
			t.Errorf("after %s the board is %s, %v, want %s", tt.done, text, err, tt.board)
		}
	}
}

// TestCountsCalls: attempts look alike to an agent (seed 004, "Retry Rule (CRITICAL)"), so the stub
// counts for itself.
func TestCountsCalls(t *testing.T) {
	rules := testfile.Write(t, filepath.Join(t.TempDir(), "stub.yaml"), "- {role: Implementor, attempt: 2, message: two}\n- {attempt: [1, 3], message: odd}\n")
	state := filepath.Join(t.TempDir(), "new", "state")
	other := strings.Replace(taskInput, "a.md", "b.md", 1)
	for i, tt := range []struct{ role, input, want string }{
		{"Implementor", taskInput, "odd"},
		{"Implementor", other, "odd"},
		{"implementor", taskInput, "two"},
		{"Architect", taskInput, "odd"},
		{"Implementor", taskInput, "odd"},
		{"Implementor", taskInput, "stub Implementor: tasks/a.md"},
		{"Implementor", other, "two"},
	} {
		_, stdout, stderr := play(t, tt.role, tt.input, "--file", rules, "--state", state)
		if want := `"message":"` + tt.want + `"`; !strings.Contains(stdout, want) {
			t.Errorf("call %d of %s = %s %s, want %s", i, tt.role, stdout, stderr, want)
		}
	}
	for range 2 {
		if _, stdout, _ := play(t, "Implementor", taskInput, "--file", rules); !strings.Contains(stdout, "odd") {
			t.Errorf("without a state folder every call is the first one, not %s", stdout)
		}
	}
}

func TestWritesBoards(t *testing.T) {
	const input = `{"kanban_file":"kanban.md","done_task":"a.md","tasks":["a.md","b.md"]}`
	const before = "---\r\ncurrent: a.md # now\r\ntasks: [a.md, b.md]\r\n---\r\nText\r\n"
	for _, tt := range []struct{ name, role, input, rule, want string }{
		{"undeclared", "Manager", input, "message: x", before},
		{"another agent that should not", "Implementor", `{"kanban_file":"kanban.md","task_file":"a.md"}`, "do: write-board", before + "\n# written by Implementor\n"},
		{"the Manager that breaks it", "Manager", input, "{do: write-board, board: 'x: ['}", "x: ["},
	} {
		t.Run(tt.name, func(t *testing.T) {
			project(t, map[string]string{"kanban.md": before, "b.md": ""})
			rules := testfile.Write(t, "stub.yaml", "- "+tt.rule+"\n")
			if code, _, stderr := play(t, tt.role, tt.input, "--file", rules); code != 0 {
				t.Fatalf("Main = %d, %s", code, stderr)
			}
			got, err := os.ReadFile("kanban.md")
			if err != nil || string(got) != tt.want {
				t.Errorf("the board is %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	rules := func(text string) []string {
		return []string{"--file", testfile.Write(t, filepath.Join(t.TempDir(), "stub.yaml"), text)}
	}
	for _, tt := range []struct {
		name, input string
		args        []string
		code        int
		want        string
	}{
		{"no JSON", "hello", nil, 2, "decode the input"},
		{"no input", "", nil, 2, "decode the input"},
		{"an input of nothing", "{}", nil, 2, "names no task"},
		{"an unknown flag", taskInput, []string{"--attempt", "2"}, 2, "not defined: -attempt"},
		{"rules that are not there", taskInput, []string{"--file", filepath.Join(dir, "gone")}, 2, "read rules: stat"},
		{"rules in a folder", taskInput, []string{"--file", dir}, 2, "not a regular file"},
		{"no YAML", taskInput, rules("- {"), 2, "read rules: yaml"},
		{"no list", taskInput, rules("do: hang"), 2, "rule is an object, want list or null"},
		{"an unknown key", taskInput, rules("- {doo: hang}"), 2, "rule [0].doo is not a known key"},
		{"a bad duration", taskInput, rules("- {for: 5}"), 2, "rule [0].for is no duration"},
		{"a board that is not there", taskInput, rules("- {do: write-board}"), 1, "read board"},
		{"too many rules", taskInput, rules("# " + strings.Repeat("x", 300<<10)), 2, "larger than 256 KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(dir)
			code, stdout, stderr := play(t, "Implementor", tt.input, tt.args...)
			if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("Main = %d, %q, %q, want %d and %q", code, stdout, stderr, tt.code, tt.want)
			}
		})
	}
}

// TestPaths: the stub runs in the work directory, and its files are named from the current one.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	inv, err := stub.New("/kanban-run", stub.Options{File: "stub.yaml", StateDir: "state"}).Invoke(agent.Assignment{Role: "R", Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/kanban-run", stub.Command, "--role", "R", "--file", filepath.Join(here, "stub.yaml"), "--state", filepath.Join(here, "state")}
	if !slices.Equal(inv.Argv, want) {
		t.Errorf("Argv = %q, want %q", inv.Argv, want)
	}
}
