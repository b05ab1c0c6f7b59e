package inert

import (
	"strings"
	"testing"
	"unicode"
)

// command is a port of how the runner of GitHub Actions recognises a command, for any name;
// weightless characters do not count. Source: src/Runner.Common/ActionCommand.cs of
// github.com/actions/runner.
func command(line string) bool {
	line = strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) {
			return -1
		}
		return r
	}, line)
	return commandV2(line) || commandV1(line)
}

// commandV2 is TryParseV2: ::name key=value::data, behind white space.
func commandV2(line string) bool {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	return strings.HasPrefix(line, "::") && strings.Contains(line[2:], "::")
}

// commandV1 is TryParse: ##[name key=value;]data, anywhere; and the same of Azure
// Pipelines and TeamCity.
func commandV1(line string) bool {
	for _, start := range []string{"##[", "##vso[", "##teamcity["} {
		if _, rest, ok := strings.Cut(line, start); ok && strings.Contains(rest, "]") {
			return true
		}
	}
	return false
}

func TestCommandIsSeen(t *testing.T) {
	for _, text := range []string{"::error::x", "\v::error::x", "a ##[error]x", "\u00ad::error::x", ":\u0591:a::", "##vso[a]", "x##teamcity[a]"} {
		if !command(text) {
			t.Errorf("the parser of these tests does not see the command in %q", text)
		}
	}
}

// checkCommands: a text holds no command, also where its lines begin within it, and beside another
// text.
func checkCommands(t *testing.T, name, s string) {
	t.Helper()
	for _, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if command(line) {
			t.Fatalf("%s returns the command %q", name, line)
		}
	}
}

func TestCommands(t *testing.T) {
	tests := []struct{ text, want string }{
		{"::error::boom", `\::error::boom`},
		{"::", `\::`},
		{"  \u00a0::error::boom", "  \u00a0\\::error::boom"},
		{"\u2003\u3000::error::x", "\u2003\u3000\\::error::x"},
		{"ok\r::error::boom", `ok\r::error::boom`},
		{"\v::error::x", `\x0b::error::x`},
		{"\u2028::error::x", `\u2028::error::x`},
		{"::stop-commands::token", `\::stop-commands::token`},
		{"x ##[command]rm", `x ##\[command]rm`},
		{"##[set-env name=A;]b ##[error]", `##\[set-env name=A;]b ##\[error]`},
		{"###[group]", `###\[group]`},
		{"##x##[group]", `##x##\[group]`},
		{"##[", `##\[`},
		{"#\u200d#[group]", `#\u200d#[group]`},
		{":\ufe0f:error::x", `:\ufe0f:error::x`},
		{"##vso[task.setvariable]x", `##vso\[task.setvariable]x`},
		{"##teamcity[x]", `##teamcity\[x]`},
		// Marks that ICU gives no weight.
		{"\u0591::error::x", "\u0591\\::error::x"},
		{":\u0591\u0301:error::x", "\\:\u0591\u0301:error::x"},
		{"#\u0591#\u0591v\u0591so\u0591[x]", "#\u0591#\u0591v\u0591so\u0591\\[x]"},
		{"## [a link](x) and std::vector and a::b", "## [a link](x) and std::vector and a::b"},
		{"[::1]:80 ## heading", "[::1]:80 ## heading"},
		{"#[x] a#b[c] #a#[x] ##A[x] ##é[x] :a: : :", "#[x] a#b[c] #a#[x] ##A[x] ##é[x] :a: : :"},
		{": :", ": :"},
		{`\::a \##\[`, `\::a \##\[`},
	}
	for _, tt := range tests {
		for name, f := range map[string]func(string) string{"Line": Line, "Lines": Lines} {
			if got := f(tt.text); got != tt.want {
				t.Errorf("%s(%q) = %q, want %q", name, tt.text, got, tt.want)
			}
		}
	}
	for _, tt := range []struct{ text, want string }{
		{"a\n::add-mask::x\n\t ::b", "a\n\\::add-mask::x\n\t \\::b"},
		{"ok\r\n::error::boom", "ok\n\\::error::boom"},
		{"\n\n##[a]\n##[b]\n", "\n\n##\\[a]\n##\\[b]\n"},
		{":\n:a::", ":\n:a::"},
		{"##\n[a]", "##\n[a]"},
	} {
		if got := Lines(tt.text); got != tt.want {
			t.Errorf("Lines(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// The parts of a command are harmless, and so is what a printer joins of them.
func TestCommandsOfTwoTexts(t *testing.T) {
	parts := append([]string{":", "::", "#", "##", "###", "[x]", "vso[x]", "x::", ":x::", "\u0591", " ", "\n", `\`, "##v", "so[x]", "❤\ufe0f"}, hostile...)
	for _, a := range parts {
		for _, b := range parts {
			one := Line(a) + Line(b)
			line := Lines(one)
			checkCommands(t, "Lines", line)
			if again := Lines(line); again != line {
				t.Fatalf("Lines(%q) = %q", line, again)
			}
			checkCommands(t, "Lines", Lines(Lines(a)+Lines(b)))
		}
	}
}
