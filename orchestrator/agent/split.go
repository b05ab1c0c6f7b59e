package agent

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// SplitCommand splits a command line into words as a POSIX shell does. It returns an error for text
// that a shell would expand or act on. Errors: *ConfigError.
func SplitCommand(line string) ([]string, error) {
	words, err := split(line)
	if err != nil {
		return nil, &ConfigError{Text: fmt.Sprintf("the command %q cannot be used: %v", line, err), Fix: splitFix(err)}
	}
	return words, nil
}

// notPlain reports a construct that only a shell could handle.
type notPlain struct{ what string }

func (e *notPlain) Error() string { return e.what + " would need a shell" }

func splitFix(err error) string {
	var shell *notPlain
	if errors.As(err, &shell) {
		return "put it in single quotes to pass it on as it is, or put the line in a script and name that"
	}
	return "write COMMAND ARGS, and quote a word with spaces in it"
}

func split(line string) ([]string, error) {
	parser := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, errors.New(parseText(err))
	}
	call, err := oneCall(file)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, w := range call.Args {
		word, err := plainWord(w)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	if words[0] == "" {
		return nil, errors.New("it is empty")
	}
	return words, nil
}

func parseText(err error) string {
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		return parse.Text
	}
	return err.Error()
}

// oneCall returns the one simple command of the line. It returns an error if the line holds
// anything more.
func oneCall(file *syntax.File) (*syntax.CallExpr, error) {
	if len(file.Stmts) == 0 {
		if len(file.Last) > 0 {
			return nil, &notPlain{"#"}
		}
		return nil, errors.New("it is empty")
	}
	stmt := file.Stmts[0]
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case len(file.Stmts) > 1 || stmt.Semicolon.IsValid() && !stmt.Background:
		return nil, &notPlain{"; or a second line"}
	case stmt.Background:
		return nil, &notPlain{"&"}
	case len(stmt.Redirs) > 0:
		return nil, &notPlain{"< or >"}
	case len(stmt.Comments) > 0 || len(file.Last) > 0:
		return nil, &notPlain{"#"}
	case !simple || stmt.Negated:
		return nil, &notPlain{"more than one simple command"}
	case len(call.Assigns) > 0:
		return nil, &notPlain{"NAME=VALUE before the command"}
	default:
		return call, nil
	}
}

func plainWord(w *syntax.Word) (string, error) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if err := quoted(&b, part); err != nil {
				return "", err
			}
		case *syntax.Lit:
			if err := literal(&b, part.Value, i == 0); err != nil {
				return "", err
			}
		default:
			return "", &notPlain{"$ or a backquote"}
		}
	}
	return b.String(), nil
}

// literal writes unquoted text to b. In unquoted text a backslash quotes the next character. A
// backslash at the end of a line joins the line with the next one.
func literal(b *strings.Builder, text string, first bool) error {
	if first && strings.HasPrefix(text, "~") {
		return &notPlain{"~"}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case strings.IndexByte("*?[$`", c) >= 0:
			return &notPlain{string(c)}
		default:
			b.WriteByte(c)
		}
	}
	return nil
}

// quoted writes the text between two double quotes to b. In this text a backslash quotes only a
// dollar sign, a backquote, a double quote, a backslash and the end of a line.
func quoted(b *strings.Builder, q *syntax.DblQuoted) error {
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return &notPlain{"$ or a backquote, also in double quotes,"}
		}
		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			if c == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				if i++; lit.Value[i] == '\n' {
					continue
				}
				c = lit.Value[i]
			}
			b.WriteByte(c)
		}
	}
	return nil
}
