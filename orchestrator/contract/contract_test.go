package contract_test

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/flow"
)

// input is a Manager's input as encoding/json writes it: seed 004, "Input Specification (Supervisor
// → Agent)".
type input struct {
	KanbanFile string   `json:"kanban_file"`
	DoneTask   string   `json:"done_task"`
	Anomalies  []report `json:"anomalies,omitempty"`
	Tasks      []string `json:"tasks"`
}

// report is an anomaly report: seed 000, "发送给 Coordinator 的消息".
type report struct {
	Type    string `json:"type"`
	Content struct {
		Executor       string `json:"executor_id"`
		Anomaly        string `json:"anomaly_type"`
		Severity       string `json:"severity"`
		Details        string `json:"details"`
		Recommendation string `json:"recommendation"`
	} `json:"content"`
}

func managerInput(t *testing.T, done string, paths []string) (in contract.Input, want string) {
	t.Helper()
	wanted := input{"kanban.yaml", done, nil, paths}
	var anomalies []contract.AnomalyReport
	if done == "tasks/a.md" { // it was not done
		anomalies = []contract.AnomalyReport{contract.Report("Implementor", flow.Anomaly{Type: "idle", Severity: "critical", Details: "<silent>", Advice: "replan"})}
		r := report{Type: "anomaly_report"}
		r.Content.Executor, r.Content.Anomaly, r.Content.Severity, r.Content.Details, r.Content.Recommendation = "Implementor", "idle", "critical", "<silent>", "replan"
		wanted.Anomalies = []report{r}
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if in, err = contract.ForManager("kanban.yaml", done, anomalies, contract.NewTaskList(paths)); err != nil {
		t.Fatal(err)
	}
	return in, string(text)
}

// FuzzList: the list that goes into a Manager's input is what json.Marshal makes of it, and its
// paths are compared as path.Clean makes them. What the journal holds of the input, with what is
// stored beside it, is the input again.
func FuzzList(f *testing.F) {
	for _, seed := range []string{"", "tasks/a.md", "tasks/a.md\ntasks/b.md", "./a.md\nb//c.md\n../d", "<a>&\u2028\n\"q\"\\\nüñí\n\xff\x00", strings.Repeat("tasks/a.md\n", 100), strings.Repeat("tasks/a.md\n", 500), strings.Repeat("<\n", 800)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths := strings.Split(text, "\n")
		l := contract.NewTaskList(paths)
		for i, p := range paths {
			if l.Clean[i] != path.Clean(p) {
				t.Errorf("Clean[%d] = %q, want %q", i, l.Clean[i], path.Clean(p))
			}
		}
		for _, done := range []string{paths[0], "tasks/a.md"} {
			in, want := managerInput(t, done, paths)
			if string(in.JSON) != want {
				t.Fatalf("the input is %s, want %s", in.JSON, want)
			}
			inline, stored, err := in.Journaled()
			if err != nil || (stored != nil) != (len(want) > contract.MaxInline) || len(inline) > contract.MaxInline && stored == nil {
				t.Fatalf("journaled are %d bytes, and stored %d, %v, of %d", len(inline), len(stored), err, len(want))
			}
			again, err := contract.Restore(inline, stored)
			if err != nil || string(again.JSON) != want || again.Text != "" {
				t.Fatalf("restored is %s, %v, want %s", again.JSON, err, want)
			}
			var decoded []string
			if err := json.Unmarshal(l.JSON(), &decoded); err != nil || !again.Tasks.Is(decoded) {
				t.Errorf("the restored list is %q, want %q", again.Tasks.Paths, decoded)
			}
		}
	})
}

// TestRestore: an input comes back from the journal as it was given, to the byte: seed 004, "Retry
// Rule (CRITICAL)".
func TestRestore(t *testing.T) {
	task, err := contract.ForTask("tasks/a.md", "kanban.yaml", "")
	if err != nil || string(task.JSON) != `{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}` {
		t.Fatalf("ForTask = %s, %v", task.JSON, err)
	}
	instruction, err := contract.ForInstruction("say <hello>")
	if err != nil || string(instruction.JSON) != `{"instruction":"say \u003chello\u003e"}` {
		t.Fatalf("ForInstruction = %s, %v", instruction.JSON, err)
	}
	long, _ := managerInput(t, "a.md", slices.Repeat([]string{"tasks/000001-implement-thing.md"}, 5000))
	short, _ := managerInput(t, "a.md", []string{})
	for name, tt := range map[string]struct {
		in     contract.Input
		stored bool
	}{
		"a task":                   {task, false},
		"an instruction":           {instruction, false},
		"a Manager without tasks":  {short, false},
		"a Manager with many":      {long, true},
		"a text":                   {contract.Input{Text: "Add a \"test\"."}, false},
		"the longest inline text":  {contract.Input{Text: strings.Repeat("x", contract.MaxInline)}, false},
		"a text that is too long":  {contract.Input{Text: strings.Repeat("x", contract.MaxInline+1)}, true},
		"a text that looks like a": {contract.Input{Text: `{"task_file":"a"}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inline, stored, err := tt.in.Journaled()
			if err != nil || (stored != nil) != tt.stored || !json.Valid(inline) {
				t.Fatalf("Journaled = %.80s, %d bytes, %v", inline, len(stored), err)
			}
			again, err := contract.Restore(inline, stored)
			if err != nil || string(again.JSON) != string(tt.in.JSON) || again.Text != tt.in.Text || (again.Tasks == nil) != (tt.in.Tasks == nil) {
				t.Fatalf("Restore = %.80s, %.80q, %v", again.JSON, again.Text, err)
			}
			if again.Tasks != nil && !reflect.DeepEqual(again.Tasks.Paths, tt.in.Tasks.Paths) {
				t.Errorf("the list has %d paths, want %d", len(again.Tasks.Paths), len(tt.in.Tasks.Paths))
			}
		})
	}
}

// TestInlineBound: a Manager's list is stored beside the journal where the input is longer than the
// bound, and not before.
func TestInlineBound(t *testing.T) {
	for _, more := range []int{0, 1} {
		_, frame := managerInput(t, "a.md", []string{""})
		in, text := managerInput(t, "a.md", []string{strings.Repeat("x", contract.MaxInline-len(frame)+more)})
		inline, stored, err := in.Journaled()
		if err != nil || len(text) != contract.MaxInline+more || (stored != nil) != (more > 0) {
			t.Errorf("Journaled of %d bytes = %.80s, %d bytes, %v", len(text), inline, len(stored), err)
		}
	}
}

// TestRestoreDamaged: what is no input is an error, and no empty input.
func TestRestoreDamaged(t *testing.T) {
	for name, tt := range map[string]struct{ inline, stored string }{
		"half a text":    {`"abc`, ""},
		"half an object": {`{"done_task":`, ""},
		"no list":        {`{"kanban_file":"k","done_task":"a"}`, `{"a":1}`},
		"nothing":        {"", ""},
	} {
		var stored []byte
		if tt.stored != "" {
			stored = []byte(tt.stored)
		}
		if in, err := contract.Restore([]byte(tt.inline), stored); err == nil || !strings.HasPrefix(err.Error(), "decode a journaled input: ") {
			t.Errorf("%s: Restore = %+v, %v, want an error", name, in, err)
		}
	}
}

// TestTaskList: a list is compared by its paths, and searched for secrets once.
func TestTaskList(t *testing.T) {
	paths := []string{"a.md", "b.md"}
	l := contract.NewTaskList(paths)
	for name, tt := range map[string]struct {
		paths []string
		want  bool
	}{
		"itself": {paths, true}, "its like": {[]string{"a.md", "b.md"}, true}, "a part": {paths[:1], false}, "another": {[]string{"a.md", "c.md"}, false}, "none": {nil, false},
	} {
		if got := l.Is(tt.paths); got != tt.want {
			t.Errorf("%s: Is = %v, want %v", name, got, tt.want)
		}
	}
	if empty := contract.NewTaskList(nil); !empty.Is([]string{}) || string(empty.JSON()) != "[]" {
		t.Errorf("a list of nothing is %s, want []", empty.JSON())
	}
	looks := 0
	isSecret := func(p string) bool { looks++; return p == "b.md" }
	if got := l.FindSecret(isSecret); got != "b.md" || looks != 2 {
		t.Errorf("FindSecret = %q after %d looks, want b.md after two", got, looks)
	}
	looks = 0
	for range 2 {
		if got := l.FindSecret(func(string) bool { looks++; return false }); got != "" || looks != 2 {
			t.Errorf("FindSecret = %q after %d looks, want each path looked at once", got, looks)
		}
	}
	if &l.Clean[0] != &l.Paths[0] {
		t.Error("a clean list was copied")
	}
}

func BenchmarkList(b *testing.B) {
	paths := slices.Repeat([]string{"tasks/000001-implement-thing.md"}, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		contract.NewTaskList(paths).JSON()
	}
}

// TestLongInputWithoutTasks: an input that is too long for the journal and has no list
// of tasks is stored whole.
func TestLongInputWithoutTasks(t *testing.T) {
	for _, extra := range []int{0, 1} {
		in, err := contract.ForInstruction(strings.Repeat("x", contract.MaxInline-len(`{"instruction":""}`)+extra))
		if err != nil {
			t.Fatal(err)
		}
		inline, stored, err := in.Journaled()
		if isStored := stored != nil; err != nil || isStored != (extra > 0) {
			t.Fatalf("%d bytes are stored: %v, %v", len(in.JSON), isStored, err)
		}
		back, err := contract.Restore(inline, stored)
		if err != nil || string(back.JSON) != string(in.JSON) {
			t.Errorf("%d bytes come back as %d, %v", len(in.JSON), len(back.JSON), err)
		}
	}
}
