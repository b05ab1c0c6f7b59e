package claude

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

var update = flag.Bool("update", false, "write what the reader makes of the recorded streams anew")

// exits are the recorded runs' exits, where they did not end well.
var exits = map[string]proc.Exit{
	"claude328-api-401":         {Code: 1},
	"claude328-api-500":         {Code: 1},
	"claude328-api-hang":        {Code: 143, TimedOut: true, Timeout: time.Minute},
	"claude328-maxbudget":       {Code: 1},
	"claude328-maxturns":        {Code: 1},
	"claude328-struct-allbad":   {Code: 1},
	"claude328-stdin-interrupt": {},
}

// readout is what a reader reported of a stream.
type readout struct {
	events []string
	gaveUp []string
	report agent.Report
}

// play passes a stream to a reader in pieces of a size; 0 is all at once.
func play(stream []byte, size int, exit proc.Exit) readout {
	var h readout
	r := newReader(contract.Task, agent.Host{
		// The recordings ask with sq1, and tell with the UUIDs from 2 on.
		Told: func(id string) bool {
			return id == "sq1" || strings.HasPrefix(id, "00000000-") && !strings.HasSuffix(id, "01")
		},
		Emit: func(e agent.Event) {
			kind := e.Kind.String()
			if e.Failed {
				kind += " (failed)"
			}
			if e.Missing != "" {
				kind += " (missing " + e.Missing + ")"
			}
			h.events = append(h.events, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", kind, e.Tool, e.Class, e.Text)), " "))
		},
		GiveUp: func(err error) { h.gaveUp = append(h.gaveUp, fmt.Sprintf("%T %v", err, err)) },
	})
	if size == 0 {
		size = max(1, len(stream))
	}
	for len(stream) > 0 {
		n := min(size, len(stream))
		if _, err := r.Write(bytes.Clone(stream[:n])); err != nil {
			panic(err) // it never fails
		}
		stream = stream[n:]
	}
	h.report = r.End(exit)
	return h
}

func (h readout) String() string {
	var b strings.Builder
	for _, e := range h.events {
		fmt.Fprintf(&b, "event    %s\n", strings.TrimSpace(e))
	}
	for _, g := range h.gaveUp {
		fmt.Fprintf(&b, "gave up  %s\n", g)
	}
	r := h.report
	fmt.Fprintf(&b, "session  %s\n", r.Session)
	if s := r.Spent; s != nil {
		fmt.Fprintf(&b, "spent    %d in, %d of them cached, %d out", s.Input, s.Cached, s.Output)
		if s.Cost != nil {
			fmt.Fprintf(&b, ", %d millionths", *s.Cost)
		}
		fmt.Fprintf(&b, ", cumulative %t\n", r.Cumulative)
	}
	switch {
	case r.Err != nil:
		fmt.Fprintf(&b, "error    %T %v\n", r.Err, r.Err)
	case r.Failure != nil:
		fmt.Fprintf(&b, "failure  %s\n", r.Failure.Reason)
	}
	fmt.Fprintf(&b, "reply    %s\n", r.Reply)
	return b.String()
}

// recorded calls each with every recorded stream.
func recorded(t *testing.T, each func(t *testing.T, name string, stream []byte, exit proc.Exit)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 20 {
		t.Fatalf("there are %d recorded streams, %v, want all", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			stream, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			each(t, name, stream, exits[name])
		})
	}
}

func TestRecorded(t *testing.T) {
	recorded(t, func(t *testing.T, name string, stream []byte, exit proc.Exit) {
		got, file := play(stream, 0, exit).String(), "testdata/"+name+".heard"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("heard\n%s\nwant\n%s", got, want)
		}
	})
}

// TestGreased: unknown lines and keys, other line ends and other chunks change nothing. Seed 003,
// "stream-json 解析": known types are found.
func TestGreased(t *testing.T) {
	recorded(t, func(t *testing.T, name string, stream []byte, exit proc.Exit) {
		want := play(stream, 0, exit).String()
		if got := play(grease(stream), 0, exit).String(); got != want {
			t.Errorf("greased: reported\n%s\nwant\n%s", got, want)
		}
		for _, size := range []int{1, 2, 3, 7, 64, 1000, 4096, 1 << 16} {
			if got := play(grease(stream), size, exit).String(); got != want {
				t.Errorf("in pieces of %d: reported\n%s\nwant\n%s", size, got, want)
			}
		}
	})
}

// grease adds what a newer version could: unknown lines between all others, a key in each, empty
// lines and CRLF.
func grease(stream []byte) []byte {
	const unknown = `{"type":"greased","subtype":"result","is_error":true,"message":[1,{"content":7}],"usage":"none"}` + "\r\n\r\n" +
		`{"type":"system","subtype":"greased","error_status":401}` + "\r\n"
	var b bytes.Buffer
	for line := range bytes.Lines(stream) {
		b.WriteString(unknown)
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("{")); ok {
			line = append([]byte(`{"greased":{"type":"result","result":["x"]},"greased_too":null,`), rest...)
		}
		b.Write(line)
		b.WriteString("\r\n")
	}
	b.WriteString(unknown)
	return b.Bytes()
}
