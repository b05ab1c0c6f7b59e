package flow_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"kanban-run/orchestrator/flow"
)

// olderRecords were written by a version that knew states up to form 3, whose
// attempts held their reviews.
var olderRecords = map[string]string{
	"run":              `RUN_STARTED {"board":"kanban.md","workdir":"/w","version":"1.0","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"on_divergence":"accept","tasks":2}`,
	"step":             `STEP_STARTED {"step":1,"task":"t1","role":"Implementor","board_sha256":"a","index":1,"of":2,"mark":"m1"}`,
	"agent 1":          `ATTEMPT_STARTED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"adapter":"claude","command":"claude -p","digest":"d1","input":{"task_file":"t1"}}`,
	"work 1":           `WORK_FINISHED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"round":1,"session":"s1","millis":500,"worked_millis":1000,"spent":{"input_tokens":1000,"cached_tokens":100,"output_tokens":50,"cost_microusd":100}}`,
	"held 1":           `REVIEW_HELD {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"round":1,"completed":false,"feedback":"tests are missing","session":"f1","millis":300,"worked_millis":1500,"spent":{"input_tokens":1500,"cached_tokens":150,"output_tokens":75,"cost_microusd":150}}`,
	"work 2":           `WORK_FINISHED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"round":2,"session":"s1","millis":500,"worked_millis":1800,"spent":{"input_tokens":1800,"cached_tokens":180,"output_tokens":90,"cost_microusd":180}}`,
	"missed":           `VERDICT_MISSED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"round":2,"try":1,"of":4,"reason":"exit 1","session":"f2","millis":200,"worked_millis":2000,"spent":{"input_tokens":2000,"cached_tokens":200,"output_tokens":100,"cost_microusd":200}}`,
	"held 2":           `REVIEW_HELD {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"round":2,"completed":true,"feedback":"tests are missing","session":"f1","millis":300,"worked_millis":2500,"spent":{"input_tokens":2500,"cached_tokens":250,"output_tokens":125,"cost_microusd":250}}`,
	"agent accepted":   `REPLY_ACCEPTED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"status":"ok","message":"done","board_sha256":"a","millis":3000,"session":"s1","spent":{"input_tokens":3000,"cached_tokens":300,"output_tokens":150,"cost_microusd":300}}`,
	"Manager 1":        `ATTEMPT_STARTED {"step":1,"call":"manager","task":"t1","role":"Manager","attempt":1,"adapter":"claude","command":"claude -p","digest":"d2","input":{"kanban_file":"kanban.md","done_task":"t1"},"input_sha256":"5a","before":{"board_sha256":"a","current":"t1"}}`,
	"failed":           `REVIEW_FAILED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"rounds":1,"reason":"not content after 2 rounds","board_sha256":"a","millis":2500,"session":"s1","spent":{"input_tokens":2500,"cached_tokens":250,"output_tokens":125,"cost_microusd":250}}`,
	"ended":            `RUN_FINISHED {"board":"kanban.md","outcome":"needs_person","text":"not content after 2 rounds","steps":0}`,
	"died":             `ATTEMPT_STOPPED {"step":1,"call":"task","task":"t1","role":"Implementor","attempt":1,"reason":"died","millis":1500,"spent":{"input_tokens":1500,"cached_tokens":150,"output_tokens":75,"cost_microusd":150,"partial":true}}`,
	"edited":           `BOARD_EDITED {"step":1,"task":"t1","board_sha256":"z"}`,
	"rejected":         `REPLY_REJECTED {"step":1,"call":"manager","task":"t1","role":"Manager","attempt":1,"reason":"not JSON","exit":"exit 0","received":"hm","stderr":"e","output":"steps/0001","disagreed":true,"board_sha256":"b","retries":0,"of":3,"millis":40,"session":"m1","spent":{"input_tokens":400,"cached_tokens":40,"output_tokens":20,"cost_microusd":40}}`,
	"Manager 2":        `ATTEMPT_STARTED {"step":1,"call":"manager","task":"t1","role":"Manager","attempt":2,"adapter":"claude","command":"claude -p","digest":"d2"}`,
	"SIGINT":           `ATTEMPT_STOPPED {"step":1,"call":"manager","task":"t1","role":"Manager","attempt":2,"reason":"SIGINT","board_sha256":"b","millis":10,"session":"m2","spent":{"input_tokens":100,"cached_tokens":10,"output_tokens":5,"cost_microusd":10}}`,
	"lost":             `INPUT_LOST {"step":1,"task":"t1","board_sha256":"z","reason":"the list was edited"}`,
	"Manager accepted": `REPLY_ACCEPTED {"step":1,"call":"manager","task":"t1","role":"Manager","attempt":1,"status":"ok","message":"next","next_task":"t2","same_tasks":true,"millis":50,"session":"m3","spent":{"input_tokens":500,"cached_tokens":50,"output_tokens":25,"cost_microusd":50}}`,
	"writing":          `BOARD_WRITE_STARTED {"step":1,"task":"t1","before_sha256":"a","after_sha256":"b"}`,
	"written":          `BOARD_WRITTEN {"step":1,"task":"t1","board_sha256":"b"}`,
	"finished":         `STEP_FINISHED {"step":1,"task":"t1","role":"Implementor","status":"ok","manager":"ok","message":"next","next_task":"t2","board_sha256":"b","millis":4000}`,
}

// olderJournals are made of such records, and end in the state that the version folded them into.
var olderJournals = []struct {
	name    string
	records string
	state   string
}{
	{"reviews within an attempt, and then the Manager", "run, step, agent 1, work 1, held 1, work 2, missed, held 2, agent accepted, Manager 1",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"m1","call":"manager","input":{"kanban_file":"kanban.md","done_task":"t1"},"input_sha256":"5a","started":1,"rejected":0,"running":1,"left":"a","last_reason":"","disagreed":false,"task_status":"ok","before":{"board_sha256":"a","current":"t1"},"reply":null,"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":1,"told":1,"priced":1,"input_tokens":3000,"cached_tokens":300,"output_tokens":150,"cost_microusd":300,"millis":3000},"total":{"attempts":1,"told":1,"priced":1,"input_tokens":3000,"cached_tokens":300,"output_tokens":150,"cost_microusd":300,"millis":3000},"tasks":[{"task":"t1","steps":0,"used":{"attempts":1,"told":1,"priced":1,"input_tokens":3000,"cached_tokens":300,"output_tokens":150,"cost_microusd":300,"millis":3000}}],"session":"s1"}`},
	{"reviews that were never content, and the next run", "run, step, agent 1, work 1, held 1, failed, ended, run",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"m1","call":"task","input":{"task_file":"t1"},"started":1,"rejected":0,"running":0,"left":"a","last_reason":"","disagreed":false,"task_status":"","before":null,"reply":null,"writing":null},"repeat":{"task":"","role":"","board_sha256":"","count":0},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"total":{"attempts":1,"told":1,"priced":1,"input_tokens":2500,"cached_tokens":250,"output_tokens":125,"cost_microusd":250,"millis":2500},"session":"s1"}`},
	{"reviews that were never content", "run, step, agent 1, work 1, held 1, failed",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"m1","call":"task","input":{"task_file":"t1"},"started":1,"rejected":0,"running":0,"left":"a","last_reason":"","unsettled":"not content after 2 rounds","disagreed":false,"task_status":"","before":null,"reply":null,"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":1,"told":1,"priced":1,"input_tokens":2500,"cached_tokens":250,"output_tokens":125,"cost_microusd":250,"millis":2500},"total":{"attempts":1,"told":1,"priced":1,"input_tokens":2500,"cached_tokens":250,"output_tokens":125,"cost_microusd":250,"millis":2500},"tasks":[{"task":"t1","steps":0,"used":{"attempts":1,"told":1,"priced":1,"input_tokens":2500,"cached_tokens":250,"output_tokens":125,"cost_microusd":250,"millis":2500}}],"session":"s1"}`},
	{"a run that is between work and review", "run, step, agent 1, work 1, held 1, work 2",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"m1","call":"task","input":{"task_file":"t1"},"started":1,"rejected":0,"running":1,"left":"","last_reason":"","paid":{"input_tokens":1800,"cached_tokens":180,"output_tokens":90,"cost_microusd":180},"worked_millis":1800,"disagreed":false,"task_status":"","before":null,"reply":null,"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":0,"told":0,"priced":0,"input_tokens":1800,"cached_tokens":180,"output_tokens":90,"cost_microusd":180,"millis":1800},"total":{"attempts":0,"told":0,"priced":0,"input_tokens":1800,"cached_tokens":180,"output_tokens":90,"cost_microusd":180,"millis":1800},"tasks":[{"task":"t1","steps":0,"used":{"attempts":0,"told":0,"priced":0,"input_tokens":1800,"cached_tokens":180,"output_tokens":90,"cost_microusd":180,"millis":1800}}]}`},
	{"a run that died in a review, and an edit", "run, step, agent 1, work 1, held 1, died, edited",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"z","mark":"m1","call":"task","started":0,"rejected":0,"running":0,"left":"","last_reason":"","disagreed":false,"task_status":"","before":null,"reply":null,"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":1,"told":1,"priced":0,"input_tokens":1500,"cached_tokens":150,"output_tokens":75,"cost_microusd":150,"millis":1500},"total":{"attempts":1,"told":1,"priced":0,"input_tokens":1500,"cached_tokens":150,"output_tokens":75,"cost_microusd":150,"millis":1500},"tasks":[{"task":"t1","steps":0,"used":{"attempts":1,"told":1,"priced":0,"input_tokens":1500,"cached_tokens":150,"output_tokens":75,"cost_microusd":150,"millis":1500}}]}`},
	{"an input that was lost", "run, step, agent 1, agent accepted, Manager 1, rejected, Manager 2, SIGINT, lost",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"z","mark":"m1","call":"manager","started":0,"rejected":0,"running":0,"left":"","last_reason":"not JSON","disagreed":false,"task_status":"ok","before":null,"reply":null,"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":3,"told":3,"priced":3,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050},"total":{"attempts":3,"told":3,"priced":3,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050},"tasks":[{"task":"t1","steps":0,"used":{"attempts":3,"told":3,"priced":3,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050}}],"session":"m2"}`},
	{"a Manager that keeps its list", "run, step, agent 1, agent accepted, Manager 1, Manager accepted, writing, written",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"m1","call":"manager","input":{"kanban_file":"kanban.md","done_task":"t1"},"input_sha256":"5a","started":1,"rejected":0,"running":0,"left":"a","last_reason":"","disagreed":false,"task_status":"ok","before":{"board_sha256":"a","current":"t1"},"reply":{"step":1,"call":"manager","task":"t1","role":"Manager","attempt":1,"status":"ok","message":"next","next_task":"t2","same_tasks":true,"millis":50,"session":"m3","spent":{"input_tokens":500,"cached_tokens":50,"output_tokens":25,"cost_microusd":50}},"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":2,"told":2,"priced":2,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050},"total":{"attempts":2,"told":2,"priced":2,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050},"tasks":[{"task":"t1","steps":0,"used":{"attempts":2,"told":2,"priced":2,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050}}],"session":"m3"}`},
	{"a finished step", "run, step, agent 1, agent accepted, Manager 1, Manager accepted, finished",
		`{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0,"max_task_steps":9},"steps":1,"last_step":1,"step":null,"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"ok","message":"next","board_sha256":"b","acknowledged":false},"spent":false,"used":{"attempts":2,"told":2,"priced":2,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050},"total":{"attempts":2,"told":2,"priced":2,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050},"tasks":[{"task":"t1","steps":1,"used":{"attempts":2,"told":2,"priced":2,"input_tokens":3500,"cached_tokens":350,"output_tokens":175,"cost_microusd":350,"millis":3050}}],"session":"m3"}`},
}

func olderEvent(t *testing.T, record string) (e flow.Event, data string) {
	t.Helper()
	kind, data, _ := strings.Cut(record, " ")
	e, err := flow.Decode(kind, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return e, data
}

// TestOlderRecordsKeepTheirBytes: a record that is read and written again has the bytes
// that it had: the fields of the embedded AttemptRef come first, and what newer
// versions added is left out.
func TestOlderRecordsKeepTheirBytes(t *testing.T) {
	for name, record := range olderRecords {
		if e, data := olderEvent(t, record); encode(t, e) != data {
			t.Errorf("%s is written as\n%s, was\n%s", name, encode(t, e), data)
		}
	}
}

// TestOlderJournals: a journal of an older version leads to the state that it led to, and a
// snapshot of that state, in form 3, is a rollback point.
func TestOlderJournals(t *testing.T) {
	for _, tt := range olderJournals {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t).own("r1")
			for name := range strings.SplitSeq(tt.records, ", ") {
				e, _ := olderEvent(t, olderRecords[name])
				b.write(e)
			}
			then := b.State
			then.Last.Task, then.Finished = "", 0 // form 5 has them
			if b.Breach != nil || encode(t, then) != tt.state {
				t.Fatalf("breach %v; the state is\n%s, was\n%s", b.Breach, encode(t, then), tt.state)
			}
			sum := sha256.Sum256([]byte(tt.state))
			b.write(older(b, 3, tt.state, hex.EncodeToString(sum[:])))
			if b.Breach != nil || len(b.Points) != 1 {
				t.Errorf("breach %v, points %+v, want the snapshot as the rollback point", b.Breach, b.Points)
			}
		})
	}
}

// TestOlderVersionGoesOn: a version that knows no later form goes on with a step that
// one began which does: it sees nothing of what the later form added, and its
// snapshot is one of the same work.
func TestOlderVersionGoesOn(t *testing.T) {
	p := newPlay(t, &flow.Plan{Agent: true, Rounds: 2}, flow.Limits{MaxCost: 1 << 40, MaxTaskSteps: 9}).attempts(accepted, lost, accepted, notContent)
	p.record(flow.AttemptStarted{AttemptRef: p.next().(flow.Spawn).AttemptRef, Input: []byte(`"more"`), Stored: "5a"},
		flow.RunInterrupted{Outcome: flow.Later, Until: "2026-11-22T00:00:00Z"})
	step := *p.Step
	step.Stored, step.Plan, step.Round, step.Work, step.Feedback, step.Lost = "", nil, 0, nil, "", 0
	third := p.State
	third.Step = &step
	second := third
	second.Until, second.Used, second.Total, second.Tasks, second.Session = "", flow.Used{}, flow.Used{}, nil, ""
	second.Limits = flow.Limits{MaxRetries: 3}
	for version, seen := range map[int]flow.State{1: second, 2: second, 3: third} {
		b := newBook(t).own("r1").write(p.events...)
		sum := sha256.Sum256([]byte(encode(t, seen)))
		b.write(older(b, version, encode(t, seen), hex.EncodeToString(sum[:])))
		if b.Breach != nil || len(b.Points) != 1 || encode(t, b.Points[0].State) != encode(t, p.State) {
			t.Errorf("form %d: breach %v, points %+v, want the rollback point, with all that is known", version, b.Breach, b.Points)
		}
	}
}
