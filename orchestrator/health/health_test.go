package health_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
)

// patient are the defaults, strict are seed 000's own numbers.
var (
	patient = health.Policy{Frequency: 30 * time.Second, IdleWarning: 2 * time.Minute, IdleTimeout: 5 * time.Minute, ProgressStale: 2 * time.Minute,
		ModelWarning: 10 * time.Minute, ModelTimeout: 20 * time.Minute, MCPDefault: 30 * time.Second, MCPMax: time.Minute, MCPEnd: 10 * time.Minute,
		FirstSign: 3 * time.Minute, LeftOver: 30 * time.Second, Ceiling: 30 * time.Minute, Grace: 7 * time.Minute, Errors: 3, MaxRestarts: 2}
	strict = func() health.Policy {
		p := patient
		p.ModelWarning, p.ModelTimeout, p.MCPEnd, p.Grace, p.SilentAgents = 2*time.Minute, 5*time.Minute, time.Minute, 0, true
		return p
	}()
	full = agent.Signals{Session: true, Calls: true}
	mute = agent.Signals{}
)

// timed is what an agent does some time after its start.
type timed struct {
	at time.Duration
	agent.Event
}

var (
	session = agent.Event{Kind: agent.Session, ID: "s"}
	text    = agent.Event{Kind: agent.Text, Text: "Let me see."}
	retry   = agent.Event{Kind: agent.Retry, Text: "529"}
	result  = agent.Event{Kind: agent.Result}
	bash    = started("1", "Bash", agent.ShellTool)
	mcp     = started("2", "mcp__lab__look", agent.MCPTool)
)

func started(id, tool string, class agent.ToolClass) agent.Event {
	return agent.Event{Kind: agent.ToolStarted, ID: id, Tool: tool, Class: class, Text: "x", Sum: 7}
}

func ended(id string, failed bool, sum uint32) agent.Event {
	return agent.Event{Kind: agent.ToolEnded, ID: id, Failed: failed, Text: "exit status 1", Sum: sum}
}

var start = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

func traced(events []timed) *health.Trace {
	t := health.NewTrace(start)
	for _, e := range events {
		e.Time = start.Add(e.at)
		t.Note(e.Event)
	}
	return t
}

const (
	second = time.Second
	minute = time.Minute
)

// TestAssess is seed 000's check table, "检查项目", row by row, at its limits and a second before them.
func TestAssess(t *testing.T) {
	works, flat := health.Evidence{Known: true, Works: true}, health.Evidence{Known: true}
	for _, tt := range []struct {
		name    string
		policy  health.Policy
		signals agent.Signals
		events  []timed
		now     time.Duration
		proof   health.Evidence
		want    string // findings as CHECK SEVERITY, with ! where the last limit is reached
	}{
		{"at work", patient, full, []timed{{0, session}, {9 * minute, text}}, 10 * minute, flat, ""},
		{"no first sign yet", patient, full, nil, 3*minute - second, flat, ""},
		{"no first sign", patient, full, nil, 3 * minute, flat, "no first sign critical!"},
		{"a program announces nothing", patient, mute, nil, 3 * minute, flat, ""},
		{"a model that is silent", patient, full, []timed{{0, session}}, 10*minute - second, flat, ""},
		{"it is warned of", patient, full, []timed{{0, session}}, 10 * minute, flat, "idle warning"},
		{"pauses of 405 s and 948 s recover", patient, full, []timed{{0, session}, {8 * minute, text}}, 8*minute + 948*second, flat, "idle warning"},
		{"its last limit", patient, full, []timed{{0, session}}, 20 * minute, flat, "idle critical!"},
		{"strict: seed 000's five minutes", strict, full, []timed{{0, session}}, 5 * minute, flat, "idle critical!"},
		{"within the grace", patient, mute, nil, 7*minute - second, flat, ""},
		{"a mute program is only warned of", patient, mute, nil, 60 * minute, flat, "idle warning"},
		{"strict: also a mute program", strict, mute, nil, 5 * minute, flat, "idle critical!"},
		{"a mute program that works has no ceiling", strict, mute, nil, 40 * minute, works, "idle critical!"},
		{"a silent build", patient, full, []timed{{0, session}, {minute, bash}}, 13 * minute, works, "idle warning"},
		{"a command that works has no ceiling", patient, full, []timed{{0, session}, {minute, bash}}, 50 * minute, works, "idle warning"},
		{"one that does not has", patient, full, []timed{{0, session}, {minute, bash}}, 31 * minute, flat, "idle warning, ceiling critical!"},
		{"sleep 20m is within the ceiling", patient, full, []timed{{0, session}, {minute, bash}}, 21 * minute, flat, "idle warning"},
		{"an MCP call", patient, full, []timed{{0, session}, {minute, mcp}}, minute + 29*second, flat, ""},
		{"that takes long", patient, full, []timed{{0, session}, {minute, mcp}}, minute + 30*second, flat, "MCP stuck warning"},
		{"that is stuck", patient, full, []timed{{0, session}, {minute, mcp}}, 2 * minute, flat, "MCP stuck critical"},
		{"that is acted on", patient, full, []timed{{0, session}, {minute, mcp}}, 11 * minute, flat, "MCP stuck critical!, idle warning"},
		{"strict: MCP over 60 s", strict, full, []timed{{0, session}, {minute, mcp}}, 2 * minute, flat, "MCP stuck critical!"},
		{"errors within the grace", patient, full, []timed{{0, session}, {1, retry}, {2, retry}, {3, retry}}, minute, flat, ""},
		{"three errors", patient, full, []timed{{0, session}, {479 * second, retry}, {479 * second, retry}, {479 * second, retry}}, 8 * minute, flat, "errors warning, progress stale warning"},
		{"active without progress", patient, full, []timed{{0, session}, {8 * minute, agent.Event{Kind: agent.Heartbeat}}}, 8 * minute, flat, "progress stale warning"},
		{"a heartbeat is no progress", patient, full, []timed{{0, session}, {30 * minute, agent.Event{Kind: agent.Heartbeat}}}, 30 * minute, flat, "progress stale warning, ceiling critical!"},
		{"stopped", patient, full, []timed{{0, session}}, minute, health.Evidence{Known: true, Stopped: true}, "stopped critical!"},
		{"left over", patient, full, []timed{{0, session}, {minute, result}}, minute + 30*second, flat, "left over critical!"},
		{"it goes on behind a result", patient, full, []timed{{0, session}, {minute, result}, {minute + 5*second, text}}, 2 * minute, flat, ""},
		{"and prints behind one", patient, full, []timed{{0, session}, {minute, result}, {minute + 29*second, agent.Event{Kind: agent.Heartbeat}}}, minute + 58*second, flat, ""},
		{"a line that was not read may have ended the call", patient, full, []timed{{0, session}, {minute, mcp}, {2 * minute, agent.Event{Kind: agent.Unread}}}, 12 * minute, flat, "idle warning"},
		{"a call that is told twice is one", patient, full, []timed{{0, session}, {8 * minute, mcp}, {8*minute + 1, mcp}, {8*minute + 2, ended("2", false, 1)}}, 19 * minute, flat, "idle warning"},
		{"others of its calls end meanwhile", patient, full, []timed{{0, session}, {minute, mcp}, {10 * minute, text}}, 12 * minute, flat, "MCP stuck critical, idle warning"},
		{"no warning, and the limit holds", func() health.Policy { p := patient; p.ModelWarning = 0; return p }(), full, []timed{{0, session}}, 20 * minute, flat, "idle critical!"},
		{"no MCP warning, and the limit holds", func() health.Policy { p := patient; p.MCPDefault, p.MCPMax = 0, 0; return p }(), full, []timed{{0, session}, {minute, mcp}}, 11 * minute, flat, "MCP stuck critical!, idle warning"},
		{"not left over yet", patient, full, []timed{{0, session}, {minute, result}}, minute + 29*second, flat, ""},
	} {
		var got []string
		for _, f := range health.Assess(start.Add(tt.now), start, traced(tt.events), tt.proof, tt.signals, tt.policy) {
			line := fmt.Sprintf("%s %s", f.Check, f.Severity)
			if f.Act {
				line += "!"
			}
			got = append(got, line)
			if f.Details == "" || f.Check.Anomaly() == "" {
				t.Errorf("%s: %+v has no evidence", tt.name, f)
			}
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, all, tt.want)
		}
	}
}

// action is what a monitor did, and when.
type action struct {
	at time.Duration
	health.Action
	on health.Finding
}

// watched runs an agent's events through a monitor with virtual time, and returns what it did and
// told. usage may be nil: the processes do nothing.
func watched(p health.Policy, s agent.Signals, events []timed, until time.Duration, usage func(at time.Duration) health.Usage) (done []action, told []health.Finding) {
	m, trace := health.NewMonitor(start, p, s), health.NewTrace(start)
	for at := p.Frequency; at <= until; at += p.Frequency {
		for len(events) > 0 && events[0].at <= at {
			events[0].Time = start.Add(events[0].at)
			trace.Note(events[0].Event)
			events = events[1:]
		}
		u := health.Usage{}
		if usage != nil {
			u = usage(at)
		}
		r := m.Check(start.Add(at), trace, &u, false)
		told = append(told, r.Told...)
		if r.Action != health.Nothing {
			done = append(done, action{at, r.Action, r.On})
		}
	}
	return done, told
}

// TestMonitor: two breaches in a row come before an act; a command without
// work is ended alone first.
func TestMonitor(t *testing.T) {
	stopped := func(from, to time.Duration) func(time.Duration) health.Usage {
		return func(at time.Duration) health.Usage { return health.Usage{Stopped: at >= from && at < to} }
	}
	busy := func(at time.Duration) health.Usage {
		return health.Usage{Calls: health.Work{Ticks: int64(at/time.Second) * 100}}
	}
	for _, tt := range []struct {
		name    string
		signals agent.Signals
		events  []timed
		until   time.Duration
		usage   func(time.Duration) health.Usage
		want    string
	}{
		{"at work", full, []timed{{0, session}, {8 * minute, text}, {16 * minute, text}}, 20 * minute, nil, ""},
		{"a silent model", full, []timed{{0, session}}, 20*minute + 30*second, nil, "20m30s the reboot test"},
		{"a silent API that answers at the last moment", full, []timed{{0, session}, {20*minute + 15*second, text}}, 30 * minute, nil, ""},
		{"no first sign", full, nil, 4 * minute, nil, "3m30s the reboot test, 4m0s the reboot test"},
		{"a build of 50 minutes", full, []timed{{0, session}, {1, bash}}, 50 * minute, busy, ""},
		{"a command that waits for input", full, []timed{{0, session}, {1, bash}}, 32 * minute, nil,
			"31m0s its command is asked to end, 31m30s its command is killed, 32m0s the reboot test"},
		{"one that ends when it is asked", full, []timed{{0, session}, {1, bash}, {31*minute + 1, ended("1", true, 1)}, {31*minute + 2, text}}, 40 * minute, nil,
			"31m0s its command is asked to end"},
		{"stopped for a moment", full, []timed{{0, session}}, 5 * minute, stopped(minute, 90*second), "1m0s it is continued"},
		{"stopped for good", full, []timed{{0, session}}, 2 * minute, stopped(minute, time.Hour), "1m0s it is continued, 1m30s it is continued, 2m0s the reboot test"},
		{"left over", full, []timed{{0, session}, {minute, result}}, 2 * minute, nil, "2m0s it is ended, and its result counts"},
		{"a script on a quiet network call of 40 minutes", mute, nil, 40 * minute, nil, ""},
	} {
		done, _ := watched(patient, tt.signals, tt.events, tt.until, tt.usage)
		var got []string
		for _, a := range done {
			got = append(got, fmt.Sprintf("%v %s", a.at, a.Action))
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, all, tt.want)
		}
	}
}

// TestProgressIsNeverActedOn: no trace with progress in every two minutes is ever
// acted on, in either profile.
func TestProgressIsNeverActedOn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		events, at := []timed{{0, session}}, time.Duration(0)
		for n := 0; at < 3*time.Hour; n++ {
			at += time.Duration(1+random.IntN(119)) * second
			id := fmt.Sprint(n)
			switch random.IntN(4) {
			case 0:
				events = append(events, timed{at, text})
			case 1:
				events = append(events, timed{at, agent.Event{Kind: agent.Writing}})
			case 2:
				events = append(events, timed{at, retry}, timed{at, text})
			default:
				events = append(events, timed{at, started(id, "Bash", agent.ShellTool)}, timed{at + 1, ended(id, random.IntN(2) == 0, uint32(n)+1)})
			}
		}
		for _, p := range []health.Policy{patient, strict} {
			if done, _ := watched(p, full, events, 3*time.Hour, nil); len(done) > 0 {
				t.Fatalf("%v %s on %+v: it had progress all the time", done[0].at, done[0].Action, done[0].on)
			}
		}
	}
}

// TestSilenceIsEnded: an agent without any sign from some moment on is ended within the longest
// limit and two checks, and none is before the last limit of its row.
func TestSilenceIsEnded(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	limits := map[health.Check]func(health.Policy) time.Duration{
		health.Idle: func(p health.Policy) time.Duration { return min(p.ModelTimeout, p.IdleTimeout) }, health.MCPStuck: func(p health.Policy) time.Duration { return p.MCPEnd },
		health.NoFirstSign: func(p health.Policy) time.Duration { return p.FirstSign }, health.Ceiling: func(p health.Policy) time.Duration { return p.Ceiling },
		health.LeftOver: func(p health.Policy) time.Duration { return p.LeftOver },
	}
	last := []agent.Event{session, text, bash, mcp, retry, result}
	for range 500 {
		var events []timed
		silent := time.Duration(random.IntN(3600)) * second
		for at := time.Duration(0); at < silent; at += time.Duration(1+random.IntN(60)) * second {
			events = append(events, timed{at, session}, timed{at, text})
		}
		if n := random.IntN(len(last) + 1); n < len(last) {
			events = append(events, timed{silent, session}, timed{silent, last[n]})
		}
		for _, p := range []health.Policy{patient, strict} {
			bound := silent + p.Ceiling + 5*p.Frequency // TERM, KILL and the test of a command come one by one
			done, _ := watched(p, full, events, bound, nil)
			if len(done) == 0 {
				t.Fatalf("silent from %v on with %+v: not ended by %v", silent, events[max(0, len(events)-1):], bound)
			}
			for _, a := range done {
				if limit := limits[a.on.Check]; limit == nil || a.on.For < limit(p) {
					t.Fatalf("%v %s after %v of %s: before the last limit of its row", a.at, a.Action, a.on.For, a.on.Check)
				}
			}
		}
	}
}

// TestAMachineThatSlept: a check that comes too late starts all clocks anew.
func TestAMachineThatSlept(t *testing.T) {
	m, trace := health.NewMonitor(start, patient, full), traced([]timed{{0, session}})
	for at := 30 * second; at <= 10*minute; at += 30 * second {
		m.Check(start.Add(at), trace, nil, false)
	}
	awake := start.Add(2*time.Hour + 10*minute)
	for at := time.Duration(0); at < 20*minute; at += 30 * second {
		if r := m.Check(awake.Add(at), trace, nil, false); r.Action != health.Nothing {
			t.Fatalf("%v after it woke: %s on %+v", at, r.Action, r.On)
		}
	}
	for at := 20 * minute; ; at += 30 * second {
		if r := m.Check(awake.Add(at), trace, nil, false); r.Action == health.Test {
			break
		}
		if at > 22*minute {
			t.Fatal("a dead agent is not found after the machine slept")
		}
	}
}

// TestFewWarnings is seed 002, "Anti-false-positive guards": warnings are few, nothing is told
// twice, and what is critical always is.
func TestFewWarnings(t *testing.T) {
	events := []timed{{0, session}}
	for at := 8 * minute; at < 5*time.Hour; at += 5 * minute { // stale again and again, with some progress in between
		for beat := at; beat < at+4*minute; beat += 20 * second {
			events = append(events, timed{beat, agent.Event{Kind: agent.Heartbeat}})
		}
		events = append(events, timed{at + 4*minute, text})
	}
	_, told := watched(patient, full, events, 5*time.Hour, nil)
	if len(told) < 2 || len(told) > 10 {
		t.Errorf("%d warnings in five hours, want two an hour at most", len(told))
	}
	_, told = watched(patient, full, []timed{{0, session}, {minute, mcp}}, 15*minute, nil)
	var got []string
	for _, f := range told {
		got = append(got, string(f.Check)+" "+string(f.Severity))
	}
	if all := strings.Join(got, ", "); all != "MCP stuck critical, idle warning" {
		t.Errorf("told of a stuck call: %s, want each severity once", all)
	}
}

// TestRecovery is seed 002, "Recovery confirmation": that an agent gets on again is told once, and
// only where its silence was told.
func TestRecovery(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []timed
		want   string
	}{
		{"at work", []timed{{0, session}, {8 * minute, text}, {9 * minute, text}}, ""},
		{"silent for a while", []timed{{0, session}, {11 * minute, text}, {12 * minute, text}}, "11m0s"},
		{"errors", []timed{{0, session}, {8 * minute, retry}, {8 * minute, retry}, {8 * minute, retry}, {8*minute + second, text}}, ""},
		{"a heartbeat is no progress", []timed{{0, session}, {11 * minute, agent.Event{Kind: agent.Heartbeat}}}, ""},
	} {
		m, trace := health.NewMonitor(start, patient, full), health.NewTrace(start)
		var got []string
		for at := patient.Frequency; at <= 14*minute; at += patient.Frequency {
			for ; len(tt.events) > 0 && tt.events[0].at <= at; tt.events = tt.events[1:] {
				tt.events[0].Time = start.Add(tt.events[0].at)
				trace.Note(tt.events[0].Event)
			}
			if m.Check(start.Add(at), trace, nil, false).Recovered {
				got = append(got, fmt.Sprint(at))
			}
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, all, tt.want)
		}
	}
}

// TestErrors: errors count in a row, and one success resets them. The same call with the same
// result five times is an error.
func TestErrors(t *testing.T) {
	call := func(n int, failed bool, sum uint32) []timed {
		id := fmt.Sprint(n)
		return []timed{{time.Duration(n) * second, started(id, "Bash", agent.ShellTool)}, {time.Duration(n) * second, ended(id, failed, sum)}}
	}
	var failing, same, mixed []timed
	for n := range 6 {
		failing = append(failing, call(n, true, uint32(n)+1)...)
		same = append(same, call(n, false, 9)...)
		mixed = append(mixed, call(n, n != 4, uint32(n)+1)...)
	}
	for _, tt := range []struct {
		name     string
		events   []timed
		failures int
		obstacle bool
	}{
		{"six that failed, each in its own way", failing, 6, false},
		{"six with the same result", same, 2, false},
		{"a success in between", mixed, 1, false},
		{"three that failed alike", append(append(call(1, true, 9), call(2, true, 9)...), call(3, true, 9)...), 3, true},
		{"retries", []timed{{1, retry}, {2, retry}}, 2, false},
		{"retries after a failed call", append(call(1, true, 1), timed{2, retry}), 1, false},
		{"the provider answers", []timed{{1, retry}, {2, retry}, {3, text}}, 0, false},
	} {
		trace := traced(tt.events)
		if trace.Failures != tt.failures || (trace.Obstacle() != "") != tt.obstacle {
			t.Errorf("%s: %d failures, obstacle %q, want %d, %t", tt.name, trace.Failures, trace.Obstacle(), tt.failures, tt.obstacle)
		}
	}
}

// TestOpenCallsAreBounded: calls that never end do not fill the memory,
// and the last ones are known.
func TestOpenCallsAreBounded(t *testing.T) {
	trace := health.NewTrace(start)
	for n := range 10_000 {
		e := started(fmt.Sprint(n), "Bash", agent.ShellTool)
		e.Time = start.Add(time.Duration(n) * second)
		trace.Note(e)
	}
	if open := trace.Open(); len(open) != 64 || open[63].ID != "9999" {
		t.Errorf("%d calls are open, want the last 64", len(open))
	}
}

// TestReboot is seed 000's "5-Question Reboot Test", for an agent that cannot be asked.
func TestReboot(t *testing.T) {
	idle := health.Finding{Check: health.Idle, Severity: health.Critical, Details: "no sign of it for 20m", Act: true}
	call := health.Call{Tool: "mcp__lab__look"}
	stuck := health.Finding{Check: health.MCPStuck, Severity: health.Critical, Details: "its call hangs", Act: true, Call: &call}
	whole := health.Case{Task: "tasks/a.md", HasText: true, MaxRestarts: 2}
	judged := func(answers string) health.Case {
		c := whole
		c.Advice, c.Replans, c.Judged = "Look at b.md.", true, judge(answers)
		return c
	}
	with := func(change func(*health.Case)) health.Case {
		c := whole
		change(&c)
		return c
	}
	for _, tt := range []struct {
		name    string
		finding health.Finding
		c       health.Case
		answers string // of the five questions
		want    event.Decision
		text    string
	}{
		{"the first time", idle, whole, "yynny", event.Restart, "The watch ended your program: no sign of it for 20m."},
		{"an unclear task", idle, with(func(c *health.Case) { c.HasText = false }), "nynny", event.Restart, "reply blocked and say what is missing"},
		{"an obstacle", idle, with(func(c *health.Case) { c.Obstacle = "Bash failed 3 times" }), "yyyny", event.Restart, "Bash failed 3 times: try another way"},
		{"an input that is missing", idle, with(func(c *health.Case) { c.Missing = []string{"docs/a.md"} }), "ynnny", event.Restart, "names inputs that are not there: docs/a.md"},
		{"late, and nearly late", idle, with(func(c *health.Case) { c.Expected, c.Took, c.Replans = minute, 2*minute, true }), "yynny", event.Restart, ""},
		{"over twice the expected time", idle, with(func(c *health.Case) { c.Expected, c.Took, c.Replans = minute, 2*minute+second, true }), "yyny", event.Replan,
			"no sign of it for 20m; it worked for 2m1s, and 1m was expected"},
		{"and the Manager accepts no anomalies", idle, with(func(c *health.Case) { c.Expected, c.Took = minute, 2*minute+second }), "yyny", event.Stuck, "a person has to plan anew"},
		{"again", idle, with(func(c *health.Case) { c.Restarts, c.LastHung = 1, "idle" }), "yynny", event.Restart, ""},
		{"too often", idle, with(func(c *health.Case) { c.Restarts = 2 }), "yynnn", event.Stuck, "a restart would not help: it was restarted 2 times already"},
		{"the same call again", stuck, with(func(c *health.Case) { c.Restarts, c.LastHung = 1, "MCP stuck mcp__lab__look" }), "yynnn", event.Stuck, "the last restart was for the same"},
		{"a judge", idle, judged("yynny"), "yynny", event.Restart, "The watch ended your program: no sign of it for 20m. Look at b.md."},
		{"a judge sees no use in a restart", idle, judged("yynnn"), "yynnn", event.Stuck, "a restart would not help: why 5"},
		{"a judge finds it late", idle, judged("yynyn"), "yyny", event.Replan, "no sign of it for 20m; why 4"},
		{"a judge whose advice is not heard", idle, judged("nnyny"), "nnyny", event.Restart, "Look at b.md."},
		{"a judge that restarts for ever", idle, with(func(c *health.Case) { c.Restarts, c.Judged = 2, judge("yynny") }), "yynnn", event.Stuck, "it was restarted 2 times already"},
		{"another call", stuck, with(func(c *health.Case) { c.Restarts, c.LastHung = 1, "MCP stuck other" }), "yynny", event.Restart, ""},
	} {
		e := health.Reboot(tt.finding, tt.c)
		got := ""
		for _, a := range e.Answers {
			got += map[bool]string{true: "y", false: "n"}[a.Yes]
			if a.Evidence == "" || !strings.HasPrefix(a.Question, fmt.Sprintf("Q%d:", len(got))) {
				t.Errorf("%s: %+v, want a question in its order, with evidence", tt.name, a)
			}
		}
		if got != tt.answers || e.Decision != tt.want || !strings.Contains(e.Text, tt.text) {
			t.Errorf("%s: answers %s, %s, %q, want %s, %s, %q", tt.name, got, e.Decision, e.Text, tt.answers, tt.want, tt.text)
		}
	}
	if a := health.Describe(stuck); a.Type != "mcp_stuck" || a.Advice != "restart" || a.Tool != "mcp__lab__look" {
		t.Errorf("Describe = %+v", a)
	}
}

// judge has a judge answer y or n to each question.
func judge(answers string) (all []event.Answer) {
	for i, c := range answers {
		all = append(all, event.Answer{Question: health.Questions[i], Yes: c == 'y', Evidence: fmt.Sprintf("why %d", i+1)})
	}
	return all
}

// TestSpare: an agent whose task is unclear, or that needs help, is left alone: seed 000, "决策映射".
func TestSpare(t *testing.T) {
	for answers, want := range map[string]event.Decision{"nynny": event.Continue, "nnyyn": event.Continue, "ynnny": event.Assist, "yyyny": event.Assist,
		"yynny": "", "yynyn": "", "": ""} {
		if got := health.Spare(judge(answers)); got != want {
			t.Errorf("Spare(%q) = %q, want %q", answers, got, want)
		}
	}
}

// TestInquiry is seed 000, "场景 1", over hours: a silent agent is asked, asked again,
// reported, and ended at its limit; any answer or progress ends the inquiry, and questions
// are few: seed 002, "Anti-Spam Policy".
func TestInquiry(t *testing.T) {
	answer := agent.Event{Kind: agent.Answered, ID: "q", Text: "Yes."}
	beat := agent.Event{Kind: agent.Heartbeat}
	echo := agent.Event{Kind: agent.Echo}
	p := patient
	p.Answer = 30 * second
	for _, tt := range []struct {
		name   string
		events []timed
		until  time.Duration
		deaf   bool // it cannot be asked
		want   string
	}{
		{"it does not answer", []timed{{0, session}}, 21 * minute, false,
			"10m30s ask, 11m0s urgent, 11m30s critical, 20m30s the reboot test, 21m0s the reboot test"},
		{"it cannot be asked", []timed{{0, session}}, 21 * minute, true, "20m30s the reboot test, 21m0s the reboot test"},
		{"it answers, and hangs even so: the ceiling", []timed{{0, session}, {10*minute + 31*second, answer}}, 31 * minute, false,
			"10m30s ask, 30m30s the reboot test, 31m0s the reboot test"},
		{"it answers late", []timed{{0, session}, {11*minute + 1*second, answer}}, 20 * minute, false, "10m30s ask, 11m0s urgent"},
		{"it goes on by itself", []timed{{0, session}, {10*minute + 40*second, text}}, 20 * minute, false, "10m30s ask"},
		{"what its program repeats is no sign", []timed{{0, session}, {10*minute + 31*second, echo}, {11*minute + 1*second, echo}}, 20*minute + 30*second, false,
			"10m30s ask, 11m0s urgent, 11m30s critical, 20m30s the reboot test"},
		{"a call is open", []timed{{0, session}, {1, bash}}, 20 * minute, false, ""},
		{"two silences within 20 minutes", []timed{{0, session}, {11 * minute, text}}, 24 * minute, false, "10m30s ask"},
		{"active without progress", append([]timed{{0, session}, {8 * minute, beat}}, beats(8*minute, 11*minute)...), 11 * minute, false, "8m30s ask, 9m0s urgent, 9m30s critical"},
	} {
		m, trace := health.NewMonitor(start, p, full), health.NewTrace(start)
		var got []string
		for at := p.Frequency; at <= tt.until; at += p.Frequency {
			for ; len(tt.events) > 0 && tt.events[0].at <= at; tt.events = tt.events[1:] {
				tt.events[0].Time = start.Add(tt.events[0].at)
				trace.Print(tt.events[0].Time)
				trace.Note(tt.events[0].Event)
			}
			r := m.Check(start.Add(at), trace, &health.Usage{}, !tt.deaf)
			word := map[health.Action]string{health.Ask: "ask", health.AskAgain: "urgent"}[r.Action]
			for _, f := range r.Told {
				if f.Deaf && health.Describe(f).Advice == "restart" {
					word = string(f.Severity)
				}
			}
			if r.Action == health.Test {
				word = r.Action.String()
			}
			if word != "" {
				got = append(got, fmt.Sprintf("%v %s", at, word))
			}
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, all, tt.want)
		}
	}
}

// TestDeaf: a claude that is silent and does not answer either is ended before its model's own limit, and
// after the longest pauses from which one was seen to recover. A provider that refuses is no deafness, and an
// answer ends the matter.
func TestDeaf(t *testing.T) {
	p := patient
	p.Answer, p.DeafTimeout = 2*minute, 17*minute
	for _, tt := range []struct {
		name   string
		events []timed
		until  time.Duration
		want   time.Duration // of the reboot test; 0: none
	}{
		{"405 s", []timed{{0, session}, {405 * second, text}}, 15 * minute, 0},
		{"946 s", []timed{{0, session}, {946 * second, text}}, 25 * minute, 0},
		{"948 s, after some work", []timed{{0, session}, {minute, text}, {minute + 948*second, text}}, 26 * minute, 0},
		{"for ever", []timed{{0, session}}, 18 * minute, 17*minute + 30*second},
		{"an answer, and then silence", []timed{{0, session}, {13 * minute, agent.Event{Kind: agent.Answered, ID: "q", Text: "Yes."}}}, 25 * minute, 0},
		{"its provider refuses", append([]timed{{0, session}}, retries(10*second, 19*minute)...), 19 * minute, 0},
	} {
		m, trace := health.NewMonitor(start, p, full), health.NewTrace(start)
		var got time.Duration
		for at := p.Frequency; at <= tt.until && got == 0; at += p.Frequency {
			for ; len(tt.events) > 0 && tt.events[0].at <= at; tt.events = tt.events[1:] {
				tt.events[0].Time = start.Add(tt.events[0].at)
				trace.Print(tt.events[0].Time)
				trace.Note(tt.events[0].Event)
			}
			if m.Check(start.Add(at), trace, &health.Usage{}, true).Action == health.Test {
				got = at
			}
		}
		if got != tt.want {
			t.Errorf("%s: the reboot test after %v, want %v", tt.name, got, tt.want)
		}
	}
}

// retries are a program's own tries at its provider, more and more rarely.
func retries(from, to time.Duration) (all []timed) {
	for at := from; at < to; at *= 2 {
		all = append(all, timed{at, retry})
	}
	return all
}

// TestLoop: the same call with the same result again and again is no progress, whatever the
// model says in between: the ceiling ends it. A poll whose result changes now and then goes
// on for as long as it likes.
func TestLoop(t *testing.T) {
	polls := func(result func(n int) uint32) []timed {
		events := []timed{{0, session}}
		for n := range 240 {
			at, id := time.Duration(n)*30*second, fmt.Sprint(n)
			events = append(events, timed{at, text}, timed{at + 1, started(id, "Bash", agent.ShellTool)}, timed{at + second, ended(id, false, result(n))})
		}
		return events
	}
	done, told := watched(patient, full, polls(func(int) uint32 { return 9 }), 40*minute, nil)
	if len(done) == 0 || done[0].on.Check != health.Ceiling || done[0].at < 30*minute || done[0].at > 34*minute {
		t.Errorf("a loop: %+v, want the ceiling", done)
	}
	if len(told) == 0 || told[0].Check != health.Errors {
		t.Errorf("told of %+v, want the errors first", told)
	}
	if done, _ := watched(patient, full, polls(func(n int) uint32 { return uint32(n / 20) }), 2*time.Hour, nil); len(done) > 0 {
		t.Errorf("a poll: %+v", done[0])
	}
}

// beats are signs of a program that is alive, every 20 seconds.
func beats(from, to time.Duration) (all []timed) {
	for at := from; at < to; at += 20 * second {
		all = append(all, timed{at, agent.Event{Kind: agent.Heartbeat}})
	}
	return all
}

// TestMCPCallIsEndedAlone: where the program can end a call, the agent is restarted
// only if that does not help.
func TestMCPCallIsEndedAlone(t *testing.T) {
	m, trace := health.NewMonitor(start, patient, full), traced([]timed{{0, session}, {minute, mcp}})
	var got []string
	for at := 30 * second; at <= 12*minute; at += 30 * second {
		if r := m.Check(start.Add(at), trace, nil, true); r.Action != health.Nothing {
			got = append(got, fmt.Sprintf("%v %s", at, r.Action))
		}
	}
	if all := strings.Join(got, ", "); all != "11m30s the call is ended, 12m0s the reboot test" {
		t.Errorf("%s", all)
	}
}

// TestStages is seed 002, "Event Monitoring Model": stages of an agent without progress, two
// breaches in a row, each told once; fresh progress begins them anew.
func TestStages(t *testing.T) {
	p := patient
	p.Ceiling, p.ModelTimeout, p.ModelWarning = 0, 0, 0
	p.Stages = health.Stages{15 * minute, 45 * minute, 60 * minute}
	quick := p
	quick.Stages = health.Stages{minute, 2 * minute, 3 * minute}
	off := p
	off.Stages = health.Stages{}
	for _, tt := range []struct {
		name   string
		policy health.Policy
		events []timed
		want   string
	}{
		{"a coder", p, []timed{{0, session}}, "15m30s PING, 45m30s ESCALATE, 1h0m30s REASSIGN_PROPOSAL"},
		{"progress", p, []timed{{0, session}, {20 * minute, text}, {40 * minute, text}}, "15m30s PING, 35m30s PING, 55m30s PING, 1h25m30s ESCALATE"},
		{"a heartbeat is none", p, []timed{{0, session}, {20 * minute, agent.Event{Kind: agent.Heartbeat}}}, "15m30s PING, 45m30s ESCALATE, 1h0m30s REASSIGN_PROPOSAL"},
		{"within the grace", quick, []timed{{0, session}, {8 * minute, result}}, "7m30s REASSIGN_PROPOSAL"},
		{"off", off, []timed{{0, session}}, ""},
	} {
		m, trace := health.NewMonitor(start, tt.policy, full), health.NewTrace(start)
		var got []string
		for at := p.Frequency; at <= 90*minute; at += p.Frequency {
			for ; len(tt.events) > 0 && tt.events[0].at <= at; tt.events = tt.events[1:] {
				tt.events[0].Time = start.Add(tt.events[0].at)
				trace.Note(tt.events[0].Event)
			}
			if s := m.Check(start.Add(at), trace, nil, false).Stage; s.Number > 0 {
				got = append(got, fmt.Sprintf("%v %s", at, s.Describe("t", false).Action))
			}
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, all, tt.want)
		}
	}
}

// TestOpenAt: an agent that is asked to end was waiting for the calls that were open then, and for none that it
// began or ended since.
func TestOpenAt(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	trace := health.NewTrace(began)
	for _, e := range []agent.Event{
		{Kind: agent.ToolStarted, Tool: "early", ID: "1", Time: at(1)},
		{Kind: agent.ToolStarted, Tool: "asked", ID: "2", Time: at(2)},
		{Kind: agent.ToolEnded, Tool: "early", ID: "1", Time: at(3)},
		{Kind: agent.ToolEnded, Tool: "asked", ID: "2", Time: at(5)},
		{Kind: agent.ToolStarted, Tool: "late", ID: "3", Time: at(6)},
	} {
		trace.Note(e)
	}
	for s, want := range map[int]string{0: "", 1: "early", 2: "early asked", 4: "asked", 5: "", 6: "late"} {
		var names []string
		for _, c := range trace.OpenAt(at(s)) {
			names = append(names, c.Tool)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("open at second %d: %q, want %q", s, got, want)
		}
	}
	trace.Note(agent.Event{Kind: agent.Text, Text: "hm", Time: at(4)}) // two streams are read at the same time
	if open := trace.Open(); len(open) != 1 || open[0].Tool != "late" {
		t.Errorf("open after an older sign: %+v, want the last call", open)
	}
}
