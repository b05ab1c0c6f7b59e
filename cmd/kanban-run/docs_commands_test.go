package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/testfile"
)

// leftOut are the commands in the text of pages that TestCommandsOfPages does not run, and why.
var leftOut = map[string]string{
	"kanban-run --agent claude":                     "needs claude",
	"kanban-run -j 4 --clones --land boards/*.yaml": "needs boards: boards_land_at_their_end",
	"kanban-run -j N":                               "names a flag",
	"kanban-run ack":                                "names the command",
	"kanban-run ack BOARD accept":                   "needs a board that waits: the_words_of_ack",
	"kanban-run ack BOARD continue":                 "needs an agent that hangs: a_person_leaves_a_hung_agent_alone",
	"kanban-run ack BOARD restart":                  "needs an agent that hangs: a_person_consents_to_a_restart",
	"kanban-run ack BOARD retry":                    "needs a board that waits: the_words_of_ack",
	"kanban-run ack kanban.yaml retry":              "needs a board that waits: init_gives_a_board_that_runs",
	"kanban-run demo":                               "a_demo_of_a_night",
	"kanban-run init":                               "is for a folder without a board: init_gives_a_board_that_runs",
	"kanban-run once":                               "names the command",
	"kanban-run run":                                "names the command",
	"kanban-run status --watch":                     "needs a terminal: TestWatchStatus",
	"kanban-run status -w":                          "needs a terminal: TestWatchStatus",
	"kanban-run supervise":                          "is a conversation: TestRealSupervise",
	"kanban-run supervise --":                       "is a conversation",
	"kanban-run teardown --delete BOARD":            "a_team_ends",
	"kanban-run tell":                               "names the command",
	"kanban-run tell BOARD TEXT":                    "needs an agent at work: what_is_said_to_a_running_agent",
	`kanban-run tell kanban.yaml "The tests need a database: make db."`: "needs an agent at work",
	"kanban-run VERSION (GO, OS/ARCH, commit COMMIT of DATE)":           "is an output",
	"kanban-run view": "goes on until Ctrl-C: TestView",

	"kanban-run --agent claude --agent Manager=walk kanban.yaml": "needs claude",
}

// TestCommandsOfPages: each command in the text of a page works on a board that was run. A form of a command,
// with brackets or dots, is that of its help.
func TestCommandsOfPages(t *testing.T) {
	inline := regexp.MustCompile("`(kanban-run [^`\n]*)`")
	var found []string
	for _, text := range documentsForUsers(t) {
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			if line := strings.ReplaceAll(m[1], "&lt;", "<"); !slices.Contains(found, line) {
				found = append(found, line)
			}
		}
	}
	for line := range leftOut {
		if !slices.Contains(found, line) {
			t.Errorf("no page has %s", line)
		}
	}
	ran := ranBoard(t, map[string]string{"kanban.yaml": "current: tasks/1.md\ntasks: [tasks/1.md]\n", "tasks/1.md": "Do it.\n",
		"a/kanban.yaml": "workdir: .\ncurrent: x.md\ntasks: [x.md]\n", "a/x.md": "Do it.\n", ".kanban-run/roles/x.txt": ""})
	for _, line := range found {
		if leftOut[line] != "" {
			continue
		}
		t.Run(line, func(t *testing.T) {
			if strings.ContainsAny(line, "[]|") || strings.Contains(line, "...") {
				isForm(t, line)
				return
			}
			t.Parallel()
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(ran)))
			command := strings.NewReplacer("BOARD…", "kanban.yaml", "BOARD", "kanban.yaml", "TOPIC", "running", "ROLE", "Architect").Replace(line)
			runDocumented(t, dir, command)
		})
	}
}

// ranBoard returns a folder with files, the board of which was run.
func ranBoard(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	runDocumented(t, dir, "kanban-run --quiet kanban.yaml")
	return dir
}

// isForm holds the form of a command against its help, or against the beginning of it.
func isForm(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	for _, c := range commands() {
		if len(words) > 1 && c.name == words[1] {
			for _, word := range words[2:] {
				if slices.Contains(ackWords, word) {
					continue
				}
				if bare := strings.Trim(word, "[]|."); !strings.Contains(c.args, bare) && c.args != "" && flagsOf(c).Lookup(strings.TrimLeft(bare, "-")) == nil {
					t.Errorf("%s: the help has no %s: %s", line, word, c.args)
				}
			}
			return
		}
	}
	t.Errorf("%s is no command", line)
}
