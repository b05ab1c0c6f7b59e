package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kanban-run/orchestrator/agent"
)

func TestBrief(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		" two\n lines\t":          "two lines",
		strings.Repeat("é", 200):  strings.Repeat("é", 200),
		strings.Repeat("é", 201):  strings.Repeat("é", 199) + "…",
		strings.Repeat("é", 5000): strings.Repeat("é", 199) + "…",
	} {
		if got := agent.Brief(text); got != want || !utf8.ValidString(got) {
			t.Errorf("Brief(%.20q) = %q, want %q", text, got, want)
		}
	}
}

// TestDecode: a tool may be newer than its adapter, and its words are not guessed at.
func TestDecode(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"x","n":1}`:               "x 1",
		`{"type":"x","n":"many","new":[]}`: "x 0",
		`{"type":["x"],"n":2}`:             " 2",
		`{"type":"x"`:                      "unexpected end of JSON input",
		"{\"type\":\"\xff\"}":              "invalid UTF-8",
		`{"type":"x"} {"type":"y"}`:        "invalid character '{' after top-level value",
	} {
		var v struct {
			Type string
			N    int
		}
		got := ""
		if err := agent.Decode([]byte(line), &v); err != nil {
			got = err.Error()
		} else {
			got = v.Type + " " + string(rune('0'+v.N))
		}
		if got != want {
			t.Errorf("Decode(%q) = %s, want %s", line, got, want)
		}
	}
}

// TestLongLine: a line that is left out is told of once, with what it begins with.
func TestLongLine(t *testing.T) {
	var heard []string
	l := agent.Lines{
		Each: func(line []byte) { heard = append(heard, "line "+string(line)) },
		Long: func(begin []byte) { heard = append(heard, "long "+string(begin[:3])) },
	}
	block := strings.Repeat("x", 1<<20)
	for range 2 {
		for _, part := range append([]string{"a\nbcd"}, append(strings.Split(strings.Repeat(block+" ", 40), " "), "\n", "e\n")...) {
			if _, err := l.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := strings.Join(heard, ", "), "line a, long bcd, line e, line a, long bcd, line e"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

func TestBriefInput(t *testing.T) {
	for input, want := range map[string]string{
		`{"description":"d","command":"go  test"}`: "go test",
		`{"content":"x","file_path":"a.go"}`:       "a.go",
		`{"command":["a"],"query":"q"}`:            "q",
		`{"n":1}`:                                  "",
		`[]`:                                       "",
		``:                                         "",
	} {
		if got := agent.BriefInput([]byte(input)); got != want {
			t.Errorf("BriefInput(%s) = %q, want %q", input, got, want)
		}
	}
}
