package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var program string // kanban-run, as it is now

func TestMain(m *testing.M) {
	code := func() int {
		dir, err := os.MkdirTemp("", "browsertest")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "kanban-run")
		build := exec.Command("go", "build", "-C", "../..", "-o", program, "./cmd/kanban-run")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return 1
		}
		return m.Run()
	}()
	os.Exit(code)
}

// browserPath is Chromium. Without one the tests are skipped, unless
// KANBAN_TEST_REQUIRE_BROWSER is set.
func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("KANBAN_TEST_REQUIRE_BROWSER") != "" {
		t.Fatal("there is no Chromium here, and KANBAN_TEST_REQUIRE_BROWSER is set; hint: apt-get install chromium")
	}
	t.Skip("THERE IS NO CHROMIUM HERE: no page is looked at; hint: apt-get install chromium")
	return ""
}

// startBrowser starts a browser, whose pages open makes.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	profile, err := os.MkdirTemp("", "browsertest") // the browser may still write there when it is told to end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browserPath(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(allocated)
	t.Cleanup(stop)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// tab is a page that is looked at. Nothing may go wrong on it, and no request may leave
// it but for its own origin.
type tab struct {
	*testing.T
	ctx    context.Context
	origin string
	mu     sync.Mutex
	faults []string
}

func open(t *testing.T, browser context.Context, url string, width, height int64, dark bool) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx, origin: url}
	if i := strings.Index(url, "/?"); i > 0 {
		b.origin = url[:i]
	}
	chromedp.ListenTarget(ctx, b.hear)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.run(network.Enable(), log.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.Navigate(url))
	return b
}

// hear notes what must not happen on a page.
func (b *tab) hear(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console: %s %v", e.Type, e.Args)
	case *log.EventEntryAdded:
		fault = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		fault = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.origin) {
			fault = "request: " + e.Request.URL
		}
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eval is what an expression comes to on the page.
func eval[T any](b *tab, expression string) (v T) {
	b.Helper()
	b.run(chromedp.Evaluate(expression, &v))
	return v
}

// sound says that nothing went wrong on the page.
func (b *tab) sound() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.Errorf("on the page: %s", f)
	}
}

// shoot keeps a picture of the whole page in the folder that KANBAN_TEST_SCREENSHOTS names.
func (b *tab) shoot(name string) {
	b.Helper()
	dir := os.Getenv("KANBAN_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	b.run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.Fatal(err)
	}
}

// place is a folder with boards.
type place struct {
	*testing.T
	dir string
}

func (p place) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

// board writes a board with tasks, the first of which is current.
func (p place) board(name string, tasks ...string) {
	p.Helper()
	text := fmt.Sprintf("current: %q\ntasks:\n", tasks[0])
	for _, t := range tasks {
		text += fmt.Sprintf("  - %q\n", t)
		p.write(t, "# Task\n")
	}
	p.write(name, text)
}

// kanban runs the program, whose exit code is looked at by its caller, if at all.
func (p place) kanban(args ...string) (out string, code int) {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), program, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "IS_SANDBOX=1")
	var said strings.Builder
	cmd.Stderr = &said
	text, _ := cmd.Output()
	if cmd.ProcessState == nil {
		p.Fatalf("kanban-run did not start: %s", said.String())
	}
	return string(text) + said.String(), cmd.ProcessState.ExitCode()
}

// tear damages a journal.
func (p place) tear(name string) {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	p.write(name, strings.Replace(string(text), `"type":"REPLY_ACCEPTED"`, `"type":"REPLY_ACCEPTEX"`, 1))
}

// report makes the page of boards, and returns its address and its size.
func (p place) report(boards ...string) (url string, size int) {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), program, append([]string{"report", "--html"}, boards...)...)
	cmd.Dir = p.dir
	text, err := cmd.Output()
	if err != nil {
		p.Fatal(err)
	}
	p.write("page.html", string(text))
	return "file://" + filepath.Join(p.dir, "page.html"), len(text)
}
