package page

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
)

var began = time.Date(2026, 11, 22, 1, 12, 6, 0, time.UTC)

// scene is a board whose journal is played. It is complete unless its state says otherwise.
type scene struct {
	name    string
	fold    projection.Fold
	history flow.History
	facts   projection.Facts
	at      time.Time
	seq     uint64
}

func newScene(name string, tasks ...string) *scene {
	s := &scene{name: name, at: began, facts: projection.Facts{List: listOf(tasks...)}}
	s.history.State = flow.State{Workdir: "/w", Outcome: event.Complete, Text: flow.CompleteText, Spent: true}
	return s
}

// listOf is the list of a board. A task is done if its last reply was ok.
func listOf(tasks ...string) flow.List {
	at := map[string]int{}
	for i, task := range tasks {
		at[task] = i
	}
	no := func(int) bool { return false }
	return flow.List{Paths: tasks, Marked: no, Done: no, Find: func(task string) int {
		if i, ok := at[task]; ok {
			return i
		}
		return -1
	}}
}

func (s *scene) play(after time.Duration, events ...event.Event) *scene {
	for _, e := range events {
		s.at = s.at.Add(after)
		s.seq++
		s.fold.Add(event.Entry{Seq: s.seq, Epoch: 1, Time: s.at, Event: e})
	}
	return s
}

// done gives tasks the status ok.
func (s *scene) done(tasks ...string) *scene {
	for _, task := range tasks {
		s.history.State.Statuses = append(s.history.State.Statuses, flow.TaskStatus{Task: task, Status: "ok"})
	}
	return s
}

// over ends the board with the Manager's status.
func (s *scene) over(o event.Outcome, status, message, task string) *scene {
	s.facts.Board = flow.Board{Terminal: true, SHA: "s"}
	s.history.State.Outcome = o
	s.history.State.Last = flow.ManagerReply{Status: status, Message: message, Task: task, BoardSHA: "s"}
	return s
}

func (s *scene) board() *projection.Board {
	s.history.Seq = s.seq
	b := s.fold.Board(s.name, &s.history, s.facts)
	return &b
}

// step plays a step: its agent replies status and message, and the Manager names the next task.
func (s *scene) step(number int, task, role, status, message string) *scene {
	ref := event.AttemptRef{Step: number, Call: event.TaskCall, Task: task, Role: role, Attempt: 1}
	manager := event.AttemptRef{Step: number, Call: event.ManagerCall, Task: task, Role: event.ManagerRole, Attempt: 1}
	next := task
	return s.play(time.Second, event.StepStarted{Step: number, Task: task, Role: role},
		event.AttemptStarted{AttemptRef: ref, Adapter: "claude", Command: "claude -p", Input: []byte(`{"task_file":"` + plainJSON(task) + `"}`)}).
		play(3*time.Minute, event.ReplyAccepted{AttemptRef: ref, Status: status, Message: message,
			End: event.End{Millis: 180000, Session: "s-1",
				Spent: &event.Spending{Input: 1000, Cached: 900, Output: 50, Cost: ptr(int64(250000))}}}).
		play(time.Second, event.AttemptStarted{AttemptRef: manager, Adapter: "claude", Command: "claude -p"}).
		play(20*time.Second, event.ReplyAccepted{AttemptRef: manager, Status: "ok", Message: message, NextTask: &next,
			End: event.End{Millis: 20000, Spent: &event.Spending{Input: 100, Output: 5, Cost: ptr(int64(50000))}}},
			event.StepFinished{Step: number, Task: task, Role: role, Status: status, Manager: "ok", Message: message,
				NextTask: &next})
}

func plainJSON(s string) string { return strings.ReplaceAll(s, `"`, "") }

func ptr[T any](v T) *T { return &v }

// troubled is a board on which all that can go wrong does. All its texts are made by text.
func troubled(text func(string) string) *projection.Board {
	one, two, three := text("tasks/1.md"), text("tasks/2.md"), text("tasks/3.md")
	s := newScene(text("b.yaml"), one, two, three)
	run := event.RunStarted{Board: "b", Workdir: text("/w"), Version: text("1.0"),
		Limits: event.Limits{MaxRetries: 3, MaxCost: 5_000_000}, Withheld: []string{text("TOKEN")},
		OnDivergence: text("accept"),
		Supervision: &event.Supervision{Role: text("Supervisor"),
			OnBlock: event.OnBlock(text("person"))}, Adapter: text("claude")}
	s.history.State.Limits = run.Limits
	s.play(time.Second, run).step(1, one, text("Implementor"), "ok", text("done"))
	ref := event.AttemptRef{Step: 2, Call: event.TaskCall, Task: two, Role: text("Implementor"), Attempt: 1}
	again, review := ref, ref
	again.Attempt, review.Call, review.Round = 2, event.ReviewCall, 1
	anomaly := event.Anomaly{Type: "idle", Check: text("idle"), Details: text("no sign for 2m"), Tool: text("Bash")}
	s.play(time.Second, event.StepStarted{Step: 2, Task: two, Role: text("Implementor")},
		event.AttemptStarted{AttemptRef: ref, Adapter: text("codex"), Command: text("claude"),
			Input: []byte(text("{}"))},
		event.SessionNamed{AttemptRef: ref, Session: text("s-2")}).
		play(time.Minute, event.AnomalyFound{AttemptRef: ref, Anomaly: anomaly},
			event.MessageSent{AttemptRef: ref, ID: "m", Type: event.HealthCheck,
				Content: event.Content{Question: text("alive?")}},
			event.RebootTested{AttemptRef: ref, Anomaly: anomaly, Decision: event.Restart, Text: text("again")},
			event.ToolsUsed{AttemptRef: ref, ToolWork: event.ToolWork{Uses: []event.ToolUse{{Tool: text("Bash"),
				Calls: 3, Failed: 1, Millis: 80_000, Longest: 60_000}},
				Spans: []event.ToolSpan{{From: 10_000, Millis: 20_000}, {From: 40_000, Millis: 60_000}}}},
			event.AttemptStopped{AttemptRef: ref, Reason: text("hung"), End: event.End{Millis: 180000}},
			event.AttemptStarted{AttemptRef: again, Adapter: text("codex"), GoesOn: true}).
		play(time.Second, event.ReplyRejected{AttemptRef: again, Reason: text("no JSON"), Exit: text("exit 0"),
			Received: text("hello"), Stderr: text("oh"), Output: text("steps/2"), End: event.End{Millis: 1000}},
			event.AttemptStarted{AttemptRef: review, Adapter: text("codex")}, event.ReviewHeld{AttemptRef: review,
				Feedback: text("tests fail"), End: event.End{Millis: 500}},
			event.StepAbandoned{Step: 2, Task: two, Reason: text("edited")},
			event.CheckpointHeld{AttemptRef: event.AttemptRef{Step: 3, Call: event.CheckpointCall,
				Task: text("CHECKPOINT-001")}, Trend: text("falling"),
				Data: event.StateUpdate{ID: text("CHECKPOINT-001"), Verdict: "warn", Score: 0.7,
					Findings: []string{text("no tests")}, Report: text("a/report.md")}})
	s.done(one).over(event.NeedsPerson, "blocked", text("no key"), two)
	s.history.State.Statuses = append(s.history.State.Statuses, flow.TaskStatus{Task: two, Status: "blocked"})
	board := s.board()
	board.Tasks[1].Status = text("blocked")
	return board
}

func render(t *testing.T, boards ...*projection.Board) string {
	t.Helper()
	text, err := Render(boards, Options{Command: "kanban-run report --html b.yaml",
		Hide: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") }})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func plain(s string) string { return s }

// TestPolicy: the page allows its own style and script by their hashes, and nothing else; it has
// no attribute that the policy would block.
func TestPolicy(t *testing.T) {
	text := render(t, troubled(plain))
	for name, part := range map[string]string{"style": style, "script": script} {
		from, to := strings.Index(text, "<"+name+">"), strings.Index(text, "</"+name+">")
		if from < 0 || text[from+len(name)+2:to] != part {
			t.Errorf("the %s is not as it was embedded", name)
		}
		if !strings.Contains(html.UnescapeString(text), name+"-src '"+hashOf(part)+"'") {
			t.Errorf("the policy does not allow the %s", name)
		}
	}
	body := text[strings.Index(text, "<body>"):strings.Index(text, "<script>")]
	if handlers := regexp.MustCompile(`<[^>]* on[a-z]+=`).FindAllString(body, -1); len(handlers) > 0 {
		t.Errorf("it has handlers: %s", handlers)
	}
	for _, bad := range []string{" style=", "src=", "http:", "https:", "javascript:", "<img", "<iframe", "<link", "@import", "url(http"} {
		for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(body, -1) {
			if strings.Contains(tag, bad) {
				t.Errorf("%q in %s", bad, tag)
			}
		}
	}
	if text != render(t, troubled(plain)) {
		t.Error("the same journals give other bytes")
	}
}

// TestHostileTexts: every text that an agent, a board, a file name or a provider chooses is text:
// the page has the same elements with the same attributes, whatever it says. Secrets are hidden.
func TestHostileTexts(t *testing.T) {
	tags := func(s string) string {
		s = s[strings.Index(s, "</style>"):strings.Index(s, "<script>")]
		return strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(s, -1), "\n")
	}
	want := tags(render(t, troubled(plain)))
	for _, evil := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`, `</title><script>alert(1)</script>`,
		`</style><script>alert(1)</script>`, `--><script>alert(1)</script><!--`, `]]><x>`, `{{.Policy}}`, `javascript:alert(1)`, "a\x00b\x1b[31m\u202e\u2028c", "x\r\nSet-Cookie: a=b",
		"```mermaid\ngantt\n```", `%%{init: {"x": 1}}%%:;`, `&lt;script&gt;`, "\xff\xfe<b>", strings.Repeat("<b>", 1000), "hunter2",
	} {
		text := render(t, troubled(func(s string) string { return s + evil }))
		if got := tags(text); got != want {
			a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%.20q: %s became %s", evil, a[i], b[i])
					break
				}
			}
			t.Errorf("%.20q: %d elements, want %d", evil, len(b), len(a))
		}
		if i := strings.IndexAny(text, "\x00\x1b\u202e\u2028"); i >= 0 {
			t.Errorf("%q is on the page as it was: %q", evil, text[max(0, i-200):i+20])
		}
		if i := strings.Index(text, "hunter2"); i >= 0 {
			t.Errorf("a secret is on the page: %q", text[max(0, i-200):i+20])
		}
	}
}

// TestTools: how long agents worked with tools stands in the waterfall and its legend, and what
// each tool took in a table.
func TestTools(t *testing.T) {
	text := render(t, troubled(plain))
	for _, want := range []string{`its tools <span>1m20s</span>`, `its tools 1m20s`, `<tr><td>Bash</td><td class="n">3</td><td class="n">1</td><td class="n">1m20s</td><td class="n">1m00s</td></tr>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	if n := len(regexp.MustCompile(`<rect [^>]*class="t"`).FindAllString(text[strings.Index(text, `class="wf"`):], -1)); n != 2 {
		t.Errorf("%d times with tools are drawn, want 2", n)
	}
}

// TestChanged: what was changed while agents worked is told among the settings of the board.
func TestChanged(t *testing.T) {
	b := newScene("k.yaml", "a.md").done("a.md").play(time.Second, event.RunStarted{Workdir: "/w"}).board()
	b.Changed = []string{"the prompt of Manager changed while a.md was worked on"}
	if got := render(t, b); strings.Count(got, b.Changed[0]) != 1 {
		t.Errorf("the page does not tell it once:\n%s", got)
	}
}

// TestCutShort: an attempt of which no end is known is at work where a run
// is, and else was cut short.
func TestCutShort(t *testing.T) {
	open := newScene("b.yaml").play(time.Second, event.RunStarted{},
		event.StepStarted{Step: 1, Task: "tasks/1.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/1.md",
			Role: "Implementor", Attempt: 1}, Adapter: "codex"})
	step := &flow.Step{Number: 1, Task: "tasks/1.md", Role: "Implementor", Call: event.TaskCall, Running: 1}
	open.history.State = flow.State{Workdir: "/w", Running: true, Step: step}
	for owned, want := range map[bool]string{true: `<b>Work</b> <span class="work">at work</span>`, false: `<b>Work</b> <span class="warn">cut short</span>`} {
		if open.facts.Owned = owned; !strings.Contains(render(t, open.board()), want) {
			t.Errorf("owned %t: the page lacks %s", owned, want)
		}
	}
}

// TestFirstScreen: is it done, what failed, what do I do next, what did it cost.
func TestFirstScreen(t *testing.T) {
	complete := newScene("done.yaml", "tasks/1.md").play(time.Second, event.RunStarted{}).step(1, "tasks/1.md", "Implementor", "ok",
		"all of it").done("tasks/1.md")
	passed := newScene("done.yaml", "tasks/1.md", "tasks/2.md").play(time.Second, event.RunStarted{}).step(1, "tasks/1.md", "Implementor", "ok",
		"all of it").done("tasks/1.md").over(event.Incomplete, "ok", "", "tasks/1.md")
	passed.facts.Board.Over = true // no word makes a task current on a board whose phase ends it
	never := newScene("never.yaml", "a.md")
	never.history.State, never.facts.Never, never.facts.Current = flow.State{}, true, "a.md"
	refused := newScene("odd.yaml", "a.md")
	refused.history.State, refused.facts = flow.State{}, never.facts
	refused.facts.Refused, refused.facts.Fix = "no role X", "write a role"
	damaged := newScene("torn.yaml").play(time.Second, event.RunStarted{})
	damaged.facts.Damage = "record 3 is damaged at byte 512"
	work := func(name string, step flow.Step) *scene {
		s := newScene(name, "tasks/1.md").play(time.Second, event.RunStarted{},
			event.StepStarted{Step: 1, Task: "tasks/1.md", Role: "Implementor"},
			event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/1.md",
				Role: "Implementor", Attempt: 1}, Adapter: "codex"})
		s.facts.Owned, s.facts.Current = true, "tasks/1.md"
		s.history.State = flow.State{Workdir: "/w", Running: true, Step: &step}
		return s
	}
	step := flow.Step{Number: 1, Task: "tasks/1.md", Role: "Implementor", Call: event.TaskCall, Running: 1}
	atWork := work("now.yaml", step)
	step.Consent = &flow.Consent{Decision: event.Restart, Text: "no sign"}
	asked := work("now.yaml", step)
	frozen := newScene("f.yaml").play(time.Second, event.RunStarted{})
	frozen.history.Breach = &flow.Breach{Kind: "STATE_DIVERGENCE", Text: "two owners"}
	limit := func(name string) *projection.Board {
		s := newScene(name, "tasks/1.md").play(time.Second, event.RunStarted{}, event.RunFinished{})
		s.facts.Current, s.history.State.Outcome, s.history.State.Text = "tasks/1.md", event.LimitReached, "max_steps: 1"
		return s.board()
	}
	for name, tt := range map[string]struct {
		boards []*projection.Board
		want   []string
		none   []string
	}{
		"complete": {[]*projection.Board{complete.board()}, []string{"<h1>Done: done.yaml is complete</h1>",
			"1 of 1 task is done, none is reviewed; cost $0.30.", "<td class=\"state good\">complete</td>"}, []string{"What to do next"}},
		"blocked": {[]*projection.Board{troubled(plain)}, []string{"<h1>Not done: b.yaml needs you</h1>",
			"1 of 3 tasks is done, 1 is not ok, none is reviewed; cost at least $0.30.", `<td class="state bad">needs a person</td><td class="why opt"><div>no key (the Manager ended the board with status blocked); Implementor said: oh</div></td>`,
			`<td class="n opt">3</td>`, `<h3><a href="#b1t2">Unblock tasks/2.md of b.yaml</a></h3>`,
			"<code>kanban-run ack b.yaml retry</code>", "Read CHECKPOINT-001 of b.yaml", " of $5.00"}, nil},
		"never run": {[]*projection.Board{never.board()}, []string{"<h1>Not done: never.yaml has to be run</h1>",
			"<h3>Run never.yaml</h3>", "<code>kanban-run never.yaml</code>", "No step was started.", "a.md"}, nil},
		"refused": {[]*projection.Board{refused.board()}, []string{"<h1>Not done: odd.yaml needs you</h1>", "cannot be run",
			"<h3>Mend odd.yaml</h3>", "no role X", "<code>kanban-run check odd.yaml</code>"}, nil},
		"a limit": {[]*projection.Board{limit("a.yaml")}, []string{"<h1>Not done: a.yaml has to be run</h1>",
			`<td class="state warn">limit reached</td>`, "exit code 7", "<h3>Let a.yaml go on</h3>", "<code>kanban-run a.yaml</code>"}, nil},
		"two limits": {[]*projection.Board{limit("a.yaml"), limit("b.yaml")}, []string{"<h1>Not done: 2 of 2 boards have to be run</h1>",
			"<h3>Run 2 boards again</h3>", "<code>kanban-run a.yaml b.yaml</code>"}, nil},
		"damaged": {[]*projection.Board{damaged.board()}, []string{"its journal is damaged", "record 3 is damaged at byte 512",
			"<code>kanban-run log --verify torn.yaml</code>"}, nil},
		"at work": {[]*projection.Board{atWork.board(), complete.board()},
			[]string{"<h1>At work: nothing needs you</h1>", "At work now", "Implementor (codex), Work",
				"<code>kanban-run log -f now.yaml</code>"}, []string{"What to do next"}},
		"passed over": {[]*projection.Board{passed.board()}, []string{"<h1>Not done: done.yaml needs you</h1>",
			"incomplete: 1 of 2 tasks was never worked on", "<h3>Decide about what done.yaml leaves undone</h3>",
			"<code>kanban-run ack done.yaml accept</code>"}, nil},
		"asked": {[]*projection.Board{asked.board()}, []string{"<h1>At work: a decision waits for you</h1>",
			"<code>kanban-run ack now.yaml restart</code>"}, nil},
		"several": {[]*projection.Board{frozen.board(), troubled(plain), complete.board()},
			[]string{"<h1>Not done: 2 of 3 boards need you</h1>", "<h3>Look at what changed in f.yaml</h3>",
				"<code>kanban-run ack -n f.yaml</code>",
				"exit code 5", "<h3>Then run 2 boards, decided or as they are</h3>", "<code>kanban-run f.yaml b.yaml</code>"}, nil},
	} {
		text := html.UnescapeString(render(t, tt.boards...))
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page lacks %s", name, want)
			}
		}
		for _, none := range tt.none {
			if strings.Contains(text, "<h2>"+none) {
				t.Errorf("%s: the page has %s", name, none)
			}
		}
	}
}

// TestWorstFirst: the boards that need a person stand in front.
func TestWorstFirst(t *testing.T) {
	done := newScene("done.yaml").play(time.Second, event.RunStarted{})
	now := newScene("now.yaml").play(time.Second, event.RunStarted{})
	now.facts.Owned, now.history.State = true, flow.State{Workdir: "/w", Running: true}
	text := render(t, done.board(), now.board(), troubled(plain))
	var order []string
	for _, m := range regexp.MustCompile(`<(?:div|details) class="bd" id="b\dd?">.*?<h3>([^<]*)`).FindAllStringSubmatch(text, -1) {
		order = append(order, m[1])
	}
	if got := strings.Join(order, " "); got != "b.yaml now.yaml done.yaml" {
		t.Errorf("the boards stand as %s", got)
	}
}

// TestEachPart: what happened to a task is there: told, replied, why not accepted, what the
// watch saw, reviews, sessions.
func TestEachPart(t *testing.T) {
	text := html.UnescapeString(render(t, troubled(plain)))
	for _, want := range []string{`<pre>{"task_file":"tasks/1.md"}</pre>`, "<b>Work</b> <span class=\"\">ok</span>: done", "<dt>session</dt><dd><pre>s-1</pre>", "<b>Work, attempt 2, goes on</b> <span class=\"bad\">rejected</span>: no JSON",
		"<dt>received</dt><dd><pre>hello</pre>", "<b>Review, round 1</b> <span class=\"warn\">sent back</span>: tests fail", "<td>noticed</td>", "<td>asked</td>", "<td>ended</td>", "given up, edited",
		`y="12"><use href="#k-re"/>`, `y="12"><use href="#k-no"/>`, "no sign 1m00s", "asked 1m00s", "warn 0.70", "no tests", "a/report.md", "from the agents: ", "TOKEN", "90 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestThousandSteps: view.md: at most 2 MB, and nothing of what went wrong is left out.
func TestThousandSteps(t *testing.T) {
	var tasks []string
	for i := range 1000 {
		tasks = append(tasks, fmt.Sprintf("tasks/some-folder/%d-a-task-with-a-name.md", i))
	}
	s := newScene("big.yaml", tasks...).play(time.Second, event.RunStarted{})
	for i, task := range tasks {
		status := "ok"
		if i%50 == 49 {
			status = "blocked"
		}
		s.step(i+1, task, "Implementor", status,
			"The parser reads dates in three forms; 14 of 14 examples pass, and the README says so.")
		s.done(task)
	}
	start := time.Now()
	text := render(t, s.board())
	t.Logf("%d bytes in %v", len(text), time.Since(start))
	if len(text) > 2_000_000 {
		t.Errorf("%d bytes", len(text))
	}
	if n := strings.Count(text, `<span class="bad">blocked</span>`); n != 20 {
		t.Errorf("%d of 20 blocked replies are shown", n)
	}
	if !strings.Contains(text, `aria-label="1000 done"><rect x="0.6" y=".6" width="559.0"`) {
		t.Error("the bar in place of a square for each task is missing")
	}
	if !strings.Contains(text, `<main class="long columns">`) {
		t.Error("the browser draws all of it at once")
	}
}

// TestScale: the time in which no board was worked on is left out; all else keeps
// its order and its length.
func TestScale(t *testing.T) {
	board := &projection.Board{}
	for _, hour := range []time.Duration{0, 30, 31} {
		board.Steps = append(board.Steps, projection.Step{Began: began.Add(hour * time.Hour),
			Ended: began.Add((hour + 1) * time.Hour)})
	}
	s := newScale([]*projection.Board{board}, began.Add(32*time.Hour), false)
	if len(s.spans) != 2 {
		t.Fatalf("%+v", s.spans)
	}
	for _, tt := range []struct {
		hours, want float64
	}{{0, 0}, {1, 98.5 / 3}, {15, 98.5 / 3}, {30, 98.5/3 + 1.5}, {31, 98.5*2/3 + 1.5}, {32, 100}, {99, 100}, {-1, 0}} {
		if got := s.at(began.Add(time.Duration(tt.hours * float64(time.Hour)))); got < tt.want-0.01 || got > tt.want+0.01 {
			t.Errorf("hour %v is at %v, want %v", tt.hours, got, tt.want)
		}
	}
	axis := s.axis(began, false)
	if len(axis.Ticks) < 3 || len(axis.Ticks) > 2*maxTicks || len(axis.Gaps) != 1 {
		t.Errorf("%+v", axis)
	}
	if v := newScale(nil, time.Time{}, true).axis(time.Time{}, false); len(v.Ticks) != 0 {
		t.Errorf("an empty axis has %+v", v.Ticks)
	}
}

// TestEachStateIsShown: each state of a task has a word, a column and a part of the bar.
func TestEachStateIsShown(t *testing.T) {
	for _, s := range []projection.TaskState{projection.Done, projection.DoneBefore, projection.Settled, projection.NotOK, projection.SetAside, projection.Quarantined,
		projection.Working, projection.InReview, projection.StoppedAt, projection.NextUp, projection.Waiting, projection.Dropped, projection.Replaced} {
		v := stateViews[s]
		if s.Words() == "" || v.class == "" || v.look.Sign == "" || v.look.Tone == "" {
			t.Errorf("%s has the view %+v", s, v)
		}
		if s != projection.Replaced && !slices.Contains(shownStates, shownState(s)) {
			t.Errorf("%s has no part in the bar of many tasks", s)
		}
	}
}

// TestTasksOffTheList: a task that left the list is on the page, and is not counted among those of the
// board.
func TestTasksOffTheList(t *testing.T) {
	s := newScene("k.yaml", "tasks/2.md").play(time.Second, event.RunStarted{}).
		step(1, "tasks/1.md", "Implementor", "blocked", "no key").step(2, "tasks/2.md", "Implementor", "ok", "done").done("tasks/2.md")
	text := html.UnescapeString(render(t, s.board()))
	for _, want := range []string{"<h1>Done: k.yaml is complete</h1>", "1 of 1 task is done, none is reviewed; cost", "off the list", "no key"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(text, "not ok") {
		t.Error("the page counts a task that left the list as not ok")
	}
}
