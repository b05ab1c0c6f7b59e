package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inert"
)

// JUnit renders boards as the XML that CI systems read: a suite for each board, a case for each
// step, and a skipped case for each task that was never worked on. On a board that is not complete,
// each task that is not ok has a failure if an agent worked on the task. If these failures do not
// explain the end of the board, the end counts as one more failure. If the program has failed, and
// not the work, the end counts as an error instead. So CI agrees with the exit code. The function
// hide redacts a text.
func JUnit(boards []digest.Digest, hide func(string) string) ([]byte, error) {
	j := junit{func(text string) string { return inert.Lines(hide(text)) }}
	var all suites
	for i := range boards {
		s := j.suite(&boards[i])
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
	Timestamp  string     `xml:"timestamp,attr"`
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

func (j junit) suite(d *digest.Digest) suite {
	name := j.clean(d.Board)
	s := suite{
		Package:   name,
		Name:      name,
		Timestamp: d.Began.UTC().Format("2006-01-02T15:04:05"),
		Hostname:  "localhost",
		Time:      seconds(d.Millis),
		Out:       output{j.log(d)},
	}
	for _, p := range []property{
		{"outcome", string(d.Outcome)},
		{"text", d.Text},
		{"runs", fmt.Sprint(d.Runs)},
		{"cost", d.Used.Money()},
		{"tokens", d.Used.Tokens()},
		{"checkpoints", verdicts(d)},
	} {
		if p.Name == "checkpoints" && p.Value == "" {
			continue
		}
		s.Properties = append(s.Properties, property{p.Name, j.clean(p.Value)})
	}
	s.Cases = j.cases(d, name)
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

// cases returns the cases of a suite.
func (j junit) cases(d *digest.Digest, name string) (all []testCase) {
	next := ""
	if d.Advice != "" {
		next = "\nnext: " + d.Advice + "\n"
	}
	culprit, failed := d.Culprit(), d.FailedSteps()
	// If told is true, the failed steps explain the end.
	told := len(failed) > 0 && (d.Outcome == event.Incomplete || d.Outcome == event.Exhausted)
	bad := d.Outcome != event.Complete
	for i := range d.Steps {
		step := &d.Steps[i]
		c := testCase{
			Name:  j.clean(fmt.Sprintf("step %d: %s", step.Step, step.Task)),
			Class: j.clean(d.Board + "." + step.Role),
			Time:  seconds(step.Millis),
		}
		switch {
		case bad && slices.Contains(failed, step):
			c.Failure = j.notOK(step, next)
		case bad && step == culprit && !told:
			j.fail(&c, d, attemptText(step.Last()), next)
		}
		all = append(all, c)
	}
	for _, task := range d.Undone {
		all = append(all, testCase{Name: j.clean(task), Class: name, Time: seconds(0), Skipped: &skipped{}})
	}
	if bad && culprit == nil && !told || len(all) == 0 {
		c := testCase{Name: "the board is complete", Class: name, Time: seconds(0)}
		if bad {
			j.fail(&c, d, "", next)
		}
		all = append(all, c)
	}
	return all
}

// verdicts returns the verdicts of the resident supervisor in one line.
func verdicts(d *digest.Digest) string {
	var all []string
	for _, c := range d.Checkpoints {
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
func (j junit) notOK(s *digest.Step, next string) *problem {
	work := s.Work()
	message, kind := s.Task+" is "+cmp.Or(s.Status, "not done"), "not_ok"
	switch {
	case s.Aside != "":
		message, kind = s.Task+" is set aside: "+s.Aside, "set_aside"
	case work.Message != "":
		message += ": " + work.Message
	}
	return &problem{Message: j.clean(message), Type: kind, Text: j.clean(attemptText(work) + next)}
}

// fail marks a case with the reason why the board is not complete. The case gets a failure if the
// work was done without success, and an error if the work could not be done.
func (j junit) fail(c *testCase, d *digest.Digest, text, next string) {
	p := &problem{Message: j.clean(d.Text), Type: j.clean(string(d.Outcome)), Text: j.clean(text + next)}
	switch d.Outcome {
	case event.Incomplete, event.NeedsPerson, event.Exhausted, event.Frozen:
		c.Failure = p
	default:
		c.Error = p
	}
}

// attemptText describes an attempt: its result, and the last lines of its message and its output.
// The parameter last is nil if no agent was started.
func attemptText(last *digest.Attempt) string {
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
func (j junit) log(d *digest.Digest) string {
	var b strings.Builder
	for i := range d.Steps {
		s := &d.Steps[i]
		for k := range s.Attempts {
			fmt.Fprintf(&b, "step %d: %s\n", s.Step, s.Attempts[k].Said)
		}
		if word := s.Walked(); word != "" {
			fmt.Fprintf(&b, "step %d: %s\n", s.Step, word)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(&b, "step %d: %s\n", s.Step, note)
		}
	}
	return j.clean(b.String())
}

func seconds(millis int64) string { return fmt.Sprintf("%.3f", float64(millis)/1000) }
