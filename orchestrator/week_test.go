package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/pool"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/roster"
	"kanban-run/roles"
)

// week is a simulated week of nights: many boards, one provider with outages and limits, agents that hang,
// fail, are cut off and get stuck, and runs that are killed. Agents are functions that print what claude
// prints; the time is virtual, and the files are real.
type week struct {
	t             *testing.T
	agent.Adapter // claude, whose programs are functions
	dir           string
	began         time.Time
	slept         atomic.Int64 // nanoseconds that the machine slept: the wall clock went on, and timers did not
	unwatched     bool         // agents are not watched

	mu       sync.Mutex
	r        *rand.Rand
	tasks    map[string]*weekTask // by board and task
	outages  []outage
	last     map[string]time.Time // of the last refusal, by board
	killed   map[string]string    // boards whose run was killed, with the copy of their folder
	calls    map[string]int       // of agents, by what came of them
	sessions int
}

// weekTask is what the agents of one task will do, in that order; then they do it well.
type weekTask struct {
	moods []string
	done  int // accepted replies with ok
}

// outage is a time in which the provider is busy, or a limit that ends with it.
type outage struct {
	from, to time.Time
	limit    bool
	named    bool // the end of the limit is named
}

// now returns the time of the wall clock.
func (w *week) now() time.Time { return time.Now().Round(0).Add(time.Duration(w.slept.Load())) }

func (w *week) Name() string { return "claude" }

func (w *week) Check(agent.Assignment) error { return nil }

func (w *week) Invoke(a agent.Assignment) (agent.Invocation, error) {
	board, _ := filepath.Rel(w.dir, a.Dir)
	session := ""
	if a.Follow != nil {
		session = a.Follow.Session
	}
	input := string(a.Input)
	return agent.Invocation{Argv: []string{"claude"}, Stdin: a.Input, Dir: a.Dir, Timeout: a.Timeout, Grace: a.Grace,
		Func: func(ctx context.Context, stdout, _ io.Writer) proc.Exit {
			return w.play(ctx, board, input, session, stdout)
		}}, nil
}

// play is one attempt of an agent.
func (w *week) play(ctx context.Context, board, input, session string, stdout io.Writer) proc.Exit {
	var call struct {
		Task string `json:"task_file"`
	}
	if err := json.Unmarshal([]byte(input), &call); err != nil {
		w.t.Errorf("%s: input %s: %v", board, input, err)
	}
	say := func(kind, fields string) {
		fmt.Fprintf(stdout, `{"type":%q,"session_id":%q,%s}`+"\n", kind, session, fields)
	}
	mood, o := w.begin(board, call.Task, &session)
	if mood == "" { // its run was killed: nothing that it does counts
		return proc.Exit{Code: 1}
	}
	say("system", `"subtype":"init"`)
	works := func() {
		say("assistant", `"message":{"content":[{"type":"tool_use","id":"1","name":"Edit","input":{"file_path":"a"}}]}`)
		say("user", `"message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}`)
	}
	const failed = `"subtype":"success","is_error":true,"terminal_reason":"api_error","result":`
	pause := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	switch {
	case o != nil && !o.limit:
		say("result", failed+`"API Error: 529 Overloaded","api_error_status":529`)
		return proc.Exit{Code: 1}
	case o != nil && o.named:
		say("rate_limit_event", `"rate_limit_info":{"status":"rejected","resetsAt":`+strconv.FormatInt(o.to.Unix(), 10)+`}`)
		fallthrough
	case o != nil:
		say("result", failed+`"You've hit your session limit"`)
		return proc.Exit{Code: 1}
	}
	switch mood {
	case "garbage":
		say("result", `"subtype":"success","is_error":false,"result":"I am done."`)
		return proc.Exit{}
	case "crash":
		works()
		return proc.Exit{Code: -1, Signal: "segmentation fault"}
	case "cut":
		works()
		say("result", `"subtype":"success","is_error":false,"result":"","stop_reason":"tool_use"`)
		return proc.Exit{}
	case "too long":
		say("result", `"subtype":"success","is_error":true,"terminal_reason":"prompt_too_long","result":"Prompt is too long"`)
		return proc.Exit{Code: 1}
	case "hang":
		works()
		if pause(100 * time.Hour) {
			w.t.Errorf("%s: an agent that hangs was left alone", board)
		}
		return proc.Exit{Code: -1, Signal: "terminated"}
	}
	if works(); !pause(time.Duration(5+len(call.Task)) * time.Minute) {
		return proc.Exit{Code: -1, Signal: "terminated"}
	}
	status := "ok"
	if mood == "blocked" {
		status = "blocked"
	} else {
		w.finish(board, call.Task)
	}
	say("result", `"subtype":"success","is_error":false,"structured_output":{"status":"`+status+`","message":"m"},"total_cost_usd":0.01`)
	return proc.Exit{}
}

// begin counts an attempt, and returns what its agent does, or the outage that it meets. The mood is "" if its
// run is killed now.
func (w *week) begin(board, task string, session *string) (mood string, o *outage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killed[board] != "" {
		return "", nil
	}
	now := w.now()
	if w.r.IntN(60) == 0 {
		w.kill(board)
		return "", nil
	}
	t := w.tasks[board+"/"+task]
	if t.done > 0 {
		w.t.Errorf("%s: %s is worked on again, and it is done", board, task)
	}
	if *session == "" {
		w.sessions++
		*session = fmt.Sprintf("s%d", w.sessions)
	}
	for i := range w.outages {
		if o := &w.outages[i]; !now.Before(o.from) && now.Before(o.to) {
			if last := w.last[board]; now.Sub(last) < 1900*time.Millisecond {
				w.t.Errorf("%s: the provider is asked again after %v", board, now.Sub(last))
			}
			w.last[board] = now
			w.calls["refused"]++
			return "refused", o
		}
	}
	if mood = "ok"; len(t.moods) > 0 {
		mood, t.moods = t.moods[0], t.moods[1:]
	}
	w.calls[mood]++
	return mood, nil
}

func (w *week) finish(board, task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killed[board] == "" {
		w.tasks[board+"/"+task].done++
	}
}

// kill keeps the files of a board as a kill would leave them now. What the run does from now on is undone
// before the next night.
func (w *week) kill(board string) {
	copied := filepath.Join(w.dir, "killed", board)
	if err := os.RemoveAll(copied); err != nil {
		w.t.Error(err)
	}
	if err := copyFiles(copied, filepath.Join(w.dir, board)); err != nil {
		w.t.Error(err)
	}
	w.killed[board] = copied
	w.calls["killed"]++
}

// copyFiles copies a folder. A file that is replaced meanwhile may be missing.
func copyFiles(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return errors.Join(err, os.WriteFile(filepath.Join(to, rel), data, 0o600))
	})
}

// resurrect puts the files of the boards back whose runs were killed.
func (w *week) resurrect() {
	for board, copied := range w.killed {
		if err := os.RemoveAll(filepath.Join(w.dir, board)); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Rename(copied, filepath.Join(w.dir, board)); err != nil {
			w.t.Fatal(err)
		}
	}
	clear(w.killed)
}

// moods returns what the agents of a task do before one does it well.
func (w *week) moods() (all []string) {
	for w.r.IntN(5) == 0 && len(all) < 3 {
		all = append(all, []string{"garbage", "crash", "cut", "hang", "too long"}[w.r.IntN(5)])
	}
	switch w.r.IntN(100) {
	case 0: // it needs a person for ever
		return []string{"blocked", "blocked", "blocked", "blocked", "blocked", "blocked", "blocked", "blocked"}
	case 1:
		return append(all, "blocked")
	case 2:
		return []string{"garbage", "garbage", "garbage", "garbage", "garbage"}
	}
	return all
}

// newWeek makes the boards, and the outages of seven days.
func newWeek(t *testing.T, boards, tasks int) *week {
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "week"); err == nil {
		dir = shm
		t.Cleanup(func() { _ = os.RemoveAll(shm) })
	}
	w := &week{t: t, Adapter: claude.New(), dir: dir, began: time.Now(), r: rand.New(rand.NewPCG(1, 44)), tasks: map[string]*weekTask{},
		last: map[string]time.Time{}, killed: map[string]string{}, calls: map[string]int{}}
	for i := range boards {
		board := fmt.Sprintf("b%03d", i)
		text := "current: t0.md\ntasks:\n"
		for k := range tasks {
			name := fmt.Sprintf("t%d.md", k)
			w.tasks[board+"/"+name] = &weekTask{moods: w.moods()}
			text += "  - " + name + "\n"
			w.write(board+"/"+name, "---\nrole: Implementor\n---\nDo it.\n")
		}
		w.write(board+"/kanban.yaml", text)
	}
	for at := w.began; at.Before(w.began.Add(8 * 24 * time.Hour)); {
		at = at.Add(time.Duration(1+w.r.IntN(6)) * time.Hour)
		o := outage{from: at, to: at.Add(time.Duration(1+w.r.IntN(40)) * time.Minute)}
		if w.r.IntN(3) == 0 {
			o.limit, o.named = true, w.r.IntN(2) == 0
			o.to = at.Add(time.Duration(1+w.r.IntN(5)) * time.Hour)
		}
		w.outages = append(w.outages, o)
		at = o.to
	}
	return w
}

func (w *week) write(name, text string) {
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// night runs the boards side by side.
func (w *week) night(boards []string) []result.Result {
	keep := true
	return stage{TB: w.t, adapter: w, observer: &ledger.Silent{}, now: w.now, dir: w.dir, unwatched: w.unwatched, jobs: max(8, len(boards)/4),
		setup: preflight.Setup{Run: config.Run{KeepGoing: &keep}, Limits: event.Limits{MaxRetries: 3, BusyMillis: time.Hour.Milliseconds(),
			LimitMillis: (6 * time.Hour).Milliseconds(), Until: w.now().Add(9 * time.Hour)}}}.play(boards)
}

// stage plays boards in virtual time, with agents that are functions and walk as the Manager.
type stage struct {
	testing.TB
	adapter   agent.Adapter
	observer  ledger.Observer
	now       func() time.Time
	dir       string
	unwatched bool
	jobs      int
	setup     preflight.Setup // with the fields that the stage does not set
}

func (s stage) play(boards []string) []result.Result {
	s.Helper()
	set, err := roles.Load()
	if err != nil {
		s.Fatal(err)
	}
	settings, _, err := config.Load(config.Input{StartDir: s.dir})
	if err != nil {
		s.Fatal(err)
	}
	settings.Agent, settings.Agents = "claude", map[string]string{"manager": event.Walker}
	if s.unwatched {
		settings.Watch.Enabled = false
	}
	s.setup.Redactor, _ = redact.NewNamed(nil)
	run := &s.setup.Run
	run.OnDivergence, run.OnOverlap, run.OnTool, run.Strict = "accept", "wait", event.ToolCaveat, true
	var jobs []preflight.Job
	for _, board := range boards {
		dir, setup := filepath.Join(s.dir, board), s.setup
		setup.Roster = &roster.Roster{Settings: settings, Roles: set, Adapters: []agent.Adapter{s.adapter}}
		jobs = append(jobs, preflight.Job{Board: filepath.Join(dir, "kanban.yaml"), StartDir: dir, Observer: s.observer, Now: s.now,
			Configure: func(string) (*preflight.Setup, error) { return &setup, nil }})
	}
	prepared, errs := preflight.PrepareAll(jobs)
	if len(errs) > 0 {
		s.Fatal(errs[0])
	}
	bounds := Bounds{Jobs: s.jobs}
	all := pool.New(bounds.Jobs, bounds.MaxCost, nil)
	all.Mail.Off = true // an open file descriptor would stop the clock of the test
	return runAll(context.Background(), context.Background(), prepared, bounds, all)
}

// TestWeek: after a week of nights every board is complete, or incomplete for a true reason: its tasks that
// need a person. No task is done twice, a provider that refuses is left alone for ten seconds, and what hangs
// is ended.
func TestWeek(t *testing.T) {
	boards, tasks := 8, 8
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		boards = 16
	}
	if n, err := strconv.Atoi(os.Getenv("KANBAN_TEST_WEEK")); err == nil {
		boards, tasks = n, 20
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWeek(t, boards, tasks)
		var open []string
		for i := range boards {
			open = append(open, fmt.Sprintf("b%03d", i))
		}
		results := map[string]result.Result{}
		nights := 0
		for ; nights < 7 && len(open) > 0; nights++ {
			var left []string
			for i, res := range w.night(open) {
				results[open[i]] = res
				if res.End.Outcome != event.Complete || w.killed[open[i]] != "" {
					left = append(left, open[i])
				}
			}
			w.resurrect()
			if open = left; len(open) > 0 {
				time.Sleep(time.Until(w.began.Add(time.Duration(nights+1) * 24 * time.Hour)))
			}
		}
		w.judge(results)
		t.Logf("%d boards, %d tasks, %d nights, %v; calls %v", boards, boards*tasks, nights, time.Since(w.began).Round(time.Minute), w.calls)
	})
}

// TestLimitIsSleptThrough: the end of a limit is a time of the wall clock, so a run goes on soon after its machine
// wakes.
func TestLimitIsSleptThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeek(t, 1, 2)
		w.r, w.unwatched = rand.New(rand.NewPCG(2, 44)), true // whose trace has the times of the timers
		for _, task := range w.tasks {
			task.moods = nil
		}
		w.outages = []outage{{from: w.began, to: w.began.Add(5 * time.Hour), limit: true, named: true}}
		time.AfterFunc(10*time.Minute, func() { w.slept.Store(int64(8 * time.Hour)) })
		res := w.night([]string{"b000"})[0]
		if awake := time.Since(w.began); res.End.Outcome != event.Complete || w.calls["refused"] != 1 || awake > time.Hour {
			t.Errorf("the run ends with %s after %v awake, %s; calls %v; want it complete with one refusal in an hour", res.End.Outcome, awake, res.End.Reason, w.calls)
		}
	})
}

// judge checks how the boards stand at the end of the week.
func (w *week) judge(results map[string]result.Result) {
	for board, res := range results {
		var undone []string
		for name, task := range w.tasks {
			if of, task2, _ := strings.Cut(name, "/"); of == board && task.done == 0 {
				undone = append(undone, task2)
			}
		}
		switch {
		case len(undone) == 0 && res.End.Outcome != event.Complete:
			w.t.Errorf("%s: all is done, and it ends with %s: %s", board, res.End.Outcome, res.End.Reason)
		case len(undone) > 0 && res.End.Outcome == event.Complete:
			w.t.Errorf("%s is complete, and %v are not done", board, undone)
		case len(undone) > 0 && res.End.Outcome != event.Incomplete && res.End.Outcome != event.Exhausted:
			w.t.Errorf("%s ends with %s: %s, and %v are not done", board, res.End.Outcome, res.End.Reason, undone)
		}
		for _, task := range undone[:min(len(undone), mostNamed)] {
			if !strings.Contains(res.End.Reason, task) && len(undone) <= mostNamed {
				w.t.Errorf("%s: the end does not name %s: %s", board, task, res.End.Reason)
			}
		}
	}
}

const mostNamed = 3
