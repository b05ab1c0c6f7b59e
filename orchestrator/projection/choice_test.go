package projection

import (
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

type scene struct {
	state   flow.State
	breach  *flow.Breach
	facts   Facts
	about   event.Subject // "": it waits for nothing
	words   string        // the valid words, with their tasks
	request string        // a part of it; "": the board needs no person
}

func (s *scene) stand() Board {
	return (&Fold{}).Board("k.yaml", &flow.History{State: s.state, Breach: s.breach}, s.facts)
}

// scenes are boards that wait for a person, one or more for each subject, and boards that do not.
func scenes(t *testing.T) map[string]scene {
	t.Helper()
	list := listOf(t, "tasks: [a.md, b.md]\n")
	open := Facts{List: list, Board: flow.Board{SHA: "s"}, Current: "a.md"}
	over := Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}}
	owned, unknown, broken, waits := open, open, open, open
	waits.Asked = []string{"ROLE.md changed while a.md was worked on"}
	given := []flow.Changed{{ChangedFile: event.ChangedFile{By: event.TaskRole, File: "a.md", Roles: []string{"Deployer"}, Asks: true}, Task: "b.md"}}
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
	aside := func(o event.Outcome, text, status string, tasks ...string) flow.State {
		s := flow.State{Outcome: o, Text: text, Spent: true}
		for _, task := range tasks {
			s.Aside = append(s.Aside, flow.Aside{Task: task, Status: status})
		}
		return s
	}
	both := func(tasks ...string) flow.State {
		s := aside(event.Incomplete, "round", "", tasks...)
		s.Quarantine = loop[:1]
		return s
	}
	return map[string]scene{
		"consent":                     {flow.State{Running: true, Step: &asks}, nil, owned, event.AboutConsent, "restart continue", "kanban-run ack k.yaml restart or continue: Implementor (a.md, step 3): no sign"},
		"consent to another plan":     {flow.State{Running: true, Step: &replans}, nil, owned, event.AboutConsent, "restart continue", "plan anew"},
		"quarantine, at work":         {flow.State{Running: true, Quarantine: loop}, nil, owned, event.AboutQuarantine, "retry a.md|a.md,b.md", ""},
		"at work":                     {flow.State{Running: true, Step: work}, nil, owned, "", "", ""},
		"a run that ends":             {flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true, Step: work}, nil, owned, event.AboutStep, "retry accept skip a.md|a.md", "stuck"},
		"another way":                 {flow.State{Frozen: &flow.Freeze{Text: "elsewhere", Asks: true, Git: &event.GitWay{}}}, nil, open, event.AboutWay, "accept", "elsewhere"},
		"an unknown end":              {flow.State{Step: work}, nil, unknown, event.AboutFile, "accept retry", "who ended it?"},
		"a changed file":              {flow.State{Frozen: &flow.Freeze{Text: "changed"}}, nil, open, event.AboutFile, "accept retry", "changed"},
		"a spoiled file":              {flow.State{Frozen: &flow.Freeze{Text: "changed"}}, nil, broken, event.AboutFile, "retry", "changed"},
		"a frozen board that is over": {flow.State{Frozen: &flow.Freeze{Text: "changed"}}, nil, over, event.AboutFile, "accept |a.md,b.md retry", "changed"},
		"the journal":                 {flow.State{}, &flow.Breach{Kind: "STATE_DIVERGENCE", Text: "twice"}, open, event.AboutJournal, "accept", "twice"},
		"a checkpoint":                {flow.State{Outcome: event.NeedsPerson, Spent: true, Supervisor: block}, nil, open, event.AboutCheckpoint, "accept retry", "no tests"},
		"what waits in the work tree": {flow.State{Outcome: event.NeedsPerson, Text: "it changed ROLE.md", AsksOf: true, Step: work}, nil, waits, event.AboutChanged, "accept", AckHere + ": it changed ROLE.md"},
		"what waited before":          {flow.State{Outcome: event.NeedsPerson, Text: "it changed ROLE.md", AsksOf: true, Step: work}, nil, open, "", "", ""},
		"a task for a secret":         {flow.State{Outcome: event.NeedsPerson, Text: "a.md waits", AsksOf: true, Changed: given}, nil, open, event.AboutChanged, "accept", "kanban-run ack k.yaml accept: a.md waits"},
		"quarantine":                  {flow.State{Outcome: event.NeedsPerson, Text: "named again", Spent: true, Quarantine: loop}, nil, open, event.AboutQuarantine, "retry a.md|a.md,b.md accept a.md|a.md,b.md skip a.md|a.md,b.md", "named again"},
		"quarantine at the end":       {flow.State{Outcome: event.NeedsPerson, Text: "over", Spent: true, Quarantine: loop}, nil, over, event.AboutQuarantine, "retry a.md|a.md,b.md accept", "over"},
		"quarantine after a limit":    {flow.State{Outcome: event.LimitReached, Text: "$5", Spent: true, Quarantine: loop}, nil, open, event.AboutQuarantine, "retry a.md|a.md,b.md accept a.md|a.md,b.md skip a.md|a.md,b.md", ""},
		"all set aside in quarantine": {both("a.md"), nil, open, event.AboutAside, "retry |a.md skip a.md|a.md accept a.md|a.md", "round"},
		"one set aside in quarantine": {both("a.md", "b.md"), nil, open, event.AboutAside, "retry |a.md,b.md skip a.md|a.md,b.md accept a.md|a.md,b.md",
			"kanban-run ack k.yaml retry, skip or accept: round"},
		"one set aside": {aside(event.Incomplete, "a.md is set aside", "blocked", "a.md"), nil, open, event.AboutAside, "retry |a.md skip a.md|a.md accept a.md|a.md",
			"kanban-run ack k.yaml retry, skip or accept: a.md is set aside"},
		"no valid reply, set aside": {aside(event.Exhausted, "no JSON", flow.StatusNoReply, "a.md"), nil, open, event.AboutAside, "retry |a.md skip a.md|a.md accept a.md|a.md", "no JSON"},
		"set aside at a limit":      {aside(event.LimitReached, "$1.00", flow.StatusLimit, "a.md", "b.md"), nil, open, event.AboutAside, "retry |a.md,b.md skip a.md|a.md,b.md accept a.md|a.md,b.md", ""},
		"a secret":                  {flow.State{Outcome: event.NeedsPerson, Text: "a key in f.txt", Step: work}, nil, open, event.AboutRefusal, "", "kanban-run inbox k.yaml: a key in f.txt"},
		"stuck":                     {flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true, Step: work}, nil, open, event.AboutStep, "retry accept skip a.md|a.md", "kanban-run ack k.yaml retry, accept or skip: stuck"},
		"a review that was changed": {flow.State{Outcome: event.NeedsPerson, Text: "check.sh changed", Spent: true, Step: &flow.Step{Task: "a.md", Role: "Implementor", Call: event.CommandCall}},
			nil, open, event.AboutStep, "retry accept skip a.md|a.md", "kanban-run ack k.yaml retry, accept or skip: check.sh changed"},
		"no valid reply": {flow.State{Outcome: event.Exhausted, Text: "no JSON", Spent: true, Step: work}, nil, open, event.AboutStep, "retry accept skip a.md|a.md", "no JSON"},
		"no valid reply of the Manager": {flow.State{Outcome: event.Exhausted, Text: "no JSON", Spent: true,
			Step: &flow.Step{Task: "a.md", Call: event.ManagerCall}}, nil, open, event.AboutStep, "retry", "no JSON"},
		"of the supervisor":                {flow.State{Outcome: event.Exhausted, Text: "no JSON", Spent: true, Step: &flow.Step{Task: "C", Call: event.CheckpointCall}}, nil, open, event.AboutStep, "retry", "no JSON"},
		"incomplete":                       {ended("ok", "a.md", statuses("ok", "")), nil, over, event.AboutEnd, "retry b.md|a.md,b.md accept |b.md skip b.md|b.md", "the board is incomplete: 1 of 2 tasks"},
		"one not ok comes first":           {ended("ok", "b.md", []flow.TaskStatus{{Task: "b.md", Status: "error"}}), nil, over, event.AboutEnd, "retry b.md|a.md,b.md accept |a.md,b.md skip b.md|a.md,b.md", "2 of 2 tasks"},
		"ended with blocked":               {ended("blocked", "a.md", statuses("blocked", "error")), nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md,b.md skip a.md|a.md,b.md", "why (the Manager ended the board with status blocked)"},
		"at a task that is ok":             {ended("blocked", "a.md", statuses("ok", "")[:1]), nil, blocked, event.AboutEnd, "retry b.md|a.md,b.md accept |b.md skip b.md|b.md", "why (the Manager ended the board with status blocked)"},
		"behind one that was passed over":  {ended("blocked", "b.md", []flow.TaskStatus{{Task: "b.md", Status: "ok"}}), nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md skip a.md|a.md", "why (the Manager ended the board with status blocked)"},
		"as the board says":                {flow.State{Outcome: event.NeedsPerson, Spent: true}, nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md,b.md skip a.md|a.md,b.md", "with status blocked, as it says itself"},
		"killed behind the end":            {flow.State{Workdir: "/w"}, nil, blocked, event.AboutEnd, "retry a.md|a.md,b.md accept |a.md,b.md skip a.md|a.md,b.md", ""},
		"all is done, and it says blocked": {flow.State{Outcome: event.NeedsPerson, Spent: true, Statuses: statuses("ok", "ok")}, nil, blocked, event.AboutEnd, "accept", "as it says itself"},
		"a team": {flow.State{Outcome: event.Complete, Statuses: statuses("ok", "ok"), Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"},
			Teardown: &flow.Teardown{State: event.FailedSafe, Missing: []string{"S"}}}, nil, over, event.AboutTeam, "accept", "S never answered"},
		"complete":            {flow.State{Outcome: event.Complete, Statuses: statuses("ok", "ok"), Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}}, nil, over, "", "", ""},
		"accepted":            {flow.State{Outcome: event.Complete, Last: flow.ManagerReply{Status: "blocked", BoardSHA: "s", Acknowledged: true, Accepted: "by me"}}, nil, over, "", "", ""},
		"a limit":             {flow.State{Outcome: event.LimitReached, Spent: true, Step: work}, nil, open, "", "", ""},
		"a signal":            {flow.State{Outcome: event.Interrupted, Step: work}, nil, open, "", "", ""},
		"the provider":        {flow.State{Outcome: event.Later, Step: work}, nil, open, "", "", ""},
		"current set by hand": {ended("blocked", "a.md", statuses("blocked", "")), nil, open, "", "", ""},
		"never run":           {flow.State{}, nil, Facts{Never: true, List: list, Current: "a.md"}, "", "", ""},
	}
}

// TestQuestions: what a person may decide about a board follows from the first subject that fits, and
// with it the words that are valid, the tasks that they may name, and the command that reports show.
func TestQuestions(t *testing.T) {
	for name, tt := range scenes(t) {
		b := tt.stand()
		if b.question == nil || tt.about == "" {
			if b.question != nil || tt.about != "" || b.Request() != "" || len(b.Choices)+len(b.Card().Acts) > 0 {
				t.Errorf("%s: the question is %+v", name, b.question)
			}
			continue
		}
		var words []string
		for _, c := range b.Choices {
			words = append(words, spell(c))
			command, told := "kanban-run ack k.yaml "+string(c.Word), c.Command
			if c.isRun { // what a run does anyhow is no decision
				command, told = "kanban-run k.yaml", "the same command"
			}
			if b.question.Offers(c.Word) == nil || c.Does == "" || c.Command != command && len(tt.facts.Asked) == 0 || !strings.Contains(b.Card().Line(), told+" "+c.brief()) {
				t.Errorf("%s: %+v is not offered: %s", name, c, b.Card().Line())
			}
		}
		if got := strings.Join(words, " "); b.About() != tt.about || got != tt.words {
			t.Errorf("%s: about %s, words %q, want %s and %q", name, b.About(), got, tt.about, tt.words)
		}
		if asks := tt.request != ""; b.Who.AsksPerson() != asks || asks != (b.Request() != "") || !strings.Contains(b.Request()+b.Card().Line(), tt.request) {
			t.Errorf("%s: who is %s, request %q, want %q", name, b.Who, b.Request(), tt.request)
		}
		if b.question.Offers("perhaps") != nil {
			t.Errorf("%s: a word that is none is offered", name)
		}
	}
}

// spell returns the word of a choice, its task, and the tasks that it may name.
func spell(c Choice) string {
	word := string(c.Word)
	if c.Word == event.Choice(event.ConsentRestart) || c.Word == event.Choice(event.ConsentContinue) {
		return word
	}
	if c.Task != "" || len(c.Tasks) > 0 {
		word += " " + c.Task
	}
	if len(c.Tasks) > 0 {
		word += "|" + strings.Join(c.Tasks, ",")
	}
	return word
}

// TestOneWordForADecision: people have the words retry, accept and skip for everything that a board
// asks, and the consent's own two (DESIGN, "A decision is one decision").
func TestOneWordForADecision(t *testing.T) {
	words := []event.Choice{event.Retry, event.Accept, event.Skip}
	for name, tt := range scenes(t) {
		b := tt.stand()
		for _, c := range b.Choices {
			if c.Word != "restart" && c.Word != "continue" && !slices.Contains(words, c.Word) {
				t.Errorf("%s: the word is %s", name, c.Word)
			}
			if strings.Count(" "+strings.ReplaceAll(b.Words(), ",", "")+" ", " "+string(c.Word)+" ") != 1 {
				t.Errorf("%s: %s is offered twice: %s", name, c.Word, b.Words())
			}
		}
	}
}

// TestWordsOfEarlierVersions: a word of an earlier version is taken for the choice that it was about, and for no
// other: it stands for that choice in the journal, too.
func TestWordsOfEarlierVersions(t *testing.T) {
	about := map[event.Choice][]event.Subject{
		event.Override: {event.AboutCheckpoint}, event.ForcedFinalize: {event.AboutTeam}, event.ReleaseTasks: {event.AboutQuarantine, event.AboutAside},
	}
	seen := map[event.Choice]bool{}
	for name, tt := range scenes(t) {
		b := tt.stand()
		for word, subjects := range about {
			c := b.question.Offers(word)
			if takes := slices.Contains(subjects, b.About()); (c != nil) != takes || takes && c.Word != word.Word() {
				t.Errorf("%s: %s stands for %+v", name, word, c)
			}
			seen[word] = seen[word] || c != nil
		}
	}
	if len(seen) != len(about) || !seen[event.Override] || !seen[event.ForcedFinalize] || !seen[event.ReleaseTasks] {
		t.Errorf("the scenes offer %v", seen)
	}
}

// TestEndChoices: what the words of an end do, with and without a choice of tasks.
func TestEndChoices(t *testing.T) {
	ended := flow.State{Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}, Dropped: []string{"z.md"}}
	stand := func(s flow.State, tasks string) *Question {
		f := Facts{List: listOf(t, tasks), Board: flow.Board{Terminal: true, SHA: "s", Ended: "blocked"}}
		return f.Question(&flow.History{State: s})
	}
	both := stand(ended, "tasks: [./a.md, b.md]\n")
	if c := both.Offers(event.Retry); c.Task != "./a.md" || strings.Join(c.Tasks, " ") != "./a.md b.md z.md" || !strings.HasSuffix(c.Does, "goes on with it. With the path of another task it makes that one current") {
		t.Errorf("%+v", c)
	}
	if c := both.Offers(event.Accept); strings.Join(c.Tasks, " ") != "./a.md b.md z.md" || !strings.HasSuffix(c.Does, "as it stands. With the path of a task it counts that task as done, and the next run goes on") {
		t.Errorf("%+v", c)
	}
	if c := both.Offers(event.Skip); c.Task != "./a.md" || strings.Join(c.Tasks, " ") != "./a.md b.md" { // z.md is not on the list
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

// TestQuestionsAgree: a board that waits for a person is not well: its sign and its headline say so,
// and its advice names a valid word, or only that the same command goes on.
func TestQuestionsAgree(t *testing.T) {
	for name, tt := range scenes(t) {
		tt.facts.Log = "log.md"
		b := tt.stand()
		advice := b.Advice()
		if b.Who.AsksPerson() && tt.about != event.AboutTeam && (b.Weight == event.Success || strings.Contains(b.Headline(), "is complete:")) {
			t.Errorf("%s: weight %d, %s", name, b.Weight, b.Headline())
		}
		words := strings.Split(advice, "kanban-run ack k.yaml ")
		for _, part := range words[1:] {
			word := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == ';' || r == ',' })[0]
			if b.question.Offers(event.Choice(word)) == nil {
				t.Errorf("%s: the advice names %s: %s", name, word, advice)
			}
		}
		if b.Who.AsksPerson() && advice == "" {
			t.Errorf("%s: no advice", name)
		}
		if b.Who == RunAgain && !strings.Contains(advice, "the same command goes on") {
			t.Errorf("%s: the advice is %q", name, advice)
		}
	}
}
