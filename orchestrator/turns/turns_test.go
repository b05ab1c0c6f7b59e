package turns

import (
	"fmt"
	"testing"
	"time"
)

// TestSince: a board finds the turns of the others that were open at some time since its last look, also
// one that was open before it and one that is open still, and none of its own.
func TestSince(t *testing.T) {
	r := &Registry{}
	r.Begin(Turn{Board: "a.yaml", Path: "/a", Task: "over"})()
	during := r.Begin(Turn{Board: "a.yaml", Path: "/a", Task: "before"})
	_, look := r.Since(Look{}, "/b")
	during()
	r.Begin(Turn{Board: "b.yaml", Path: "/b", Task: "own"})()
	r.Begin(Turn{Board: "a.yaml", Path: "/a", Task: "open"})
	open, now := r.Since(look, "/b")
	if got, want := While("/b", open), "while before of a.yaml, open of a.yaml were worked on"; got != want {
		t.Errorf("While(Since) = %q, want %q", got, want)
	}
	if open, _ := r.Since(now, "/b"); len(open) != 1 || open[0].Task != "open" {
		t.Errorf("Since = %v, want the turn that is open still", open)
	}
}

// TestWhile: the words about many turns stay short.
func TestWhile(t *testing.T) {
	all := []Turn{{Board: "a.yaml", Path: "/a", Task: "1"}, {Doing: "Sup got ready"}}
	if got, want := While("/a", all), "while 1 was worked on and Sup got ready"; got != want {
		t.Errorf("While = %q, want %q", got, want)
	}
	for i := range 4 {
		all = append(all, Turn{Doing: fmt.Sprintf("Sup looked at CHECKPOINT-00%d", i)}, all[1])
	}
	want := "while 1 was worked on and Sup got ready and Sup looked at CHECKPOINT-000 and Sup looked at CHECKPOINT-001 and 2 more programs ran"
	if got := While("/a", all); got != want {
		t.Errorf("While = %q, want %q", got, want)
	}
}

// TestDuring: the time of a file's last change says in which turns it may have changed.
func TestDuring(t *testing.T) {
	begin := time.Now()
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	open := []Turn{{Task: "1", From: at(10), To: at(20)}, {Task: "2", From: at(15)}}
	look := Look{At: at(0)}
	for changed, want := range map[int]int{5: 0, 12: 1, 17: 2, 30: 1, -5: 2} { // the last is by another clock
		if got := During(open, at(changed), look); len(got) != want {
			t.Errorf("During(%d s) = %v, want %d turns", changed, got, want)
		}
	}
}
