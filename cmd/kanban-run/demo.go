package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/failure"
)

// demoNight is what the agents of the demo do on each board, task by task, as rules for stubs. A task without
// rules is done well after a pause.
var demoNight = map[string]map[string][]string{
	"import": {"1-lexer": nil, "2-parser": nil, "3-search": nil, "4-manual": nil},
	"api":    {"1-routes": nil, "2-errors": {"attempt: [1, 2], do: garbage"}, "3-limits": nil, "4-manual": nil},
	"mail":   {"1-queue": nil, "2-send": {"attempt: 1, do: hang"}, "3-bounce": nil, "4-manual": nil},
	"billing": {"1-plans": nil, "2-invoices": {`status: blocked, message: "the staging database refuses the password of user ci, and I have no new one"`},
		"3-taxes": nil, "4-manual": nil},
	"dates": {"1-parse": nil, "2-zones": {"do: garbage"}, "3-format": nil, "4-manual": nil},
}

func demoCommand() command {
	return command{
		name: "demo", agents: true, summary: "a night of boards without a model, in a temporary folder",
		long: `
Five boards are run side by side by agents that only pretend, in a new folder below the folder for temporary files.
One is done well, one gets replies of a wrong form and asks again, one has an agent that hangs, and two end so that
you have to decide. It takes about half a minute; then it says which command shows what. Remove the folder when you
have seen it.`,
		examples: `
  kanban-run demo
  kanban-run demo --fast   without the pauses`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			fast := flags.Bool("fast", false, "let the agents answer at once")
			return func(t *terminal, _ []string) (int, error) {
				if err := refuseAgents(false); err != nil {
					return 0, err
				}
				dir, err := os.MkdirTemp("", "kanban-run-demo-")
				if err != nil {
					return 0, err
				}
				boards, err := writeNight(dir, *fast)
				if err != nil {
					return 0, err
				}
				if err := t.stdout.Printf("A night of %d boards, in %s:\n\n", len(boards), dir); err != nil {
					return 0, err
				}
				code, err := t.runNight(dir, boards, *fast)
				if err != nil || code != exitNeedsPerson { // that is how the night ends
					return code, err
				}
				return exitComplete, t.sayMorning(dir)
			}
		},
	}
}

// writeNight writes the boards, their tasks and the rules for the stubs, and returns the paths of the boards.
func writeNight(dir string, fast bool) (boards []string, err error) {
	pause := map[bool]string{false: "2500ms", true: "1ms"}[fast]
	rules := ""
	for _, name := range slices.Sorted(maps.Keys(demoNight)) {
		var tasks []string
		for _, task := range slices.Sorted(maps.Keys(demoNight[name])) {
			file := "tasks/" + name + "/" + task + ".md"
			for _, rule := range demoNight[name][task] {
				rules += fmt.Sprintf("- {role: Implementor, task: %s, %s}\n", file, rule)
			}
			_, title, _ := strings.Cut(task, "-")
			text := "# " + title + "\n\nWrite the " + title + " of " + name + ", and its tests.\n"
			err = errors.Join(err, writeNew(filepath.Join(dir, file), text))
			tasks = append(tasks, file)
		}
		board := "boards/" + name + ".yaml"
		text := fmt.Sprintf("phase: execute\ncurrent: %s\ntasks: [%s]\n", tasks[0], strings.Join(tasks, ", "))
		err = errors.Join(err, writeNew(filepath.Join(dir, board), text))
		boards = append(boards, board)
	}
	rules += "- {role: Implementor, do: slow, for: " + pause + "}\n"
	return boards, errors.Join(err, writeNew(filepath.Join(dir, "agents.yaml"), rules))
}

func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// runNight runs the boards as the command run does.
func (t *terminal) runNight(dir string, boards []string, fast bool) (int, error) {
	if err := os.Chdir(dir); err != nil {
		return 0, err
	}
	t.startDir = dir
	limit := map[bool]string{false: "6s", true: "4s"}[fast]
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	act := runCommand().setup(flags)
	err := flags.Parse(append([]string{"--keep-going", "--jobs=5", "--agent=stub", "--agent=Manager=walk", "--stub=agents.yaml", "--timeout=" + limit}, boards...))
	if err != nil {
		return 0, err
	}
	return act(t, flags.Args())
}

// sayMorning prints what a person looks at in the morning.
func (t *terminal) sayMorning(dir string) error {
	return t.stdout.Printf("%s", console.Lines(`
It is morning. Go there:

  cd `+failure.Quote(dir)+`

  kanban-run status                          where the boards stand, who acts
  kanban-run inbox                           what to decide, with the commands
  kanban-run log boards/mail.yaml            how the hung agent was started again
  kanban-run log --failed                    what went wrong, on all boards
  kanban-run report --html > night.html      all of it as a page
  kanban-run ack boards/billing.yaml retry   a decision, and how it goes on

`))
}
