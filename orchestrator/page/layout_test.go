package page

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
)

// TestEqualSteps: steps that differ in number and time only are one row; another status, or another task
// between them, ends the row. What their agents said is there as often as it differs.
func TestEqualSteps(t *testing.T) {
	s := newScene("loop.yaml", "tasks/1.md", "tasks/2.md").play(time.Second, event.RunStarted{})
	for i := range 20 {
		s.step(i+1, "tasks/1.md", "Implementor", "ok", "changed 3 files")
	}
	s.step(21, "tasks/1.md", "Implementor", "blocked", "no key").step(22, "tasks/2.md", "Implementor", "ok", "one").
		step(23, "tasks/2.md", "Implementor", "ok", "another")
	text := html.UnescapeString(render(t, s.board()))
	var rows []string
	for _, m := range regexp.MustCompile(`<span class="no">([^<]*)</span><span class="of"><a[^>]*>([^<]*)</a>(?: <b>([^<]*)</b>)?`).FindAllStringSubmatch(text, -1) {
		rows = append(rows, strings.TrimSpace(strings.Join(m[1:], " ")))
	}
	if got, want := strings.Join(rows, ", "), "1–20 1 ×20, 21 1, 22–23 2 ×2"; got != want {
		t.Errorf("the waterfall has the rows %s, want %s", got, want)
	}
	for said, want := range map[string]int{"steps 1 to 20, ×20, of which this is the last": 1, "</span>: changed 3 files": 2, // of the agent and of the Manager
		"step 21, ": 1, "</span>: one": 2, "</span>: another": 2} {
		if n := strings.Count(text, said); n != want {
			t.Errorf("%q is there %d times, want %d", said, n, want)
		}
	}
	if row := text[strings.Index(text, "1–20"):]; !strings.Contains(row[:strings.Index(row, "</li>")], `<span class="n">1h14m</span><span class="n">$6.00</span>`) {
		t.Errorf("a row does not have the sums of its steps: %s", row[:strings.Index(row, "</li>")])
	}
}

// TestGroups: each board has the same groups, an empty one as its head; tasks that need nobody are quiet.
// On a page of several boards the complete and the untouched ones are folded, and alone none is.
func TestGroups(t *testing.T) {
	never := newScene("never.yaml", "a.md")
	never.history.State, never.facts.Never, never.facts.Current = flow.State{}, true, "a.md"
	complete := newScene("done.yaml", "tasks/1.md").play(time.Second, event.RunStarted{}).step(1, "tasks/1.md", "Implementor", "ok", "done").done("tasks/1.md")
	groups := func(text string) (all []string) {
		for _, m := range regexp.MustCompile(`<div class="group ([a-z]*)"><h4>([^<]*) <b>(\d+)</b></h4>`).FindAllStringSubmatch(text, -1) {
			all = append(all, strings.TrimSpace(m[2]+" "+m[3]+" "+m[1]))
		}
		return all
	}
	alone := render(t, troubled(plain))
	want := []string{"Doing 0 none", "Stopped 1", "Review 0 none", "Quarantined 0 none", "Done 1 quiet", "To do 1 quiet"}
	if got := groups(alone); !slices.Equal(got, want) {
		t.Errorf("the groups are %q, want %q", got, want)
	}
	all := render(t, troubled(plain), never.board(), complete.board())
	for id, text := range map[string]string{`<details class="bd" id="b2d">`: all, `<details class="bd" id="b3d">`: all, `<details class="wb" id="b3w">`: all,
		`<div class="bd" id="b1">`: all, `<div class="bd" id="b1"><div class="bh">`: render(t, complete.board())} {
		if !strings.Contains(text, id) {
			t.Errorf("the page lacks %s", id)
		}
	}
	if !strings.Contains(all, `<main class=" columns">`) || strings.Contains(render(t, troubled(plain), never.board(), complete.board(), never.board()), "columns\">") {
		t.Error("three boards have columns, and four have none")
	}
	if row := regexp.MustCompile(`<td class="name">.*never.yaml.*</tr>`).FindString(all); strings.Contains(row, ">0<") || strings.Contains(row, "$0.00") {
		t.Errorf("a board that was never run has zeros: %s", row)
	}
}

// TestAtWork: a live page tells how long an agent has been at work, and the file does not know; only an
// agent that can hear is offered tell. A killed run leaves no step that is open.
func TestAtWork(t *testing.T) {
	ref := event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/1.md", Role: "Implementor", Attempt: 1}
	s := newScene("now.yaml", "tasks/1.md").play(time.Second, event.RunStarted{}, event.StepStarted{Step: 1, Task: "tasks/1.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: ref, Adapter: "claude"})
	step := &flow.Step{Number: 1, Task: "tasks/1.md", Role: "Implementor", Call: event.TaskCall, Running: 1}
	s.facts.Owned, s.facts.Current, s.history.State = true, "tasks/1.md", flow.State{Workdir: "/w", Running: true, Step: step}
	for _, tt := range []struct {
		live, hears, owned bool
		has, lacks         []string
	}{
		{true, true, true, []string{"<dt>for</dt><dd><span data-since=", "kanban-run tell now.yaml …", "; open</title>"}, nil},
		{false, false, true, []string{"<div>tasks/1.md, Implementor since 01:12:09</div>"}, []string{"<dt>for</dt>", "kanban-run tell"}},
		{false, true, false, []string{"; cut short</title>"}, []string{"Implementor since", "; open</title>", ">0ms<"}},
	} {
		s.facts.Owned = tt.owned
		text, err := Render([]*projection.Board{s.board()}, Options{Hide: plain, Live: tt.live, Tells: func(adapter string) bool { return tt.hears && adapter == "claude" }})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.has {
			if !strings.Contains(string(text), want) {
				t.Errorf("%+v: the page lacks %s", tt, want)
			}
		}
		for _, none := range tt.lacks {
			if strings.Contains(string(text), none) {
				t.Errorf("%+v: the page has %s", tt, none)
			}
		}
	}
}

// TestContrast: each colour of text has a contrast of at least 4.5 to each ground, in light, dark and
// print, and no text has another colour (WCAG 2.2, 1.4.3).
func TestContrast(t *testing.T) {
	texts, grounds := []string{"ink", "soft", "link", "good", "bad", "warn", "work", "hold"}, []string{"paper", "sheet", "well"}
	schemes := regexp.MustCompile(`:root \{([^}]*--paper[^}]*)\}`).FindAllStringSubmatch(style, -1)
	if len(schemes) != 3 {
		t.Fatalf("%d schemes, want light, dark and print", len(schemes))
	}
	for i, scheme := range schemes {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]+)`).FindAllStringSubmatch(scheme[1], -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, text := range texts {
			for _, ground := range grounds {
				if c := contrast(colours[text], colours[ground]); c < 4.5 {
					t.Errorf("scheme %d: --%s on --%s has a contrast of %.2f", i, text, ground, c)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`[{; ](color|background): ([^;}]*[^;} ])`).FindAllStringSubmatch(style, -1) {
		name, isVariable := strings.CutPrefix(strings.TrimSuffix(m[2], ")"), "var(--")
		known := m[2] == "inherit" || m[2] == "none" || isVariable && slices.Contains(texts, name)
		if m[1] == "background" {
			known = m[2] == "none" || m[2] == "var(--good)" || m[2] == "var(--bad)" || isVariable && slices.Contains(grounds, name) // the dot has no text
		}
		if !known {
			t.Errorf("%s: %s is in no pair above", m[1], m[2])
		}
	}
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// luminance is the relative luminance of a colour in hexadecimal digits.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	rgb, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift int) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// TestWhyInTheTable: the table says of each board why it stands so, also of one that is complete by its agents'
// word alone, and a narrow screen shows it.
func TestWhyInTheTable(t *testing.T) {
	complete := newScene("done.yaml", "tasks/1.md").play(time.Second, event.RunStarted{}).step(1, "tasks/1.md", "Implementor", "ok", "done").done("tasks/1.md")
	text := render(t, complete.board(), troubled(plain))
	for _, want := range []string{`<td class="why opt"><div>none reviewed</div>`, ".sum td.why:not(:has(div:empty)) { display: block;"} {
		if !strings.Contains(html.UnescapeString(text), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
