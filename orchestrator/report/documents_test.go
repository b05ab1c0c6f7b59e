package report

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	reader "github.com/joshdk/go-junit"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/standing"
)

func same(text string) string { return text }

// played is the digest of the story, with an ending.
func played(board string, outcome event.Outcome, text string) digest.Digest {
	d := digest.Digest{Board: board}
	for i, e := range story() {
		e.Time = time.Date(2026, 1, 2, 3, 4, 5+i, 0, time.UTC)
		d.Add(e)
	}
	d.Outcome, d.Text, d.Weight = outcome, text, standing.Weigh(outcome, text)
	s := standing.Standing{Board: board, Outcome: outcome}
	if outcome == event.Exhausted {
		s.Waits = &standing.Waits{About: event.AboutStep, Why: text}
	}
	d.Advice = s.Advice("log.md")
	return d
}

// stuck is a board whose agent gave no valid reply in its second step.
func stuck() digest.Digest {
	d := played("b.yaml", event.Exhausted, "retries exhausted: <garbage> & \x1b[2J]]>")
	at := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
	for _, e := range []event.Event{
		event.StepStarted{Step: 2, Task: "tasks/b|1.md", Role: "Architect"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 2, Call: event.TaskCall, Task: "tasks/b|1.md", Role: "Architect", Attempt: 1}},
		event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 2, Role: "Architect", Attempt: 1}, Reason: "the reply is no JSON", Exit: "exit status 1", Received: "gar]]>bage",
			Stderr: strings.Repeat("line\n", 30) + "the last", Output: ".kanban-run/runs/b.yaml/steps/2", End: event.End{Millis: 1500}},
	} {
		d.Add(event.Entry{Time: at, Event: e})
	}
	return d
}

// TestJUnitIsRead reads the document as CI systems do, with a parser that is not ours.
func TestJUnitIsRead(t *testing.T) {
	idle := digest.Digest{Board: "c.yaml", Outcome: event.Owned, Text: "another run owns the board"}
	text, err := JUnit([]digest.Digest{played("a.yaml", event.Complete, "the board is complete"), stuck(), idle}, same)
	if err != nil {
		t.Fatal(err)
	}
	suites, err := reader.Ingest(text)
	if err != nil {
		t.Fatalf("the parser says %v of\n%s", err, text)
	}
	var got []string
	for _, s := range suites {
		got = append(got, fmt.Sprintf("suite %s: %d tests, %d passed, %d failed, %d errors", s.Name, s.Totals.Tests, s.Totals.Passed, s.Totals.Failed, s.Totals.Error))
		for _, c := range s.Tests {
			got = append(got, fmt.Sprintf("%s | %s | %s | %s | %s", c.Name, c.Classname, c.Duration, c.Status, c.Message))
		}
	}
	want := []string{
		"suite a.yaml: 1 tests, 1 passed, 0 failed, 0 errors",
		"step 1: tasks/a.md | a.yaml.Implementor | 7s | passed | ",
		"suite b.yaml: 2 tests, 1 passed, 1 failed, 0 errors",
		"step 1: tasks/a.md | b.yaml.Implementor | 7s | passed | ",
		`step 2: tasks/b|1.md | b.yaml.Architect | 0s | failed | retries exhausted: <garbage> & \x1b[2J]]>`,
		"suite c.yaml: 1 tests, 0 passed, 0 failed, 1 errors",
		"the board is complete | c.yaml | 0s | error | another run owns the board",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the parser reads (-want +got):\n%s\n%s", diff, text)
	}
	failure := suites[1].Tests[1].Error.Error()
	for _, part := range []string{"Architect attempt 1 rejected: the reply is no JSON (exit status 1)", "gar]]>bage", "the last", "steps/2", "fresh retries"} {
		if !strings.Contains(failure, part) {
			t.Errorf("the failure lacks %q:\n%s", part, failure)
		}
	}
	if n := strings.Count(failure, "line\n"); n != 19 {
		t.Errorf("%d lines of standard error, want the last 20 in all", n)
	}
}

// TestJUnitCounts: a board that is not complete has one failure or error, and one that is has
// none, whatever its steps were.
func TestJUnitCounts(t *testing.T) {
	for outcome, want := range map[event.Outcome]string{
		event.Complete: "0 0", event.NeedsPerson: "1 0", event.Exhausted: "1 0", event.Frozen: "1 0", event.LimitReached: "0 1",
		event.Interrupted: "0 1", event.Owned: "0 1", event.Invalid: "0 1", event.Failed: "0 1",
	} {
		for _, d := range []digest.Digest{played("a", outcome, "text"), {Board: "empty", Outcome: outcome}} {
			text, err := JUnit([]digest.Digest{d}, same)
			if err != nil {
				t.Fatal(err)
			}
			var all suites
			if err := xml.Unmarshal(text, &all); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d %d", all.Suites[0].Failures, all.Suites[0].Errors); got != want {
				t.Errorf("%s: %s failures and errors, want %s", outcome, got, want)
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown([]digest.Digest{played("a.yaml", event.Complete, "the board is complete"), stuck()}, same, 0)
	file := filepath.Join("testdata", "report.md")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("Markdown differs (-want +got):\n%s", diff)
	}
}

// TestMarkdownIsTheTablesItShouldBe renders it with a library: nothing that an agent or a
// board says becomes markup.
func TestMarkdownIsTheTablesItShouldBe(t *testing.T) {
	d := stuck()
	d.Board = "<b>*x* | y"
	d.Steps[0].Message = "| a <script>alert(1)</script>\n# heading\n@someone `code` ![x](http://x/y.png)"
	var html strings.Builder
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(Markdown([]digest.Digest{d}, same, 0)), &html); err != nil {
		t.Fatal(err)
	}
	page := html.String()
	for part, times := range map[string]int{"<table>": 2, "<tr>": 5, "<h2": 1, "<h3": 1, "<h1": 0, "<script": 0, "<img": 0, "<b>": 0, "<em>": 0, "<a ": 0} {
		if got := strings.Count(page, part); got != times {
			t.Errorf("%d times %s, want %d in\n%s", got, part, times, page)
		}
	}
	if want := "&lt;b&gt;*x* | y"; strings.Count(page, want) < 3 {
		t.Errorf("the board's name is not shown as it is in\n%s", page)
	}
}

// A job's summary of more than 1 MiB is dropped whole: better fewer rows.
func TestMarkdownKeepsToItsLimit(t *testing.T) {
	big := digest.Digest{Board: "a.yaml", Outcome: event.Complete}
	for i := range 2000 {
		big.Add(event.Entry{Event: event.StepStarted{Step: i + 1, Task: fmt.Sprintf("tasks/%d.md", i), Role: "Implementor"}})
		big.Add(event.Entry{Event: event.StepFinished{Step: i + 1, Message: strings.Repeat("m", 300)}})
	}
	var boards []digest.Digest
	for range 20 {
		boards = append(boards, big)
	}
	boards[17].Outcome, boards[17].Text, boards[17].Advice = event.Exhausted, "no reply", "look at it"
	for _, limit := range []int{1 << 20, 50_000, 1000} {
		got := Markdown(boards, same, limit)
		if !strings.Contains(got, "no reply. Next: look at it") {
			t.Errorf("%d bytes do not say what a person has to do", limit)
		}
		if len(got) > limit || !strings.Contains(got, "19 of 20 boards complete") || !strings.Contains(got, " more\n") && !strings.Contains(got, "before these") {
			t.Errorf("%d bytes, want at most %d that say what is left out:\n%.300s", len(got), limit, got)
		}
	}
	if got := Markdown(boards[:1], same, 0); strings.Count(got, "\n| ") < 2000 || strings.Count(got, " :done,") != maxBars {
		t.Errorf("%d rows and %d bars, want all and %d", strings.Count(got, "\n| "), strings.Count(got, " :done,"), maxBars)
	}
}

// What is a secret is hidden wherever it stands.
func TestDocumentsHideSecrets(t *testing.T) {
	d := stuck()
	for _, text := range []*string{&d.Board, &d.Text, &d.Advice, &d.Steps[1].Task, &d.Steps[1].Role, &d.Steps[1].Message, &d.Steps[1].Attempts[0].Reason,
		&d.Steps[1].Attempts[0].Received, &d.Steps[1].Attempts[0].Stderr} {
		*text = "hunter2"
	}
	d.Steps[1].Notes = []string{"hunter2"}
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter2", "HIDDEN") }
	text, err := JUnit([]digest.Digest{d}, hide)
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("JUnit shows it (%v):\n%s", err, text)
	}
	if text := Markdown([]digest.Digest{d}, hide, 0); strings.Contains(text, "hunter2") {
		t.Errorf("Markdown shows it:\n%s", text)
	}
}
