package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// TestMessages: the last message is the reply, unless something that cannot be read, or a tool,
// came behind it.
func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		name, stream, reply, review, missing, told string
	}{
		{"one", `{"say":"x {\"a\":1} y"}`, `{"a":1}`, `x {"a":1} y`, "", `x {"a":1} y`},
		{"the last of two", "{\"say\":\"x\"}\n{\"say\":\"y\"}", "y", "y", "", "x|y"},
		{"in parts", "{\"add\":\"x\"}\r\n{\"add\":\"y\"}", "xy", "xy", "", ""},
		{"none", "", "", "", "ended without a message", ""},
		{"words for people", "{\"say\":\"x\"}\nhello\n", "x", "x", "", "x|hello"},
		{"half a line behind it", "{\"say\":\"x\"}\n{\"sa\n", `{"sa`, `{"sa`, "cannot be read: unexpected end", "x|a line of its output cannot be read (unexpected end of JSON input)"},
		{"half a line before it", "{\"sa\n{\"say\":\"x\"}\n", "x", "x", "", "a line of its output cannot be read (unexpected end of JSON input)|x"},
		{"many halves", "{\"say\":\"x\"}\n" + strings.Repeat("{\n", 22) + "{\"say\":\"y\"}\n", "y", "y", "",
			"x" + strings.Repeat("|a line of its output cannot be read (unexpected end of JSON input)", 20) +
				"|there are more warnings about its output, which are left out|y"},
		{"a tool behind it", "{\"say\":\"x\"}\n{\"tool\":\"t\"}\n", "", "", "ended without a message", "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			var m agent.Messages
			tell := func(e agent.Event) {
				if e.Kind != agent.Unread {
					told = append(told, e.Text)
				}
			}
			m.Init(tell, func(line []byte) error {
				var v map[string]string
				err := json.Unmarshal(line, &v)
				for kind, text := range v {
					map[string]func(string){"say": m.Set, "add": m.Add, "tool": func(string) { m.Discard() }}[kind](text)
				}
				return err
			})
			if _, err := m.Write([]byte(tt.stream)); err != nil {
				t.Fatal(err)
			}
			m.Flush()
			missing := ""
			if f := m.Missing(); f != nil {
				missing = f.Reason
			}
			if got := string(m.Reply(contract.Task)); got != tt.reply {
				t.Errorf("Reply = %q, want %q", got, tt.reply)
			}
			if got := string(m.Reply(contract.Review)); got != tt.review {
				t.Errorf("Reply to a review = %q, want %q", got, tt.review)
			}
			if (missing == "") != (tt.missing == "") || !strings.Contains(missing, tt.missing) {
				t.Errorf("Missing = %q, want %q", missing, tt.missing)
			}
			if got := strings.Join(told, "|"); got != tt.told {
				t.Errorf("told %q, want %q", got, tt.told)
			}
		})
	}
}

// TestPrintedLineIsNoProgress: a line that a program prints beside its JSON is not its model's work.
func TestPrintedLineIsNoProgress(t *testing.T) {
	var m agent.Messages
	var told []agent.Event
	m.Init(func(e agent.Event) { told = append(told, e) }, func([]byte) error { return nil })
	if _, err := m.Write([]byte("Error when talking to the API: 400\n")); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].IsProgress() || told[0].Text == "" {
		t.Errorf("told %+v, want one line that is no progress", told)
	}
}

// TestLongMessage: of a message in parts that is longer than a reply may be, as much is kept as
// shows that.
func TestLongMessage(t *testing.T) {
	var m agent.Messages
	for range 40 {
		m.Add(strings.Repeat("x", 1<<20))
	}
	if n := len(m.Reply(contract.Review)); n != 16<<20+1 {
		t.Errorf("%d bytes are kept of 40 MiB, want 16 MiB and one", n)
	}
}
