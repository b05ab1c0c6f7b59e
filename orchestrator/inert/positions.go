package inert

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// A problem matcher is a pattern with which a CI job finds places in files in its log, and makes an
// annotation of each. Actions such as setup-node, setup-go and setup-python leave matchers behind.
//
// Source: the files *.json in the folder .github of these actions, and "Problem matchers" in the
// docs of github.com/actions/toolkit.

// positions match the places that Unmatched breaks up, each with a number, or the colon behind .go, to
// break before.
var positions = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, p := range []string{
		`[\pL_)\]"'](?::\d+)+:`, // file.c:1:2: and file.go:1:
		`[(:]\d+[:,]\d*(?:\)?:)?\s+(?:-\s+)?(?:fatal\s+)?(?:error|warning|info)\b`, // file.ts(1,2): error
		`\.go:\s`,            // file.go: message
		`[:,]\sline\s\d+,\s`, // "file.py", line 1, and file.js: line 1, col 2
		`(?m)^\s*\d+:\d+\s+(?:error|warning|info)\b`, // 1:2 error, below the name of a file
	} {
		all = append(all, regexp.MustCompile(unicodeClasses.Replace(p)))
	}
	return all
})

// unicodeClasses makes \s and \d match what they match for the runner, which is written in C#.
var unicodeClasses = strings.NewReplacer(`\s`, `[\s\pZ]`, `\d`, `\p{Nd}`)

// numbers matches what stands behind a break.
var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{Nd}+`) })

// UnmatchedJSON is like [Unmatched], for a text in JSON, which a decoder reads as before: an escape
// takes the place of a digit. Such a place is in a string, because JSON has none outside.
func UnmatchedJSON(s string) string {
	return unmatched(s, func(at string) string {
		_, size := utf8.DecodeRuneInString(at)
		escape := ""
		for _, unit := range utf16.Encode([]rune(at[:size])) {
			escape += fmt.Sprintf(`\u%04x`, unit)
		}
		return escape + at[size:]
	})
}

// Unmatched puts backslashes into the places in files that s names, so that no problem matcher of a
// CI job makes an annotation of an agent's words.
func Unmatched(s string) string {
	return unmatched(s, func(at string) string { return `\` + at })
}

// unmatched has hide change the texts before which a place is broken up.
func unmatched(s string, hide func(at string) string) string {
	for _, p := range positions() {
		s = p.ReplaceAllStringFunc(s, func(place string) string {
			if rest, isGo := strings.CutPrefix(place, ".go"); isGo {
				return ".go" + hide(rest)
			}
			return numbers().ReplaceAllStringFunc(place, hide)
		})
	}
	return s
}
