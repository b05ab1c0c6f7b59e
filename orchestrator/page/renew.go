package page

import (
	"bytes"
	"fmt"
	"html/template"
	"reflect"
	"strings"

	"kanban-run/orchestrator/projection"
)

// Renderer renders a page again and again. It keeps the rows of the last page, because most rows of the
// next one are the same, and a row is rendered ten times slower than compared.
type Renderer struct {
	Options
	rows         map[string]row // by the template and the ID of the row
	texts, lines memo
	size         int // of the last page, in bytes
}

// memo keeps what was made of the texts of the last page, for the next one.
type memo struct {
	long      bool // of a long page
	last, now map[string]string
}

// turn begins the next page.
func (m *memo) turn() { m.last, m.now = m.now, make(map[string]string, len(m.now)) }

// reset forgets all texts.
func (m *memo) reset(isLong bool) { *m = memo{long: isLong, now: map[string]string{}} }

// get returns what was made of a text.
func (m *memo) get(text string, make func() string) string {
	made, known := m.now[text]
	if known {
		return made
	}
	if made, known = m.last[text]; !known {
		made = make()
	}
	m.now[text] = made
	return made
}

type row struct {
	view any
	html template.HTML
}

// Render is like the function [Render].
func (r *Renderer) Render(boards []*projection.Board) ([]byte, error) {
	r.texts.turn()
	r.lines.turn()
	p := newPage(boards, r.Options, &r.texts, &r.lines)
	p.Policy = Policy(r.Live)
	p.Style, p.Script = template.CSS(style), template.JS(scriptOf(r.Live))
	var out bytes.Buffer
	out.Grow(r.size)
	err := r.renderRows(p)
	if err == nil {
		err = pageTemplate().Execute(&out, p)
	}
	if err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	r.size = out.Len()
	return out.Bytes(), nil
}

func (r *Renderer) renderRows(p *page) (err error) {
	rows := make(map[string]row, len(r.rows))
	render := func(name, id string, view any) template.HTML {
		now := r.rows[name+id]
		if !reflect.DeepEqual(now.view, view) {
			var out bytes.Buffer
			if failed := pageTemplate().ExecuteTemplate(&out, name, view); failed != nil {
				err = failed
			}
			now = row{view, template.HTML(out.String())}
		}
		rows[name+id] = now
		return now.html
	}
	for _, v := range p.Boards {
		for _, t := range v.Tasks {
			t.HTML = render("task", t.ID, *t)
		}
		for i := range v.Rows {
			s := &v.Rows[i]
			s.HTML = render("step", v.ID+" "+s.Number, *s)
		}
	}
	r.rows = rows
	return err
}

// Difference returns a page without its style and script. Lines <li data-rows="FROM TO"> stand in it for
// the rows from FROM up to but not including TO of an earlier page, counted from 0. A row is a line, and no
// foreign text begins a line.
func Difference(was, now []byte) []byte {
	places, n := map[string]int{}, 0
	for line := range strings.Lines(string(was)) {
		if isRow(line) {
			places[line] = n
			n++
		}
	}
	var out bytes.Buffer
	from, to := 0, 0
	flush := func() {
		if from < to {
			fmt.Fprintf(&out, "<li data-rows=\"%d %d\"></li>\n", from, to)
		}
		from, to = 0, 0
	}
	ownText := "" // what ends the page's own style or script; "": the line is in none
	for line := range bytes.Lines(now) {
		switch at, known := places[string(line)]; {
		case known:
			delete(places, string(line)) // an element has one place
			if at != to || from == to {
				flush()
				from, to = at, at
			}
			to++
			continue
		case bytes.HasPrefix(line, []byte("<style>")):
			ownText = "</style>"
		case bytes.HasPrefix(line, []byte("<script>")):
			ownText = "</script>"
		}
		flush()
		if ownText == "" {
			out.Write(line)
		} else if bytes.Contains(line, []byte(ownText)) {
			ownText = ""
		}
	}
	flush()
	return out.Bytes()
}

func isRow(line string) bool { return strings.HasPrefix(line, `<li class="row"`) }
