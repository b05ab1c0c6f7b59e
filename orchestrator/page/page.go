package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"sync"
	"time"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/report"
)

// Board is what the page shows of a board.
type Board struct {
	digest.Digest
	Tasks   []report.Task         // of its list; nil: it cannot be read
	Find    func(task string) int // where a journaled task is in Tasks, or -1; nil: nowhere
	State   flow.State
	Run     event.RunStarted // the last one
	Code    int              // exit code of its outcome
	Owned   bool             // a run is at work
	Agent   string           // what the agent at work does, for a live page; "": it is not known
	Records uint64           // of its journal
	Damage  string           // what is wrong with its journal; "": nothing
}

// Options are what the page says of itself.
type Options struct {
	Command string              // that makes it
	Hide    func(string) string // redacts a text
	Live    bool                // the page is served, and taken anew as it changes
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

// pageTemplate is parsed where a page is made, and not in each of the processes that make none.
var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(layout)) })

// Policy allows nothing but the page's own style and script: no request, no frame, no form. A live
// page may ask its own server.
func Policy(isLive bool) string {
	text := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(style), hashOf(scriptOf(isLive)))
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

// hashOf names a text as a Content Security Policy does.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Render renders boards as of the last entry of their journals.
func Render(boards []Board, o Options) ([]byte, error) {
	p := newPage(boards, o)
	p.Policy, p.Style, p.Script, p.Live = Policy(o.Live), template.CSS(style), template.JS(scriptOf(o.Live)), o.Live
	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, p); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return out.Bytes(), nil
}

// clock is a time of day.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05")
}
