package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"kanban-run/orchestrator"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/once"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
	boardrun "kanban-run/orchestrator/run"
	"kanban-run/orchestrator/trust"
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
	if t.job != nil && dry {
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

// isSettledHere reports whether a board waits for nothing but what printAsked names at the end, with the
// command that settles it.
func (s *screen) isSettledHere(r result.Result) bool {
	var changed *trust.ChangedError
	return errors.As(r.Err, &changed) && changed.Task == nil && len(askedIn(s.dirs)) > 0
}

// dirsOf returns the work directories of boards.
func dirsOf(boards []*preflight.Prepared) (dirs []string) {
	for _, p := range boards {
		dirs = append(dirs, p.Dir())
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

// summary prints the result of each board, and returns the exit code.
func (s *screen) summary(t *terminal, results []result.Result) (int, error) {
	codes := make([]int, len(results))
	for i := range results {
		results[i].Text = event.Plain(results[i].Text)
		t.refuseUnpushed(&results[i])
		r := results[i]
		if codes[i] = codeOf(r); t.job != nil {
			r.Log = "" // it goes with the machine of the job
		}
		results[i].Code, results[i].Hint = codes[i], hintFor(r, s.dry)
	}
	code := worst(codes)
	s.docs.ended = results
	if s.json != nil {
		s.json.Summary(s.boards(results, keepLast), askedDocument(s.dirs), code)
		return code, s.conclude(t, results, code)
	}
	if len(results) > 1 && !s.dry {
		return code, errors.Join(s.table(t, results), s.conclude(t, results, code))
	}
	// The worst result comes last, because a reader looks there first.
	slices.SortStableFunc(results, func(a, b result.Result) int { return cmp.Compare(rank(b.Code), rank(a.Code)) })
	last := map[string]int{} // a hint is printed below the last board that has it
	for i, r := range results {
		last[r.Hint] = i
	}
	for i, r := range results {
		if last[r.Hint] != i {
			r.Hint = ""
		}
		s.printResult(t, r)
	}
	if len(results) > 1 {
		complete, used, again := 0, event.Used{}, false
		for _, r := range results {
			again = again || r.Again
			used = used.Plus(r.Used.Used)
			if r.Outcome == event.Complete {
				complete++
			}
		}
		_ = t.stdout.Printf("%d of %d boards complete%s\n", complete, len(results), usedSuffix(used, again))
	}
	return code, s.conclude(t, results, code)
}

// refuseUnpushed changes the outcome of a board whose checkpoints have not reached the remote, if the
// run is in a CI job: the work would be thrown away with the machine of the job. The outcome stays
// if a person has to act anyhow, or if the job failed.
func (t *terminal) refuseUnpushed(r *result.Result) {
	code := codeOf(*r)
	if !t.isCI() || r.Unpushed == "" || code != exitComplete && code != exitLimit && code != exitLater {
		return
	}
	r.Outcome = event.Unsaved
	r.Text += "; but the checkpoints on " + r.Unpushed + " have not reached the remote: " + r.Unreached
}

// boards returns how each board stands after a run. If a run failed, was kept out by another run, or left
// a board that cannot be read, the board is what the run's result says.
func (s *screen) boards(results []result.Result, keep projection.Keep) []projection.Board {
	names := make([]string, len(results))
	for i, r := range results {
		names[i] = r.Board
	}
	boards := make([]projection.Board, 0, len(results))
	inspect.Looker{Keep: keep}.LookAll(names, func(b inspect.Board, err error) {
		r := results[len(boards)]
		if s.dry {
			b.Board = s.record.board(r.Board)
			b.EndAs(r.End(), r.Code, r.Question)
		} else {
			endAs(&b, r, err)
		}
		b.RunBy(r.Command) // also a board that was not begun
		b.LastRun.Steps, b.LastRun.Used = r.Steps, r.Used
		b.Hint, b.Unsaved, b.Branch = r.Hint, r.Unsaved, r.Unpushed
		boards = append(boards, b.Board)
	})
	return boards
}

// endAs makes a board end as a run of this process has, where its journal does not say so. err is the
// error of reading the board.
func endAs(b *inspect.Board, r result.Result, err error) {
	if err != nil || r.Outcome == event.Owned || r.Outcome == event.Unsaved || r.Err != nil && r.Outcome != event.Later {
		b.EndAs(r.End(), r.Code, r.Question)
	}
}

// table prints how each board stands after a run of several boards, and each different hint once.
func (s *screen) table(t *terminal, results []result.Result) error {
	all := s.boards(results, keepLast)
	boards := make([]*projection.Board, len(all))
	for i := range all {
		boards[i] = &all[i]
	}
	errs := []error{t.printStatus(boards, false)}
	if t.job != nil {
		return errors.Join(errs...)
	}
	decide, said := 0, map[string]bool{}
	for i, r := range results {
		switch {
		case s.isSettledHere(r), r.Outcome == event.Interrupted: // the lines before have the command
		case boards[i].Who == projection.Decide: // inbox has the commands of all of them
			decide++
		case r.Hint != "" && !said[r.Hint]:
			said[r.Hint] = true
			errs = append(errs, t.stderr.Printf("hint: %s: %s\n", r.Board, indented(r.Hint)))
		}
	}
	if decide > 0 {
		errs = append(errs, t.stderr.Printf("hint: kanban-run inbox says what to decide about %s, with the commands\n", event.Count(decide, "board")))
	}
	return errors.Join(errs...)
}

// conclude writes the annotations, the summary and the outputs of a CI job, if there is one.
func (s *screen) conclude(t *terminal, results []result.Result, code int) error {
	if t.job == nil {
		return nil
	}
	if s.dry {
		for i := range results {
			if results[i].Code == exitComplete {
				results[i].Outcome, results[i].Text = dryRun, "dry run: nothing was changed"
			}
		}
	}
	return t.job.conclude(results, s.boards(results, projection.Keep{Steps: keptSteps}), code)
}

// printResult writes a board's last line: an error to stderr, any other result to stdout. The agent's
// last words and the hint follow on stderr.
func (s *screen) printResult(t *terminal, r result.Result) {
	steps := event.Count(r.Steps, "step") + usedSuffix(r.Used.Used, r.Again)
	text := fmt.Sprintf("%s, %s%s", r.Text, steps, s.unreviewed(r))
	if s.dry {
		text = fmt.Sprintf("a run would reach the end of the board if all its agents reply well, %s (dry "+
			"run: nothing was changed)", steps)
		if r.Undone != "" {
			text += "; " + r.Undone
		}
	}
	if r.Code != exitComplete {
		text = fmt.Sprintf("%s (%s, exit code %d)", r.Text, steps, r.Code)
	}
	out, sign := t.stdout, ""
	if r.Code == exitFailed || r.Code == exitInvalid || r.Code == exitOwned {
		out = t.stderr
	}
	if !s.dry && term.IsTerminal(int(t.screen.Fd())) {
		sign = report.Sign(event.Weigh(r.Outcome, r.Remarked), colored(t)) + " "
	}
	_ = out.PrintTrusted(sign)
	_ = out.Printf("%s: %s\n", r.Board, indented(text))
	if r.Said != "" {
		_ = t.stderr.Printf("%s\n", indented("the agent said: "+r.Said))
	}
	if r.Hint != "" && t.job == nil && !s.isSettledHere(r) { // in a job the annotation shows the hint
		_ = t.stderr.Printf("hint: %s\n", indented(r.Hint))
	}
}

// unreviewed returns ", none reviewed" if only the agents say that the work on a complete board is done.
func (s *screen) unreviewed(r result.Result) string {
	if s.dry || r.Code != exitComplete || r.Steps == 0 {
		return ""
	}
	b, err := inspect.Looker{Keep: keepLast}.Look(r.Board)
	if err != nil {
		return ""
	}
	return b.Unreviewed()
}

// usedSuffix returns ", " with the cost and the tokens, or "" if they are unknown. If the boards have
// had earlier runs, whose cost is not in u, the suffix says so.
func usedSuffix(u event.Used, again bool) string {
	text := u.String()
	switch {
	case text == "":
		return ""
	case again:
		return ", " + text + " in this run"
	default:
		return ", " + text
	}
}

// hintFor returns the next action of a person for a board's result.
func hintFor(r result.Result, dry bool) string {
	if durable.IsMachineFault(r.Err) {
		return hintOf(r.Err)
	}
	if r.Outcome == event.Unsaved {
		return "let the job push the branch (in GitHub Actions permissions: contents: write, and no rule against it); " +
			"then the same command pushes what waits, in this clone; elsewhere the board goes on from the last checkpoint there"
	}
	at := projection.Board{Board: r.Board, Log: r.Log}
	at.EndAs(r.End(), r.Code, r.Question)
	advice := at.Advice()
	if r.Outcome == event.Complete && r.Steps == 0 && !dry {
		return "nothing was left to do; current: with the path of a task has it done again"
	}
	if dry && advice != "" { // the advice names a journal and a log that are removed
		return "this was a dry run: nothing was changed, and nothing of it is kept"
	}
	if at, err := time.Parse(time.RFC3339, r.Until); err == nil {
		return "the same command goes on after " + at.Local().Format("2006-01-02 15:04:05 MST")
	}
	// If another run owns the board, the advice is better than the error's hint, because only the
	// advice names the board.
	hint := hintOf(r.Err)
	saysHow := errors.As(r.Err, new(interface{ Resumes() })) || durable.MachineHint(r.Err) != ""
	switch {
	case r.Outcome == event.Failed && !saysHow:
		return cmp.Or(hint, "mend that") + "; then the same command goes on"
	case hint != "" && !errors.As(r.Err, new(*durable.HeldError)):
		return hint
	default:
		return advice
	}
}

// tellRefused notes the boards that cannot be run as ended, for the documents, and has a person told of them.
func (s *screen) tellRefused(refused []preflight.Refused) {
	for _, r := range refused {
		ended := result.Result{Board: r.Board}
		ended.Explain(context.Background(), r.Err)
		s.docs.ended = append(s.docs.ended, ended)
		if s.notifier != nil {
			s.notifier.Entry(r.Board, event.Entry{Time: time.Now(), Event: event.RunInterrupted{Board: r.Board, Outcome: ended.Outcome,
				Reason: ended.Text, Hint: hintOf(r.Err)}})
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
