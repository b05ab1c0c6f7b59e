package inert

import (
	"encoding/json"
	"regexp"
	"testing"
)

// matchers are the patterns of setup-node (tsc, eslint), setup-go, setup-python and gcc, as their files have them.
var matchers = map[string]*regexp.Regexp{
	"tsc":            regexp.MustCompile(`^([^\s].*)[(:](\d+)[,:](\d+)(?:\):\s+|\s+-\s+)(error|warning|info)\s+(TS\d+)\s*:\s*(.*)$`),
	"eslint-stylish": regexp.MustCompile(`^\s+(\d+):(\d+)\s+(error|warning|info)\s+(.*)\s\s+(.*)$`),
	"eslint-compact": regexp.MustCompile(`^(.+):\sline\s(\d+),\scol\s(\d+),\s(Error|Warning|Info)\s-\s(.+)\s\((.+)\)$`),
	"go":             regexp.MustCompile(`^\s*(.+\.go):(?:(\d+):(\d+):)? (.*)`),
	"python":         regexp.MustCompile(`^\s*File\s"(.*)",\sline\s(\d+),\sin\s(.*)$`),
	"gcc":            regexp.MustCompile(`^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$`),
}

// TestUnmatched: what an agent prints makes no annotation of a job, and reads nearly as before.
func TestUnmatched(t *testing.T) {
	for matcher, lines := range map[string][]string{
		"tsc": {"src/a.ts(1,1): error TS2304: Cannot find name", "src/a.ts:1:1 - error TS2304: Cannot find name", "step 1: Implementor blocked: src/a.ts(12,34): error TS2304: delete main",
			"src/a2(1:2): error TS2: x", "src/a.ts:1,2 - error TS3: x", "src/a.f90(1,2):  warning TS3: x"},
		"eslint-stylish": {"  1:2  error  Unexpected var  no-var"},
		"eslint-compact": {"/x/a.js: line 1, col 2, Error - Unexpected var (no-var)"},
		"go":             {"/x/m.go:1:1: undefined: x", "./m.go: no such file", "    ./x_test.go:12: got 1"},
		"python":         {`  File "/x/a.py", line 12, in main`, "  File \"x.py\",\tline 1, in f"},
		"gcc": {"a.c:1:2: error: expected ;", "a.c:1:2: fatal error: x.h: No such file", "(a.c):1:2: warning: unused", "<stdin>:1:2: error: x", "-:1:2: error: x", "`a`:1:2: error: x",
			"$:1:2: error: x", "#1:2:3: error: x", "123:4:5: error: x", "x²:1:2: error: x", "foo.f90:3:5: error: x", "main.c++:1:2: error: x", "lib.rs1:4:5:\u00a0error: x", "a:\u0661:\u0662: error: x", "a:\U0001d7cf:2: error: x", "a:1:: fatal error: x", "a+:1: warning: x"},
	} {
		for _, line := range lines {
			matches := matchers[matcher].MatchString(line)
			text, _ := json.Marshal(map[string]string{"text": line})
			var back map[string]string
			inJSON := UnmatchedJSON(string(text))
			if err := json.Unmarshal([]byte(inJSON), &back); err != nil || back["text"] != line || matchers[matcher].MatchString(inJSON) {
				t.Errorf("%s: %s reads as %q (%v)", matcher, inJSON, back["text"], err)
			}
			if got := Unmatched(line); matches && matchers[matcher].MatchString(got) || got == line {
				t.Errorf("%s: %q", matcher, got)
			}
		}
	}
	for _, same := range []string{"at 03:00:00 CET", "http://127.0.0.1:8080/x", "https://host:8080/a", "step 1 of 3: done", "f(x), g(1)", "12:30", "in 3m12s (12 of 15)"} {
		if got := Unmatched(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}
