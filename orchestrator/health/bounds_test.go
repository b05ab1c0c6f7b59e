package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// TestBrief: a short time has tenths of a second.
func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{2340 * time.Millisecond: "2.3s", 10400 * time.Millisecond: "10s", 61 * time.Second: "1m1s", 120 * time.Second: "2m"} {
		if got := brief(d); got != want {
			t.Errorf("brief(%s) = %q, want %q", d, got, want)
		}
	}
}

// TestWorked: what a sleeping program uses is no work.
func TestWorked(t *testing.T) {
	before := Work{Ticks: 100, Bytes: 1000}
	for _, tt := range []struct {
		now  Work
		want bool
	}{{Work{100, 1000}, false}, {Work{104, 1000}, false}, {Work{105, 1000}, true}, {Work{100, 1001}, true}, {Work{100, 999}, false}} {
		if got := tt.now.worked(before); got != tt.want {
			t.Errorf("%+v worked: %t, want %t", tt.now, got, tt.want)
		}
	}
}

// TestUse: the work of the agent's own program counts where its calls cannot be told from it, and
// nothing counts before a second look.
func TestUse(t *testing.T) {
	for name, tt := range map[string]struct {
		apart     bool
		own, call int64 // ticks, between two looks
		want      bool
	}{
		"nothing":                {false, 0, 0, false},
		"its own work":           {false, 9, 0, true},
		"that can be told apart": {true, 9, 0, false},
		"the work of a call":     {true, 0, 9, true},
	} {
		m := NewMonitor(noon, Policy{}, agent.Signals{Apart: tt.apart})
		if e := m.evidence(&Usage{}); !e.Works || !e.Known {
			t.Errorf("%s: the first look says %+v", name, e)
		}
		if e := m.evidence(&Usage{Own: Work{Ticks: tt.own}, Calls: Work{Ticks: tt.call}, Stopped: true}); e.Works != tt.want || !e.Stopped {
			t.Errorf("%s: %+v, want works %t", name, e, tt.want)
		}
		if e := m.evidence(nil); e.Known || !e.Works {
			t.Errorf("%s: without a look %+v", name, e)
		}
	}
}

// TestHealth: seed 000, "health_report": an agent is as well as the worst that is found.
func TestHealth(t *testing.T) {
	warning, critical := Finding{Severity: Warning}, Finding{Severity: Critical}
	for want, found := range map[string][]Finding{"healthy": nil, "warning": {warning, warning}, "critical": {warning, critical, warning}} {
		r := Report{Findings: found, Status: "working", Last: noon}
		if got := r.Health(); got != want {
			t.Errorf("%d findings: %s, want %s", len(found), got, want)
		}
		text := string(r.YAML(noon, "Implementor"))
		if !strings.Contains(text, "health: "+want+"\n") || !strings.Contains(text, fmt.Sprintf("    %s: 1\n", want)) || strings.Count(text, ": 1\n") != 2 {
			t.Errorf("the report of a %s agent:\n%s", want, text)
		}
	}
}

// TestNeedsUsage: processes are looked at once an agent is silent for a period, and not behind its
// end.
func TestNeedsUsage(t *testing.T) {
	m := NewMonitor(noon, Policy{Frequency: time.Minute}, agent.Signals{})
	trace := NewTrace(noon)
	for at, want := range map[time.Duration]bool{59 * time.Second: false, time.Minute: true} {
		if got := m.NeedsUsage(noon.Add(at), trace); got != want {
			t.Errorf("at %s: %t", at, got)
		}
	}
	if trace.Finished = noon; m.NeedsUsage(noon.Add(time.Hour), trace) {
		t.Error("behind its end")
	}
}

// TestLate: a check two periods too late begins anew.
func TestLate(t *testing.T) {
	for at, want := range map[time.Duration]bool{3*time.Minute - 1: false, 3 * time.Minute: true} {
		m := NewMonitor(noon, Policy{Frequency: time.Minute}, agent.Signals{})
		if got := m.isLate(noon.Add(at)); got != want {
			t.Errorf("at %s: late %t", at, got)
		}
	}
}

// TestOff: a policy without a frequency watches nothing.
func TestOff(t *testing.T) {
	for frequency, want := range map[time.Duration]bool{-1: true, 0: true, 1: false} {
		if got := (Policy{Frequency: frequency}).Off(); got != want {
			t.Errorf("every %s: off %t", frequency, got)
		}
	}
}

// TestToTell: seed 002, "Anti-false-positive guards": two breaches, one warning in 20 minutes, two an
// hour; each finding once, and once more where it becomes critical.
func TestToTell(t *testing.T) {
	finding := func(n int, s Severity) Finding { return Finding{Check: Check(fmt.Sprint("check ", n)), Severity: s} }
	m := NewMonitor(noon, Policy{}, agent.Signals{})
	tell := func(at time.Duration, f Finding) bool {
		m.seen = map[string]int{f.Key(): 2}
		return m.isToTell(noon.Add(at), f)
	}
	for _, tt := range []struct {
		at   time.Duration
		f    Finding
		want bool
	}{
		{0, finding(1, Warning), true},
		{0, finding(1, Warning), false},
		{20*time.Minute - 1, finding(2, Warning), false},
		{20 * time.Minute, finding(2, Warning), true},
		{20 * time.Minute, finding(1, Critical), true},
		{20 * time.Minute, finding(1, Critical), false},
		{20 * time.Minute, finding(1, Warning), false},
		{time.Hour - 1, finding(3, Warning), false},
		{time.Hour, finding(3, Warning), true},
	} {
		if got := tell(tt.at, tt.f); got != tt.want {
			t.Errorf("at %s %s %s: told %t, want %t", tt.at, tt.f.Check, tt.f.Severity, got, tt.want)
		}
	}
	m.seen = map[string]int{}
	if m.isToTell(noon, finding(9, Critical)) {
		t.Error("a first breach is told")
	}
	if !m.isToTell(noon, Finding{Check: Stopped, Severity: Critical}) {
		t.Error("a stopped agent is not told of at once")
	}
}

// TestQuestions: seed 002, "Anti-Spam Policy": one question in 20 minutes, two an hour, but for the
// last one before an agent is ended; and the urgent one once the answer is late.
func TestQuestions(t *testing.T) {
	for name, tt := range map[string]struct {
		q      inquiry
		at     time.Duration
		atLast bool
		want   Action
	}{
		"the first":                   {inquiry{}, 0, false, Ask},
		"too soon":                    {inquiry{nudges: []time.Time{noon}}, 20*time.Minute - 1, false, Nothing},
		"behind the cooldown":         {inquiry{nudges: []time.Time{noon}}, 20 * time.Minute, false, Ask},
		"too soon, at last":           {inquiry{nudges: []time.Time{noon}}, time.Minute, true, Ask},
		"a third in an hour":          {inquiry{nudges: []time.Time{noon, noon.Add(30 * time.Minute)}}, time.Hour - 1, false, Nothing},
		"and behind that":             {inquiry{nudges: []time.Time{noon, noon.Add(30 * time.Minute)}}, time.Hour, false, Ask},
		"a third in an hour, at last": {inquiry{nudges: []time.Time{noon, noon.Add(30 * time.Minute)}}, 50 * time.Minute, true, Ask},
		"asked, and it may answer":    {inquiry{asked: noon}, time.Minute - 1, false, Nothing},
		"asked, and it is late":       {inquiry{asked: noon}, time.Minute, false, AskAgain},
		"asked twice":                 {inquiry{asked: noon, urgent: noon}, time.Hour, false, Nothing},
	} {
		if got := tt.q.next(noon.Add(tt.at), time.Minute, tt.atLast); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// TestLive: what an agent does in a moment, for people.
func TestLive(t *testing.T) {
	does := func(events ...agent.Event) *Trace {
		trace := NewTrace(noon)
		for _, e := range events {
			e.Time = noon
			trace.Note(e)
		}
		return trace
	}
	session := agent.Event{Kind: agent.Session, ID: "s"}
	var calls []agent.Event
	for i := range maxLiveCalls + 2 {
		calls = append(calls, agent.Event{Kind: agent.ToolStarted, ID: fmt.Sprint(i), Tool: "Bash", Text: "make\ntest"})
	}
	for name, tt := range map[string]struct {
		trace          *Trace
		stage          string
		activity, wait string
		open           int
	}{
		"nothing is known":     {does(), "none", "idle", "coding", 0},
		"the model":            {does(session), "none", "model", "coding", 0},
		"tools":                {does(append(calls, session)...), "none", "tool", "coding", maxLiveCalls},
		"the provider refuses": {does(session, agent.Event{Kind: agent.Retry}), "none", "retry", "blocked", 0},
		"a call has failed":    {does(session, calls[0], agent.Event{Kind: agent.ToolEnded, ID: "0", Failed: true}), "none", "model", "coding", 0},
		"it was asked":         {does(session), "pinged", "model", "waiting_ack", 0},
		"and asked again":      {does(session), "nudged", "model", "waiting_ack", 0},
		"and reported":         {does(session), "escalated", "model", "coding", 0},
	} {
		l := tt.trace.Live(noon, Looked{IdleStage: tt.stage, Health: Healthy})
		if l.Activity != tt.activity || l.WaitReason != tt.wait || len(l.Open) != tt.open || l.IdleStage != tt.stage {
			t.Errorf("%s: %+v, want %s, %s and %d open calls", name, l, tt.activity, tt.wait, tt.open)
		}
	}
	busy := Evidence{Known: true, Works: true}
	if status(does(session, agent.Event{Kind: agent.Retry}), busy) != "blocked" || status(does(session, agent.Event{Kind: agent.Result}), busy) != "idle" ||
		status(does(), Evidence{Works: true}) != "idle" || status(does(), Evidence{Known: true}) != "idle" || status(does(), busy) != "working" ||
		status(does(session), Evidence{}) != "working" {
		t.Error("the status is not what the agent does")
	}
}

// TestIdleStage: seed 002, "Event Monitoring Model": none, pinged, nudged, escalated.
func TestIdleStage(t *testing.T) {
	for name, tt := range map[string]struct {
		stage int
		q     inquiry
		want  string
	}{
		"nothing":           {0, inquiry{}, "none"},
		"the first stage":   {1, inquiry{}, "pinged"},
		"asked":             {0, inquiry{asked: noon}, "pinged"},
		"asked again":       {1, inquiry{asked: noon, urgent: noon.Add(time.Second)}, "nudged"},
		"without an answer": {0, inquiry{asked: noon, urgent: noon}, "escalated"},
		"the second stage":  {2, inquiry{}, "escalated"},
	} {
		m := NewMonitor(noon, Policy{Answer: time.Minute}, agent.Signals{})
		m.last, m.stage, m.inquiry = noon.Add(time.Minute), tt.stage, tt.q
		if got := m.IdleStage(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestMessages: seed 002, "Ping / Nudge Templates", word by word where a tool reads them.
func TestMessages(t *testing.T) {
	f := Finding{Check: Idle, For: 90 * time.Second}
	if c := HealthCheck(f, "t.md", false); c.Reason != "idle_detected" || c.IdleDuration != 1.5 || !strings.HasPrefix(c.Question, "Quick ping on task #t.md") {
		t.Errorf("asked %+v", c)
	}
	f.Check, f.For = ProgressStale, 1234567*time.Millisecond
	if c := HealthCheck(f, "t.md", true); c.Reason != "progress_stale" || c.IdleDuration != 20.576 || !strings.HasPrefix(c.Question, "I see a pause on task #t.md") {
		t.Errorf("asked urgently %+v", c)
	}
	if c := offerHelp("Bash fails", "t.md"); c.Assistance != "guidance" || !strings.HasPrefix(c.Details, "Bash fails. Try another way. For task #t.md, what unblocks") {
		t.Errorf("offered %+v", c)
	}
	if got := Recovery("t.md"); got != "Thanks, task #t.md is moving again. I updated state and cleared idle alert." {
		t.Errorf("recovered: %s", got)
	}
	for _, tt := range []struct {
		number           int
		review           bool
		severity, action string
		text             string
	}{
		{1, false, "INFO", "PING", "Quick ping on task #t.md"}, {1, true, "INFO", "PING", "review pending for task #t.md"},
		{2, false, "WARN", "ESCALATE", "a person should look"}, {2, true, "WARN", "ESCALATE", "a person should look"}, {3, true, "CRITICAL", "REASSIGN_PROPOSAL", "another agent"},
	} {
		got := Stage{Number: tt.number, For: time.Hour}.Describe("t.md", tt.review)
		if got.Severity != tt.severity || got.Action != tt.action || !strings.Contains(got.Text, tt.text) || got.Millis != time.Hour.Milliseconds() {
			t.Errorf("stage %d, review %t: %+v", tt.number, tt.review, got)
		}
	}
}

// TestRebootBounds: seed 000, "5-Question Reboot Test": the evidence in words, and how often.
func TestRebootBounds(t *testing.T) {
	f := Finding{Check: Idle, Severity: Critical, Details: "silent", Act: true}
	late := Case{Task: "t.md", HasText: true, Expected: time.Second, Took: time.Minute, Replans: true, MaxRestarts: 2}
	for n, want := range map[int]event.Decision{0: event.Replan, 1: event.Replan, 2: event.Stuck} {
		late.Replanned = n
		if got := Reboot(f, late).Decision; got != want {
			t.Errorf("planned anew %d times of 2: %s, want %s", n, got, want)
		}
	}
	late.MaxRestarts, late.Replanned = 0, 0
	if got := Reboot(f, late).Decision; got != event.Replan {
		t.Errorf("the first plan anew, without restarts: %s", got)
	}
	once := Case{Task: "t.md", HasText: true, MaxRestarts: 2}
	for n, want := range map[int]string{0: "it was not restarted yet", 1: "it was restarted once"} {
		once.Restarts = n
		if e := Reboot(f, once); e.Answers[4].Evidence != want || e.Answers[1].Evidence != "no input that the task names is missing" {
			t.Errorf("restarted %d times: %+v", n, e.Answers)
		}
	}
	once.Missing = []string{"a.md"}
	if e := Reboot(f, once); e.Answers[1].Evidence != "missing: a.md" || !strings.Contains(e.Text, "inputs that are not there: a.md") {
		t.Errorf("an input is missing: %+v", e)
	}
	if got := Spare([]event.Answer{{}, {}}); got != "" {
		t.Errorf("two answers spare with %s", got)
	}
	if got := Spare([]event.Answer{{Yes: true}, {Yes: true}, {Yes: true}}); got != event.Assist {
		t.Errorf("three answers spare with %q", got)
	}
}

// TestToolBounds: calls that are told: 16 tools, a hundred spans of 0.1 s at least, the shortest given
// up first, of two alike the later one.
func TestToolBounds(t *testing.T) {
	trace, at := NewTrace(noon), noon
	use := func(tool string, d time.Duration) {
		trace.Note(agent.Event{Kind: agent.ToolStarted, ID: "1", Tool: tool, Time: at})
		at = at.Add(d)
		trace.Note(agent.Event{Kind: agent.ToolEnded, ID: "1", Time: at})
	}
	use("Bash", 99*time.Millisecond)
	use("Bash", 100*time.Millisecond)
	if w := trace.Tools(at); len(w.Spans) != 1 || w.Spans[0].From != 99 || w.Spans[0].Millis != 100 || w.Uses[0].Calls != 2 || w.Uses[0].Millis != 199 {
		t.Errorf("two short calls are %+v", w)
	}
	for range mostSpans - 1 {
		use("Bash", time.Second)
	}
	use("Bash", 200*time.Millisecond) // the first one, of 0.1 s, makes room
	use("Bash", time.Second)          // and this one
	w := trace.Tools(at)
	if len(w.Spans) != mostSpans || w.Spans[0].Millis != 1000 || w.Spans[mostSpans-1].Millis != 1000 || w.Spans[0].From != 199 {
		t.Errorf("%d spans, the first %+v, the last %+v", len(w.Spans), w.Spans[0], w.Spans[len(w.Spans)-1])
	}
	for range 3 * maxCalls {
		trace.Note(agent.Event{Kind: agent.ToolStarted, ID: at.String(), Tool: "Read", Time: at})
		at = at.Add(time.Second)
	}
	if n := trace.Tools(at).Uses; n[len(n)-1].Calls > maxCalls && n[0].Calls > maxCalls {
		t.Errorf("more calls are open than %d: %+v", maxCalls, n)
	}
}

// TestFailures: calls that fail and provider retries are counted apart.
func TestFailures(t *testing.T) {
	trace := NewTrace(noon)
	retry := agent.Event{Kind: agent.Retry, Time: noon}
	fails := func(id string) {
		trace.Note(agent.Event{Kind: agent.ToolStarted, ID: id, Tool: "Bash", Time: noon})
		trace.Note(agent.Event{Kind: agent.ToolEnded, ID: id, Failed: true, Time: noon})
	}
	trace.Note(retry)
	trace.Note(retry)
	fails("1")
	if trace.Failures != 1 {
		t.Errorf("%d failures behind another kind", trace.Failures)
	}
	fails("2")
	if trace.Failures != 2 || trace.Waiting() == ForProvider {
		t.Errorf("%d failures, waiting for %d", trace.Failures, trace.Waiting())
	}
	if trace.Note(retry); trace.Failures != 1 || trace.Waiting() != ForProvider {
		t.Errorf("%d retries, waiting for %d", trace.Failures, trace.Waiting())
	}
}

// TestAssessBounds: limits that are exact, and those of zero, which are none.
func TestAssessBounds(t *testing.T) {
	p := Policy{Frequency: time.Minute, Errors: 2, ProgressStale: 2 * time.Minute, Grace: time.Minute}
	found := func(p Policy, at time.Duration, trace *Trace) string {
		text := ""
		for _, f := range Assess(noon.Add(at), noon, trace, Evidence{Known: true}, agent.Signals{Session: true}, p) {
			text += string(f.Check) + " "
		}
		return text
	}
	failing := func(n int) *Trace {
		trace := NewTrace(noon)
		for range n {
			trace.Note(agent.Event{Kind: agent.Retry, Time: noon})
		}
		return trace
	}
	for name, tt := range map[string]struct {
		at     time.Duration
		trace  *Trace
		change func(*Policy)
		want   string
	}{
		"within the grace":        {time.Minute - 1, failing(2), nil, ""},
		"at its end":              {time.Minute, failing(2), nil, "errors "},
		"one error less":          {time.Minute, failing(1), nil, ""},
		"no limit of errors":      {time.Minute, failing(9), func(p *Policy) { p.Errors = 0 }, ""},
		"active without progress": {2*time.Minute - 1, NewTrace(noon.Add(time.Second)), nil, ""},
	} {
		p := p
		if tt.change != nil {
			tt.change(&p)
		}
		if got := found(p, tt.at, tt.trace); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	beating := NewTrace(noon)
	beating.Note(agent.Event{Kind: agent.Session, ID: "s", Time: noon})
	beating.Note(agent.Event{Kind: agent.Heartbeat, Time: noon.Add(2 * time.Minute)})
	for at, want := range map[time.Duration]string{4*time.Minute - 1: "progress stale ", 4 * time.Minute: ""} {
		if got := found(p, at, beating); got != want {
			t.Errorf("an agent that was active until 2m, at %s: %q, want %q", at, got, want)
		}
	}
}
