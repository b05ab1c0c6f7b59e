// Package failure has the two faults that end a run until a person mends them.
package failure

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Invalid is the error for an input or a set-up that makes a run impossible.
type Invalid struct {
	Err error
	Fix string // the remedy; "" if the remedy is the hint of Err
}

func (e *Invalid) Error() string { return e.Err.Error() }
func (e *Invalid) Unwrap() error { return e.Err }

// Hint returns the remedy, or "" if no remedy is known.
func (e *Invalid) Hint() string {
	if e.Fix == "" {
		return HintOf(e.Err)
	}
	return e.Fix
}

// HintOf returns the hint of the first error in the chain of err that has a hint, or "".
func HintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// Quote quotes a path for a shell, because the remedy for a failure is a command to copy. The result
// has only characters that can be printed: others are quoted as bash, ksh and zsh know it, byte by byte,
// because not every locale has them. If a path cannot be quoted, Quote returns it unchanged.
func Quote(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path // it is no flag
	}
	if quoted, err := syntax.Quote(path, syntax.LangPOSIX); err == nil {
		return quoted
	}
	var all strings.Builder
	for rest := path; rest != ""; {
		n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
		language := syntax.LangPOSIX
		switch n {
		case -1:
			n = len(rest)
		case 0:
			n, language = 1, syntax.LangBash
		}
		quoted, err := syntax.Quote(rest[:n], language)
		if err != nil {
			return path
		}
		all.WriteString(quoted)
		rest = rest[n:]
	}
	return all.String()
}

// Frozen reports that a board must not go on before its Lead has looked at it (seed 002,
// STATE_FROZEN and RECONCILE_LOCK).
type Frozen struct{ Text string }

func (e *Frozen) Error() string { return e.Text }

// SecretName returns the error for a name that holds a secret, so that it cannot be journaled. shown
// is the name without the secret.
func SecretName(shown string) *Invalid {
	return &Invalid{
		Err: errors.New("a path holds a secret: " + shown),
		Fix: "rename the file; a word that is no secret must not be the value of a variable " +
			"whose name looks secret, nor stand under redact: in the settings",
	}
}
