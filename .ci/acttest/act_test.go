//go:build linux

package acttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// act EVENT [FLAGS] runs the workflows of the current folder, and prints what the runner saw:
//
//	TEXT                     a line that a step printed
//	[error title=T] TEXT     a workflow command that the runner carried out, with its properties
//	[ignored] LINE           one that it did not, after stop-commands
//	[command] LINE           one that act does not know, and GitHub's runner does
//	[step ID] success        the end of a step; those of the action are [step ID run]
//	[job JOB] failure        the end of a job
func act() {
	if err := commit(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	cmd := exec.Command(os.Getenv("ACT"), arguments()...)
	cmd.Stderr = os.Stderr
	// A script that fails interrupts this process. Then act goes too, and with it the terminal of its step.
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if err := translate(out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if cmd.Wait() != nil {
		os.Exit(1)
	}
}

// commit makes the current folder a repository, if it is none. A job works on a copy of it.
func commit() error {
	if _, err := os.Stat(".git"); err == nil {
		return nil
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "A board"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %v: %s", args[0], err, out)
		}
	}
	return nil
}

// arguments names the actions that workflows here use. act knows checkout itself; the others are stand-ins that keep in $KEEP what
// GitHub would keep.
func arguments() []string {
	args := append(os.Args[1:], "--json", "--platform", "ubuntu-latest=-self-hosted", "--no-cache-server")
	actions := map[string]string{
		"OWNER/kanban-run@v1":          os.Getenv("ACTION"),
		"actions/cache@v5":             "cache",
		"actions/setup-go@v6":          "setup-go",
		"actions/upload-artifact@v7":   "upload-artifact",
		"actions/download-artifact@v8": "download-artifact",
	}
	for name, folder := range actions {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(os.Getenv("STAND_INS"), folder)
		}
		args = append(args, "--local-repository", name+"="+folder)
	}
	return args
}

// record is what act --json says of one line or one event.
type record struct {
	Message    string   `json:"msg"`
	IsOutput   bool     `json:"raw_output"`
	Command    string   `json:"command"`
	Line       string   `json:"raw"` // of a command that was printed
	Name       string   `json:"name"`
	Argument   string   `json:"arg"`
	Content    string   `json:"content"`
	StepID     []string `json:"stepID"`
	StepResult string   `json:"stepResult"`
	JobID      string   `json:"jobID"`
	JobResult  string   `json:"jobResult"`
}

func translate(from io.Reader, to io.Writer) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintf(to, "[act] %s\n", lines.Text())
			continue
		}
		if text := r.text(); text != "" {
			fmt.Fprintln(to, text)
		}
	}
	return lines.Err()
}

func (r record) text() string {
	line := strings.TrimRight(r.Line, "\r\n")
	switch {
	case r.IsOutput:
		return r.output()
	case r.Command == "ignored":
		return "[ignored] " + line
	case r.Command == "summary":
		return "[summary] " + r.Content
	case line != "":
		return printed(line)
	case r.Command != "" && r.Name == "":
		return fmt.Sprintf("[%s] %s", r.Command, r.Argument)
	case r.Command != "":
		return fmt.Sprintf("[%s] %s=%s", r.Command, r.Name, r.Argument)
	case r.StepResult != "":
		return fmt.Sprintf("[step %s] %s", strings.Join(r.StepID, " "), r.StepResult)
	case r.JobResult != "":
		return fmt.Sprintf("[job %s] %s", r.JobID, r.JobResult)
	}
	return ""
}

// output is a line that act took for text. The runner of GitHub Actions is less strict: blanks may stand before the one kind of
// command, and anything before the other.
func (r record) output() string {
	line := strings.TrimRight(r.Message, "\r\n")
	if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
		return "[command] " + line
	}
	return line
}

// printed takes a command apart as the runner of GitHub Actions does. To act the properties go on to the last colons.
func printed(line string) string {
	head, data, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	switch {
	case !ok:
		return "[command] " + line
	case head == "add-mask":
		data = "***"
	}
	return fmt.Sprintf("[%s] %s", head, data)
}
