// Command actor is the agent in the test scripts. It is a program of its own, because it starts in
// a sixth of the time that the test binary takes.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// main performs the actions that its flags name and then prints a reply.
func main() {
	flags := flag.NewFlagSet("actor", flag.ContinueOnError)
	var (
		log      = flags.String("log", "", "append ROLE and task to this file")
		identity = flags.String("identity", "", "append a digest of argv, stdin, environment and folder to this file")
		input    = flags.String("input", "", "append the input to this file")
		walk     = flags.Bool("walk", false, "reply as a Manager: the next task of the list")
		write    = flags.Bool("write", false, "with -walk: write current onto the board too")
		reply    = flags.String("reply", `{"status":"ok","message":"done"}`, "what to print")
		edit     = flags.String("edit", "", "OLD=>NEW: replace the text on the board")
		odd      = flags.Int("odd", 0, "reply as a Manager with so many odd tasks, of 7,000 bytes each")
		link     = flags.String("link", "", "replace the board by a link to this")
		flaky    = flags.String("flaky", "", "print garbage until this file exists, and make it")
		parent   = flags.String("parent", "", "write the number of the parent process to this file, then wait for a signal")
		pid      = flags.String("pid", "", "write the number of this process to this file")
		stubborn = flags.String("stubborn", "", "with -parent: on SIGTERM write this file and go on")
		until    = flags.String("until", "", "wait until this file exists")
		code     = flags.Int("exit", 0, "exit code")
		env      = flags.String("env", "", "write the environment to this file")
	)
	check(flags.Parse(os.Args[1:]))
	data, err := io.ReadAll(os.Stdin)
	check(err)
	var in struct {
		TaskFile   string   `json:"task_file"`
		KanbanFile string   `json:"kanban_file"`
		DoneTask   string   `json:"done_task"`
		Tasks      []string `json:"tasks"`
	}
	check(json.Unmarshal(data, &in))
	appendLine(*log, os.Getenv("KANBAN_RUN_ROLE")+" "+in.TaskFile+in.DoneTask)
	appendLine(*input, string(data))
	dir, err := os.Getwd()
	check(err)
	appendLine(*identity, fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", os.Args, data, os.Environ(), dir))))
	if *env != "" {
		check(os.WriteFile(*env, []byte(strings.Join(os.Environ(), "\n")+"\n"), 0o644))
	}
	if *pid != "" {
		check(os.WriteFile(*pid, []byte(fmt.Sprintln(os.Getpid())), 0o644))
	}
	for *until != "" && !exists(*until) {
		time.Sleep(5 * time.Millisecond)
	}
	if *parent != "" {
		waitForSignal(*parent, *stubborn)
	}
	if *edit != "" {
		before, after, _ := strings.Cut(*edit, "=>")
		editBoard(in.KanbanFile, before, after)
	}
	if *link != "" {
		check(os.Remove(in.KanbanFile))
		check(os.Symlink(*link, in.KanbanFile))
	}
	switch {
	case *flaky != "" && !exists(*flaky):
		check(os.WriteFile(*flaky, []byte("seen\n"), 0o644))
		fmt.Println("garbage")
	case *odd > 0:
		fmt.Println(oddReply(*odd))
	case *walk:
		fmt.Println(walkReply(in.KanbanFile, in.DoneTask, in.Tasks, *write))
	default:
		fmt.Println(*reply)
	}
	os.Exit(*code)
}

// waitForSignal writes the process ID of its parent into file and ends the process at SIGTERM. If
// stubborn is not "", it instead writes the file of that name at SIGTERM and goes on. After a
// minute it ends the process in either case.
func waitForSignal(file, stubborn string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	check(os.WriteFile(file, []byte(fmt.Sprintln(os.Getppid())), 0o644))
	for over := time.After(time.Minute); ; {
		select {
		case <-asked:
			if stubborn == "" {
				os.Exit(143)
			}
			check(os.WriteFile(stubborn, []byte("asked\n"), 0o644))
		case <-over:
			os.Exit(1)
		}
	}
}

// oddReply returns a Manager's reply with n tasks, whose long names look like YAML.
func oddReply(n int) string {
	tasks := make([]string, n)
	for i := range tasks {
		tasks[i] = fmt.Sprint(i, strings.Repeat("- : # [", 1000))
	}
	data, err := json.Marshal(map[string]any{"status": "ok", "message": "", "next_task": nil, "tasks": tasks})
	check(err)
	return string(data)
}

func walkReply(kanban, done string, tasks []string, write bool) string {
	next := "null"
	if i := slices.Index(tasks, done); i >= 0 && i+1 < len(tasks) {
		next = tasks[i+1]
	}
	if write {
		text, err := os.ReadFile(kanban)
		check(err)
		line := regexp.MustCompile(`(?m)^current: .*$`).Find(text)
		editBoard(kanban, string(line), "current: "+next)
	}
	if tasks == nil {
		tasks = []string{}
	}
	reply := map[string]any{"status": "ok", "message": "next", "next_task": next, "tasks": tasks}
	if next == "null" {
		reply["next_task"] = nil
	}
	data, err := json.Marshal(reply)
	check(err)
	return string(data)
}

func editBoard(path, before, after string) {
	text, err := os.ReadFile(path)
	check(err)
	check(os.WriteFile(path, bytes.Replace(text, []byte(before), []byte(after), 1), 0o644))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func appendLine(path, line string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	check(err)
	_, err = fmt.Fprintln(f, line)
	check(err)
	check(f.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}
