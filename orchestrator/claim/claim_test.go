package claim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/durable"
)

func silent(claim.Conflict) {}

// TestOverlaps: two patterns overlap where a file can have a name for both.
func TestOverlaps(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"src/a.go", "src/a.go", true},
		{"src/a.go", "src/b.go", false},
		{"src", "src/sub/b.go", true},
		{"src/", "srcs/b.go", false},
		{"src/*.go", "src/a.go", true},
		{"src/*.go", "src/sub/a.go", false},
		{"src/*.go", "src/*.md", false},
		{"src/a*", "src/*b", true},
		{"src/a*c", "src/b*c", false},
		{"**/a.go", "src/sub/a.go", true},
		{"**/*.md", "src/*.go", false},
		{"**", "anything", true},
		{"src/**/x", "src/x", true},
		{"src/**/x/**/y", "src/a/x/b/c/y", true},
		{"v1.2/", "v1.2/x", true},
		{"Makefile", "Makefile", true},
		{"src/?.go", "src/ab.go", false},
		{"src/[ab].go", "src/c.go", true}, // a set is any character
		{"./src//a.go", "src/a.go", true},
		{"src/../docs", "docs/x", true},
		{"ä*", "ä.md", true},
	} {
		if got := claim.Overlaps(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %t", tt.a, tt.b, got)
		}
		if got := claim.Overlaps(tt.b, tt.a); got != tt.want {
			t.Errorf("%s and %s: %t", tt.b, tt.a, got)
		}
	}
}

// TestHostilePatterns: no pattern takes long.
func TestHostilePatterns(t *testing.T) {
	began := time.Now()
	stars, folders := strings.Repeat("a*", 500), strings.Repeat("**/a/", 300)
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{stars + "b", stars + "c", false}, {stars, stars, true}, {folders + "b.x", folders + "c.x", false}, {folders + "*.x", folders + "c.x", true},
		{strings.Repeat("[", 5000), "x", false}, {"a*b*c", "*abc*", true},
	} {
		if got := claim.Overlaps(tt.a, tt.b); got != tt.want {
			t.Errorf("%.20s… and %.20s…: %t", tt.a, tt.b, got)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestRandomClaims: no two claims that overlap are held at the same time, and no two boards wait
// for each other, whatever they claim in three processes.
func TestRandomClaims(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "b", "c/**", "c/d", "*", "e/*.go", "e/f.go", "**/g"}
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var registries [3]*claim.Registry // as three processes
			for i := range registries {
				registries[i] = claim.NewRegistry(claim.System{})
				defer registries[i].Close()
			}
			var mu sync.Mutex
			held := map[int]claim.Claim{}
			var wg sync.WaitGroup
			for board := range 12 {
				var steps []claim.Claim
				for range 15 {
					c := claim.Claim{Board: fmt.Sprint(board), Task: filepath.Join(dir, fmt.Sprint("task", r.IntN(6))), Dir: dir}
					for range r.IntN(3) {
						c.Files = append(c.Files, names[r.IntN(len(names))])
					}
					steps = append(steps, c)
				}
				work := time.Duration(r.IntN(100)) * time.Millisecond
				wg.Go(func() {
					for _, c := range steps {
						h, err := registries[board%len(registries)].Take(t.Context(), c, silent)
						if errors.As(err, new(*claim.TakenError)) {
							continue
						}
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						for other, x := range held {
							if x.Task == c.Task || slices.ContainsFunc(x.Files, func(a string) bool {
								return slices.ContainsFunc(c.Files, func(b string) bool { return claim.Overlaps(a, b) })
							}) {
								t.Errorf("seed %d: %+v of board %d and %+v are held together", seed, x, other, c)
							}
						}
						held[board] = c
						mu.Unlock()
						time.Sleep(work)
						mu.Lock()
						delete(held, board)
						mu.Unlock()
						if err := h.Release(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait() // synctest fails where all of them wait for ever
		})
	}
}

// TestOrder: what asks first is served first: a claim of many files is not passed by for ever.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, dir := claim.NewRegistry(claim.System{}), t.TempDir()
		defer r.Close()
		take := func(task string, files ...string) *claim.Grant {
			h, err := r.Take(t.Context(), claim.Claim{Board: task, Task: filepath.Join(dir, task), Dir: dir, Files: files}, silent)
			if err != nil {
				t.Error(err)
			}
			return h
		}
		first := take("first", "a")
		var wide, small atomic.Bool
		go func() { h := take("wide", "a", "b"); wide.Store(true); time.Sleep(time.Second); _ = h.Release() }()
		synctest.Wait()
		go func() { h := take("small", "b"); small.Store(true); _ = h.Release() }()
		synctest.Wait()
		if wide.Load() || small.Load() {
			t.Errorf("wide %t, small %t: both have to wait", wide.Load(), small.Load())
		}
		_ = first.Release()
		synctest.Wait()
		if !wide.Load() || small.Load() {
			t.Errorf("wide %t, small %t: the one that asked first works", wide.Load(), small.Load())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !small.Load() {
			t.Error("the last one waits still")
		}
	})
}

// TestConflictsAreReported: each conflict is reported once, and the end of the run ends the wait.
func TestConflictsAreReported(t *testing.T) {
	r, dir := claim.NewRegistry(claim.System{}), t.TempDir()
	defer r.Close()
	c := claim.Claim{Board: "b1", Task: filepath.Join(dir, "t1"), Dir: dir, Files: []string{"src/**"}}
	held, err := r.Take(t.Context(), c, silent)
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]claim.Claim{
		"the task":  {Board: "b2", Task: c.Task, Dir: dir},
		"its files": {Board: "b2", Task: filepath.Join(dir, "t2"), Dir: dir, Files: []string{"docs", "src/a.go"}},
	} {
		stop, cancel := context.WithCancelCause(t.Context())
		var reported []claim.Conflict
		_, err := r.Take(stop, other, func(x claim.Conflict) { reported = append(reported, x); cancel(errors.New("stopped")) })
		if err == nil || !strings.Contains(err.Error(), "stopped") || len(reported) != 1 || reported[0].Board != "b1" || reported[0].Task != c.Task || (reported[0].Files == nil) != (name == "the task") {
			t.Errorf("%s: %v, reported %+v", name, err, reported)
		}
	}
	warned := 0
	also, err := r.Take(t.Context(), claim.Claim{Board: "b3", Task: filepath.Join(dir, "t3"), Dir: dir, Files: []string{"src"}, Warn: true}, func(claim.Conflict) { warned++ })
	if err != nil || warned == 0 {
		t.Errorf("%v, reported %d times: want a warning, and no wait", err, warned)
	}
	if err := errors.Join(held.Release(), also.Release()); err != nil {
		t.Error(err)
	}
	if again, err := r.Take(t.Context(), c, func(x claim.Conflict) { t.Errorf("%+v is in the way still", x) }); err != nil {
		t.Error(err)
	} else if err := again.Release(); err != nil {
		t.Error(err)
	}
}

// TestTwoProcesses: two registries are as two processes: a task that the other has is refused at
// once, files are waited for.
func TestTwoProcesses(t *testing.T) { synctest.Test(t, testTwoProcesses) }

func testTwoProcesses(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	one, two := claim.NewRegistry(claim.System{}), claim.NewRegistry(claim.System{})
	defer two.Close()
	c := claim.Claim{Board: filepath.Join(dir, "b1.yaml"), Task: filepath.Join(dir, "tasks/t1"), Dir: dir, Files: []string{"src/**"}}
	if err := os.MkdirAll(filepath.Join(dir, "tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Take(t.Context(), c, silent); err != nil {
		t.Fatal(err)
	}
	var taken *claim.TakenError
	if _, err := two.Take(t.Context(), claim.Claim{Board: "b2", Task: c.Task, Dir: t.TempDir()}, silent); !errors.As(err, &taken) || taken.Board != c.Board {
		t.Errorf("%v, want that b1 works on it", err)
	}
	free, err := two.Take(t.Context(), claim.Claim{Board: "b2", Task: filepath.Join(dir, "tasks/t2"), Dir: dir, Files: []string{"docs"}}, func(x claim.Conflict) { t.Errorf("%+v is in the way", x) })
	if err != nil {
		t.Fatal(err)
	}
	reported := make(chan claim.Conflict, 2)
	done := make(chan error, 1)
	go func() {
		_, err := two.Take(t.Context(), claim.Claim{Board: "b3", Task: filepath.Join(dir, "tasks/t3"), Dir: dir, Files: []string{"src/a.go"}}, func(x claim.Conflict) { reported <- x })
		done <- err
	}()
	if x := <-reported; x.Board != c.Board || x.Task != c.Task || len(x.Files) != 2 {
		t.Errorf("%+v is in the way, want b1", x)
	}
	select {
	case err := <-done:
		t.Fatalf("%v: it does not wait", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := one.Close(); err != nil { // as its process ends
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := free.Release(); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "tasks/.kanban-run/claims/.gitignore")); err != nil || string(data) != "*\n" {
		t.Errorf("%q, %v: git would show the locks", data, err)
	}
}

// TestOrderOfProcesses: a claim of another process that asked before is waited for, also
// while that one waits itself.
func TestOrderOfProcesses(t *testing.T) { synctest.Test(t, testOrderOfProcesses) }

func testOrderOfProcesses(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	take := func(r *claim.Registry, task string, files ...string) (reported chan claim.Conflict, held chan *claim.Grant) {
		reported, held = make(chan claim.Conflict, 4), make(chan *claim.Grant, 1)
		go func() {
			h, err := r.Take(t.Context(), claim.Claim{Board: task, Task: filepath.Join(dir, task), Dir: dir, Files: files}, func(x claim.Conflict) { reported <- x })
			if err != nil {
				t.Error(err)
			}
			held <- h
		}()
		return reported, held
	}
	var registries [3]*claim.Registry
	for i := range registries {
		registries[i] = claim.NewRegistry(claim.System{})
		defer registries[i].Close()
	}
	_, first := take(registries[0], "first", "a")
	holds := <-first
	if holds.Waited {
		t.Error("the first has waited")
	}
	reported, wide := take(registries[1], "wide", "a", "b")
	if x := <-reported; x.Board != "first" {
		t.Errorf("%+v is in the way, want the first", x)
	}
	reported, small := take(registries[2], "small", "b")
	if x := <-reported; x.Board != "wide" {
		t.Errorf("%+v is in the way, want the one that asked before", x)
	}
	if err := holds.Release(); err != nil {
		t.Fatal(err)
	}
	select {
	case holds = <-wide:
	case <-small:
		t.Fatal("the last one passed the one before it")
	}
	if err := holds.Release(); err != nil {
		t.Fatal(err)
	}
	last := <-small
	if !holds.Waited || !last.Waited {
		t.Error("the second or the last has not waited")
	}
	if err := last.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestUnseenAgent: the lock of a task lasts as long as an agent that inherited it, also where the agent
// cannot be seen, as that of another container. A task is one file, by whatever path it is reached.
func TestUnseenAgent(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir, far := t.TempDir(), filepath.Join(t.TempDir(), "mounted")
	if err := os.Symlink(dir, far); err != nil { // for a second mount
		t.Fatal(err)
	}
	near := claim.Claim{Board: filepath.Join(dir, "b1.yaml"), Task: filepath.Join(dir, "t1"), Dir: dir, Mark: "5a"}
	there := claim.Claim{Board: filepath.Join(far, "b2.yaml"), Task: filepath.Join(far, "t1"), Dir: far, Mark: "5b"}
	dead, r := claim.NewRegistry(claim.System{}), claim.NewRegistry(claim.System{})
	defer r.Close()
	killed, err := dead.Take(t.Context(), near, silent)
	if err != nil {
		t.Fatal(err)
	}
	var taken *claim.TakenError
	if _, err := r.Take(t.Context(), there, silent); !errors.As(err, &taken) || taken.Left {
		t.Fatalf("%v beside a run that works on the task by another path, want that the run has it", err)
	}
	fd, err := syscall.Dup(int(killed.File().Fd())) // the agent's
	if err != nil {
		t.Fatal(err)
	}
	agent := os.NewFile(uintptr(fd), "agent")
	if err := errors.Join(dead.Close(), killed.File().Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []claim.Claim{near, there} {
		if _, err := r.Take(t.Context(), c, silent); !errors.As(err, &taken) || !taken.Unseen || taken.Board != near.Board || taken.Hint() == "" {
			t.Errorf("%s: %v, want that an unseen agent of %s has the task", c.Board, err, near.Board)
		}
	}
	if err := agent.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []claim.Claim{there, near} {
		g, err := r.Take(t.Context(), c, silent)
		if err != nil {
			t.Fatalf("behind the end of the agent: %v", err)
		}
		if err := g.Release(); err != nil {
			t.Fatal(err)
		}
	}
	// In one process, too.
	g, err := r.Take(t.Context(), near, silent)
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Take(stop, there, silent); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two boards of one process have a task by two paths: %v", err)
	}
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestAgentThatWasPassed: an agent of the own board that the sweep has passed is ended when it holds the task,
// also if it is not seen in that moment, as one of a chain of forks.
func TestAgentThatWasPassed(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	for _, seen := range []bool{true, false} {
		t.Run(fmt.Sprintf("seen %t", seen), func(t *testing.T) { testAgentThatWasPassed(t, seen) })
	}
}

func testAgentThatWasPassed(t *testing.T, seen bool) {
	dir := t.TempDir()
	own := claim.Claim{Board: filepath.Join(dir, "b1.yaml"), Task: filepath.Join(dir, "t1"), Dir: dir, Mark: "5a"}
	dead := claim.NewRegistry(claim.System{})
	killed, err := dead.Take(t.Context(), own, silent)
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	lives := true // and has the file of the claim
	r := claim.NewRegistry(claim.System{
		IsAtWork: func(mark string) bool { return mark == "5a" && lives && seen },
		End: func(_, _ durable.Place, marks ...string) error {
			lives = lives && !slices.Contains(marks, "5a")
			return killed.File().Close()
		},
	})
	defer r.Close()
	var taken *claim.TakenError
	other := claim.Claim{Board: filepath.Join(dir, "b2.yaml"), Task: own.Task, Dir: dir, Mark: "77"}
	if _, err := r.Take(t.Context(), other, silent); !errors.As(err, &taken) || !taken.Left || !lives {
		t.Errorf("another board: %v, want that the agent of b1 has the task, and lives", err)
	}
	g, err := r.Take(t.Context(), own, silent)
	if err != nil || lives {
		t.Fatalf("its own board: %v; the agent lives: %t", err, lives)
	}
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestCopiedClaims: the claims in a copy of a lock file are those of runs in the original's folder. They
// hold nothing in the folder of the copy, also if it has the path of the original, and end nobody.
func TestCopiedClaims(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	c := claim.Claim{Board: filepath.Join(dir, "b1.yaml"), Task: filepath.Join(dir, "t1"), Dir: dir, Files: []string{"**"}, Mark: "5a"}
	original := claim.NewRegistry(claim.System{})
	defer original.Close()
	grant, err := original.Take(t.Context(), c, silent)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, ".kanban-run")
	if err := errors.Join(os.Rename(own, own+".original"), os.CopyFS(own, os.DirFS(own+".original"))); err != nil {
		t.Fatal(err)
	}
	copied := claim.NewRegistry(claim.System{
		IsAtWork: func(mark string) bool { return mark == "5a" },
		End: func(durable.Place, durable.Place, ...string) error {
			t.Error("an agent of the original is ended")
			return nil
		},
	})
	defer copied.Close()
	second, err := copied.Take(t.Context(), c, func(x claim.Conflict) { t.Errorf("%+v is in the way", x) })
	if err != nil || second.Waited {
		t.Fatalf("Take() in the copy = %+v, %v, want a grant at once", second, err)
	}
	if err := errors.Join(second.Release(), grant.Release()); err != nil {
		t.Fatal(err)
	}
}

// TestLinkedClaims: a backup by hard links gives the lock file a second name while a task is claimed. The
// claim still holds against another run of the folder.
func TestLinkedClaims(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	c := claim.Claim{Board: filepath.Join(dir, "b1.yaml"), Task: filepath.Join(dir, "t1"), Dir: dir, Mark: "5a"}
	first, second := claim.NewRegistry(claim.System{}), claim.NewRegistry(claim.System{})
	defer first.Close()
	defer second.Close()
	grant, err := first.Take(t.Context(), c, silent)
	if err == nil {
		err = os.Link(filepath.Join(dir, ".kanban-run/claims/locks"), filepath.Join(dir, "backup"))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Board = filepath.Join(dir, "b2.yaml")
	if _, err := second.Take(t.Context(), c, silent); !errors.As(err, new(*claim.TakenError)) {
		t.Errorf("Take() of another board = %v, want that the task is taken", err)
	}
	if err := grant.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestLeftBehind: a claim holds as long as an agent of its lives, though its run and its guardian
// are gone. Its own board takes it again.
func TestLeftBehind(t *testing.T) { synctest.Test(t, testLeftBehind) }

func testLeftBehind(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	var lives atomic.Bool
	lives.Store(true)
	isAtWork := func(mark string) bool { return mark == "5a" && lives.Load() }
	c := claim.Claim{Board: filepath.Join(dir, "b1.yaml"), Task: filepath.Join(dir, "t1"), Dir: dir, Files: []string{"src/**"}, Mark: "5a"}
	dead := claim.NewRegistry(claim.System{IsAtWork: isAtWork})
	killed, err := dead.Take(t.Context(), c, silent)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dead.Close(), killed.File().Close()); err != nil { // without a release: as its process and its guardian are killed
		t.Fatal(err)
	}
	r := claim.NewRegistry(claim.System{IsAtWork: isAtWork})
	defer r.Close()
	other := claim.Claim{Board: "b2", Task: c.Task, Dir: dir, Mark: "77"}
	var taken *claim.TakenError
	if _, err := r.Take(t.Context(), other, silent); !errors.As(err, &taken) || !taken.Left || taken.Board != c.Board || !strings.Contains(taken.Error(), "still works on") {
		t.Fatalf("%v, want that an agent of b1 works on it", err)
	}
	again, err := r.Take(t.Context(), c, silent)
	if err != nil {
		t.Fatalf("its own board: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	reported := make(chan claim.Conflict, 1)
	done := make(chan error, 1)
	go func() {
		h, err := r.Take(t.Context(), claim.Claim{Board: "b3", Task: filepath.Join(dir, "t3"), Dir: dir, Files: []string{"src/a.go"}}, func(x claim.Conflict) { reported <- x })
		done <- errors.Join(err, h.Release())
	}()
	if x := <-reported; !x.Left || x.Board != c.Board {
		t.Errorf("%+v is in the way, want what b1 left", x)
	}
	lives.Store(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	h, err := r.Take(t.Context(), other, silent)
	if err != nil {
		t.Errorf("the agent is gone: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, ".kanban-run/claims/locks")); err != nil || strings.Contains(string(data), "{\"Board\"") {
		t.Errorf("%v: %q is left", err, data[:min(len(data), 200)])
	}
}

// TestWithin: a board that an agent runs works on the files of that agent's step; the
// same task it does not get.
func TestWithin(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	outer := claim.NewRegistry(claim.System{})
	defer outer.Close()
	if _, err := outer.Take(t.Context(), claim.Claim{Board: "outer", Task: filepath.Join(dir, "a"), Dir: dir, Files: []string{"src/"}, Mark: "5a"}, silent); err != nil {
		t.Fatal(err)
	}
	inner := claim.NewRegistry(claim.System{IsWithin: func(mark string) bool { return mark == "5a" }})
	defer inner.Close()
	h, err := inner.Take(t.Context(), claim.Claim{Board: "inner", Task: filepath.Join(dir, "b"), Dir: dir, Files: []string{"src/x"}, Mark: "77"}, silent)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
	if _, err := inner.Take(t.Context(), claim.Claim{Board: "inner", Task: filepath.Join(dir, "a"), Dir: dir}, silent); !errors.As(err, new(*claim.TakenError)) {
		t.Errorf("%v, want that the task is taken", err)
	}
}

// TestTakenAway: where an agent removes the file of locks, the next claims of two processes
// know of each other again.
func TestTakenAway(t *testing.T) {
	if !hasLocks {
		t.Skip("claims of other processes are Linux's")
	}
	dir := t.TempDir()
	one, two := claim.NewRegistry(claim.System{}), claim.NewRegistry(claim.System{})
	defer one.Close()
	defer two.Close()
	take := func(r *claim.Registry, task string) (*claim.Grant, error) {
		return r.Take(t.Context(), claim.Claim{Board: "b", Task: filepath.Join(dir, task), Dir: dir}, silent)
	}
	first, err := take(one, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".kanban-run")); err != nil {
		t.Fatal(err)
	}
	if _, err := take(one, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := take(two, "b"); !errors.As(err, new(*claim.TakenError)) {
		t.Errorf("%v, want that the task is taken", err)
	}
	if err := first.Release(); err != nil {
		t.Errorf("a claim of before: %v", err)
	}
}

// TestNoRoom: where no file of locks can be, the error says which.
func TestNoRoom(t *testing.T) {
	if !hasLocks {
		t.Skip("there are no files of locks")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".kanban-run"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := claim.NewRegistry(claim.System{})
	if _, err := r.Take(t.Context(), claim.Claim{Task: filepath.Join(dir, "t")}, silent); err == nil || !strings.Contains(err.Error(), "claim the tasks of "+dir) {
		t.Errorf("%v", err)
	}
	if _, err := claim.NewRegistry(claim.System{Hold: func(*os.File) (func() error, error) { return nil, errors.New("lost") }}).Take(t.Context(), claim.Claim{Task: filepath.Join(t.TempDir(), "t")}, silent); err == nil {
		t.Error("the guardian holds nothing, and nothing says so")
	}
}

// BenchmarkTake is a claim of one of 100 boards.
func BenchmarkTake(b *testing.B) {
	r, dir := claim.NewRegistry(claim.System{}), b.TempDir()
	defer r.Close()
	for i := range 99 {
		if _, err := r.Take(b.Context(), claim.Claim{Task: filepath.Join(dir, fmt.Sprint(i)), Dir: dir}, silent); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		h, err := r.Take(b.Context(), claim.Claim{Task: filepath.Join(dir, "mine"), Dir: dir}, silent)
		if err == nil {
			err = h.Release()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
