package proc

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stub builds the benchmark's agent: a program with a libc, or one in Go, costs more to start than
// what is measured.
func stub(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "agent")
	source := filepath.Join("..", "..", ".ci", "bench", "floor", "agent.c")
	out, err := exec.Command("cc", "-O2", "-nostdlib", "-static", "-fno-stack-protector", "-w", "-o", path, source).CombinedOutput()
	if err != nil {
		b.Skipf("no C compiler: %v\n%s", err, out)
	}
	return path
}

// BenchmarkSpawn is the price of one command that does nothing.
func BenchmarkSpawn(b *testing.B) {
	spec := &Spec{Argv: []string{stub(b)}, Env: os.Environ(), Stdin: []byte("{}\n")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(ctx, ctx, spec); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSpawnSideBySide is the same with eight at a time.
func BenchmarkSpawnSideBySide(b *testing.B) {
	spec := &Spec{Argv: []string{stub(b)}, Env: os.Environ(), Stdin: []byte("{}\n")}
	b.ReportAllocs()
	b.SetParallelism(4) // times the cores
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := Run(ctx, ctx, spec); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkThrough moves a large input in and out again.
func BenchmarkThrough(b *testing.B) {
	cat, err := LookPath("cat", "")
	if err != nil {
		b.Skip(err)
	}
	in := make([]byte, 3_600_000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		out.Grow(len(in))
		if _, err := Run(ctx, ctx, &Spec{Argv: []string{cat}, Stdin: in, Stdout: &out}); err != nil || out.Len() != len(in) {
			b.Fatal(err, out.Len())
		}
	}
}

// BenchmarkAsleep says what a command that waits holds of this process, and how long a thousand of
// them take to end together.
func BenchmarkAsleep(b *testing.B) {
	const crowd = 1000
	for b.Loop() {
		u, ended := asleep(b, crowd)
		b.ReportMetric(float64(u.rss)*1024/crowd, "B-rss/agent")
		b.ReportMetric(float64(u.fds)/crowd, "fds/agent")
		b.ReportMetric(float64(u.goroutines)/crowd, "goroutines/agent")
		b.ReportMetric(float64(u.threads), "threads")
		b.ReportMetric(ended.Seconds()*1e6/crowd, "us-end/agent")
	}
}

// restTime is long for a command to come to rest, and for its goroutines to.
const restTime = 50 * time.Millisecond

type held struct{ rss, threads, fds, goroutines int } // rss in KB

// asleep returns what so many sleeping commands hold, and the time that it took to end them all.
func asleep(tb testing.TB, crowd int) (held, time.Duration) {
	tb.Helper()
	sleep, err := LookPath("sleep", "")
	if err != nil {
		tb.Skip(err)
	}
	before := holds(tb)
	processes := make([]*Process, crowd)
	for i := range processes {
		p, err := Start(ctx, &Spec{Argv: []string{sleep, "60"}, Stdin: []byte("{}\n"), Timeout: time.Hour})
		if err != nil {
			tb.Fatal(err)
		}
		processes[i] = p
	}
	time.Sleep(restTime)
	during := holds(tb)
	began := time.Now()
	for _, p := range processes {
		p.Kill()
	}
	for _, p := range processes {
		if exit, err := p.Wait(); err != nil || !exit.Stopped {
			tb.Errorf("Wait = %v, %v", exit, err)
		}
	}
	return held{during.rss - before.rss, during.threads, during.fds - before.fds, during.goroutines - before.goroutines}, time.Since(began)
}

func holds(tb testing.TB) held {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	field := func(name string) int {
		_, rest, _ := strings.Cut(string(status), name+":")
		n, _ := strconv.Atoi(strings.Fields(rest)[0])
		return n
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return held{field("VmHWM"), field("Threads"), len(files), runtime.NumGoroutine()}
}
