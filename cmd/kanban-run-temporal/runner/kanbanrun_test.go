package runner

import "testing"

// TestVersions: what kanban-run prints is read in versions 1 and 2 of its JSON.
func TestVersions(t *testing.T) {
	for name, line := range map[string]string{
		"1": `{"version":1,"type":"SUMMARY","data":{"boards":[{"board":"k.yaml","outcome":"needs_person","text":"no key","said":"I have none",
			"hint":"mend it","until":"2026-01-02T03:04:05Z","exit_code":3,"unpushed":"kanban","unsaved":true}],"exit_code":3}}`,
		"2": `{"version":2,"type":"SUMMARY","data":{"version":2,"boards":[{"board":"k.yaml","outcome":"needs_person","reason":{"said":"no key","by":"status"},
			"who":"decide","exit":3,"waits":{"for":"provider","until":"2026-01-02T03:04:05Z","text":"later"},"hint":"mend it","unpushed_branch":"kanban","unsaved":true,
			"tasks":[{"task":"1.md","state":"done","who":"nobody"},{"task":"2.md","state":"not_ok","said":"I have none","who":"decide"}]}],"exit_code":3}}`,
	} {
		got, err := readSummary([]byte(line))
		want := summary{Outcome: "needs_person", Text: "no key", Said: "I have none", Hint: "mend it", Until: "2026-01-02T03:04:05Z", Code: 3, Unpushed: "kanban", Unsaved: true}
		if err != nil || got != want {
			t.Errorf("version %s: %+v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"1": `{"version":1,"steps":7,"total":{"cost_microusd":1500000},"text":"a run is at work","open_step":{"step":8,"task":"2.md","role":"Implementor","attempts":2},
			"agent":{"activity":"tool","health":"warning","open_calls":[{"tool":"Bash","about":"make"}]}}`,
		"2": `{"version":2,"boards":[{"board":"k.yaml","state":"running","reason":{"said":"a run is at work"},"totals":{"steps":7,"used":{"cost_microusd":1500000}},
			"open_step":{"step":8,"task":"2.md","role":"Implementor","attempts":2},"agent":{"activity":"tool","health":"warning","open_calls":[{"tool":"Bash","about":"make"}]}}]}`,
	} {
		got, err := readStanding([]byte(text))
		if err != nil || got.Steps != 7 || got.cost() != 1.5 || got.Text != "a run is at work" || got.line() != "step 8: 2.md, Implementor, attempt 2, tool Bash: make (warning)" {
			t.Errorf("version %s: %+v: %s, %v", name, got, got.line(), err)
		}
	}
	if s, err := readSummary([]byte(`{"version":2,"type":"REFUSED","data":{"text":"no board","hint":"init","exit_code":2}}`)); err != nil || s.Outcome != "invalid" || s.Text != "no board" || s.Code != 2 {
		t.Errorf("a refusal: %+v, %v", s, err)
	}
}
