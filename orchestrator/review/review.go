// Package review holds the texts that an agent and its supervisor exchange, and reads the verdict.
// It starts no processes. Source: seed 003.
package review

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/plainfile"
)

// Completed is the line by which a supervisor accepts the work. Source: seed 003, "检测完成标记".
const Completed = "[TASK_COMPLETED]"

// FileName is the name of the file with the supervisor's prompt.
const FileName = "SUPERVISOR.md"

// Example is the text of a SUPERVISOR.md that people can start from.
//
//go:embed SUPERVISOR.md
var Example string

// maxPrompt bounds SUPERVISOR.md, in bytes. The text becomes one argument of a command, and Linux
// allows 128 KiB for an argument.
const maxPrompt = 96 << 10

// MissingError reports that there is no SUPERVISOR.md.
type MissingError struct{ Looked []string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no %s (looked for %s)", FileName, strings.Join(e.Looked, " and "))
}

// Hint returns instructions to create the file. Source: seed 003, "SUPERVISOR.md 不存在".
func (e *MissingError) Hint() string {
	return fmt.Sprintf("create %s: say in it what makes work complete, that the supervisor replies with %s on a line "+
		"of its own once it is, and with what is missing until then; "+
		"kanban-run supervise --example > %s makes one to start from", e.Looked[0], Completed, FileName)
}

// UnusableError reports that an existing SUPERVISOR.md cannot be used.
type UnusableError struct {
	Path string
	Err  error
}

func (e *UnusableError) Error() string { return fmt.Sprintf("read %s: %v", e.Path, e.Err) }

func (e *UnusableError) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *UnusableError) Hint() string {
	return "mend the file or move it away; kanban-run supervise --example prints one to start from"
}

// Prompt is the supervisor's prompt, with the frontmatter of its file.
type Prompt struct {
	Text       string
	Permission agent.Permission // "" if the frontmatter names no permission
}

// ReadPrompt reads the supervisor's prompt from project/SUPERVISOR.md. If there is no such file, it
// reads home/.claude/SUPERVISOR.md. Errors: *MissingError, *UnusableError. Source: seed 003,
// "SUPERVISOR.md 提示词".
func ReadPrompt(project, home string) (Prompt, error) {
	paths := []string{filepath.Join(project, FileName)}
	if home != "" {
		paths = append(paths, filepath.Join(home, ".claude", FileName))
	}
	for _, path := range paths {
		text, err := readText(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var p Prompt
		if err == nil {
			p, err = parsePrompt(path, text)
		}
		if err != nil {
			return Prompt{}, &UnusableError{path, err}
		}
		return p, nil
	}
	return Prompt{}, &MissingError{paths}
}

// parsePrompt separates the frontmatter of a SUPERVISOR.md from its text. It ignores unknown keys,
// which belong to other tools.
func parsePrompt(path, text string) (Prompt, error) {
	doc, err := frontmatter.Parse(path, []byte(text))
	if err != nil || doc.Root == nil {
		return Prompt{Text: text}, err
	}
	p := Prompt{Text: text[doc.Body:]}
	if strings.TrimSpace(p.Text) == "" {
		return p, errors.New("it is empty")
	}
	_, value := doc.Field("permission")
	if value == nil || value.Value == "" {
		return p, nil
	}
	if p.Permission = agent.ParsePermission(value.Value); p.Permission == "" {
		return p, doc.Problem(value, fmt.Sprintf("permission: %q is no permission", value.Value),
			"write permission: read-only, edit or full")
	}
	return p, nil
}

func readText(path string) (string, error) {
	data, err := plainfile.Read(path, maxPrompt)
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", errors.New("it is not a text in UTF-8")
	case strings.TrimSpace(string(data)) == "":
		return "", errors.New("it is empty")
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// IsCompleted reports whether a supervisor's final message accepts the work. The mark must stand on
// a line of its own, and not in a fenced or indented code block of Markdown. So the line "It is not
// yet [TASK_COMPLETED]" does not accept the work.
func IsCompleted(message string) bool {
	fence := "" // the fence that opened the current block; "" outside of a block
	for line := range strings.Lines(message) {
		text, shallow := cutIndent(line)
		switch {
		case !shallow:
		case fence != "":
			if closesFence(text, fence) {
				fence = ""
			}
		case text == Completed:
			return true
		default:
			fence = openingFence(text)
		}
	}
	return false
}

// cutIndent returns a line without the white space around it. The result shallow is true if the
// line is indented by at most three spaces. In Markdown, a line with a deeper indent is code.
func cutIndent(line string) (text string, shallow bool) {
	text = strings.TrimLeft(line, " ")
	return strings.TrimSpace(text), len(line)-len(text) <= 3 && !strings.HasPrefix(text, "\t")
}

// openingFence returns the fence with which a line opens a code block. It returns "" if the line
// opens no block, for instance if the line has ```code``` in it.
func openingFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		info := strings.TrimLeft(line, mark)
		if n := len(line) - len(info); n >= 3 && (mark == "~" || !strings.Contains(info, mark)) {
			return line[:n]
		}
	}
	return ""
}

// closesFence reports whether a line closes the code block that the given fence opened. Such a line
// consists only of the character of the fence, and is at least as long as the fence.
func closesFence(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// maxAsked bounds each request of the user in the supervisor's message, in bytes. The session has
// the whole request anyway.
const maxAsked = 64 << 10

// FormatRequest returns the supervisor's first message in a fork of the agent's session: the user's
// requests as the context, and the form of the answer. Source: seed 003, "Fork session 调用
// Supervisor".
func FormatRequest(asked []string) string {
	var b strings.Builder
	b.WriteString("You are now the supervisor of the work above, and no longer the agent that did it. ")
	b.WriteString("Check whether the work is complete; change nothing yourself.\n\nThis is what the user asked for:\n")
	for _, text := range asked {
		fmt.Fprintf(&b, "\n<input>\n%s\n</input>\n", clip(strings.TrimSpace(text)))
	}
	fmt.Fprintf(&b, "\nIf the work is complete, end your final message with a line that holds nothing but\n\n%s\n\n",
		Completed)
	b.WriteString("If it is not, do not write that line: your final message then says what is missing or wrong, ")
	b.WriteString("to the agent, which goes on with it.\n")
	return b.String()
}

func clip(text string) string {
	if len(text) <= maxAsked {
		return text
	}
	return strings.ToValidUTF8(text[:maxAsked], "") + "\n… (cut)"
}

// FormatFailure returns the message about a failed review command: its exit status, and the last
// lines of its output.
func FormatFailure(command, end, stdout, stderr string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", command, end)
	for _, stream := range []struct{ name, text string }{{"stdout", stdout}, {"stderr", stderr}} {
		if text := strings.TrimRight(stream.text, " \t\r\n"); text != "" {
			fmt.Fprintf(&b, "\n\n%s%s:\n%s", event.OutputHeading, stream.name, text)
		}
	}
	return b.String()
}

// FormatFeedback returns the next message for an agent whose work was not accepted.
func FormatFeedback(message string) string {
	return "Your work was reviewed. It is not complete yet:\n\n" + strings.TrimSpace(message)
}
