package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/contract"
)

// TestForReady: seed 001, "Prompt Input Parsing": what a supervisor is told at its start, with
// empty lists in place of null.
func TestForReady(t *testing.T) {
	in, err := contract.ForReady(contract.ReadyInput{Type: "other", Role: "other", SessionID: "s", Requirement: "a parser"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"init","role":"supervisor","role_spec":"","session":"","session_id":"s","team_name":"","requirement":"a parser","recovery":false,` +
		`"baseline":{"states":[],"wisdom":[],"team_session":""},"reports":[]}`
	if string(in.JSON) != want || in.Text != "" {
		t.Errorf("the input is %s%s, want %s", in.JSON, in.Text, want)
	}
}

// TestForCheckpoint: seed 001, "Step 3: Incremental Context Load": only what is new. One that goes
// on in its session is told it as a text, another one gets the text as a part of the JSON, and one
// that remembers nothing what it has to know.
func TestForCheckpoint(t *testing.T) {
	full := contract.CheckpointInput{ID: "CHECKPOINT-001", Scope: []string{"a.md", "b.md"}, Progress: "2/3 tasks completed",
		States:   []contract.RoleState{{Task: "a.md", Role: "Implementor", Status: "ok", Message: "parsed\nall", Decision: "go\non"}, {Task: "b.md", Role: "Architect", Status: "error", Message: "no"}},
		Messages: []string{"a.md was\nretried"}, Artifacts: []string{"src/a.go"}, Missing: []string{"x.md", "y.md"}, Wisdom: []contract.TextFile{{Path: "wisdom/a.md", Text: "\nlearned\n"}}}
	const whole = `## Checkpoint Request
task_id: CHECKPOINT-001
scope: [a.md, b.md]
pipeline_progress: 2/3 tasks completed

### Finished since the last checkpoint

- a.md by Implementor: ok: parsed all
  Manager: go on
- b.md by Architect: error: no

### Messages of the run since then

- a.md was retried

### Read these, you have not read them yet

- src/a.go

### Missing: score these as warn, and name them

- x.md
- y.md

### New in wisdom/a.md

learned

Check this as your role says, and reply with your verdict. Change no file.`
	const empty = `## Checkpoint Request
task_id: C
scope: []
pipeline_progress: 

### Finished since the last checkpoint

none

### Messages of the run since then

no messages to analyze

### Read these, you have not read them yet

none

Check this as your role says, and reply with your verdict. Change no file.`
	for want, told := range map[string]contract.CheckpointInput{whole: full, empty: {ID: "C"}} {
		in, err := contract.ForCheckpoint(told, true)
		if diff := cmp.Diff(want, in.Text); diff != "" || err != nil || in.JSON != nil {
			t.Errorf("in its session: %v, %s, text (-want +got):\n%s", err, in.JSON, diff)
		}
		in, err = contract.ForCheckpoint(told, false)
		var got map[string]any
		if err := json.Unmarshal(in.JSON, &got); err != nil || in.Text != "" {
			t.Fatal(err, in.Text)
		}
		if got["text"] != want || got["type"] != "checkpoint_request" || err != nil {
			t.Errorf("without a session: %v, %s", err, in.JSON)
		}
		for _, list := range []string{"scope", "states", "messages", "artifacts", "missing", "wisdom"} {
			if _, is := got[list].([]any); !is {
				t.Errorf("%s is %v, want a list", list, got[list])
			}
		}
	}
	full.Init = &contract.ReadyInput{SessionID: "s"}
	in, err := contract.ForCheckpoint(full, false)
	var got struct {
		Text string
		Init struct {
			Type    string
			Reports []contract.TextFile
		}
	}
	if err := json.Unmarshal(in.JSON, &got); err != nil {
		t.Fatal(err)
	}
	if err != nil || got.Text != "" || got.Init.Type != "init" || got.Init.Reports == nil {
		t.Errorf("one that remembers nothing is told %v, %+v", err, got)
	}
}

// TestFormatReport: seed 001: the report has the verdict and the lists of the reply, and leaves
// out what the reply has not.
func TestFormatReport(t *testing.T) {
	r := contract.SupervisorReply{Verdict: "warn", Score: 0.456, Trend: "rising\nslowly", Findings: []string{"no\ntests", "no docs"}, Risks: []string{"time"}, Report: "\nAll in all.\n"}
	const want = `# C: warn (score: 0.46)

- Scope: a.md, b.md
- Quality trend: rising slowly
- Missing: x.md, y.md

## Key findings

- no tests
- no docs

## Risks

- time

## Report

All in all.
`
	if diff := cmp.Diff(want, r.FormatReport("C", []string{"a.md", "b.md"}, []string{"x.md", "y.md"})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	const short = "# C: pass (score: 1.00)\n\n- Scope: \n- Quality trend: \n"
	bare := contract.SupervisorReply{Verdict: "pass", Score: 1, Report: " "}
	if diff := cmp.Diff(short, bare.FormatReport("C", nil, nil)); diff != "" {
		t.Errorf("a bare report (-want +got):\n%s", diff)
	}
}

// TestSupervisorReplies: the format alone is judged: an error needs a message, a reply has a
// bound, and a score of -0 is none.
func TestSupervisorReplies(t *testing.T) {
	reply := func(score, report string) string {
		return `{"type":"checkpoint_reply","message":"m","task_id":"C","verdict":"pass","score":` + score + `,"key_findings":[],"decisions":[],"risks":[],` +
			`"quality_trend":"stable","artifacts_read":[],"report":"` + report + `","wisdom":""}`
	}
	r, failure := contract.Parse(contract.Checkpoint, reply("-0", "x"))
	if failure != nil || r.Checkpoint.Verdict != "pass" || r.Message != "m" {
		t.Fatalf("%+v, %+v", r, failure)
	}
	if text, err := json.Marshal(r.Checkpoint.Score); err != nil || string(text) != "0" {
		t.Errorf("a score of -0 is %s, %v", text, err)
	}
	room := (1 << 20) - len(reply("1", ""))
	for text, want := range map[string]string{
		reply("1", strings.Repeat("x", room)):    "",
		reply("1", strings.Repeat("x", room+1)):  "the reply is larger than 1 MiB",
		`{"type":"error","message":" "}`:         "an error needs a message",
		`{"type":"error","message":"no access"}`: "",
		`{"type":"ready","message":"r"`:          "half a JSON object",
	} {
		_, failure := contract.Parse(contract.Checkpoint, text)
		if got := ""; failure != nil {
			if got = failure.Reason; want == "" || !strings.Contains(got, want) {
				t.Errorf("a reply of %d bytes: %q, want %q", len(text), got, want)
			}
		} else if want != "" {
			t.Errorf("a reply of %d bytes was accepted, want %q", len(text), want)
		}
	}
	if !(&contract.SupervisorReply{Type: "error"}).Failed() || (&contract.SupervisorReply{Type: "ready"}).Failed() {
		t.Error("an error, and only that, is one")
	}
}

// TestGoOn: an agent whose work was cut short is told why, and once more what it was asked: the
// tool may have died before it kept that.
func TestGoOn(t *testing.T) {
	const rest = " Go on from where you were, and do not do again what is done; a command that was running may have been broken off in the middle." +
		"\n\nThis is what you were asked:\n\n"
	for want, got := range map[string]string{
		"Your work on this was cut short. Your program was stopped." + rest + "Your input:\n\n{}": contract.Input{JSON: []byte("{}")}.GoOn(""),
		"Your work on this was cut short. It was silent." + rest + "Fix it.":                      contract.Input{Text: "Fix it."}.GoOn("It was silent."),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("GoOn (-want +got):\n%s", diff)
		}
	}
}
