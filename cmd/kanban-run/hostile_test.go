package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// refusedWithin is how much of a processor a board may take to be refused, whatever it is.
const refusedWithin = 2 * time.Second

// runHere runs the program in a folder and returns what it said.
func runHere(t *testing.T, dir string, args ...string) (ended *os.ProcessState, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	stop, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(stop, self, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), standIn+"=1", "GORACE=atexit_sleep_ms=0")
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState, out.String(), errs.String()
}

// TestHostileBoards: each is refused with exit code 2, a place and a
// reason, and no agent is started.
func TestHostileBoards(t *testing.T) {
	t.Parallel()
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("k" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i%11) + "_" + time.Duration(i).String() + ": v\n")
		}
		return b.String()
	}
	tests := []struct {
		name, file, text string
		want             string // of the message, a pattern
	}{
		{"an alias bomb", "k.yaml", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\ncurrent: t.md\n", `k\.yaml:1:\d+: .*anchor`},
		{"an anchor", "k.yaml", "current: &here t.md\n", `k\.yaml:1:\d+: .*anchor`},
		{"a merge key", "k.yaml", "current: t.md\nx:\n  <<: {a: b}\n", `k\.yaml:3:\d+: `},
		{"a custom tag", "k.yaml", "current: !!python/name:os t.md\n", `k\.yaml:1:\d+: .*tag`},
		{"100k nested brackets", "k.yaml", "x: " + strings.Repeat("[", 100_000) + "\n", `k\.yaml:1:`},
		{"a depth of 10k", "k.yaml", "x: " + strings.Repeat("{k: ", 10_000) + "\n", `k\.yaml:1:`},
		{"duplicate keys", "k.yaml", "current: t.md\ncurrent: u.md\n", `k\.yaml:2:1: .*current`},
		{"duplicate keys, one quoted", "k.yaml", "current: t.md\n\"current\": u.md\n", `k\.yaml:2:1: .*current`},
		{"two documents", "k.yaml", "current: t.md\n---\ncurrent: u.md\n", `k\.yaml:2`},
		{"an empty file", "k.yaml", "", `k\.yaml`},
		{"only a comment", "k.yaml", "# nothing\n", `k\.yaml`},
		{"UTF-16", "k.yaml", "\xff\xfec\x00u\x00r\x00", `k\.yaml:1:1: .*not UTF-8`},
		{"a bare CR", "k.yaml", "current: t.md\rtasks: []\r", `k\.yaml:1`},
		{"invalid UTF-8", "k.yaml", "current: t\xff.md\n", `k\.yaml:1:`},
		{"NUL in a path", "k.yaml", "current: \"t\\0.md\"\n", `k\.yaml:1:`},
		{"ESC in a path", "k.yaml", "current: \"t\\e[2J.md\"\n", `k\.yaml:1:`},
		{"current: no", "k.yaml", "current: no\n", `k\.yaml:1:`},
		{"current is a number", "k.yaml", "current: 3\n", `k\.yaml:1:`},
		{"current is a list", "k.yaml", "current: [t.md]\n", `k\.yaml:1:`},
		{"a tab", "k.yaml", "current: t.md\ntasks:\n\t- t.md\n", `k\.yaml:3`},
		{"a list at the top", "k.yaml", "- t.md\n", `k\.yaml:1`},
		{"no frontmatter", "k.md", "# Board\n\nphase: complete\n", `k\.md:1`},
		{"an unterminated block", "k.md", "---\nphase: complete\n", `k\.md:1`},
		{"terminated by ...", "k.md", "---\nphase: complete\n...\n", `k\.md:`},
		{"TOML matter", "k.md", "+++\nphase = \"complete\"\n+++\n", `k\.md:1`},
		{"JSON matter", "k.md", "{\n\"phase\": \"complete\"\n}\n\n", `k\.md:1`},
		{"an unquoted colon", "k.md", "---\nrequest: GOAL: x\nphase: complete\n---\n", `k\.md:2:\d+: `},
		{"40k keys", "k.yaml", keys(40_000), `k\.yaml`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, tt.file), tt.text)
			write(t, filepath.Join(dir, "t.md"), "# A task\n")
			refused(t, dir, tt.file, tt.want)
		})
	}
}

// TestHostileTasks: nothing that only resembles a header makes a task an Implementor's by accident.
func TestHostileTasks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"no closing fence", "---\nrole: Architect\n", `t\.md:1`},
		{"a fence of dots", "---\nrole: Architect\n...\n", `t\.md:`},
		{"a duplicate role", "---\nrole: Architect\nrole: Manager\n---\n", `t\.md:3:1: .*role`},
		{"a fence inside a block scalar", "---\nnote: |\n  a\n  ---\n  b\nrole: Architect\n---\n", `t\.md:4`},
		{"TOML", "+++\nrole = \"Architect\"\n+++\n", `t\.md:1`},
		{"JSON", ";;;\n{\"role\": \"Architect\"}\n;;;\n", `t\.md:1`},
		{"a list of roles", "---\nrole: [Architect, Manager]\n---\n", `t\.md:2:`},
		{"a path as role", "---\nrole: ../Manager\n---\n", `t\.md:2:.*unknown role`},
		{"an empty role", "---\nrole:\n---\n", `t\.md:2:.*role is empty`},
		{"a role of no letters", "---\nrole: \"\"\n---\n", `t\.md:2:.*role is empty`},
		{"a role in capitals", "---\nRole: Architect\n---\n", `t\.md:2:1: the field Role means nothing`},
		{"roles", "---\nroles: Architect\n---\n", `t\.md:2:1: the field roles means nothing`},
		{"a header that is not first", "# hi\n---\nrole: Architect\n---\n", `t\.md:3:1: a role outside of frontmatter`},
		{"no opening fence", "role: Architect\n---\n", `t\.md:1:1: a role outside of frontmatter`},
		{"an unknown role", "---\nrole: Cook\n---\n", `t\.md:2:.*unknown role "Cook"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "k.yaml"), "current: t.md\n")
			write(t, filepath.Join(dir, "t.md"), tt.text)
			refused(t, dir, "k.yaml", tt.want)
		})
	}
}

// TestHostileFiles: boards and tasks that are no files, or lie elsewhere.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		build func(t *testing.T, dir string)
		board string
		want  string
	}{
		{"a FIFO as board", func(t *testing.T, dir string) { fifo(t, filepath.Join(dir, "k.yaml")) }, "k.yaml", `k\.yaml: it is not a regular file`},
		{"a folder as board", func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "k.yaml")) }, "k.yaml", `k\.yaml: it is a folder`},
		{"a device as board", func(*testing.T, string) {}, "/dev/zero", `/dev/zero: it is not a regular file`},
		{"a FIFO as task", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "k.yaml"), "current: t.md\n")
			fifo(t, filepath.Join(dir, "t.md"))
		}, "k.yaml", `k\.yaml:1:.*not a regular file`},
		{"a task that is a link out", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "k.yaml"), "current: t.md\n")
			symlink(t, "/etc/hostname", filepath.Join(dir, "t.md"))
		}, "k.yaml", `k\.yaml:1:.*out of the work directory`},
		{"a folder that is a link out", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "k.yaml"), "current: tasks/hostname\n")
			symlink(t, "/etc", filepath.Join(dir, "tasks"))
		}, "k.yaml", `k\.yaml:1:.*out of the work directory`},
		{"a loop of links", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "k.yaml"), "current: t.md\n")
			symlink(t, "t.md", filepath.Join(dir, "t.md"))
		}, "k.yaml", `k\.yaml:1:`},
		{"an absolute path outside", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "k.yaml"), "current: /etc/hostname\n")
		}, "k.yaml", `k\.yaml:1:.*out of the work directory`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.build(t, dir)
			refused(t, dir, tt.board, tt.want)
		})
	}
}

// TestAcceptedOddities: one byte order mark and CRLF are accepted, in boards and tasks.
func TestAcceptedOddities(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "k.yaml"), "\xef\xbb\xbfcurrent: t.md\r\ntasks:\r\n  - t.md\r\n")
	write(t, filepath.Join(dir, "t.md"), "\xef\xbb\xbf---\r\nrole: Architect\r\n---\r\n"+strings.Repeat("long body\r\n", 1<<20))
	ended, stdout, stderr := runHere(t, dir, "check", "--exec", "true", "k.yaml")
	if code := ended.ExitCode(); code != 0 || !strings.Contains(stdout, "0 errors, 0 warnings") {
		t.Errorf("check = %d\n%s%s", code, stdout, stderr)
	}
}

func refused(t *testing.T, dir, board, want string) {
	t.Helper()
	ended, stdout, stderr := runHere(t, dir, "--exec", "touch "+filepath.Join(dir, "started"), board)
	if took := ended.UserTime() + ended.SystemTime(); took > refusedWithin && !raceEnabled {
		t.Errorf("it took %v of a processor, want at most %v", took, refusedWithin)
	}
	if code := ended.ExitCode(); code != exitInvalid || stdout != "" {
		t.Errorf("exit code %d, stdout %q, want %d and nothing", code, stdout, exitInvalid)
	}
	if !regexp.MustCompile(want).MatchString(stderr) {
		t.Errorf("stderr = %.400q, want %s", stderr, want)
	}
	for _, left := range []string{"started", ".kanban-run"} {
		if exists(filepath.Join(dir, left)) {
			t.Errorf("%s was made", left)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func mkdir(t *testing.T, path string)       { t.Helper(); must(t, os.Mkdir(path, 0o755)) }
func fifo(t *testing.T, path string)        { t.Helper(); must(t, syscall.Mkfifo(path, 0o644)) }
func symlink(t *testing.T, to, path string) { t.Helper(); must(t, os.Symlink(to, path)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
