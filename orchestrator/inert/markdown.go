package inert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown is like Line, but for a line of GitHub's Markdown. The result shows the same text and
// forms no markup, whether it begins a line or stands in a paragraph, a heading, a list or a table.
// Characters that have no meaning at their place stay unchanged.
func Markdown(s string) string {
	s = Line(s)
	start, end := startMark(s), closingHashes(s)
	var out strings.Builder
	done := 0
	for i := range len(s) {
		if !markdownMarks[s[i]] {
			continue
		}
		text := markdownText(s, i)
		if i == start || i == end {
			text = `\` + s[i:i+1]
		}
		if text != "" {
			out.WriteString(s[done:i])
			out.WriteString(text)
			done = i + 1
		}
	}
	out.WriteString(s[done:])
	return out.String()
}

var markdownMarks = classOf("\\`*_[]<>()&|~$@#:.+-= ")

// pause is an invisible text that interrupts the names that GitHub searches for in rendered
// Markdown. A backslash or an entity is not enough: \@name still notifies name.
//
// Source: issues 181 and 278 of github.com/github/cmark-gfm.
const pause = "<!-- -->"

// markdownText returns the replacement of s[i], or "" if s[i] stays.
func markdownText(s string, i int) string {
	switch c, before, after := s[i], s[:i], s[i+1:]; {
	case strings.IndexByte("`*[]|~$", c) >= 0,
		c == '\\' && !startsWith(after, plainChars),
		c == '_' && !withinWord(s, i),
		c == ':' && strings.HasPrefix(after, "//"),
		c == '.' && strings.HasSuffix(before, "www"):
		return `\` + string(rune(c))
	case c == '<' && !strings.HasPrefix(after, " "):
		return "&lt;"
	case c == '&' && mayBeEntity(after):
		return "&amp;"
	case c == ' ' && (before == "" || after == ""): // four spaces begin code, and two end a line
		return "&#32;"
	case c == '@' && (isMention(before, after) || isEmail(before, after)),
		c == ':' && isShortcode(after),
		c == '#' && startsWith(after, digitChars),
		c == '-' && endsGH(before) && startsWith(after, digitChars):
		return string(rune(c)) + pause
	}
	return ""
}

var (
	digitChars = classOf(digits)
	// plainChars are the characters that a backslash does not escape.
	plainChars = func() *class {
		c := *isAlnum
		for i := utf8.RuneSelf; i < len(c); i++ {
			c[i] = true
		}
		return &c
	}()
	entityChars = classOf(alnum + "#")
	emailChars  = classOf(alnum + "_-.+")
	emojiChars  = classOf(digits + lower + "_+-")
)

func startsWith(s string, in *class) bool { return s != "" && in[s[0]] }

// leading returns the longest prefix of s in the class.
func leading(s string, in *class) string {
	n := 0
	for n < len(s) && in[s[n]] {
		n++
	}
	return s[:n]
}

// withinWord reports whether letters or digits stand on both sides of the run of _ around s[i].
// Such a _ does not emphasize. If the run is long, withinWord returns false to save time, because
// it searches the ends of the run again for each _.
func withinWord(s string, i int) bool {
	const long = 8
	from, to := i, i+1
	for from > 0 && s[from-1] == '_' && i-from < long {
		from--
	}
	for to < len(s) && s[to] == '_' && to-i < long {
		to++
	}
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return to-from <= long && wordRune(before) && wordRune(after)
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// mayBeEntity reports whether & and the text after it can form an entity. It also returns true if
// that text ends before the semicolon, because the next text might begin with the semicolon.
func mayBeEntity(after string) bool {
	rest := after[len(leading(after, entityChars)):]
	return rest == "" || rest[0] == ';'
}

// isMention reports whether an @ can name a person or a team, given the texts before and after it.
func isMention(before, after string) bool {
	return startsWith(after, isAlnum) && (before == "" || !isAlnum[before[len(before)-1]])
}

func isEmail(before, after string) bool {
	return before != "" && emailChars[before[len(before)-1]] && strings.Contains(leading(after, emailChars), ".")
}

// isShortcode reports whether a colon and the text after it look like the name of an emoji. The
// only names that consist of digits are 100 and 1234, so the 30 of a time such as 12:30:00 is no
// emoji.
func isShortcode(after string) bool {
	name := leading(after, emojiChars)
	if !strings.HasPrefix(after[len(name):], ":") {
		return false
	}
	switch name {
	case "100", "1234", "+1", "-1":
		return true
	}
	return strings.ContainsAny(name, lower)
}

// endsGH reports whether s ends with the GH of a reference to an issue, such as GH-1.
func endsGH(s string) bool {
	n := len(s) - len("GH")
	return n >= 0 && strings.EqualFold(s[n:], "GH") && (n == 0 || !isAlnum[s[n-1]])
}

// startMark returns the offset of the mark of a block in the line s, or -1 if there is none. Such a
// mark turns s into a heading, a quote or a list item. Or it turns the previous line into a
// heading, or into the first row of a table.
func startMark(s string) int {
	hashes, digits := len(leading(s, hashChars)), len(leading(s, digitChars))
	switch {
	case s == "":
	case s[0] == '>', strings.Trim(s, "-=: ") == "" && s[0] != ' ':
		return 0 // also the underline of a heading or of a table's first row
	case 0 < hashes && hashes <= 6 && canFollowMark(s[hashes:]):
		return 0
	case (s[0] == '-' || s[0] == '+') && canFollowMark(s[1:]):
		return 0
	case 0 < digits && digits < 10 && digits < len(s) &&
		(s[digits] == '.' || s[digits] == ')') && canFollowMark(s[digits+1:]):
		return digits
	}
	return -1
}

var hashChars = classOf("#")

// canFollowMark reports whether a mark of a block, such as # or -, is complete if s follows it.
func canFollowMark(s string) bool { return s == "" || s[0] == ' ' }

// closingHashes returns the offset of the hashes at the end of s that would close a heading. Such
// hashes would not be shown. If there are no such hashes, it returns -1 or len(s).
func closingHashes(s string) int {
	text := strings.TrimRight(s, "#")
	if text == "" || text[len(text)-1] == ' ' {
		return len(text)
	}
	return -1
}
