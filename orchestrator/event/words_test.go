package event_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
)

// TestVerdict: what a judge came to, in words behind its name.
func TestVerdict(t *testing.T) {
	yes, no := event.Answer{Yes: true}, event.Answer{}
	ref := event.AttemptRef{Role: "Implementor"}
	for want, e := range map[string]event.JudgeAnswered{
		"says Q1 yes, Q2 no":                                                   {Answers: []event.Answer{yes, no}},
		"says Q1 no: begin with the parser":                                    {Answers: []event.Answer{no}, Advice: "begin with\nthe parser"},
		"says Q1 yes; Implementor is left alone (CONTINUE)":                    {AttemptRef: ref, Answers: []event.Answer{yes}, Decision: event.Continue},
		"says Q1 yes; Implementor is left alone (ASSIST): look at the lock":    {AttemptRef: ref, Answers: []event.Answer{yes}, Decision: event.Assist, Advice: "look at the lock"},
		"says Q1 yes, which is void: the agent that it judges has ended":       {Answers: []event.Answer{yes}, Reason: "the agent that it judges has ended", Advice: "unsaid"},
		"has not judged: no valid reply in 4 attempts; the last: empty stdout": {Reason: "no valid reply in 4 attempts;\nthe last: empty stdout", Advice: "unsaid"},
	} {
		if got := e.Verdict(); got != want {
			t.Errorf("Verdict = %q, want %q", got, want)
		}
	}
}

// TestHeadline: a text of a person's screen length stays whole; of a longer one the
// beginning and the end are said.
func TestHeadline(t *testing.T) {
	headline := func(text string) string {
		return strings.TrimPrefix(event.JudgeAnswered{Reason: text}.Verdict(), "has not judged: ")
	}
	most := strings.Repeat("a", 600)
	if got := headline(most); got != most {
		t.Errorf("600 bytes became %q", got)
	}
	long := strings.Repeat("b", 350) + strings.Repeat("-", 101) + strings.Repeat("e", 250)
	if want := strings.Repeat("b", 350) + " … " + strings.Repeat("e", 250); headline(long) != want {
		t.Errorf("701 bytes became %q, want %q", headline(long), want)
	}
	if got := headline(strings.Repeat("é", 400)); !utf8.ValidString(got) || !strings.Contains(got, "é … é") {
		t.Errorf("a letter of two bytes was cut: %q", got)
	}
}

// TestMessageInWords: a message has one of its three texts, and is told as that.
func TestMessageInWords(t *testing.T) {
	for want, c := range map[string]event.Content{
		"Are you at work?": {Question: "Are you at work?"},
		"Try the mirror.":  {Assistance: "guidance", Details: "Try the mirror."},
		"Use Go.":          {Text: "Use Go."},
		"QDT":              {Question: "Q", Details: "D", Text: "T"},
	} {
		if got := c.String(); got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
	}
}

// TestWhy: a person is asked for consent with what was found, or with what the person would be
// told where an agent is stuck.
func TestWhy(t *testing.T) {
	found := event.RebootTested{Anomaly: event.Anomaly{Details: "silent for 20m"}, Decision: event.Restart, Text: "it is restarted"}
	stuck := found
	stuck.Decision = event.Stuck
	if found.Why() != "silent for 20m" || stuck.Why() != "it is restarted" {
		t.Errorf("Why = %q, and of a stuck agent %q", found.Why(), stuck.Why())
	}
}

// TestUseOf: time and cost of a judge count like those of an attempt, if one was started.
func TestUseOf(t *testing.T) {
	spent := spending(7)
	for name, tt := range map[string]struct {
		event event.Event
		is    bool
	}{
		"an attempt":               {event.ReplyAccepted{End: event.End{Millis: 5, Spent: spent}}, true},
		"a judge":                  {event.JudgeAnswered{Try: 1, Millis: 5, Spent: spent}, true},
		"a judge never started":    {event.JudgeAnswered{Millis: 5, Spent: spent}, false},
		"an event with no program": {event.RunStarted{}, false},
	} {
		millis, got, is := event.UseOf(tt.event)
		if is != tt.is || is && (millis != 5 || got != spent) {
			t.Errorf("%s: %d, %v, %v", name, millis, got, is)
		}
	}
}

// TestPlus: two lots of attempts together; no sum goes over the greatest number.
func TestPlus(t *testing.T) {
	a := event.Used{Attempts: 1, Told: 2, Priced: 3, Input: 4, Cached: 5, Output: 6, Cost: 7, Millis: 8}
	b := event.Used{Attempts: 10, Told: 20, Priced: 30, Input: 40, Cached: 50, Output: 60, Cost: 70, Millis: 80}
	want := event.Used{Attempts: 11, Told: 22, Priced: 33, Input: 44, Cached: 55, Output: 66, Cost: 77, Millis: 88}
	if diff := cmp.Diff(want, a.Plus(b)); diff != "" {
		t.Errorf("Plus: -want +got\n%s", diff)
	}
	most := event.Used{Cost: 1<<63 - 1}
	if got := most.Plus(a).Cost; got != 1<<63-1 {
		t.Errorf("the greatest cost and 7 more is %d", got)
	}
	if got := most.Plus(event.Used{Cost: -5}).Cost; got != 1<<63-1 {
		t.Errorf("a debt of 5 leaves %d", got)
	}
}

func TestLimitsInWords(t *testing.T) {
	for want, l := range map[string]event.Limits{
		"":                        {MaxRetries: 3},
		"$5.00, 1h, 10 steps":     {MaxCost: 5_000_000, MaxMillis: 3_600_000, MaxSteps: 10},
		"of a task $0.50, 1 step": {MaxTaskCost: 500_000, MaxTaskSteps: 1},
		"2 steps; of a task 10m":  {MaxSteps: 2, MaxTaskMillis: 600_000},
	} {
		if got := l.String(); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
}

func TestUsed(t *testing.T) {
	tests := []struct {
		name          string
		spent         []*event.Spending
		money, tokens string
		both          string
	}{
		{"nothing was started", nil, "$0.00", "", ""},
		{"no tool tells", []*event.Spending{nil}, "unknown", "", ""},
		{"all tell", []*event.Spending{spending(1_000), spending(11_300)}, "$0.0123", "2.0k in/200 out", "$0.0123, 2.0k in/200 out"},
		{"some tell", []*event.Spending{spending(120_000), nil}, "at least $0.12", "1.0k in/100 out", "at least $0.12, 1.0k in/100 out"},
		{"tokens without a price", []*event.Spending{{Input: 999, Output: 1}}, "unknown", "999 in/1 out", "cost unknown, 999 in/1 out"},
		{"it costs nothing, and is known to", []*event.Spending{spending(0)}, "$0.00", "1.0k in/100 out", "$0.00, 1.0k in/100 out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var u event.Used
			for _, s := range tt.spent {
				u.Add(7, s)
			}
			if u.Money() != tt.money || u.Tokens() != tt.tokens || u.String() != tt.both {
				t.Errorf("%q, %q, %q, want %q, %q, %q", u.Money(), u.Tokens(), u.String(), tt.money, tt.tokens, tt.both)
			}
			if u.Millis != int64(7*len(tt.spent)) {
				t.Errorf("%d ms, want 7 of each attempt", u.Millis)
			}
		})
	}
	huge := event.Used{Cost: math.MaxInt64 - 1}
	if huge.Add(-5, spending(7)); huge.Cost != math.MaxInt64 || huge.Millis != 0 {
		t.Errorf("%+v, want the greatest cost that there is and no time", huge)
	}
}

func TestDollars(t *testing.T) {
	for micros, want := range map[int64]string{0: "$0.00", 1: "under $0.0001", 50: "$0.0001", 12_345: "$0.0123", 12_350: "$0.0124", 100_000: "$0.10", 123_400: "$0.1234",
		999_949: "$0.9999", 999_950: "$1.00", 1_000_000: "$1.00", 1_234_999: "$1.23", 1_235_000: "$1.24", 2_500_000: "$2.50", 99_999_999: "$100.00",
		math.MaxInt64: "$9223372036854.78"} {
		if got := event.Dollars(micros); got != want {
			t.Errorf("Dollars(%d) = %s, want %s", micros, got, want)
		}
	}
	s := event.Spending{Input: 999_949, Output: 1_250_000}
	if got := s.String(); got != "999.9k in/1.2M out" {
		t.Errorf("String = %s", got)
	}
	for millis, want := range map[int64]string{0: "0s", 1: "1ms", 2500: "2.5s", 60_000: "1m", 90_000: "1m30s", 3_600_000: "1h", 5_400_000: "1h30m"} {
		if got := event.Span(millis); got != want {
			t.Errorf("Span(%d) = %s, want %s", millis, got, want)
		}
	}
}

// TestSpending: what one attempt came to, as far as its tool tells.
func TestSpending(t *testing.T) {
	for want, s := range map[string]*event.Spending{
		"$0.01, 1.0k in/100 out":          spending(10_000),
		"at least $0.01, 1.0k in/100 out": partly(10_000),
		"1.0k in/100 out":                 {Input: 1000, Output: 100},
		"at least 999 in/0 out":           {Input: 999, Partial: true},
		"999.9k in/1.0M out":              {Input: 999_949, Output: 999_950},
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestLimitsOfCost names what only an agent that tells its cost can keep to.
func TestLimitsOfCost(t *testing.T) {
	for _, tt := range []struct {
		limits event.Limits
		want   []string
	}{
		{event.Limits{MaxMillis: 1, MaxSteps: 1, MaxTaskMillis: 1, MaxTaskSteps: 1}, nil},
		{event.Limits{MaxCost: 1}, []string{"max_cost"}},
		{event.Limits{MaxTaskCost: 1}, []string{"max_task_cost"}},
		{event.Limits{MaxCost: 1, MaxTaskCost: 1}, []string{"max_cost", "max_task_cost"}},
	} {
		if got := tt.limits.OfCost(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.limits, got, tt.want)
		}
	}
}

// TestWithheldText names the variables and the setting that passes them (DESIGN, "The contract").
func TestWithheldText(t *testing.T) {
	all := []string{"A_TOKEN", "B_KEY", "C_KEY"}
	for _, tt := range []struct {
		partly []event.PartlyWithheld
		want   string
	}{
		{nil, "from the agents: A_TOKEN, B_KEY, C_KEY"},
		{[]event.PartlyWithheld{{Roles: []string{"R", "S"}, Names: []string{"B_KEY"}}, {Roles: []string{"T"}, Names: []string{"C_KEY"}}},
			"from the agents: A_TOKEN; from R, S: B_KEY; from T: C_KEY"},
		{[]event.PartlyWithheld{{Roles: []string{"R"}, Names: all}}, "from R: A_TOKEN, B_KEY, C_KEY"},
	} {
		want := "withheld " + tt.want + " (env.pass in x.yaml passes a variable)"
		if got := event.WithheldText(all, tt.partly, "x.yaml"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFindingOf: what differs each time that the same is found is not compared, all else is.
func TestFindingOf(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"No tests", "no   TESTS\n", true},
		{"ok in 12ms", "ok in 1.5 s", true},
		{"takes 60 s, must be under 15 s", "takes 50 s, must be under 15 s", false},
		{"at 2026-01-02T10:00:00Z: bad", "at 2026-01-03T11:22:33.5Z: bad", true},
		{"id 8c3bfc4e48b2", "id 0294791434aa", true},
		{"req 123e4567-e89b-12d3-a456-426614174000", "req 123e4567-e89b-12d3-a456-426614174999", true},
		{"12 tests fail", "9 tests fail", false},
		{"a.go:12: unused", "a.go:14: unused", false},
		{"deadbeat", "feedface", false},
		{"ok  \tpkg\t0.35s", "ok \tpkg\t0.41s", true},
		{"--- FAIL: TestParse (0.00s)", "--- FAIL: TestParse (0.02s)", true},
		{"BenchmarkParse: 350ms, limit 100ms", "BenchmarkParse: 300ms, limit 100ms", false},
		{"src/main.c:12:31: error", "src/main.c:34:18: error", false},
		{"12:31  error  unused", "34:18  error  unused", false},
		{"[10:11:12] bad", "[10:13:14] bad", true},
		{"migration m/20240102.up has no down step", "migration m/20240103.up has no down step", false},
		{"2024-01-02.sql is missing", "2024-01-03.sql is missing", false},
		{"/tmp/tmp.1732361234/x", "/tmp/tmp.1732369999/x", true},
	} {
		if got := event.FindingOf(tt.a) == event.FindingOf(tt.b); got != tt.same {
			t.Errorf("%q and %q: same = %t", tt.a, tt.b, got)
		}
	}
	if event.FindingOf(" \n") != "" {
		t.Error("nothing is a finding")
	}
}

func spending(cost int64) *event.Spending {
	return &event.Spending{Input: 1000, Cached: 500, Output: 100, Cost: &cost}
}

// partly is spending of which only a part is known.
func partly(cost int64) *event.Spending {
	s := spending(cost)
	s.Partial = true
	return s
}

// TestList names some of many.
func TestList(t *testing.T) {
	for n, want := range map[int]string{0: "", 2: "a, b", 3: "a, b, c", 4: "a, b, c and 1 more", 5: "a, b, c and 2 more"} {
		if got := event.List([]string{"a", "b", "c", "d", "e"}[:n], 3); got != want {
			t.Errorf("List of %d = %q, want %q", n, got, want)
		}
	}
}

// TestClip: a message is journaled whole, or in part with its size.
func TestClip(t *testing.T) {
	whole := strings.Repeat("x", 32<<10)
	if got := event.Clip(whole); got != whole {
		t.Errorf("a message of 32 KiB has %d bytes", len(got))
	}
	if got := event.Clip(whole + "y"); got != whole+"… (32769 bytes in all)" {
		t.Errorf("a longer one ends with %q", got[len(whole):])
	}
}

// TestKey: anomalies about different tools are told apart.
func TestKey(t *testing.T) {
	for _, a := range []event.Anomaly{{Check: "idle"}, {Check: "MCP stuck", Tool: "db"}} {
		if got, want := a.Key(), strings.TrimSpace(a.Check+" "+a.Tool); got != want {
			t.Errorf("Key = %q, want %q", got, want)
		}
	}
}

// TestOpenUse: an attempt whose end is not known counts as one.
func TestOpenUse(t *testing.T) {
	var u event.Used
	u.AddOpen()
	u.AddOpen()
	if u.Attempts != 2 || u.Told != 0 {
		t.Errorf("used %+v", u)
	}
}

// TestEndsThatCall: of the ends of a run those call a person for which a person acts.
func TestEndsThatCall(t *testing.T) {
	for _, o := range event.Outcomes() {
		said := event.RunInterrupted{Outcome: o, Reason: "why"}.Sentence()
		if got, want := said.Topic == event.AboutPerson, o.Who().AsksPerson(); got != want {
			t.Errorf("%s: the topic is %q, and %s acts", o, said.Topic, o.Who())
		}
	}
}

// TestIsRemarked: a record says by a field whether its text has a remark, whatever the words are. A record of an
// earlier version, which has no such field, says it by its text.
func TestIsRemarked(t *testing.T) {
	yes, no := true, false
	for name, tt := range map[string]struct {
		end  event.RunFinished
		want event.Weight
	}{
		"told that it has none":  {event.RunFinished{Outcome: event.Complete, Text: "all is well", Remarked: &no}, event.Success},
		"told that it has one":   {event.RunFinished{Outcome: event.Complete, Text: "the board is complete", Remarked: &yes}, event.Warning},
		"earlier, without":       {event.RunFinished{Outcome: event.Complete, Text: "the board is complete"}, event.Success},
		"earlier, with a remark": {event.RunFinished{Outcome: event.Complete, Text: "the board is complete; 1 task was skipped"}, event.Warning},
		"another outcome":        {event.RunFinished{Outcome: event.NeedsPerson, Text: "stuck", Remarked: &no}, event.Critical},
	} {
		if got := tt.end.Sentence().End; got != tt.want {
			t.Errorf("%s: the end weighs %d, want %d", name, got, tt.want)
		}
	}
}

// TestShortestLimit: a limit of less than the journal can say is the least that
// it can say, and not none.
func TestShortestLimit(t *testing.T) {
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Hour: 3_600_000} {
		if got := event.Millis(d); got != want {
			t.Errorf("Millis(%v) = %d, want %d", d, got, want)
		}
	}
}
