package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/projection"
)

// JUnit renders boards as the XML that CI systems read: a suite for each board, a case for each
// step, and a skipped case for each task that was never worked on. On a board that has ended and is not
// complete, or that a person has to mend, each task that failed has a failure, and the case that the end is about has the reason. If
// no case has the reason, a case of its own does. If the program has failed, and not the work, the
// reason is an error instead. So CI agrees with the exit code. The function hide redacts a text.
func JUnit(boards []*projection.Board, hide func(string) string) ([]byte, error) {
	j := junit{func(text string) string { return inert.Lines(hide(text)) }}
	var all suites
	for i := range boards {
		s := j.suite(boards[i])
		s.ID = i
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render JUnit: %w", err)
	}
	return append(append([]byte(xml.Header), text...), '\n'), nil
}

// The elements, their order and their attributes are valid in two schemas: Apache Ant's for its
// JUnit task (windyroad/JUnit-Schema), which is the stricter one, and Jenkins's (junit-10.xsd of
// its xunit plugin).
type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	ID         int        `xml:"id,attr"`
	Package    string     `xml:"package,attr"`
	Name       string     `xml:"name,attr"`
	Timestamp  string     `xml:"timestamp,attr,omitempty"`
	Hostname   string     `xml:"hostname,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testCase `xml:"testcase"`
	Out        output     `xml:"system-out"`
	Err        output     `xml:"system-err"`
}

type output struct {
	Text string `xml:",cdata"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
	Skipped *skipped `xml:"skipped"`
}

// skipped marks the test case of a task that was never worked on.
type skipped struct{}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",cdata"`
}

type junit struct{ clean func(string) string }

func (j junit) suite(b *projection.Board) suite {
	name := j.clean(b.Board)
	s := suite{
		Package:   name,
		Name:      name,
		Timestamp: timestamp(b.Began),
		Hostname:  "localhost",
		Time:      seconds(b.Totals.Millis),
		Out:       output{j.log(b)},
	}
	for _, p := range []property{
		{"outcome", string(b.Outcome)},
		{"text", b.Reason.Said},
		{"reviewed", fmt.Sprint(b.Reviewed)},
		{"runs", fmt.Sprint(b.Runs)},
		{"cost", b.Totals.Used.Money()},
		{"tokens", b.Totals.Used.Tokens()},
		{"checkpoints", verdicts(b)},
	} {
		if p.Name == "checkpoints" && p.Value == "" {
			continue
		}
		s.Properties = append(s.Properties, property{p.Name, j.clean(p.Value)})
	}
	s.Cases = j.cases(b, name)
	for _, c := range s.Cases {
		s.Tests++
		s.Failures += count(c.Failure)
		s.Errors += count(c.Error)
		if c.Skipped != nil {
			s.Skipped++
		}
	}
	return s
}

// timestamp returns a time in the form of JUnit, or "" for a board that was never run.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// cases returns the cases of a suite.
func (j junit) cases(b *projection.Board, name string) (all []testCase) {
	next := ""
	if advice := b.Advice(); advice != "" {
		next = "\nnext: " + advice + "\n"
	}
	bad, told := b.State == projection.Ended && !b.IsOK() || b.State == projection.NeverRun && b.Who == projection.Mend, false
	blamed, failed := b.Culprit(), b.FailedSteps()
	if len(failed) > 0 {
		at := slices.IndexFunc(failed, func(s *projection.Step) bool { return s.Task == b.Reason.Where })
		if blamed = nil; at >= 0 {
			blamed = failed[at]
		}
	}
	for i := range b.Steps {
		step := &b.Steps[i]
		c := testCase{
			Name:  j.clean(fmt.Sprintf("step %d: %s", step.Step, step.Task)),
			Class: j.clean(b.Board + "." + step.Role),
			Time:  seconds(step.Millis),
		}
		switch {
		case !bad:
		case step == blamed:
			j.fail(&c, b, attemptText(step.Told()), next)
			told = true
		case slices.Contains(failed, step):
			c.Failure = j.notOK(b.TaskOf(step.Task), step, next)
			told = told || b.Reason.Where == ""
		}
		all = append(all, c)
	}
	for _, task := range b.Undone {
		all = append(all, testCase{Name: j.clean(task), Class: name, Time: seconds(0), Skipped: &skipped{}})
	}
	if bad && !told || len(all) == 0 {
		c := testCase{Name: "the board is complete", Class: name, Time: seconds(0)}
		switch {
		case bad:
			j.fail(&c, b, "", next)
		case b.State == projection.NeverRun:
			c.Skipped = &skipped{}
		}
		all = append(all, c)
	}
	return all
}

// verdicts returns the verdicts of the resident supervisor in one line.
func verdicts(b *projection.Board) string {
	var all []string
	for _, c := range b.Checkpoints {
		all = append(all, c.String())
	}
	return strings.Join(all, "; ")
}

func count(p *problem) int {
	if p == nil {
		return 0
	}
	return 1
}

// notOK returns the failure of a task that was worked on and is not ok.
func (j junit) notOK(t *projection.Task, s *projection.Step, next string) *problem {
	message, kind := s.Task+" is not done", "not_ok"
	if t != nil {
		kind = string(t.State)
		message = s.Task + " is " + strings.ReplaceAll(cmp.Or(t.Status, kind), "_", " ")
		if why := cmp.Or(t.Said, t.Why); why != "" {
			message += ": " + why
		}
		if t.State == projection.SetAside {
			message = s.Task + " is set aside: " + t.Why
		}
	}
	return &problem{Message: j.clean(message), Type: kind, Text: j.clean(attemptText(s.Work()) + next)}
}

// fail marks a case with the reason why the board is not complete. The case gets a failure if the
// work was done without success, and an error if the work could not be done.
func (j junit) fail(c *testCase, b *projection.Board, text, next string) {
	p := &problem{Message: j.clean(b.Reason.Said), Type: j.clean(string(cmp.Or(b.Outcome, event.Invalid))), Text: j.clean(text + next)}
	if b.Outcome.AsksPerson() || b.Outcome == event.LimitReached && b.Reason.By == event.ByTaskLimit {
		c.Failure = p
	} else {
		c.Error = p
	}
}

// attemptText describes an attempt: its result, and the last lines of its message and its output.
// The parameter last is nil if no agent was started.
func attemptText(last *projection.Attempt) string {
	if last == nil {
		return "no agent was started\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", last.Said)
	for _, part := range []struct{ name, text string }{
		{"message", last.Message},
		{"output", last.Received},
		{"standard error", last.Stderr},
		{"all of it", last.Output},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", part.name, lastLines(part.text, 20))
		}
	}
	return b.String()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// log returns a text with one line for each attempt, each decision of the adapter "walk", and
// each note.
func (j junit) log(b *projection.Board) string {
	var text strings.Builder
	for i := range b.Steps {
		s := &b.Steps[i]
		for k := range s.Attempts {
			fmt.Fprintf(&text, "step %d: %s\n", s.Step, s.Attempts[k].Said)
		}
		if word := s.Walked(); word != "" {
			fmt.Fprintf(&text, "step %d: %s\n", s.Step, word)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(&text, "step %d: %s\n", s.Step, note)
		}
	}
	for _, what := range b.Changed {
		fmt.Fprintf(&text, "%s\n", what)
	}
	return j.clean(text.String())
}

func seconds(millis int64) string { return fmt.Sprintf("%.3f", float64(millis)/1000) }
