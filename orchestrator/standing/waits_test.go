package standing

import (
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// scenes are boards that wait for a person, one or more for each subject, and boards that do not.
func scenes(t *testing.T) map[string]scene {
	t.Helper()
	list := listOf(t, "tasks: [a.md, b.md]\n")
	open := Facts{List: list, Board: flow.Board{SHA: "s"}, Current: "a.md"}
	over := Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}}
	owned, unknown, broken := open, open, open
	owned.Owned, unknown.Unknown, broken.Fault = true, "who ended it?", "no YAML"
	blocked := over
	blocked.Board.Ended = "blocked"
	statuses := func(a, b string) []flow.TaskStatus {
		return []flow.TaskStatus{{Task: "a.md", Status: a}, {Task: "b.md", Status: b}}
	}
	block := &flow.Supervisor{Block: &flow.Block{Text: "no tests"}}
	loop := []flow.Quarantine{{Task: "a.md", Text: "round and round"}, {Task: "b.md", Text: "too"}}
	work := &flow.Step{Number: 3, Task: "a.md", Role: "Implementor", Call: event.TaskCall}
	asks := *work
	asks.Consent = &flow.Consent{Decision: event.Restart, Text: "no sign"}
	replans := *work
	replans.Consent = &flow.Consent{Decision: event.Replan, Text: "too long"}
	ended := func(status, task string, all []flow.TaskStatus) flow.State {
		return flow.State{Outcome: event.NeedsPerson, Spent: true, Statuses: all,
			Last: flow.ManagerReply{Status: status, Message: "why", Task: task, BoardSHA: "s"}}
	}
	return map[string]scene{
		"consent":                  {flow.State{Running: true, Step: &asks}, nil, owned, event.AboutConsent, "restart continue", "kanban-run ack k.yaml restart or continue: Implementor (a.md, step 3): no sign"},
		"consent to another plan":  {flow.State{Running: true, Step: &replans}, nil, owned, event.AboutConsent, "restart continue", "plan anew"},
		"quarantine, at work":      {flow.State{Running: true, Quarantine: loop}, nil, owned, event.AboutQuarantine, "release a.md|a.md,b.md", "it goes on without a.md, which is in quarantine: round and round"},
		"at work":                  {flow.State{Running: true, Step: work}, nil, owned, "", "", ""},
		"a run that ends":          {flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true, Step: work}, nil, owned, event.AboutStep, "retry accept", "stuck"},
		"another way":              {flow.State{Frozen: &flow.Freeze{Text: "elsewhere", Git: &event.GitWay{}}}, nil, open, event.AboutWay, "accept", "elsewhere"},
		"an unknown end":           {flow.State{Step: work}, nil, unknown, event.AboutFile, "accept retry", "who ended it?"},
		"a changed file":           {flow.State{Frozen: &flow.Freeze{Text: "changed"}}, nil, open, event.AboutFile, "accept retry", "changed"},
		"a spoiled file":           {flow.State{Frozen: &flow.Freeze{Text: "changed"}}, nil, broken, event.AboutFile, "retry", "changed"},
		"the journal":              {flow.State{}, &flow.Breach{Kind: "STATE_DIVERGENCE", Text: "twice"}, open, event.AboutJournal, "accept", "twice"},
		"a checkpoint":             {flow.State{Outcome: event.NeedsPerson, Spent: true, Supervisor: block}, nil, open, event.AboutCheckpoint, "override retry", "no tests"},
		"quarantine":               {flow.State{Outcome: event.NeedsPerson, Text: "named again", Spent: true, Quarantine: loop}, nil, open, event.AboutQuarantine, "release a.md|a.md,b.md", "named again"},
		"quarantine at the end":    {flow.State{Outcome: event.NeedsPerson, Text: "over", Spent: true, Quarantine: loop}, nil, over, event.AboutQuarantine, "release a.md|a.md,b.md accept", "over"},
		"quarantine after a limit": {flow.State{Outcome: event.LimitReached, Text: "$5", Spent: true, Quarantine: loop}, nil, open, event.AboutQuarantine, "release a.md|a.md,b.md", ""},
		"all set aside in quarantine": {flow.State{Outcome: event.Incomplete, Text: "round", Spent: true, Quarantine: loop[:1], Aside: []flow.Aside{{Task: "a.md"}}}, nil, open,
			event.AboutAside, "skip a.md|a.md accept a.md|a.md release a.md|a.md", "round"},
		"one set aside in quarantine": {flow.State{Outcome: event.Incomplete, Text: "round", Spent: true, Quarantine: loop[:1], Aside: []flow.Aside{{Task: "a.md"}, {Task: "b.md"}}}, nil, open,
			event.AboutAside, "skip a.md|a.md,b.md accept a.md|a.md,b.md release a.md|a.md", "kanban-run ack k.yaml skip or accept or release: round"},
		"a secret":       {flow.State{Outcome: event.NeedsPerson, Text: "a key in f.txt", Step: work}, nil, open, event.AboutRefusal, "", "kanban-run inbox k.yaml: a key in f.txt"},
		"stuck":          {flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true, Step: work}, nil, open, event.AboutStep, "retry accept", "kanban-run ack k.yaml retry or accept: stuck"},
		"no valid reply": {flow.State{Outcome: event.Exhausted, Text: "no JSON", Spent: true, Step: work}, nil, open, event.AboutStep, "retry accept", "no JSON"},
		"no valid reply of the Manager": {flow.State{Outcome: event.Exhausted, Text: "no JSON", Spent: true,
			Step: &flow.Step{Task: "a.md", Call: event.ManagerCall}}, nil, open, event.AboutStep, "retry", "no JSON"},
		"of the supervisor":                {flow.State{Outcome: event.Exhausted, Text: "no JSON", Spent: true, Step: &flow.Step{Task: "C", Call: event.CheckpointCall}}, nil, open, event.AboutStep, "retry", "no JSON"},
		"incomplete":                       {ended("ok", "a.md", statuses("ok", "")), nil, over, event.AboutEnd, "retry b.md|a.md,b.md accept |b.md", "the board is incomplete: 1 of 2 tasks"},
		"one not ok comes first":           {ended("ok", "b.md", []flow.TaskStatus{{Task: "b.md", Status: "error"}}), nil, over, event.AboutEnd, "retry b.md|a.md,b.md accept |a.md,b.md", "2 of 2 tasks"},
		"ended with blocked":               {ended("blocked", "a.md", statuses("blocked", "error")), nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md,b.md", "with status blocked: why"},
		"at a task that is ok":             {ended("blocked", "a.md", statuses("ok", "")[:1]), nil, blocked, event.AboutEnd, "retry b.md|a.md,b.md accept |b.md", "with status blocked: why"},
		"behind one that was passed over":  {ended("blocked", "b.md", []flow.TaskStatus{{Task: "b.md", Status: "ok"}}), nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md", "with status blocked: why"},
		"as the board says":                {flow.State{}, nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md,b.md", "with status blocked, as it says itself"},
		"all is done, and it says blocked": {flow.State{Statuses: statuses("ok", "ok")}, nil, blocked, event.AboutEnd, "accept", "as it says itself"},
		"a team": {flow.State{Outcome: event.Complete, Statuses: statuses("ok", "ok"), Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"},
			Teardown: &flow.Teardown{State: event.FailedSafe, Missing: []string{"S"}}}, nil, over, event.AboutTeam, "forced-finalize", "S never answered"},
		"complete":            {flow.State{Outcome: event.Complete, Statuses: statuses("ok", "ok"), Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}}, nil, over, "", "", ""},
		"accepted":            {flow.State{Outcome: event.Complete, Last: flow.ManagerReply{Status: "blocked", BoardSHA: "s", Acknowledged: true, Accepted: "by me"}}, nil, over, "", "", ""},
		"a limit":             {flow.State{Outcome: event.LimitReached, Spent: true, Step: work}, nil, open, "", "", ""},
		"a signal":            {flow.State{Outcome: event.Interrupted, Step: work}, nil, open, "", "", ""},
		"the provider":        {flow.State{Outcome: event.Later, Step: work}, nil, open, "", "", ""},
		"current set by hand": {ended("blocked", "a.md", statuses("blocked", "")), nil, open, "", "", ""},
		"never run":           {flow.State{}, nil, open, "", "", ""},
	}
}

type scene struct {
	state   flow.State
	breach  *flow.Breach
	facts   Facts
	about   event.Subject // "": it waits for nothing
	words   string        // the valid words, with their tasks
	request string        // a part of it
}

func (s *scene) stand() Standing {
	return Of("k.yaml", &flow.History{State: s.state, Breach: s.breach}, &Tasks{}, s.facts)
}

// TestWaits: for what a board waits follows from the first subject that fits, and with it the words
// that are valid, the tasks that they may name, and the command that reports show.
func TestWaits(t *testing.T) {
	for name, tt := range scenes(t) {
		s := tt.stand()
		if s.Waits == nil || tt.about == "" {
			if s.Waits != nil || tt.about != "" || s.Request() != "" || s.Offer() != "" {
				t.Errorf("%s: waits %+v", name, s.Waits)
			}
			continue
		}
		var words []string
		for _, c := range s.Waits.Choices {
			word := string(c.Word)
			if c.Task != "" || len(c.Tasks) > 0 {
				word += " " + c.Task
			}
			if len(c.Tasks) > 0 {
				word += "|" + strings.Join(c.Tasks, ",")
			}
			if c.Word == event.Choice(event.ConsentRestart) || c.Word == event.Choice(event.ConsentContinue) {
				word = string(c.Word)
			}
			words = append(words, word)
			if s.Waits.Offers(c.Word) == nil || c.Does == "" || !strings.Contains(s.Offer(), "kanban-run ack k.yaml "+string(c.Word)+" "+c.Does) {
				t.Errorf("%s: %+v is not offered: %s", name, c, s.Offer())
			}
		}
		if got := strings.Join(words, " "); s.Waits.About != tt.about || got != tt.words {
			t.Errorf("%s: about %s, words %q", name, s.Waits.About, got)
		}
		may := tt.request == ""
		if s.Waits.May != may || s.NeedsDecision() == may || may != (s.Request() == "") || !strings.Contains(s.Request()+s.Offer(), tt.request) {
			t.Errorf("%s: may %t, request %q", name, s.Waits.May, s.Request())
		}
		if s.Waits.Offers("perhaps") != nil {
			t.Errorf("%s: a word that is none is offered", name)
		}
	}
}

// TestEndChoices: what the words of an end do, with and without a choice of tasks.
func TestEndChoices(t *testing.T) {
	ended := flow.State{Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}, Dropped: []string{"z.md"}}
	stand := func(s flow.State, tasks string) *Waits {
		f := Facts{List: listOf(t, tasks), Board: flow.Board{Terminal: true, SHA: "s", Ended: "blocked"}}
		at := Of("k.yaml", &flow.History{State: s}, &Tasks{}, f)
		return at.Waits
	}
	both := stand(ended, "tasks: [./a.md, b.md]\n")
	if c := both.Offers(event.Retry); c.Task != "./a.md" || strings.Join(c.Tasks, " ") != "./a.md b.md z.md" || !strings.HasSuffix(c.Does, "goes on with it. With the path of another task it makes that one current") {
		t.Errorf("%+v", c)
	}
	if c := both.Offers(event.Accept); strings.Join(c.Tasks, " ") != "./a.md b.md z.md" || !strings.HasSuffix(c.Does, "as it stands. With the path of a task it counts that task as done") {
		t.Errorf("%+v", c)
	}
	ended.Statuses, ended.Dropped = []flow.TaskStatus{{Task: "a.md", Status: "ok"}}, nil
	ended.Last = flow.ManagerReply{Status: "error", Task: "a.md", BoardSHA: "t"}
	done := stand(ended, "tasks: [./a.md]\n")
	if c := done.Offers(event.Retry); c.Task != "./a.md" || !strings.HasSuffix(c.Does, "goes on with it") {
		t.Errorf("%+v", c)
	}
	if c := done.Offers(event.Accept); len(c.Tasks) != 0 || !strings.HasSuffix(c.Does, "as it stands") {
		t.Errorf("%+v", c)
	}
	ended.Last.Task, ended.Statuses = "gone.md", nil
	if c := stand(ended, "tasks: [b.md, c.md]\n").Offers(event.Retry); c.Task != "gone.md" {
		t.Errorf("at a task off the list: %+v", c)
	}
	ended.Last.Task = "c.md"
	ended.Statuses = []flow.TaskStatus{{Task: "c.md", Status: "ok"}}
	for tasks, want := range map[string]string{"tasks: [b.md, c.md]\n": "b.md", "tasks: [c.md, b.md]\n": "b.md"} {
		if c := stand(ended, tasks).Offers(event.Retry); c.Task != want {
			t.Errorf("%s: %+v, want %s", tasks, c, want)
		}
	}
}

// TestWaitsAgree: a board that waits is not well: its sign and its headline say so, and its advice names a
// valid word, or only that the same command goes on.
func TestWaitsAgree(t *testing.T) {
	for name, tt := range scenes(t) {
		s := tt.stand()
		advice := s.Advice("log.md")
		if s.NeedsDecision() && tt.about != event.AboutTeam && s.Outcome != Running && (s.Weight == event.Success || strings.Contains(s.Headline(), "is complete:")) {
			t.Errorf("%s: weight %d, %s", name, s.Weight, s.Headline())
		}
		words := strings.Split(advice, "kanban-run ack k.yaml ")
		for _, part := range words[1:] {
			word := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == ';' || r == ',' })[0]
			if s.Waits.Offers(event.Choice(word)) == nil {
				t.Errorf("%s: the advice names %s: %s", name, word, advice)
			}
		}
		if s.NeedsDecision() && advice == "" {
			t.Errorf("%s: no advice", name)
		}
		if !s.NeedsDecision() && slices.Contains([]event.Outcome{event.NeedsPerson, event.LimitReached, event.Later, event.Interrupted}, s.Outcome) && !strings.Contains(advice, "the same command goes on") {
			t.Errorf("%s: the advice is %q", name, advice)
		}
	}
}
