package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/once"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/result"
	boardrun "kanban-run/orchestrator/run"
)

func runCommand() command {
	return command{
		name:       "run",
		args:       "[flags] BOARD...",
		summary:    "run boards",
		agents:     true,
		resumeHint: "a board goes on with the same command",
		long: `
A board is kanban.yaml, or Markdown with YAML frontmatter: phase, current (the path of the current task, or null),
tasks (a list), and fields of your own. Each round gives the current task to the agent of its role, and then asks the
Manager for the next one. The run ends when current is null or phase is complete. After an interruption the same
command goes on where the run was.

The program of a role is that of --exec ROLE=COMMAND or --agent ROLE=ADAPTER, else what .kanban-run.yaml names for
that role, else --exec or --agent without a role, else the role file, else the default in .kanban-run.yaml, else
claude.`,
		examples: `
  kanban-run --dry-run                        which agent would get what
  kanban-run -k -j 4 --until 07:00 *.yaml     a night of boards, four at a time`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags)
			o := outputFlags(flags)
			docs := documentFlags(flags)
			dry := flags.Bool("dry-run", false,
				"run the whole loop with stub agents on a private copy of the board, as if it was never run; nothing is changed")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("run", args, false); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err == nil && *dry {
					return u.run(t, args, o, &documents{}, true)
				}
				if err == nil {
					err = docs.check(t, args)
				}
				code := 0
				if err == nil {
					code, err = u.run(t, args, o, docs, false)
				}
				if *dry {
					return code, err
				}
				if refused := code == exitInvalid || code == exitOwned; err != nil || refused && !docs.begun {
					return code, errors.Join(err, boardrun.EndLeftovers(args))
				}
				return code, docs.conclude(t, args, code)
			}
		},
	}
}

// run runs the boards and returns the exit code.
func (u *setup) run(t *terminal, boards []string, o *output, docs *documents, dry bool) (int, error) {
	executable, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find kanban-run itself: %w", err)
	}
	general, err := u.resolve(u.dir)
	if err != nil {
		return 0, err
	}
	stubs, remove := stubFolder(t)
	defer remove()
	// Orphans of agents become children of this process, which ends them.
	if err := proc.Adopt(); err != nil {
		return 0, err
	}
	if err := once.EndLeftovers(u.dir); err != nil {
		return 0, err
	}
	t.free()
	screen := o.screen(t, boards, dry)
	screen.docs = docs
	if dry {
		screen.record = newRecorder(screen.observer)
		screen.observer = screen.record
	}
	if !dry {
		write := func() error {
			docs.begun = true
			return docs.write(t, boards)
		}
		screen.observer = beginning{screen.observer, write, new(sync.Once)}
		notifier, err := u.notifier(general, screen.observer, docs)
		if err != nil {
			return 0, err
		}
		if screen.notifier = notifier; notifier != nil {
			screen.observer = telling{screen.observer, notifier}
		}
	}
	jobs := make([]preflight.Job, len(boards))
	configure, version := u.configure(executable, stubs, dry), programVersion()
	for i, b := range boards {
		jobs[i] = preflight.Job{Board: b, StartDir: u.dir, Workdir: u.workdir, Version: version, Flags: u.given(), GivenIn: t.startDir, DryRun: dry,
			Observer: screen.observer, Now: time.Now, Configure: configure, HoldLock: t.holdLock()}
	}
	if screen.notifier != nil {
		for i := range jobs {
			jobs[i].Drain = screen.notifier.Drain
		}
	}
	screen.dry = dry
	bounds := orchestrator.Bounds{Jobs: general.settings.Jobs, MaxCost: general.settings.Limits.TotalCost}
	if !*o.quiet && !dry {
		defer t.showLife(boards)()
	}
	k := general.settings.KeepGoing
	code, err := screen.runJobs(t, jobs, bounds, k != nil && *k)
	screen.close()
	return code, err
}

// runJobs prepares all boards and runs them. If one board cannot be prepared, no board is run, unless
// keepGoing is true: then the others are.
func (s *screen) runJobs(t *terminal, jobs []preflight.Job, bounds orchestrator.Bounds, keepGoing bool) (int, error) {
	prepared, refused := preflight.PrepareAll(jobs)
	stop, kill, release := t.contexts(func(first bool) { s.noticeSignal(t, first) })
	defer release()
	s.tellRefused(refused)
	if len(refused) > 0 && (!keepGoing || len(prepared) == 0) {
		s.notifier.Close(stop)
		s.close()
		return s.refuse(t, refused), nil
	}
	if err := s.leaveOut(refused); err != nil {
		return 0, err
	}
	if bounds.Jobs > 1 && !s.dry {
		s.tellShared(prepared)
	}
	tuneRuntime(prepared)
	results := orchestrator.RunAll(stop, kill, prepared, bounds)
	for i, r := range refused { // in the order of the command line
		results = slices.Insert(results, r.At, s.docs.ended[i])
	}
	s.notifier.Close(stop)
	s.close()
	s.dirs = dirsOf(prepared)
	code, err := s.summary(t, results)
	if s.dry || s.json != nil {
		return code, err
	}
	return code, errors.Join(err, t.printAsked(t.stderr, s.dirs))
}

// tellShared tells of boards side by side whose agents work on the same files.
func (s *screen) tellShared(prepared []*preflight.Prepared) {
	of := map[string]int{}
	for _, p := range prepared {
		if p.IsInCheckout() {
			of[p.Workspace.HomeDir()]++
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(of)) {
		if of[dir] > 1 {
			s.observer.Notice("", fmt.Sprintf("the agents of %s side by side change the same files in %s; --clones gives each board a clone of its own", event.Count(of[dir], "board"), dir))
		}
	}
}

// dirsOf returns the work directories of boards.
func dirsOf(boards []*preflight.Prepared) (dirs []string) {
	for _, p := range boards {
		dirs = append(dirs, p.Workspace.HomeDir())
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// tuneRuntime fits Go's runtime to a run, which nearly always waits. It allows one processor,
// because waking a second thread takes longer than the work that the second thread would do.
// The environment variables GOMAXPROCS and GOGC take precedence.
func tuneRuntime(boards []*preflight.Prepared) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	size := int64(0)
	for _, p := range boards {
		size += p.Size()
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent(len(boards), size))
	}
}

// largeBoards is the size of boards, in bytes, whose garbage would take most of a run's memory.
const largeBoards = 256 << 10

// garbagePercent returns how large garbage may grow before it is collected, in percent of the live heap:
// the less, the more there is of that. The parameter size is that of all boards, in bytes.
func garbagePercent(boards int, size int64) int {
	most := 200
	if size > largeBoards {
		most = 100
	}
	return max(15, min(most, 15_000/boards))
}

// tellRefused notes the boards that cannot be run as ended, for the documents, and has a person told of them.
func (s *screen) tellRefused(refused []preflight.Refused) {
	for _, r := range refused {
		ended := result.Result{Board: r.Board}
		ended.Explain(context.Background(), r.Err)
		s.docs.ended = append(s.docs.ended, ended)
		if s.notifier != nil {
			ended.End.Board = r.Board
			s.notifier.Entry(r.Board, event.Entry{Time: time.Now(), Event: ended.End})
		}
	}
}

// leaveOut says which boards the run goes on without, and ends what their earlier runs left running.
func (s *screen) leaveOut(refused []preflight.Refused) error {
	var names []string
	for _, r := range refused {
		names = append(names, r.Board)
		s.observer.Notice(r.Board, "cannot be run, and the others go on without it: "+r.Err.Error())
	}
	return boardrun.EndLeftovers(names)
}

// refuse prints the errors that kept the run from starting, and returns the exit code.
func (s *screen) refuse(t *terminal, refused []preflight.Refused) int {
	codes := make([]int, len(refused))
	for i, r := range refused {
		codes[i] = codeOfError(r.Err)
		if s.json != nil {
			s.json.Refused(r.Err.Error(), hintOf(r.Err), codes[i])
		}
		if s.json == nil || t.job != nil {
			t.explain(r.Err)
		}
	}
	return worst(codes)
}

// noticeSignal prints the effect of a signal. The parameter first is false if the signal ends the
// agents at once, as a second signal does.
func (s *screen) noticeSignal(t *terminal, first bool) {
	text := "stopping: an agent at work is asked to end; once more stops at once"
	if t.job != nil { // in a job no person can signal it again
		text = "stopping: an agent at work is asked to end"
	}
	if !first {
		text = "stopping at once"
	}
	if s.json == nil {
		s.observer.Notice("", text)
		return
	}
	_ = t.stderr.Printf("kanban-run: %s\n", text)
}
