package review_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/testfile"
)

// TestPrompt is seed 003, "SUPERVISOR.md 提示词": the project's file, then the user's, then an error
// that says how to create one.
func TestPrompt(t *testing.T) {
	project, home := t.TempDir(), t.TempDir()
	_, err := review.ReadPrompt(project, home)
	missing, ok := errors.AsType[*review.MissingError](err)
	if !ok || len(missing.Looked) != 2 || !strings.Contains(missing.Hint(),
		"create "+filepath.Join(project, "SUPERVISOR.md")) ||
		!strings.Contains(missing.Hint(), review.Completed) {
		t.Fatalf("Prompt = %v, want an error that says where it looked and how to create one", err)
	}
	if _, err := review.ReadPrompt(project, ""); !errors.As(err, &missing) || len(missing.Looked) != 1 {
		t.Errorf("Prompt without a home = %v, want one place that was looked at", err)
	}
	testfile.Write(t, filepath.Join(home, ".claude", "SUPERVISOR.md"), "the user's")
	if got, err := review.ReadPrompt(project, home); err != nil || got.Text != "the user's" {
		t.Errorf("Prompt = %q, %v, want the user's", got, err)
	}
	testfile.Write(t, filepath.Join(project, "SUPERVISOR.md"), "\ufeffthe project's")
	if got, err := review.ReadPrompt(project, home); err != nil || got.Text != "the project's" {
		t.Errorf("Prompt = %q, %v, want the project's", got, err)
	}
}

// TestPromptPermission: the frontmatter of the file says what the supervisor may do, and is
// no part of what it is told.
func TestPromptPermission(t *testing.T) {
	for text, want := range map[string]review.Prompt{
		"Look at it.":                                 {Text: "Look at it."},
		"---\npermission: full\n---\nLook.":           {Text: "Look.", Permission: "full"},
		"---\nname: x\npermission: plan\n---\nLook.":  {Text: "Look.", Permission: "read-only"},
		"---\nname: x\n---\nLook.\n---\nOnce more.\n": {Text: "Look.\n---\nOnce more.\n"},
	} {
		project := t.TempDir()
		testfile.Write(t, filepath.Join(project, "SUPERVISOR.md"), text)
		if got, err := review.ReadPrompt(project, ""); err != nil || got != want {
			t.Errorf("ReadPrompt of %q = %+v, %v, want %+v", text, got, err, want)
		}
	}
	if p, err := review.ReadPrompt(example(t), ""); err != nil || p.Permission != "read-only" || !strings.HasPrefix(strings.TrimSpace(p.Text), "# You are") {
		t.Errorf("the example is %+v, %v, want a permission and a prompt", p, err)
	}
}

func example(t *testing.T) string {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "SUPERVISOR.md"), review.Example)
	return dir
}

// TestPromptRefuses: an unusable file does not make way for the other.
func TestPromptRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", " \n", "it is empty"},
		{"large", strings.Repeat("x", 97<<10), "larger than 96 KiB"},
		{"binary", "a\x00b", "not a text"},
		{"no UTF-8", "\xff", "not a text"},
		{"unknown permission", "---\npermission: all\n---\nx", `permission: "all" is no permission`},
		{"only frontmatter", "---\npermission: full\n---\n", "it is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			project, home := t.TempDir(), t.TempDir()
			testfile.Write(t, filepath.Join(project, "SUPERVISOR.md"), tt.text)
			testfile.Write(t, filepath.Join(home, ".claude", "SUPERVISOR.md"), "good")
			_, err := review.ReadPrompt(project, home)
			unusable, ok := errors.AsType[*review.UnusableError](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(unusable.Hint(), "--example") {
				t.Errorf("Prompt = %v, want %q, and a hint", err, tt.want)
			}
		})
	}
	project := t.TempDir()
	if err := os.Mkdir(filepath.Join(project, "SUPERVISOR.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := review.ReadPrompt(project, ""); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Prompt of a folder = %v, want an error", err)
	}
}

// TestIsCompleted is seed 003, "检测完成标记".
func TestIsCompleted(t *testing.T) {
	for text, want := range map[string]bool{
		"[TASK_COMPLETED]":                           true,
		"All is there.\n\n[TASK_COMPLETED]\n":        true,
		"  [TASK_COMPLETED]  \r\nThanks.":            true,
		"":                                           false,
		"Not yet [TASK_COMPLETED].":                  false,
		"I cannot write `[TASK_COMPLETED]` yet":      false,
		"[task_completed]":                           false,
		"Write this:\n```\n[TASK_COMPLETED]\n```\nx": false,
		"```\nlog\n```\n[TASK_COMPLETED]":            true,
		"[TASK_COMPLETED] if the tests pass\n[TASK_": false,

		"````\n```\n[TASK_COMPLETED]\n```\n````\nnot done": false,
		"```\n~~~\n[TASK_COMPLETED]\n```\n":                false,
		"```sh\n```sh\n[TASK_COMPLETED]":                   false,
		"```\n[TASK_COMPLETED]":                            false,
		"    [TASK_COMPLETED]\nwould be the line":          false,
		"\t[TASK_COMPLETED]":                               false,
		"```\nlog\n````  \n[TASK_COMPLETED]":               true,
		"~~~ `go`\nlog\n~~~\n[TASK_COMPLETED]":             true,
		"```make test``` passes.\n\n[TASK_COMPLETED]":      true,
		"    ```\n[TASK_COMPLETED]":                        true,
		"``two``\n[TASK_COMPLETED]":                        true,
		"It is done:\n   [TASK_COMPLETED]\t":               true,
	} {
		if got := review.IsCompleted(text); got != want {
			t.Errorf("IsCompleted(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestAsk(t *testing.T) {
	text := review.FormatRequest([]string{"write the parser", "and its tests", strings.Repeat("é", 64<<10)})
	for _, want := range []string{"<input>\nwrite the parser\n</input>", "<input>\nand its tests\n</input>",
		"é\n… (cut)", "\n\n[TASK_COMPLETED]\n\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("Ask lacks %q", want)
		}
	}
	if review.IsCompleted(review.FormatFeedback(" more ")) || !strings.HasSuffix(review.FormatFeedback(" more "), "\n\nmore") {
		t.Errorf("Feedback = %q", review.FormatFeedback(" more "))
	}
}

// TestFailure: an agent is told how the command ended, and what it printed last.
func TestFailure(t *testing.T) {
	got := review.FormatFailure("make test", "exit status 2", "--- FAIL: TestX\n", "make: *** [test] Error 1\n")
	want := "make test: exit status 2\n\nIts last lines on stdout:\n--- FAIL: TestX\n\nIts last lines on stderr:\nmake: *** [test] Error 1"
	if got != want {
		t.Errorf("FormatFailure = %q, want %q", got, want)
	}
	if got := review.FormatFailure("false", "exit status 1", " \n", ""); got != "false: exit status 1" {
		t.Errorf("FormatFailure of a silent command = %q", got)
	}
}
