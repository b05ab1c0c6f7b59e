package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/result"
)

// bench runs boards whose agents are functions that print what claude prints. The time is virtual, and the
// files are real.
type bench struct {
	*testing.T
	agent.Adapter // claude, whose programs are functions
	ledger.Silent
	dir    string
	limits event.Limits
	record time.Duration // what it takes to journal a record
	back   atomic.Int64  // nanoseconds by which the wall clock was set back

	play  func(board string, stdout io.Writer) proc.Exit
	spoil func(board string) error // fails an attempt before it begins; nil: none; mu is held for it

	mu     sync.Mutex
	starts map[string]int // by board
}

func newBench(t *testing.T, boards ...string) *bench {
	b := &bench{T: t, Adapter: claude.New(), dir: t.TempDir(), starts: map[string]int{}}
	for _, board := range boards {
		for name, text := range map[string]string{"kanban.yaml": "current: t.md\ntasks: [t.md]\n", "t.md": "---\nrole: Implementor\n---\n"} {
			path := filepath.Join(b.dir, board, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

func (b *bench) now() time.Time { return time.Now().Round(0).Add(-time.Duration(b.back.Load())) }

// Entry takes the time of a record.
func (b *bench) Entry(string, event.Entry) { time.Sleep(b.record) }

func (b *bench) Name() string { return "claude" }

func (b *bench) Check(agent.Assignment) error { return nil }

func (b *bench) Invoke(a agent.Assignment) (agent.Invocation, error) {
	board, _ := filepath.Rel(b.dir, a.Dir)
	if b.spoil != nil {
		b.mu.Lock()
		err := b.spoil(board)
		b.mu.Unlock()
		if err != nil {
			return agent.Invocation{}, err
		}
	}
	return agent.Invocation{Argv: []string{"claude"}, Stdin: a.Input, Dir: a.Dir, Timeout: a.Timeout, Grace: a.Grace,
		Func: func(_ context.Context, stdout, _ io.Writer) proc.Exit {
			b.mu.Lock()
			b.starts[board]++
			b.mu.Unlock()
			return b.play(board, stdout)
		}}, nil
}

func (b *bench) run(boards ...string) []result.Result {
	b.Helper()
	return stage{TB: b.T, adapter: b, observer: b, now: b.now, dir: b.dir, unwatched: true, jobs: len(boards),
		setup: preflight.Setup{Limits: b.limits}}.play(boards)
}

const (
	busyReply = `{"type":"result","session_id":"s","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"API Error: 529 Overloaded","api_error_status":529}`
	okReply   = `{"type":"result","session_id":"s","subtype":"success","is_error":false,"structured_output":{"status":"ok","message":"m"},"total_cost_usd":0.01}`
)

// starts returns how often a provider that stays busy is asked within a patience: at once, after each pause,
// and once more at its end.
func startsWithin(patience time.Duration) int {
	n := 1
	for pause := 2 * time.Second; patience > 0; pause = min(2*pause, 5*time.Minute) {
		patience -= pause
		n++
	}
	return n
}

// TestEndOfPatience: design of the waits: a provider that stays busy is asked after each pause, once more at the
// end of the patience, and then the run ends; whatever a record costs, which limit it is that ends the waits,
// and also if the clock is set back. There is no storm of calls at the end.
func TestEndOfPatience(t *testing.T) {
	seeds := uint64(12)
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		seeds = 30
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 52))
				b := newBench(t, "a")
				patience := time.Duration(r.Int64N(int64([]time.Duration{3 * time.Second, time.Minute, 2 * time.Hour}[r.IntN(3)])))
				b.record = time.Duration(r.Int64N(int64(20 * time.Millisecond)))
				took := time.Duration(r.Int64N(int64(3 * time.Second))) // an agent's
				b.play = func(board string, stdout io.Writer) proc.Exit {
					if time.Sleep(took); b.starts[board] > 100 {
						fmt.Fprintln(stdout, okReply) // end the storm
						return proc.Exit{}
					}
					fmt.Fprintln(stdout, busyReply)
					return proc.Exit{Code: 1}
				}
				began, want := time.Now(), event.Later
				b.limits = event.Limits{MaxRetries: 3, BusyMillis: patience.Milliseconds()}
				patience = patience.Truncate(time.Millisecond)
				most := startsWithin(patience)
				switch kind := r.IntN(4); kind {
				case 0: // the default hour
					b.limits.BusyMillis, patience = time.Hour.Milliseconds(), time.Hour
					most = startsWithin(patience)
				case 1:
					b.limits.BusyMillis, b.limits.MaxMillis, want = time.Hour.Milliseconds()*100, max(1, patience.Milliseconds()), event.LimitReached
				case 2:
					b.limits.BusyMillis, b.limits.Until, want = time.Hour.Milliseconds()*100, b.now().Add(patience), event.LimitReached
				case 3:
					time.AfterFunc(time.Duration(r.Int64N(int64(patience+time.Second))), func() { b.back.Store(int64(48 * time.Hour)) })
				}
				res := b.run("a")[0]
				lasted, slack := time.Since(began), time.Duration(most+1)*(took+20*b.record)+2*time.Second
				if n := b.starts["a"]; res.End.Outcome != want || n > most || want == event.Later && n < most || lasted > patience+slack {
					t.Errorf("%d starts in %v, want %d within %v; it ends with %s: %s", n, lasted, most, patience, res.End.Outcome, res.End.Reason)
				}
			})
		})
	}
}

// TestAskingBoardFails: two boards of one provider wait together. The board that asks it again fails somewhere
// between its turn and the end of its attempt: the other board asks, and goes on.
func TestAskingBoardFails(t *testing.T) {
	for _, where := range []string{"prepare", "record the intent", "record the end"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, "a", "b")
				b.limits = event.Limits{MaxRetries: 3, BusyMillis: time.Hour.Milliseconds()}
				calls, failed := 0, ""
				foreign := func(board string) error { // no record can be written behind this one
					return appendTo(filepath.Join(b.dir, board, ".kanban-run/runs/kanban.yaml/journal.jsonl"), "foreign\n")
				}
				b.spoil = func(board string) error {
					if calls++; calls != 3 { // each of the two was refused once
						return nil
					}
					switch failed = board; where {
					case "prepare":
						return errors.New("its tool is gone")
					case "record the intent":
						return foreign(board)
					}
					return nil
				}
				b.play = func(board string, stdout io.Writer) proc.Exit {
					time.Sleep(time.Second)
					b.mu.Lock()
					broken := failed
					b.mu.Unlock()
					switch {
					case broken == "":
						fmt.Fprintln(stdout, busyReply)
						return proc.Exit{Code: 1}
					case board == broken:
						if err := foreign(board); err != nil {
							t.Error(err)
						}
					}
					fmt.Fprintln(stdout, okReply)
					return proc.Exit{}
				}
				for i, res := range b.run("a", "b") {
					if board := []string{"a", "b"}[i]; (res.End.Outcome == event.Complete) == (board == failed) {
						t.Errorf("board %s, while %s failed, ends with %s: %s", board, failed, res.End.Outcome, res.End.Reason)
					}
				}
			})
		})
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestToolIsAway: a tool that has worked in this run and cannot be started for some seconds is waited for, for two
// minutes at most; one that was never there is a mistake at once.
func TestToolIsAway(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to time.Duration // the time without the tool, from the start of the run
		want     event.Outcome
		lasts    time.Duration
	}{
		"for seconds":    {time.Second, 40 * time.Second, event.Complete, time.Minute},
		"for good":       {time.Second, 1000 * time.Hour, event.Invalid, 2*time.Minute + 20*time.Second},
		"from the start": {0, 1000 * time.Hour, event.Invalid, 0},
		"never":          {0, 0, event.Complete, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, began, tries := newBench(t, "a"), time.Now(), 0
				b.limits = event.Limits{MaxRetries: 3, BusyMillis: time.Hour.Milliseconds()}
				b.spoil = func(string) error {
					if at := time.Since(began); at < tt.from || at >= tt.to {
						return nil
					}
					tries++
					return &agent.ConfigError{Text: "claude cannot be started", Missing: true}
				}
				b.play = func(_ string, stdout io.Writer) proc.Exit {
					if time.Sleep(2 * time.Second); b.starts["a"] == 1 {
						fmt.Fprintln(stdout, busyReply)
						return proc.Exit{Code: 1}
					}
					fmt.Fprintln(stdout, okReply)
					return proc.Exit{}
				}
				res := b.run("a")[0]
				if lasted := time.Since(began); res.End.Outcome != tt.want || lasted > tt.lasts || tries > 12 {
					t.Errorf("%s after %v and %d tries, want %s: %s", res.End.Outcome, lasted, tries, tt.want, res.End.Reason)
				}
			})
		})
	}
}
