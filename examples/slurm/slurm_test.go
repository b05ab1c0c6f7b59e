//go:build linux

package slurm_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster is a Slurm of two nodes on this machine.
type cluster struct {
	*testing.T
	dir string
}

// startCluster starts Slurm, which wants to be root here.
func startCluster(t *testing.T) cluster {
	t.Helper()
	if os.Getenv("KANBAN_TEST_REQUIRE_SLURM") == "" {
		t.Skip("Slurm is started by make test-slurm, as root")
	}
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: apt-get install slurmctld slurmd slurm-client munge", err)
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // a short name: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // munged's clients look for its socket
		t.Fatal(err)
	}
	c := cluster{t, dir}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	ports := freePorts(t, 3)
	c.write("munge.key", strings.Repeat("not a secret, for a cluster of one machine", 8))
	c.write("slurm.conf", fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.sock
SlurmctldPort=%[3]d
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool-%%n
SlurmctldPidFile=%[2]s/ctld.pid
SlurmdPidFile=%[2]s/slurmd-%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=1
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=1
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`, host, dir, ports[0], ports[1], ports[2]))
	c.start("munged", "--force", "--foreground", "--key-file="+dir+"/munge.key", "--socket="+dir+"/munge.sock", "--pid-file="+dir+"/munged.pid", "--log-file="+dir+"/munged.log", "--seed-file="+dir+"/seed")
	c.until("munge.sock", func() bool { _, err := os.Stat(dir + "/munge.sock"); return err == nil })
	c.start("slurmctld", "-D")
	c.start("slurmd", "-D", "-N", "n1")
	c.start("slurmd", "-D", "-N", "n2")
	c.until("two idle nodes", func() bool { return strings.Contains(c.ask("sinfo", "-h", "-o", "%T %D"), "idle 2") })
	return c
}

func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c cluster) write(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

func (c cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.dir+"/slurm.conf")
	return cmd
}

// start starts a program that the end of the test ends.
func (c cluster) start(name string, args ...string) {
	c.Helper()
	log, err := os.Create(filepath.Join(c.dir, name+strings.Join(args[:min(3, len(args))], "")[:2]+".out"))
	if err != nil {
		c.Fatal(err)
	}
	defer log.Close()
	cmd := c.command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone
		done := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		defer done.Stop()
		_ = cmd.Wait()
	})
}

func (c cluster) ask(name string, args ...string) string {
	out, _ := c.command(name, args...).CombinedOutput() // what it prints is looked at
	return strings.TrimSpace(string(out))
}

func (c cluster) until(what string, is func() bool) {
	c.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if is() {
			return
		}
	}
	c.Fatalf("never: %s\n%s\n%s", what, c.ask("squeue"), c.ask("sinfo"))
}

// TestBoards: the boards of an array come to their ends on two nodes; one whose task is requeued,
// and one whose time is over, go on from their branches, and no task of a board is done twice.
func TestBoards(t *testing.T) {
	c := startCluster(t)
	build := exec.Command("go", "build", "-o", filepath.Join(c.dir, "bin", "kanban-run"), "kanban-run/cmd/kanban-run")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	script, err := filepath.Abs("boards.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	prepare := exec.Command("sh", "-e", "-c", `
git init -q -b main --bare far
git init -q -b main repo
cd repo
git config user.name n; git config user.email n@example.com
for board in one two three; do
  mkdir $board
  printf 'current: %s/1.md\ntasks: [%s/1.md, %s/2.md]\n' $board $board $board > $board/kanban.yaml
  echo One. > $board/1.md
  echo Two. > $board/2.md
done
cat > agent.sh <<'END'
read -r input
task=$(printf %s "$input" | sed -n 's#.*"task_file":"\([a-z]*/[0-9]\).*#\1#p')
case $task in one/2|two/2) [ -e "$DIR/go" ] || { touch "$DIR/began-${task%/2}"; sleep 60; } ;; esac
echo "$task" >> "$DIR/done"
echo "$task" >> out.txt
echo '{"status":"ok","message":"did it"}'
END
printf 'exec: {default: sh agent.sh}\nagent: {Manager: walk}\nenv: {set: {DIR: "%s"}}\n' "$DIR" > .kanban-run.yaml
git add -A
git commit -qm begin
git remote add origin ../far
git push -q origin main
printf 'one/kanban.yaml\ntwo/kanban.yaml\nthree/kanban.yaml\n' > ../boards.txt
`)
	prepare.Dir, prepare.Env = c.dir, append(os.Environ(), "DIR="+c.dir, "HOME="+c.dir)
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	t.Setenv("PATH", filepath.Join(c.dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("HOME", c.dir)
	submitted := c.ask("sbatch", "--parsable", "--array=0-2", "--output="+c.dir+"/task-%a.out", script, c.dir+"/far", c.dir+"/boards.txt")
	there := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(c.dir, name)); return err == nil }
	}
	c.until("the second task of board one", there("began-one"))
	c.until("the second task of board two", there("began-two"))
	c.write("go", "")
	if out, err := exec.Command("sh", "-ec", `cd "$1/repo" && git commit -q --allow-empty -m 'main has gone on' && git push -q origin main`, "sh", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if said := c.ask("scontrol", "requeue", submitted+"_0"); said != "" { // as after a node that failed
		t.Fatal(said)
	}
	if said := c.ask("scancel", "--batch", "--signal=TERM", submitted+"_1"); said != "" { // as before the time is over
		t.Fatal(said)
	}
	c.until("the array's end", func() bool {
		for i := range 2 { // Slurm itself waits two minutes before it starts a requeued task
			_ = c.ask("scontrol", "update", fmt.Sprintf("JobId=%s_%d", submitted, i), "StartTime=now")
		}
		return c.ask("squeue", "-h") == ""
	})
	for _, board := range []string{"one", "two", "three"} {
		show := exec.Command("git", "--git-dir", c.dir+"/far", "show", "board/"+board+"/kanban.yaml:"+board+"/kanban.yaml")
		if out, err := show.Output(); err != nil || !strings.Contains(string(out), "current: null") {
			t.Errorf("board %s: %v\n%s\n%s", board, err, out, c.outputs())
		}
	}
	done, err := os.ReadFile(filepath.Join(c.dir, "done"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{"one/1", "one/2", "two/1", "two/2", "three/1", "three/2"} {
		if n := strings.Count(string(done), task+"\n"); n != 1 {
			t.Errorf("%s was done %d times\n%s\n%s", task, n, done, c.outputs())
		}
	}
}

func (c cluster) outputs() string {
	var all strings.Builder
	for i := range 3 {
		text, _ := os.ReadFile(fmt.Sprintf("%s/task-%d.out", c.dir, i)) // of a task that never began there is none
		fmt.Fprintf(&all, "task %d:\n%s\n", i, text)
	}
	return all.String()
}
