package contract

import (
	"encoding/json"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/schema"
)

// TestForJudge: what a judge is told fits its schema.
func TestForJudge(t *testing.T) {
	in, err := ForJudge(event.AttemptRef{Task: "tasks/a.md", Role: "Implementor", Call: event.TaskCall}, "kanban.yaml", event.Anomaly{Type: "idle", Severity: "critical", Details: "silent", Advice: "restart"},
		[]event.Answer{{Question: "Q1: is the task clearly defined?", Yes: true, Evidence: "it has a text"}})
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(in.JSON, &value); err != nil {
		t.Fatal(err)
	}
	if violations, err := schema.Validate("judge-input", value); err != nil || len(violations) > 0 {
		t.Errorf("%s: %v, %v", in.JSON, violations, err)
	}
}

// TestParseJudge: an answer to each question, and nothing of their content is judged.
func TestParseJudge(t *testing.T) {
	const whole = `{"q1":{"yes":true,"evidence":"a"},"q2":{"yes":false,"evidence":""},"q3":{"yes":true,"evidence":"c"},"q4":{"yes":false,"evidence":"d"},"q5":{"yes":true,"evidence":"e"},"message":"Go.","more":1}`
	r, failure := Parse(Judge, whole)
	if failure != nil || r.Message != "Go." {
		t.Fatalf("%+v, %v", r, failure)
	}
	if r, failure := Parse(Judge, strings.Replace(whole, `"more":1`, `"more":1,"more":2`, 1)); failure != nil || !strings.Contains(r.Warning, `"more"`) {
		t.Errorf("a key that nobody reads stands twice: %+v, %v", r, failure)
	}
	if r, failure := Parse(Judge, strings.Replace(whole, `"more":1`, `"more":1,"more":2,"message":"Stay."`, 1)); failure == nil {
		t.Errorf("a key of the contract stands twice: %+v", r)
	}
	if r, failure := Parse(Judge, strings.Replace(whole, `"yes":true,`, `"yes":true,"yes":false,`, 1)+" "); failure == nil {
		t.Errorf("a key in one of the contract stands twice: %+v", r)
	}
	said := ""
	for _, a := range r.Judge.Answers() {
		said += map[bool]string{true: "y" + a.Evidence, false: "n" + a.Evidence}[a.Yes]
	}
	if said != "yanycndye" {
		t.Errorf("the answers are %s", said)
	}
	for name, change := range map[string][2]string{
		"a question without an answer": {`"q3":{"yes":true,"evidence":"c"},`, ``},
		"a word in place of an answer": {`"q3":{"yes":true,"evidence":"c"}`, `"q3":"yes"`},
		"a word in place of yes":       {`"yes":false,"evidence":"d"`, `"yes":"no","evidence":"d"`},
		"no evidence":                  {`"yes":false,"evidence":"d"`, `"yes":false`},
		"no message":                   {`,"message":"Go."`, ``},
		"a key in other letters":       {`"q5"`, `"Q5"`},
		"text around it":               {`{"q1"`, `Here: {"q1"`},
	} {
		if _, failure := Parse(Judge, strings.Replace(whole, change[0], change[1], 1)); failure == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
