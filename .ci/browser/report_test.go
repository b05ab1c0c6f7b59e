package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// An agent that is content, one that is not, and a Manager that follows.
const (
	content = "read -r input; echo '{\"status\":\"ok\",\"message\":\"the parser reads three forms; 14 of 14 examples pass\"}'\n"
	blocked = "read -r input; case $input in *task_file*2.md*) echo '{\"status\":\"blocked\",\"message\":\"there is no key\"}';; *) echo '{\"status\":\"ok\",\"message\":\"done\"}';; esac\n"
	ends    = "read -r input; case $input in *done_task\\\":\\\"tasks/1.md*) echo '{\"status\":\"ok\",\"message\":\"on\",\"next_task\":\"tasks/2.md\",\"tasks\":[\"tasks/1.md\",\"tasks/2.md\",\"tasks/3.md\"]}'; exit;; esac; echo '{\"status\":\"blocked\",\"message\":\"2 needs a key\",\"next_task\":null,\"tasks\":[\"tasks/1.md\",\"tasks/2.md\",\"tasks/3.md\"]}'\n"
	// The first reply is none, then it hangs once, then its work is sent back once.
	troubled = "read -r input\nif [ ! -e one ]; then : > one; echo none; exit; fi\nif [ ! -e two ]; then : > two; exec sleep 30; fi\necho '{\"status\":\"ok\",\"message\":\"done\"}'\n"
	verdict  = "if [ ! -e three ]; then : > three; echo 'TestParse fails'; exit 1; fi\n"
	// A supervisor that is content with the first task only.
	supervisor = `n=0
while read -r line; do case $line in
'{"type":"init"'*) echo '{"type":"ready","message":"ready"}' ;;
'{"type":"checkpoint_request"'*)
  n=$((n+1)) id=${line#*'"task_id":"'} id=${id%%'"'*} verdict=pass score=0.9 found=''
  [ $n = 1 ] || { verdict=block score=0.2 found='"the parser reads no dates","2 of 14 examples fail"'; }
  printf '{"type":"checkpoint_reply","task_id":"%s","verdict":"%s","score":%s,"key_findings":[%s],"risks":[],"quality_trend":"declining"}\n' "$id" $verdict $score "$found" ;;
*) id=${line#*'"request_id":"'}; printf '{"type":"shutdown_response","request_id":"%s","approve":true}\n' "${id%%'"'*}"; exit ;;
esac; done
`
	looks = `while read -r line; do case $line in
*'"type":"ready"'*) echo '{"status":"ok","message":"ready"}' ;;
*) exit ;; esac; done
`
)

// scenes are what the page has to show well.
var scenes = map[string]func(p place) (boards []string){
	"complete": func(p place) []string {
		p.write("work.sh", content)
		p.board("kanban.yaml", "tasks/1.md", "tasks/2.md", "tasks/3.md")
		p.kanban("--exec", "sh work.sh", "--agent", "Manager=walk", "kanban.yaml")
		return []string{"kanban.yaml"}
	},
	"blocked": func(p place) []string {
		p.write("work.sh", blocked)
		p.write("manager.sh", ends)
		p.board("kanban.yaml", "tasks/1.md", "tasks/2.md", "tasks/3.md")
		p.kanban("--exec", "sh work.sh", "--exec", "Manager=sh manager.sh", "kanban.yaml")
		return []string{"kanban.yaml"}
	},
	"troubled": func(p place) []string {
		p.write("work.sh", troubled)
		p.write("verdict.sh", verdict)
		p.write("looks.sh", looks)
		p.write(".kanban-run.yaml", "watch: {silent_agents: act, frequency: 200ms, idle_warning: 1s, idle_timeout: 2s, grace: 0s}\n")
		p.write(".kanban-run/roles/Implementor.md", "---\nname: Implementor\naccepts: [feedback]\nreview: {command: [sh, verdict.sh]}\n---\n")
		p.board("kanban.yaml", "tasks/1.md", "tasks/2.md")
		p.kanban("--exec", "sh work.sh", "--agent", "Manager=walk", "kanban.yaml")
		return []string{"kanban.yaml"}
	},
	"forty long names": func(p place) (boards []string) {
		var tasks []string
		for i := range 40 {
			tasks = append(tasks, fmt.Sprintf("tasks/%02d%s.md", i, strings.Repeat("nameof180letters", 11)))
		}
		p.board("kanban.yaml", tasks...)
		long := strings.Repeat("boardof180letters", 10) + "1234567890.yaml"
		p.board(long, tasks...)
		p.kanban("--agent", "stub", "--max-steps", "3", "kanban.yaml")
		p.kanban("--agent", "stub", long)
		return []string{"kanban.yaml", long}
	},
	"twenty boards": func(p place) (boards []string) {
		p.write("work.sh", blocked)
		for i := range 20 {
			name := fmt.Sprintf("board-%02d.yaml", i)
			tasks := []string{fmt.Sprintf("b%d/1.md", i), fmt.Sprintf("b%d/3.md", i)}
			if i%7 == 3 {
				tasks = append(tasks, fmt.Sprintf("b%d/2.md", i))
			}
			p.board(name, tasks...)
			boards = append(boards, name)
		}
		p.kanban(append([]string{"-j", "4", "--strict", "--exec", "sh work.sh", "--agent", "Manager=walk"}, boards...)...)
		return boards
	},
	"never run": func(p place) []string {
		p.board("kanban.yaml", "tasks/1.md")
		return []string{"kanban.yaml"}
	},
	"checkpoint blocks": func(p place) []string {
		p.write("work.sh", content)
		p.write("looks.sh", supervisor)
		p.board("kanban.yaml", "tasks/1.md", "tasks/2.md", "tasks/3.md")
		p.write("with.yaml", "current: tasks/1.md\ntasks: [tasks/1.md, tasks/2.md, tasks/3.md]\ncheckpoints: {every: 1, on_block: person}\n")
		p.kanban("--exec", "sh work.sh", "--agent", "Manager=walk", "--exec", "Supervisor=sh looks.sh", "with.yaml")
		return []string{"with.yaml"}
	},
	"damaged": func(p place) []string {
		p.write("work.sh", content)
		p.board("kanban.yaml", "tasks/1.md", "tasks/2.md")
		p.kanban("--exec", "sh work.sh", "--agent", "Manager=walk", "kanban.yaml")
		p.tear(".kanban-run/runs/kanban.yaml/journal.jsonl")
		return []string{"kanban.yaml"}
	},
}

// TestReport: each scene is shown without a fault, in light and dark, on a phone and on a wide
// screen; no text runs out of the page; the first screen has the answer.
func TestReport(t *testing.T) {
	browser := startBrowser(t)
	want := map[string]string{"complete": "Done: kanban.yaml is complete", "blocked": "Not done: kanban.yaml needs you", "troubled": "Done: kanban.yaml is complete",
		"twenty boards": "Not done: 3 of 20 boards need you", "never run": "Not done: kanban.yaml has to be run", "forty long names": "Not done: kanban.yaml has to be run", "checkpoint blocks": "Not done: with.yaml needs you", "damaged": "Not done: kanban.yaml needs you"}
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			p := place{t, t.TempDir()}
			url, _ := p.report(scene(p)...)
			grounds := map[string]bool{}
			for _, width := range []int64{80, 320, 400, 1280, 1600} {
				for _, dark := range []bool{false, true} {
					b := open(t, browser, url, width, 900, dark)
					if got := eval[string](b, `document.querySelector('h1').textContent`); got != want[name] {
						t.Errorf("the headline is %q, want %q", got, want[name])
					}
					if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 && width > 80 { // no screen is so narrow: there it scrolls
						t.Errorf("at %d pixels it is %d too wide", width, over)
					}
					if at := eval[float64](b, `(document.querySelector('#next') || document.querySelector('.sum')).getBoundingClientRect().top`); at > 900 && width > 1000 {
						t.Errorf("at %d pixels the answer begins at %v", width, at)
					}
					grounds[eval[string](b, `getComputedStyle(document.documentElement).backgroundColor`)] = true
					if width > 80 { // no picture can be as high as the page is there
						b.shoot(fmt.Sprintf("%s-%d-%t", strings.ReplaceAll(name, " ", "-"), width, dark))
					}
					b.sound()
				}
			}
			if len(grounds) != 2 {
				t.Errorf("light and dark have the grounds %v", grounds)
			}
		})
	}
}

// TestFilterKeyboardPrint: the page is walked by keyboard, filtered, and printed.
func TestFilterKeyboardPrint(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	url, _ := p.report(scenes["blocked"](p)...)
	b := open(t, browser, url, 1280, 900, false)
	b.run(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.textContent`); got != "What to do next" {
		t.Errorf("the first stop is %q", got)
	}
	b.run(chromedp.Focus("#boards .task summary", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	if !eval[bool](b, `document.querySelector('#boards details').open`) {
		t.Error("Enter does not open a task")
	}
	b.run(chromedp.Click(`[data-show=trouble]`, chromedp.ByQuery))
	if got := eval[string](b, `document.querySelector('.count').textContent`); got != "1 of 3" {
		t.Errorf("with trouble: %q", got)
	}
	b.run(chromedp.Click(`[data-show=""]`, chromedp.ByQuery), chromedp.SendKeys(`input`, "there is no key", chromedp.ByQuery))
	if got := eval[int](b, `document.querySelectorAll('.task:not([hidden])').length`); got != 1 {
		t.Errorf("%d tasks say so", got)
	}
	b.run(chromedp.Click(`[data-open="1"]`, chromedp.ByQuery))
	if got := eval[int](b, `document.querySelectorAll('#boards details:not([open])').length`); got != 0 {
		t.Errorf("open all leaves %d closed", got)
	}
	var pdf []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Error("it cannot be printed")
	}
	b.sound()
}

// TestWithoutScript: the page says everything without its script.
func TestWithoutScript(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	url, _ := p.report(scenes["blocked"](p)...)
	b := open(t, browser, "about:blank", 1280, 900, false)
	b.origin = url
	b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(url))
	var text string
	b.run(chromedp.Text("main", &text))
	for _, want := range []string{"Not done: kanban.yaml needs you", "Unblock tasks/2.md", "there is no key", "kanban-run ack kanban.yaml retry"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	b.sound()
}

// TestThousandSteps: view.md: at most 2 MB, and the first paint within a second.
func TestThousandSteps(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	var tasks []string
	for i := range 1000 {
		tasks = append(tasks, fmt.Sprintf("tasks/%d-a-task-with-a-name.md", i))
	}
	p.board("kanban.yaml", tasks...)
	if out, code := p.kanban("--quiet", "--agent", "stub", "--agent", "Manager=walk", "kanban.yaml"); code != 0 {
		t.Fatal(out)
	}
	url, size := p.report("kanban.yaml")
	b := open(t, browser, url, 1280, 900, false)
	paint := eval[float64](b, `performance.getEntriesByName('first-contentful-paint')[0].startTime`)
	loaded := eval[float64](b, `performance.timing.loadEventEnd - performance.timing.navigationStart`)
	t.Logf("%d bytes, first paint after %.0f ms, loaded after %.0f ms", size, paint, loaded)
	if size > 2_000_000 || paint > 1000 {
		t.Errorf("%d bytes, first paint after %.0f ms", size, paint)
	}
	if got := eval[int](b, `document.querySelectorAll('.task').length`); got != 1000 {
		t.Errorf("%d tasks", got)
	}
	b.sound()
}

// TestAttacks: whatever agents, boards, roles and file names say is text: no script runs, no
// element is made, no request leaves.
func TestAttacks(t *testing.T) {
	browser := startBrowser(t)
	for i, evil := range []string{
		`<script>pwned=1;alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' autofocus onfocus='alert(1)`, `<style>*{display:none}</style>`,
		`javascript:alert(1)`, `<a href="javascript:alert(1)">x</a>`, `<iframe srcdoc="<script>alert(1)</script>">`, `--><script>alert(1)</script>`, `<base href=//x.test>`,
		`<meta http-equiv=refresh content=0;url=//x.test>`, `url(//x.test)`, `{{constructor.constructor('alert(1)')()}}`, `%%{init: {"securityLevel":"loose"}}%%`, `[x](javascript:alert(1))`, `<math><mi xlink:href="data:x,<script>alert(1)</script>">`,
	} {
		p := place{t, t.TempDir()}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(evil)
		p.write("reply", `{"status":"ok","message":"`+quoted+`"}`)
		p.write("work.sh", "read -r input\nif [ ! -e one ]; then : > one; cat reply; echo 'and no JSON'; cat reply >&2; exit; fi\ncat reply\n")
		name := strings.NewReplacer("/", "∕").Replace(evil)
		task := fmt.Sprintf("tasks/%s.md", name)
		p.board("b"+name+".yaml", task)
		out, _ := p.kanban("--exec", "sh work.sh", "--agent", "Manager=walk", "--", "b"+name+".yaml")
		url, _ := p.report("--", "b"+name+".yaml")
		b := open(t, browser, url, 1280, 900, false)
		if got := eval[string](b, `[typeof pwned, document.scripts.length, document.querySelectorAll('img,iframe,base,math,object,embed,link').length, document.styleSheets.length, document.querySelectorAll('a[href]:not([href^="#"])').length].join()`); got != "undefined,1,0,1,0" {
			t.Errorf("%d %s: %s\n%s", i, evil, got, out)
		}
		if got := eval[string](b, `document.body.innerText`); !strings.Contains(got, name) {
			t.Errorf("%d: %s is not on the page as it is: %s", i, evil, out)
		}
		b.sound()
	}
}
