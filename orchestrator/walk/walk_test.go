package walk_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/walk"
)

// list is a list of tasks, by letters: a lower-case one is open, an upper-case one is marked as done,
// a digit is done by its own file, and ! has no file.
type list string

func (l list) turn(task string, at int, status string) walk.Turn {
	return walk.Turn{Task: task, At: at, Status: status, Len: len(l), Marked: func(i int) bool { return l[i] >= 'A' && l[i] <= 'Z' }, Head: func(i int) walk.Head {
		if l[i] == '!' {
			return walk.Head{Path: "!", Fault: errors.New("there is no such file")}
		}
		return walk.Head{Path: string(l[i]), Done: l[i] >= '0' && l[i] <= '9'}
	}}
}

// TestDecide: behind a task that is done the next open one is named; what cannot be read is skipped
// in words and never passes for done; any other status ends the board with it. Source: seed 004,
// "Output Specification (Agent → Supervisor)".
func TestDecide(t *testing.T) {
	blocked := func(text string) walk.Decision { return walk.Decision{Status: "blocked", Message: text} }
	suspected := func(kind string) *event.Anomaly { return &event.Anomaly{Type: kind, Details: "it is late"} }
	for name, tt := range map[string]struct {
		list    list
		task    string
		at      int
		status  string
		anomaly *event.Anomaly
		want    walk.Decision
	}{
		"the next":                    {"abc", "a", 0, "ok", nil, walk.Decision{Status: "ok", Message: "a is done", Next: "b", Mark: true}},
		"behind marked and done ones": {"aB1d", "a", 0, "ok", nil, walk.Decision{Status: "ok", Message: "a is done", Next: "d", Mark: true}},
		"a missing one is skipped":    {"a!c", "a", 0, "ok", nil, walk.Decision{Status: "ok", Message: "a is done; ! is skipped: there is no such file", Next: "c", Mark: true}},
		"itself once more is no next": {"aab", "a", 0, "ok", nil, walk.Decision{Status: "ok", Message: "a is done", Next: "b", Mark: true}},
		"the last":                    {"ABc", "c", 2, "ok", nil, walk.Decision{Status: "ok", Message: "c is done", Mark: true}},
		"the last behind a missing one": {"!Bc", "c", 2, "ok", nil,
			walk.Decision{Status: "blocked", Message: "c is done; ! was not worked on: there is no such file", Mark: true}},
		"the last behind many": {"!!!!c", "c", 4, "ok", nil, walk.Decision{Status: "blocked", Mark: true,
			Message: "c is done; ! was not worked on: there is no such file; ! was not worked on: there is no such file; ! was not worked on: there is no such file"}},
		"its own file is gone":          {"A!", "!", 1, "ok", nil, walk.Decision{Status: "ok", Message: "! is done", Mark: true}},
		"behind the last from the top":  {"aBc", "c", 2, "ok", nil, walk.Decision{Status: "ok", Message: "c is done", Next: "a", Mark: true}},
		"not listed":                    {"Ab", "z", -1, "ok", nil, walk.Decision{Status: "ok", Message: "z is done", Next: "b"}},
		"no list":                       {"", "z", -1, "ok", nil, walk.Decision{Status: "ok", Message: "z is done"}},
		"blocked":                       {"ab", "a", 0, "blocked", nil, blocked("a is blocked; its work log says why")},
		"error":                         {"ab", "a", 0, "error", nil, walk.Decision{Status: "error", Message: "a is in error; its work log says why"}},
		"a task for the Manager itself": {"ab", "a", 0, "", nil, blocked("a is a task for the Manager itself, and walk only goes down the list: give the Manager an agent with a model, or the task another role")},
		"in quarantine":                 {"abc", "a", 0, "blocked", suspected("loop_suspected"), walk.Decision{Status: "ok", Message: "a is in quarantine", Next: "b"}},
		"listed twice, side by side":    {"aab", "a", 0, "ok", nil, walk.Decision{Status: "ok", Message: "a is done", Next: "b", Mark: true}},
		"the last, in quarantine":       {"a", "a", 0, "ok", suspected("loop_suspected"), walk.Decision{Status: "ok", Message: "a is in quarantine"}},
		"a checkpoint blocks":           {"ab", "a", 0, "ok", suspected("checkpoint_block"), blocked("walk cannot plan anew, and it is late")},
		"to be planned anew":            {"ab", "a", 0, "ok", suspected("idle"), blocked("a is not done, and its plan does not hold: it is late")},
	} {
		turn := tt.list.turn(tt.task, tt.at, tt.status)
		turn.Is = map[string]string{"blocked": "is blocked", "error": "is in error"}[tt.status]
		turn.Anomaly = tt.anomaly
		if diff := cmp.Diff(tt.want, walk.Decide(turn)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestMarkedFilesAreNotRead: of a long list only the files of open entries are read.
func TestMarkedFilesAreNotRead(t *testing.T) {
	turn := list("ABcDe").turn("c", 2, "ok")
	head := turn.Head
	turn.Head = func(i int) walk.Head {
		if i != 4 {
			t.Errorf("the file of entry %d was read", i)
		}
		return head(i)
	}
	if d := walk.Decide(turn); d.Next != "e" {
		t.Errorf("the next task is %q, want e", d.Next)
	}
}

// TestSaid: the words of an agent that replied another status stand in the decision.
func TestSaid(t *testing.T) {
	d := walk.Decide(walk.Turn{Task: "a", Status: "blocked", Is: "is blocked", Said: "no key"})
	if d.Status != "blocked" || d.Message != "a is blocked: no key" {
		t.Errorf("%+v", d)
	}
}

// TestKeepGoing: design of keep_going: the next task is the first after the finished one, and then from the top,
// that is ready. If only tasks are left that were set aside in this run, the first of them is current for the next
// one, and what needs them is named.
func TestKeepGoing(t *testing.T) {
	aside := &event.Anomaly{Type: event.SetAsideType, Details: "no key"}
	for name, tt := range map[string]struct {
		list    list
		past    string // a letter for each entry: o open, s settled, k skipped, a aside, g again, q in quarantine
		needs   map[byte][]string
		at      int
		anomaly *event.Anomaly
		want    walk.Decision
	}{
		"an earlier one":                      {"abc", "oss", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "a", Mark: true}},
		"not what is done":                    {"abc", "sso", nil, 0, nil, walk.Decision{Status: "ok", Message: "a is done", Next: "c", Mark: true}},
		"not what a person skipped":           {"abc", "skk", nil, 0, nil, walk.Decision{Status: "ok", Message: "a is done", Mark: true}},
		"what is ready":                       {"abc", "sao", map[byte][]string{'b': {"x"}}, 0, nil, walk.Decision{Status: "ok", Message: "a is done", Next: "c", Mark: true}},
		"the next rather than an earlier one": {"abc", "oso", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "c", Mark: true}},
		"the first that was set aside":        {"abc", "asa", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "a", Mark: true}},
		"set aside":                           {"abc", "aoo", nil, 0, aside, walk.Decision{Status: "ok", Message: "a is set aside", Next: "b"}},
		"only what was set aside":             {"abc", "asa", nil, 2, aside, walk.Decision{Status: "ok", Message: "c is set aside", Next: "a"}},
		"and what needs it":                   {"abc", "aos", map[byte][]string{'b': {"a"}}, 0, aside, walk.Decision{Status: "ok", Message: "a is set aside", Next: "a", Left: []string{"b is not worked on: it needs a"}}},
		"not one in quarantine":               {"abc", "qoo", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "c", Mark: true}},
		"only one in quarantine":              {"abc", "qss", nil, 2, nil, walk.Decision{Status: "ok", Message: "c is done", Next: "a", Mark: true}},
		"rather what was set aside":           {"abc", "qas", nil, 2, nil, walk.Decision{Status: "ok", Message: "c is done", Next: "b", Mark: true}},
		"set aside, though marked":            {"Abc", "aos", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "A", Mark: true}},
		"set aside, though done by its file":  {"1bc", "aos", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "1", Mark: true}},
		"to be tried again, though marked":    {"aBc", "sgs", nil, 0, nil, walk.Decision{Status: "ok", Message: "a is done", Next: "B", Mark: true}},
		"done, and its file is gone":          {"!bc", "sos", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Mark: true}},
		"skipped, and its file is gone":       {"!bc", "kos", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Mark: true}},
		"nothing is ready":                    {"abc", "soo", map[byte][]string{'b': {"c"}, 'c': {"b", "x"}}, 0, nil, walk.Decision{Status: "blocked", Message: "a is done; b is not worked on: it needs c; c is not worked on: it needs b, x", Mark: true}},
		"the last one behind a skip":          {"abc", "kso", nil, 1, nil, walk.Decision{Status: "ok", Message: "b is done", Next: "c", Mark: true}},
	} {
		turn := tt.list.turn(string(tt.list[tt.at]), tt.at, "ok")
		turn.Anomaly = tt.anomaly
		turn.Past = func(i int) walk.Past {
			return map[byte]walk.Past{'o': walk.Open, 's': walk.Settled, 'k': walk.Skipped, 'a': walk.Aside, 'q': walk.Quarantined, 'g': walk.Again}[tt.past[i]]
		}
		head := turn.Head
		turn.Head = func(i int) walk.Head {
			h := head(i)
			h.Needs = tt.needs[tt.list[i]]
			return h
		}
		if diff := cmp.Diff(tt.want, walk.Decide(turn)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestMessagesAreBounded: what walk says of the tasks that wait for others, and of files that cannot
// be read, stays short however many there are.
func TestMessagesAreBounded(t *testing.T) {
	many := walk.Turn{Task: "a", Status: "ok", Len: 2000, Marked: func(i int) bool { return i == 0 },
		Head: func(i int) walk.Head {
			return walk.Head{Path: fmt.Sprintf("%d.md", i), Needs: slices.Repeat([]string{"z.md"}, 2000)}
		}}
	d := walk.Decide(many)
	if d.Status != "blocked" || len(d.Message) > 1000 || !strings.Contains(d.Message, "and 1995 more") {
		t.Errorf("Decide = %s, %d bytes: %.300s", d.Status, len(d.Message), d.Message)
	}
	many.Past = func(i int) walk.Past {
		if i == 1 {
			return walk.Aside
		}
		return walk.Open
	}
	if d := walk.Decide(many); d.Next != "1.md" || len(d.Left) > 6 {
		t.Errorf("Decide = %s, next %s, with %d tasks left", d.Status, d.Next, len(d.Left))
	}
}
