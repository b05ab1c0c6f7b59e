package agent

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSplitCommand(t *testing.T) {
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"agent", []string{"agent"}},
		{"  ./agent.sh \t -x  --name=value ", []string{"./agent.sh", "-x", "--name=value"}},
		{`agent 'two words' "and three more" fo'u'"r"`, []string{"agent", "two words", "and three more", "four"}},
		{`agent '' ""`, []string{"agent", "", ""}},
		{`agent a\ b \$x \* \\ \'`, []string{"agent", "a b", "$x", "*", `\`, "'"}},
		{`agent '$HOME *?;|&<># ~ \ "' "it's ; | & *~#"`, []string{"agent", `$HOME *?;|&<># ~ \ "`, "it's ; | & *~#"}},
		{`agent "\$x \" \\ \a \` + "`" + `"`, []string{"agent", `$x " \ \a ` + "`"}},
		{"agent a\\\nb 'c\nd'", []string{"agent", "ab", "c\nd"}},
		{"agent a#b c~ {a,b} ! é {} x=1", []string{"agent", "a#b", "c~", "{a,b}", "!", "é", "{}", "x=1"}},
		{`C:/bin/agent.exe -f`, []string{"C:/bin/agent.exe", "-f"}},
		{`'my agent/run' x`, []string{"my agent/run", "x"}},
	} {
		got, err := SplitCommand(tt.line)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("SplitCommand(%q) = %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
}

// TestSplitCommandRefuses: nothing is expanded, and what a user may expect to be expanded is not
// passed on silently either.
func TestSplitCommandRefuses(t *testing.T) {
	for _, tt := range []struct{ line, text, hint string }{
		{"", "it is empty", "COMMAND ARGS"},
		{" \t\n", "it is empty", "COMMAND ARGS"},
		{"''", "it is empty", "COMMAND ARGS"},
		{"agent 'open", "quote", "COMMAND ARGS"},
		{`agent "open`, "quote", "COMMAND ARGS"},
		{"agent $HOME", "$ or a backquote would need a shell", "single quotes"},
		{"agent ${HOME}", "$ or a backquote", "single quotes"},
		{"agent $(date)", "$ or a backquote", "single quotes"},
		{"agent `date`", "$ or a backquote", "single quotes"},
		{`agent "$HOME"`, "$ or a backquote, also in double quotes,", "single quotes"},
		{"agent *.md", "* would", "single quotes"},
		{"agent a?", "? would", "single quotes"},
		{"agent [ab]", "[ would", "single quotes"},
		{"agent ~/x", "~ would", "single quotes"},
		{"a | b", "more than one simple command", "script"},
		{"a && b", "more than one simple command", "script"},
		{"a ; b", "; or a second line", "script"},
		{"a ;", "; or a second line", "script"},
		{"a\nb", "; or a second line", "script"},
		{"a &", "& would", "script"},
		{"a > out", "< or >", "script"},
		{"a < in", "< or >", "script"},
		{"a # b", "# would", "single quotes"},
		{"# b", "# would", "single quotes"},
		{"X=1 agent", "NAME=VALUE before the command", "script"},
		{"X=1", "NAME=VALUE before the command", "script"},
		{"! agent", "more than one simple command", "script"},
		{"(agent)", "more than one simple command", "script"},
		{"if a; then b; fi", "more than one simple command", "script"},
		{"f() { a; }", "more than one simple command", "script"},
		{"a )", "", ""},
	} {
		got, err := SplitCommand(tt.line)
		var config *ConfigError
		if !errors.As(err, &config) {
			t.Errorf("SplitCommand(%q) = %q, %v, want a *ConfigError", tt.line, got, err)
			continue
		}
		if !strings.Contains(config.Text, tt.text) || !strings.Contains(config.Hint(), tt.hint) {
			t.Errorf("SplitCommand(%q) = %q, hint %q, want %q and %q in them", tt.line, config.Text, config.Hint(), tt.text, tt.hint)
		}
	}
}
