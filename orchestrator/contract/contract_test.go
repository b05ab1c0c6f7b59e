package contract_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
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
		anomalies = []contract.AnomalyReport{contract.Report("Implementor", event.Anomaly{Type: "idle", Severity: "critical", Details: "<silent>", Advice: "replan"})}
		r := report{Type: "anomaly_report"}
		r.Content.Executor, r.Content.Anomaly, r.Content.Severity, r.Content.Details, r.Content.Recommendation = "Implementor", "idle", "critical", "<silent>", "replan"
		wanted.Anomalies = []report{r}
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if in, err = contract.ForManager("kanban.yaml", done, anomalies, paths); err != nil {
		t.Fatal(err)
	}
	return in, string(text)
}

// FuzzList: the list that goes into a Manager's input is what json.Marshal makes of it. What the journal holds of the input, with what is
// stored beside it, is the input again. Its paths are in UTF-8: YAML refuses a board that is not.
func FuzzList(f *testing.F) {
	for _, seed := range []string{"", "tasks/a.md", "tasks/a.md\ntasks/b.md", "./a.md\nb//c.md\n../d", "<a>&\u2028\n\"q\"\\\nüñí\n\ufffd\x00", strings.Repeat("tasks/a.md\n", 100), strings.Repeat("tasks/a.md\n", 500), strings.Repeat("<\n", 800)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths := strings.Split(strings.ToValidUTF8(text, "?"), "\n")
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
			if list, err := json.Marshal(paths); err != nil || stored != nil && string(stored) != string(list) || len(again.Tasks) != len(paths) {
				t.Errorf("the restored list is %q, want %s, %v", again.Tasks, list, err)
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
			if again.Tasks != nil && !reflect.DeepEqual(again.Tasks, tt.in.Tasks) {
				t.Errorf("the list has %d paths, want %d", len(again.Tasks), len(tt.in.Tasks))
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
