package browser

import (
	"fmt"
	"strings"
	"testing"
)

// Agents of a night: what each does is in the name of its task.
const (
	nightly = `read -r input
case $input in
*blocked-*/2.md*) echo '{"status":"blocked","message":"the staging database refuses the password of user ci; I have no new one"}' ;;
*crash-*/2.md*) echo "KeyError: 'dates'" >&2; exit 1 ;;
*) echo '{"status":"ok","message":"changed 3 files, 12 tests pass"}' ;;
esac
`
	sameAgain = `read -r input
echo '{"status":"ok","message":"again, it is not good enough","next_task":"loop/1.md","tasks":["loop/1.md","loop/2.md","loop/3.md","loop/4.md","loop/5.md"]}'
`
	endsEarly = `read -r input
task=${input#*done_task\":\"} task=${task%%/*}
echo '{"status":"ok","message":"that is all","next_task":null,"tasks":["'$task'/1.md","'$task'/2.md","'$task'/3.md","'$task'/4.md","'$task'/5.md"]}'
`
)

// night plays 21 boards as a person finds them in the morning: 4 complete, 5 blocked, 3 without a valid reply, 3 at a limit,
// 2 ended early, a loop, 2 never run, one that cannot be read.
func night(p place) (boards []string) {
	p.write("work.sh", nightly)
	p.write("same.sh", sameAgain)
	p.write("early.sh", endsEarly)
	add := func(kind string, n int) (names []string) {
		for i := range n {
			folder := fmt.Sprintf("%s-%d", kind, i+1)
			if n == 1 {
				folder = kind
			}
			var tasks []string
			for k := range 5 {
				tasks = append(tasks, fmt.Sprintf("%s/%d.md", folder, k+1))
			}
			p.board(folder+".yaml", tasks...)
			names = append(names, folder+".yaml")
		}
		boards = append(boards, names...)
		return names
	}
	worked := append(append(add("complete", 4), add("blocked", 5)...), add("crash", 3)...)
	walk := []string{"--quiet", "-j", "4", "--max-retries", "1", "--strict", "--exec", "sh work.sh", "--agent", "Manager=walk"}
	p.kanban(append(walk, worked...)...)
	p.kanban(append(append(walk, "--max-steps", "2"), add("limit", 3)...)...)
	p.kanban(append([]string{"--quiet", "--exec", "sh work.sh", "--exec", "Manager=sh same.sh"}, add("loop", 1)...)...)
	p.kanban(append([]string{"--quiet", "-j", "2", "--exec", "sh work.sh", "--exec", "Manager=sh early.sh"}, add("early", 2)...)...)
	add("never", 2)
	p.write(add("unreadable", 1)[0], "current: 1.md\ntasks:\n  - 1.md: bad: [x\n")
	return boards
}

// TestNight: a night of 21 boards is within 9,600 pixels on a phone, where the table has the reasons, too, and 5,200 on a
// screen, and nothing has to be scrolled sideways; a loop is one row.
func TestNight(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	url, _ := p.report(night(p)...)
	for width, most := range map[int64]int{400: 9600, 1280: 5200} {
		for _, dark := range []bool{false, true} {
			b := open(t, browser, url, width, 900, dark)
			b.shoot(fmt.Sprintf("night-%d-%t", width, dark))
			height := eval[int](b, `document.documentElement.scrollHeight`)
			t.Logf("%d pixels wide, dark %t: %d high", width, dark, height)
			if height > most {
				t.Errorf("at %d pixels the page is %d high, want at most %d", width, height, most)
			}
			if got := eval[int](b, `document.documentElement.scrollWidth`); got != int(width) {
				t.Errorf("at %d pixels the page is %d wide", width, got)
			}
			if got := eval[string](b, `document.querySelector('h1').textContent`); got != "Not done: 12 of 21 boards need you" {
				t.Errorf("the headline is %q", got)
			}
			if got := eval[string](b, `[...document.querySelectorAll('.wf .of b')].map(e => e.textContent).join()`); !strings.HasPrefix(got, "×") {
				t.Errorf("the rows of the loop are %q", got)
			}
			if got := eval[string](b, `[document.querySelectorAll('#boards > .bd').length, document.querySelectorAll('#boards > details.bd').length].join()`); got != "21,6" {
				t.Errorf("%s boards, and rows among them; want 21,6", got)
			}
			if got := eval[string](b, contrasts); got != "" {
				t.Errorf("at %d pixels, dark %t, this is hard to read: %s", width, dark, got)
			}
			b.sound()
		}
	}
}

// contrasts names the texts whose contrast to what is behind them is less than 4.5.
const contrasts = `(() => {
  const parts = c => c.match(/[\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = parts(c).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (parts(c)[3] !== 0) return c; } };
  const bad = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let looked = 0;
  for (let n; n = walker.nextNode();) {
    const e = n.parentElement;
    if (!n.data.trim() || e.closest('script, style, title, defs') || !e.checkVisibility()) continue;
    const style = getComputedStyle(e), [a, b] = [light(e.closest('svg') ? style.fill : style.color), light(ground(e))];
    looked++;
    if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + n.data.trim());
  }
  return looked < 200 ? 'only ' + looked + ' texts' : [...bad].slice(0, 5).join('; ');
})()`

// TestColumns: the groups of few boards stand side by side on a wide screen, with what is empty as its head; on a phone, and
// for a night everywhere, they are rows, and what is empty is not there.
func TestColumns(t *testing.T) {
	browser := startBrowser(t)
	p := place{t, t.TempDir()}
	few, _ := p.report(scenes["blocked"](p)...)
	const groups = `(() => { const all = [...document.querySelectorAll('.groups')][0].children, seen = [...all].filter(e => e.checkVisibility()), at = f => new Set(seen.map(e => Math.round(f(e.getBoundingClientRect())))).size;
		return [all.length, seen.length, at(r => r.top), at(r => r.left)].join(); })()`
	for width, want := range map[int64]string{1280: "6,6,1,6", 400: "6,3,2,2"} {
		b := open(t, browser, few, width, 900, false)
		if got := eval[string](b, groups); got != want {
			t.Errorf("at %d pixels: groups, visible ones, and their different tops and lefts are %s, want %s", width, got, want)
		}
		b.shoot(fmt.Sprintf("columns-%d", width))
	}
	b := open(t, browser, few, 1280, 900, false)
	card := `document.querySelector('.task:has(.bad)')`
	before := eval[float64](b, card+`.getBoundingClientRect().width`)
	if after := eval[float64](b, `(() => { const card = `+card+`; card.open = true; return card.getBoundingClientRect().width; })()`); after < 1.5*before {
		t.Errorf("an opened card is %.0f pixels wide, and was %.0f", after, before)
	}
	b.shoot("columns-opened")
	b.sound()
	many := place{t, t.TempDir()}
	rows, _ := many.report(scenes["twenty boards"](many)...)
	if got := eval[string](open(t, browser, rows, 1280, 900, false), groups); !strings.HasPrefix(got, "6,2,") {
		t.Errorf("twenty boards have columns: %s", got)
	}
}
