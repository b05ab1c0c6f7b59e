package browser

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// show starts kanban-run view, and returns its address, its process, and what ends it.
func (p place) show(args ...string) (url string, pid int, end func()) {
	p.Helper()
	cmd := exec.Command(program, append([]string{"view"}, args...)...)
	cmd.Dir = p.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	end = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone
		_ = cmd.Wait()
	}
	p.Cleanup(end)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid, end
}

// start starts a run, which the test ends by kill.
func (p place) start(args ...string) *exec.Cmd {
	p.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = p.dir
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// sees waits until the page says something, and returns how long that took.
func (b *tab) sees(text string) time.Duration {
	b.Helper()
	began := time.Now()
	for end := began.Add(15 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(b.text(), text) {
			return time.Since(began)
		}
	}
	b.Fatalf("the page never says %q; it says\n%s", text, b.text())
	return 0
}

// text is what the page says; "" while another page is loaded.
func (b *tab) text() (text string) {
	if chromedp.Run(b.ctx, chromedp.Evaluate(`document.body ? document.body.innerText : ""`, &text)) != nil {
		return ""
	}
	return text
}

// isLive waits until the page's sign of its connection is as wanted.
func (b *tab) isLive(want string) {
	b.Helper()
	got := ""
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = eval[string](b, `document.documentElement.dataset.live`); got == want {
			return
		}
	}
	b.Errorf("the connection is shown as %q, want %q", got, want)
}

// agent waits for the file that is named after its task.
const agent = `read -r input
task=${input#*tasks/}
echo at work > "at-${task%%.md*}"
for i in $(seq 600); do [ -e "go-${task%%.md*}" ] && break; sleep 0.05; done
echo '{"status":"ok","message":"did '"${task%%.md*}"'"}'
`

// TestView: the page is there before, during and after a run, within a second of each
// change; the run may be killed and go on meanwhile. What the reader has opened stays open,
// and no request goes elsewhere.
func TestView(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	p.write("work.sh", agent)
	p.board("kanban.yaml", "tasks/1.md", "tasks/2.md", "tasks/3.md")
	url, _, end := p.show("kanban.yaml")
	b := open(t, browser, url, 1280, 900, false)
	b.sees("Run kanban.yaml")
	if got := eval[string](b, `location.search`); got != "" {
		t.Errorf("the address still has %q", got)
	}
	b.isLive("on")
	arguments := []string{"--quiet", "--exec", "sh work.sh", "--agent", "Manager=walk", "kanban.yaml"}
	run := p.start(arguments...)
	b.sees("At work: nothing needs you")
	p.awaits("at-1")
	b.sees("Implementor (exec), Work")
	for _, age := range []string{"1s", "2s"} {
		if took := b.sees("for\n" + age); took > 3*time.Second {
			t.Errorf("its age is %s after %v", age, took)
		}
	}
	b.run(chromedp.Click(`.task[data-k~=todo] summary`, chromedp.ByQuery))
	b.run(chromedp.Evaluate(`scrollTo(0, 200)`, nil))
	p.write("go-1", "")
	if took := b.sees("did 1"); took > 1500*time.Millisecond {
		t.Errorf("a reply was shown after %v", took)
	}
	if !eval[bool](b, `document.getElementById('b1t2d').open`) || eval[float64](b, `scrollY`) != 200 {
		t.Error("what the reader has opened and scrolled to did not stay")
	}
	if got := eval[string](b, `document.activeElement.tagName + " " + document.activeElement.textContent.slice(0, 1)`); got != "SUMMARY 2" {
		t.Errorf("the focus went to %s", got)
	}
	b.sees("live · last event ")
	b.shoot("view-at-work")

	p.awaits("at-2")
	if err := run.Process.Kill(); err != nil { // the guardian: the runner ends its agent
		t.Fatal(err)
	}
	b.sees("Not done: kanban.yaml has to be run")
	run = p.start(arguments...)
	b.sees("At work: nothing needs you")
	p.write("go-2", "")
	p.write("go-3", "")
	b.sees("Done: kanban.yaml is complete")
	if err := run.Wait(); err != nil {
		t.Error(err)
	}
	b.shoot("view-done")
	b.sound()

	b.isLive("on")
	end()
	if got := b.sees("connection lost"); got > 2*time.Second {
		t.Errorf("it was noticed after %v that the server is gone", got)
	}
}

func (p place) awaits(name string) {
	p.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			return
		}
	}
	p.Fatalf("%s never came", name)
}

// TestViewAttacks: neither the words of agents nor a page of another origin get
// anything of the live page.
func TestViewAttacks(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	p.write("work.sh", `read -r input; echo '{"status":"ok","message":"<img src=x onerror=alert(1)><script>alert(1)</script>"}'`+"\n")
	p.board("kanban.yaml", "tasks/1.md", "tasks/2.md")
	url, _, _ := p.show("kanban.yaml")
	b := open(t, browser, url, 1280, 900, false)
	b.sees("Run kanban.yaml")
	p.kanban("--quiet", "--exec", "sh work.sh", "--agent", "Manager=walk", "kanban.yaml")
	b.sees("Done: kanban.yaml is complete")
	b.sees("<img src=x onerror=alert(1)>")
	if got := eval[int](b, `document.querySelectorAll('img').length + document.scripts.length`); got != 1 {
		t.Errorf("%d elements that were none", got)
	}
	b.sound()

	other := place{t, t.TempDir()}
	other.write("evil.html", `<iframe src="`+b.origin+`/"></iframe><script>fetch('`+b.origin+`/', {credentials: 'include'}).then(r => r.text()).then(t => { document.title = 'got ' + t.length }, () => { document.title = 'refused' })</script>`)
	evil := open(t, browser, "file://"+filepath.Join(other.dir, "evil.html"), 800, 600, false)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if eval[string](evil, `document.title`) != "" {
			break
		}
	}
	if got := eval[string](evil, `document.title`); got != "refused" {
		t.Errorf("another page was told: %s", got)
	}
}

// TestViewStays: a page that is renewed five hundred times, as in a day, holds
// no more than it did before.
func TestViewStays(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	url, _, _ := p.show(scenes["blocked"](p)...)
	b := open(t, browser, url, 1280, 900, false)
	b.sees("Not done: kanban.yaml needs you")
	b.isLive("on") // the page's script, which comes last, was run
	renewed := func(times int) (nodes, heap, listeners float64) {
		b.run(chromedp.Evaluate(`(async () => { for (let i = 0; i < `+strconv.Itoa(times)+`; i++) await renew(); })()`, nil, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
			return e.WithAwaitPromise(true)
		}), heapprofiler.CollectGarbage(), performance.Enable())
		b.run(chromedp.ActionFunc(func(ctx context.Context) error {
			metrics, err := performance.GetMetrics().Do(ctx)
			for _, m := range metrics {
				switch m.Name {
				case "Nodes":
					nodes = m.Value
				case "JSHeapUsedSize":
					heap = m.Value
				case "JSEventListeners":
					listeners = m.Value
				}
			}
			return err
		}))
		return nodes, heap, listeners
	}
	nodes, heap, listeners := renewed(20)
	nodes2, heap2, listeners2 := renewed(500)
	t.Logf("nodes %.0f and %.0f, heap %.0f and %.0f, listeners %.0f and %.0f", nodes, nodes2, heap, heap2, listeners, listeners2)
	if nodes2 > 4*nodes || heap2 > 1.2*heap+1e6 || listeners2 > 4*listeners { // a leak would hold hundreds of pages; the browser may hold the last two or three
		t.Errorf("it grew: nodes %.0f to %.0f, heap %.0f to %.0f, listeners %.0f to %.0f", nodes, nodes2, heap, heap2, listeners, listeners2)
	}
	b.sound()
}

// TestViewIdle: twenty boards and five open pages cost less than 2 % of a
// core while nothing happens.
func TestViewIdle(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	url, pid, _ := p.show(scenes["twenty boards"](p)...)
	for range 5 {
		b := open(t, browser, url, 1280, 900, false)
		b.sees("Not done: 3 of 20 boards need you")
	}
	time.Sleep(time.Second)
	before := p.cpu(pid)
	const span = 5 * time.Second
	time.Sleep(span)
	used := p.cpu(pid) - before
	t.Logf("%v of %v", used, span)
	if used > span/50 {
		t.Errorf("it took %v of %v", used, span)
	}
}

// cpu is the time that a process and its children have used a processor.
func (p place) cpu(pid int) (sum time.Duration) {
	p.Helper()
	out, err := exec.Command("sh", "-c", `for p in "$1" $(pgrep -P "$1"); do cut -d' ' -f14,15 /proc/$p/stat; done`, "sh", strconv.Itoa(pid)).Output()
	if err != nil {
		p.Fatal(err)
	}
	for _, field := range strings.Fields(string(out)) {
		ticks, err := time.ParseDuration(field + "0ms") // a tick is 10 ms
		if err != nil {
			p.Fatal(err)
		}
		sum += ticks
	}
	return sum
}

// TestOpen: view --open has the browser open a file that only this user reads, which leads to the
// page; no argument has the token, and the file is gone at the end.
func TestOpen(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	p.board("kanban.yaml", "tasks/1.md")
	bin := t.TempDir() // not in the board's project, where an agent could have written it
	opener := "#!/bin/sh\nls -l \"$1\" > opened\necho \"$1\" >> opened\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(opener), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	url, _, end := p.show("--open", "kanban.yaml")
	p.awaits("opened")
	time.Sleep(100 * time.Millisecond)
	text, err := os.ReadFile(filepath.Join(p.dir, "opened"))
	if err != nil {
		t.Fatal(err)
	}
	about, file, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if !strings.HasPrefix(about, "-rw-------") || strings.Contains(file, "token") || !strings.Contains(url, "token=") {
		t.Errorf("it opens %s: %s", file, about)
	}
	b := open(t, browser, "file://"+file, 1280, 900, false)
	b.sees("Run kanban.yaml")
	if got := eval[string](b, `location.href`); !strings.HasPrefix(url, got) || strings.Contains(got, "token") {
		t.Errorf("it leads to %s", got)
	}
	end()
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", file, err)
	}
}
