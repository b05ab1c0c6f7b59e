package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// writeManPages writes a man page of the program and one of each command into dir, which it makes
// if it is missing. It replaces the pages of an earlier version.
func writeManPages(t *terminal, dir string) error {
	pages := manPages()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the man pages: %w", err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the man pages: %w", err)
		}
	}
	return t.stdout.Printf("wrote %d man pages to %s\n", len(pages), dir)
}

// manPages returns the man pages by the names of their files. They hold the texts of --help, and
// neither a version nor a date, so that each build of a version has the same pages.
func manPages() map[string]string {
	var all, others strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&others, "  kanban-run-%s(1)  %s\n", c.name, c.summary)
	}
	summary, description, _ := strings.Cut(strings.TrimSpace(about), "\n\n")
	manHead(&all, "kanban-run", strings.TrimSuffix(strings.TrimPrefix(summary, "kanban-run "), "."))
	manSection(&all, "SYNOPSIS", "  "+strings.ReplaceAll(synopsis, "\n", "\n  "))
	manSection(&all, "DESCRIPTION", description)
	manSection(&all, "COMMANDS", others.String())
	manSection(&all, "EXIT STATUS", exitRows())
	pages := map[string]string{"kanban-run.1": all.String()}
	for _, c := range commands() {
		pages["kanban-run-"+c.name+".1"] = c.manPage()
	}
	return pages
}

func (c command) manPage() string {
	var b strings.Builder
	manHead(&b, "kanban-run-"+c.name, c.summary)
	manSection(&b, "SYNOPSIS", "  "+c.synopsis())
	manSection(&b, "DESCRIPTION", c.long)
	if flags := flagsOf(c); flags.HasAvailableFlags() {
		flags.SortFlags = false
		var rows []string
		for line := range strings.Lines(flags.FlagUsages()) {
			rows = append(rows, "  "+strings.TrimSpace(line))
		}
		manSection(&b, "OPTIONS", strings.Join(rows, "\n"))
	}
	manSection(&b, "EXAMPLES", c.examples)
	manSection(&b, "EXIT STATUS", "kanban-run(1) lists the exit codes.")
	return b.String()
}

func manHead(b *strings.Builder, name, summary string) {
	fmt.Fprintf(b, ".TH %s 1 \"\" kanban-run\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), roffEscape(name),
		roffEscape(summary))
}

// manSection adds a section with a text of a help, unless it is empty. A line at the margin is part
// of a paragraph. An indented line is a row, with two blanks between a term and its explanation, or
// else it is kept as it is. A line that is indented further goes on with the row above it.
func manSection(b *strings.Builder, title, text string) {
	if text = strings.Trim(text, "\n"); text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	empty := b.Len()
	paragraph := func() {
		if b.Len() > empty {
			b.WriteString(".PP\n")
		}
	}
	previous, isKept := "", false
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimSpace(line)
		term, explanation, isRow := strings.Cut(words, "  ")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case words == "":
		case indent == 0 && (previous == "" || strings.HasPrefix(previous, " ")):
			paragraph()
			b.WriteString(roffEscape(words) + "\n")
		case indent == 0 || indent > 2 && strings.HasPrefix(previous, "  "):
			b.WriteString(roffEscape(words) + "\n")
		case isRow:
			fmt.Fprintf(b, ".TP\n\\fB%s\\fP\n%s\n", roffEscape(term), roffEscape(strings.TrimSpace(explanation)))
		default:
			if !isKept {
				paragraph()
			}
			b.WriteString(".RS 4\n.nf\n" + roffEscape(words) + "\n.fi\n.RE\n")
		}
		previous, isKept = line, indent > 0 && !isRow
	}
}

// roffEscape returns text that roff prints as it is: no request and no escape, "-" and quotes that a
// reader can copy into a shell, and other characters than those of ASCII by their numbers, since
// not every roff reads UTF-8.
func roffEscape(text string) string {
	text = strings.NewReplacer(`\`, `\(rs`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	var b strings.Builder
	if strings.HasPrefix(text, ".") {
		b.WriteString(`\&`)
	}
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
