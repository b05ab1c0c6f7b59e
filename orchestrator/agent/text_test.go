package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kanban-run/orchestrator/agent"
)

// TestClip: a long text is cut between two words, for half of one could be half a secret.
func TestClip(t *testing.T) {
	const secret = "tr0ub4dor-and-3-horses"
	for _, tt := range []struct {
		text string
		most int
		want string
	}{
		{"", 10, ""},
		{" two\n lines\t", 20, " two\n lines\t"},
		{"the key is " + secret + " and more", 20, "the key is…"},
		{secret + secret, 30, "…"},
		{strings.Repeat("é", 10) + " é", 22, strings.Repeat("é", 10) + "…"},
	} {
		if got := agent.Clip(tt.text, tt.most); got != tt.want || !utf8.ValidString(got) {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
	if got := agent.EventText(strings.Repeat("x", 16<<10) + secret); got != "…" {
		t.Errorf("EventText(a word of more than 16 KiB) = %.40q", got)
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

// TestLongLine: a dropped line is reported once, with its beginning.
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

func TestToolSubject(t *testing.T) {
	for input, want := range map[string]string{
		`{"description":"d","command":"go  test"}`: "go  test", // as it is: a secret may have blanks in it
		`{"content":"x","file_path":"a.go"}`:       "a.go",
		`{"command":["a"],"query":"q"}`:            "q",
		`{"n":1}`:                                  "",
		`[]`:                                       "",
		``:                                         "",
	} {
		if got := agent.ToolSubject([]byte(input)); got != want {
			t.Errorf("ToolSubject(%s) = %q, want %q", input, got, want)
		}
	}
}
