package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the embedded parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"sync"
	"time"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/standing"
)

// Board is one board as input of the page.
type Board struct {
	Digest  digest.Digest
	Tasks   []standing.Task       // tasks of the board's list, or nil if the board cannot be read
	Waits   *standing.Waits       // decision that waits for a person, or nil
	Who     standing.Who          // action that a person has to take
	Find    func(task string) int // index of a journaled task in Tasks, or -1; a nil Find finds no task
	State   flow.State
	Run     event.RunStarted // start of the last run
	Code    int              // exit code for the outcome
	Owned   bool             // true if a run is at work
	Agent   string           // activity of the agent at work, for a live page; "" if unknown
	Records uint64           // number of records in the journal
	Damage  string           // damage of the journal in words, or ""
}

// Options are the settings of the page.
type Options struct {
	Command string              // command that makes the page; the page shows it
	Hide    func(string) string // redacts a text
	Live    bool                // true if the page is served and reloads itself when the boards change
}

var (
	//go:embed page.html
	layout string
	//go:embed style.css
	style string
	//go:embed script.js
	script string
	//go:embed live.js
	live string
)

// pageTemplate is parsed when the first page is made, because most processes make no page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(layout))
})

// Policy returns a Content Security Policy that allows only the page's own style and script: no
// request, no frame, no form. A live page may send requests to its own server.
func Policy(isLive bool) string {
	text := fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		hashOf(style), hashOf(scriptOf(isLive)))
	if isLive {
		text += "; connect-src 'self'"
	}
	return text
}

func scriptOf(isLive bool) string {
	if isLive {
		return script + live
	}
	return script
}

// hashOf returns the hash of a text in the form of a Content Security Policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Render renders boards as of the last entry of their journals.
func Render(boards []Board, o Options) ([]byte, error) {
	p := newPage(boards, o)
	p.Policy, p.Live = Policy(o.Live), o.Live
	p.Style, p.Script = template.CSS(style), template.JS(scriptOf(o.Live))
	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, p); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return out.Bytes(), nil
}

// clock formats the time of day in UTC. It returns "" for the zero time.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05")
}
