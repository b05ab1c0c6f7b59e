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

// runAct is the command act EVENT [FLAGS]. It runs the workflows of the current folder and prints:
//
//	TEXT                     a line that a step printed
//	[error title=T] TEXT     a workflow command that the runner carried out, with its properties
//	[ignored] LINE           a command that it ignored, after stop-commands
//	[command] LINE           a command that act does not know, and GitHub's runner does
//	[step ID] success        the end of a step; those of the action are [step ID run]
//	[job JOB] failure        the end of a job
func runAct() {
	if err := commitFolder(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	cmd := exec.Command(os.Getenv("ACT"), arguments()...)
	cmd.Stderr = os.Stderr
	// A failed script interrupts this process; act has to die with it, and with act its step's
	// terminal.
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

// commitFolder makes the current folder a repository, of which a job gets a copy.
func commitFolder() error {
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

// arguments maps the actions that the workflows use. act has checkout built in; the others are
// stand-ins that keep in $KEEP what GitHub would keep.
func arguments() []string {
	args := append(os.Args[1:], "--json", "--platform", "ubuntu-latest=-self-hosted", "--no-cache-server")
	actions := map[string]string{
		"OWNER/kanban-run@v1":          os.Getenv("ACTION"),
		"actions/cache@v5":             "cache",
		"actions/setup-go@v6":          "setup-go",
		"actions/setup-node@v6":        "setup-node",
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

// record is a line of act --json.
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
		return splitCommand(line)
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

// output marks lines that act takes for text and GitHub's runner for commands: blanks may stand
// before :: and anything before ##[.
func (r record) output() string {
	line := strings.TrimRight(r.Message, "\r\n")
	if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
		return "[command] " + line
	}
	return line
}

// splitCommand splits a command as GitHub's runner does. act's properties reach to the last colons.
func splitCommand(line string) string {
	head, data, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	switch {
	case !ok:
		return "[command] " + line
	case head == "add-mask":
		data = "***"
	}
	return fmt.Sprintf("[%s] %s", head, data)
}
