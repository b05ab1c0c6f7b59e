package page

import (
	"crypto/sha256"
	_ "embed" // for the embedded parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"sync"
	"time"

	"kanban-run/orchestrator/projection"
)

// Options are the settings of the page.
type Options struct {
	Command string                    // command that makes the page; the page shows it
	Hide    func(string) string       // redacts a text
	Live    bool                      // true if the page is served and renews itself when the boards change
	Tells   func(adapter string) bool // reports whether an agent at work can be told something; nil: none can
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
func Render(boards []*projection.Board, o Options) ([]byte, error) {
	return (&Renderer{Options: o}).Render(boards)
}

// clock formats the time of day in UTC. It returns "" for the zero time.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05")
}
