package inert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A command is a text in the log of a CI job that the job's runner obeys. GitHub Actions obeys
// ::name::data at the start of a line, even if white space precedes it. GitHub Actions obeys the
// older form ##[name]data anywhere in a line. Azure Pipelines obeys ##vso[name]data anywhere in a
// line, and TeamCity ##teamcity[name].
//
// Source: ActionCommand.TryParseV2 and TryParse of github.com/actions/runner. Both compare texts by
// the rules of a human language. Such a comparison ignores weightless characters.

// breakCommands puts a backslash before the :: that begins a line and before the bracket of ##[. It
// does so even at the end of s, because the next text may hold the rest of the command.
func breakCommands(s string) string {
	var at []int
	for start := 0; start < len(s); {
		end := len(s)
		if n := strings.IndexByte(s[start:], '\n'); n >= 0 {
			end = start + n
		}
		line := s[start:end]
		if i := commandColons(line); i >= 0 {
			at = append(at, start+i)
		}
		for h := nextHashCommand(line, 0); h.last >= 0; h = nextHashCommand(line, h.bracket) {
			at = append(at, start+h.bracket)
		}
		start = end + 1
	}
	return replaceAt(s, at, 0, `\`)
}

// breakJSONCommands escapes the last # before the bracket of a command. It need not look for a ::
// at the beginning of a line: in JSON a :: occurs only in a string, and the string's opening quote
// stands before it on the same line.
func breakJSONCommands(s string) string {
	var at []int
	for h := nextHashCommand(s, 0); h.last >= 0; h = nextHashCommand(s, h.bracket) {
		at = append(at, h.last)
	}
	return replaceAt(s, at, 1, `\u0023`)
}

// commandColons returns the offset of the :: that begins a line, or -1 if there is none.
func commandColons(line string) int {
	i := 0
	for i < len(line) {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !unicode.IsSpace(r) && !isWeightless(r) {
			break
		}
		i += size
	}
	if i < len(line) && line[i] == ':' && strings.HasPrefix(line[skipWeightless(line, i+1):], ":") {
		return i
	}
	return -1
}

// hashCommand is a pair of offsets: the last # of a ##, and the bracket that follows.
type hashCommand struct{ last, bracket int }

// nextHashCommand returns the next command from the offset i on. If there is no command, the
// field "last" of the result is -1.
func nextHashCommand(s string, i int) hashCommand {
	for {
		n := strings.IndexByte(s[i:], '#')
		if n < 0 {
			return hashCommand{last: -1}
		}
		first := i + n
		last := first
		for i = first; i < len(s) && s[i] == '#'; i = skipWeightless(s, i+1) {
			last = i
		}
		for last > first && i < len(s) && 'a' <= s[i] && s[i] <= 'z' {
			i = skipWeightless(s, i+1)
		}
		if last > first && i < len(s) && s[i] == '[' {
			return hashCommand{last, i}
		}
	}
}

// skipWeightless returns the position of the next character from i on that is not weightless.
func skipWeightless(s string, i int) int {
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWeightless(r) {
			break
		}
		i += size
	}
	return i
}

// isWeightless reports whether the runner ignores r when it compares texts. That is true of marks
// and invisible characters outside of ASCII.
func isWeightless(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsMark(r) || !unicode.IsGraphic(r))
}

// replaceAt replaces the n bytes at each of the given positions by a text.
func replaceAt(s string, at []int, n int, text string) string {
	if len(at) == 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + len(at)*(len(text)-n))
	done := 0
	for _, i := range at {
		out.WriteString(s[done:i])
		out.WriteString(text)
		done = i + n
	}
	out.WriteString(s[done:])
	return out.String()
}
