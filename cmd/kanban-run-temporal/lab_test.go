package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test's own binary is kanban-run-temporal where it is started with asProgram set.
const asProgram = "KANBAN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		_ = os.Unsetenv(asProgram)
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// kanbanRun builds kanban-run once.
var kanbanRun = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kanban-run")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kanban-run")
	out, err := exec.Command("go", "build", "-C", "../..", "-o", path, "./cmd/kanban-run").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// lease is that of the tests' workers.
const lease = 4 * time.Second

// tasks is how many a board has. Each takes about half a second.
const tasks = 8

// lab is a server, and a repository with boards.
type lab struct {
	*testing.T
	dir     string
	remote  string // address of the repository
	port    int    // of the server
	program string // kanban-run
	server  *exec.Cmd
}

// newLab starts a server, or skips the test where there is no program for it.
func newLab(t *testing.T, boards int) *lab {
	t.Helper()
	l := bareLab(t, boards)
	l.startServer()
	return l
}

// bareLab has no server yet.
func bareLab(t *testing.T, boards int) *lab {
	t.Helper()
	if os.Getenv("KANBAN_TEST_TEMPORAL") == "" {
		t.Skip("KANBAN_TEST_TEMPORAL names no program temporal: make test-temporal builds one")
	}
	t.Parallel() // most tests wait most of the time
	program, err := kanbanRun()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{T: t, dir: t.TempDir(), program: program}
	l.remote = filepath.Join(l.dir, "git", "project.git")
	l.git(l.dir, "init", "--quiet", "--bare", "--initial-branch=main", l.remote)
	for i := range boards {
		l.addBoard(i+1, tasks)
	}
	l.write("work.sh", strings.ReplaceAll(agent, "LAB", l.dir))
	t.Cleanup(l.checkProcesses)
	return l
}

// agent does a task in half a second, and notes when it was called for a step
// that the board's branch has.
const agent = `in=$(cat)
n=$(printf '%s' "$in" | sed -n 's#.*tasks/\([0-9]*\)\.md.*#\1#p' | head -n 1)
board=$(basename "$PWD")
if git --git-dir LAB/git/project.git log --format=%s "refs/heads/board/boards/$board/kanban.yaml" 2>/dev/null | grep -q "step $n: Implementor"; then
  echo "$board $n" >>LAB/repeated
fi
echo "$board $n $(date +%s%N)" >>LAB/calls
sleep 0.5
echo "did $n" >>out.txt
printf '{"status":"ok","message":"did %s"}\n' "$n"
`

// addBoard commits a board with tasks.
func (l *lab) addBoard(number, tasks int) string {
	l.Helper()
	work := filepath.Join(l.dir, "source")
	if _, err := os.Stat(work); err != nil {
		l.git(l.dir, "init", "--quiet", "--initial-branch=main", work)
		l.git(work, "remote", "add", "origin", l.remote)
	}
	name := fmt.Sprintf("boards/b%02d", number)
	board := "current: tasks/1.md\ntasks:\n"
	for i := range tasks {
		l.write(fmt.Sprintf("source/%s/tasks/%d.md", name, i+1), fmt.Sprintf("---\nrole: Implementor\n---\nDo %d.\n", i+1))
		board += fmt.Sprintf("  - tasks/%d.md\n", i+1)
	}
	l.write("source/"+name+"/kanban.yaml", board)
	l.git(work, "add", "--all")
	l.git(work, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message=board")
	l.git(work, "push", "--quiet", "origin", "HEAD:main")
	return name + "/kanban.yaml"
}

func board(number int) string { return fmt.Sprintf("boards/b%02d/kanban.yaml", number) }

func (l *lab) write(name, text string) {
	l.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) read(name string) string {
	l.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil && !os.IsNotExist(err) {
		l.Fatal(err)
	}
	return string(text)
}

func (l *lab) git(dir string, args ...string) string {
	l.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		l.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// startServer starts the server, or starts it again with what it knew.
func (l *lab) startServer() {
	l.Helper()
	if l.port == 0 {
		l.port = freePort(l.T)
	}
	log, err := os.OpenFile(filepath.Join(l.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.Fatal(err)
	}
	defer log.Close()
	c := exec.Command(os.Getenv("KANBAN_TEST_TEMPORAL"), "server", "start-dev", "--headless", "--port", strconv.Itoa(l.port), "--db-filename", filepath.Join(l.dir, "db"), "--log-level", "error")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		l.Fatal(err)
	}
	l.server = c
	l.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	l.until(time.Minute, "the server answers", func() bool {
		_, err := l.ask("operator", "cluster", "health")
		return err == nil
	})
	l.until(time.Minute, "the namespace is there", func() bool {
		_, err := l.ask("operator", "namespace", "describe", "default")
		return err == nil
	})
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// ask has the server's own program ask it.
func (l *lab) ask(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, os.Getenv("KANBAN_TEST_TEMPORAL"), append(args, "--address", l.address())...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func (l *lab) address() string { return "127.0.0.1:" + strconv.Itoa(l.port) }

// until waits for something, and fails the test if it does not come.
func (l *lab) until(most time.Duration, what string, is func() bool) {
	l.Helper()
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return
		}
	}
	l.Fatalf("after %v it is still not so that %s\n%s", most, what, l.logs())
}

func (l *lab) logs() (all string) {
	names, _ := filepath.Glob(filepath.Join(l.dir, "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		all += "== " + filepath.Base(name) + "\n" + string(text[max(0, len(text)-4000):])
	}
	return all + "== calls\n" + l.read("calls")
}

// command is kanban-run-temporal.
func (l *lab) command(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Dir = l.dir
	c.Env = append(os.Environ(), asProgram+"=1", "CI=true", "TEMPORAL_ADDRESS="+l.address(), "TEMPORAL_CONFIG_FILE="+os.DevNull)
	return c
}

// submit returns what submit says, and its exit code.
func (l *lab) submit(args ...string) (string, int) {
	l.Helper()
	c := l.command(append([]string{"submit"}, args...)...)
	limit := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	defer limit.Stop()
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState.ExitCode() < 1 {
		l.Fatalf("submit %v: %v: %s\n%s", args, err, out, l.logs())
	}
	return string(out), c.ProcessState.ExitCode()
}

// mustSubmit hands boards in.
func (l *lab) mustSubmit(args ...string) {
	l.Helper()
	if out, code := l.submit(args...); code != 0 {
		l.Fatalf("submit %v: exit %d: %s", args, code, out)
	}
}

// machine is a worker, with a folder of its own.
type machine struct {
	*lab
	name string
	cmd  *exec.Cmd
}

// implementors have the task agent be agent, and the Manager a stub.
func (l *lab) implementors() []string {
	return []string{"--agent=stub", "--exec=Implementor=sh " + l.dir + "/work.sh"}
}

// startWorker starts a worker with flags for kanban-run.
func (l *lab) startWorker(name string, flags, forRuns []string) *machine {
	l.Helper()
	args := append([]string{"worker", "--repository", filepath.Dir(l.remote) + "/", "--kanban-run", l.program, "--work", filepath.Join(l.dir, name), "--lease", lease.String()}, flags...)
	return l.startMachine(name, l.command(append(append(args, "--"), forRuns...)...))
}

func (l *lab) startMachine(name string, c *exec.Cmd) *machine {
	l.Helper()
	log, err := os.OpenFile(filepath.Join(l.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.Fatal(err)
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		l.Fatal(err)
	}
	m := &machine{l, name, c}
	l.Cleanup(func() { m.stop() })
	return m
}

// kill ends the worker alone; its runs notice.
func (m *machine) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// lose ends everything on the machine at once.
func (m *machine) lose() {
	_ = m.cmd.Process.Kill()
	for range 3 { // what was just started, too
		for _, pid := range processesIn(filepath.Join(m.dir, m.name)) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = m.cmd.Wait()
}

// stop ends the worker as a service manager does, and says how long that took.
func (m *machine) stop() time.Duration {
	if m.cmd.ProcessState != nil {
		return 0
	}
	began := time.Now()
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	_ = m.cmd.Wait()
	return time.Since(began)
}

// processesIn are those whose working directory or command line is in a folder.
func processesIn(dir string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		cwd, _ := os.Readlink("/proc/" + e.Name() + "/cwd")
		args, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if strings.HasPrefix(cwd, dir) || strings.Contains(string(args), dir+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkProcesses looks whether a run has outlived the workers: it runs
// after they have been stopped.
func (l *lab) checkProcesses() {
	left := func() (left []string) {
		for _, pid := range processesIn(l.dir) {
			args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if line := strings.ReplaceAll(string(args), "\x00", " "); line != "" {
				left = append(left, line)
			}
		}
		return left
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && len(left()) > 0; time.Sleep(100 * time.Millisecond) {
	}
	if l := left(); len(l) > 0 {
		panic(fmt.Sprintf("processes are left: %q", l))
	}
}

// subjects are those of the commits of a board's branch, oldest first.
func (l *lab) subjects(board string) []string {
	c := exec.Command("git", "--git-dir", l.remote, "log", "--reverse", "--format=%s", "refs/heads/board/"+board, "--not", "main")
	out, err := c.Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// isAt says whether a board's branch has a step.
func (l *lab) isAt(board string, step int) bool {
	return slices.Contains(l.subjects(board), fmt.Sprintf("%s: step %d: Implementor ok", board, step))
}

// wantWhole looks whether a board is complete, each of its steps was accepted once, in order, and
// no finished call was repeated.
func (l *lab) wantWhole(board string) {
	l.Helper()
	var got, want []string
	for _, s := range l.subjects(board) {
		if strings.Contains(s, ": step ") {
			got = append(got, strings.TrimPrefix(s, board+": "))
		}
	}
	for i := range tasks {
		want = append(want, fmt.Sprintf("step %d: Implementor ok", i+1), fmt.Sprintf("step %d: Manager ok", i+1))
	}
	if !slices.Equal(got, want) {
		l.Errorf("the branch of %s has the steps %q", board, got)
	}
	if repeated := l.read("repeated"); repeated != "" {
		l.Errorf("finished calls were repeated: %s", repeated)
	}
}

// link is a connection to the server that can be cut without a word, as a network does it.
type link struct {
	port int
	mu   sync.Mutex
	cut  chan struct{} // is closed while the link is whole; nothing passes else
}

func (l *lab) newLink() *link {
	l.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = listener.Close() })
	k := &link{port: listener.Addr().(*net.TCPAddr).Port, cut: make(chan struct{})}
	close(k.cut)
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go k.pass(near, l.address())
		}
	}()
	return k
}

func (k *link) pass(near net.Conn, address string) {
	defer near.Close()
	far, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer far.Close()
	go func() { _, _ = io.Copy(gate{far, k}, near); _ = far.Close() }()
	_, _ = io.Copy(gate{near, k}, far)
}

// gate lets bytes pass only while the link is whole.
type gate struct {
	io.Writer
	link *link
}

func (g gate) Write(p []byte) (int, error) {
	g.link.mu.Lock()
	whole := g.link.cut
	g.link.mu.Unlock()
	<-whole
	return g.Writer.Write(p)
}

func (k *link) Cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = make(chan struct{})
}

func (k *link) Mend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.cut)
}
