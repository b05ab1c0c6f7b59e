package board

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// sketch is a board in pieces. The text is put together from them, so the test knows the result of
// every edit.
type sketch struct {
	before, after string // fence, fields and comments around the list
	current       string // the value as written
	currentTail   string
	open, close   string // around the items
	gaps          []string
	texts, paths  []string
	flow          bool
	eol, indent   string
}

func (s sketch) render() string {
	var b strings.Builder
	b.WriteString(s.before + "current: " + s.current + s.currentTail + s.eol + s.open)
	for i, text := range s.texts {
		switch {
		case !s.flow:
			b.WriteString(s.gaps[i] + s.indent + "- " + text + s.eol)
		case i > 0:
			b.WriteString(", " + text)
		default:
			b.WriteString(text)
		}
	}
	b.WriteString(s.close + s.after)
	return strings.ReplaceAll(b.String(), "\n", s.eol)
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomSketch(r *rand.Rand) sketch {
	s := sketch{eol: "\n", flow: r.IntN(2) == 0, indent: pick(r, "", "  ", "    ")}
	s.current, s.currentTail = pick(r, "null", "~", "t/c.md", "'t/c.md'", `"t/c.md"`), pick(r, "", " # now", "  ")
	s.before = pick(r, "", "\ufeff") + "---\n" + pick(r, "", "# head\n", "title: Ü 😀\n\n") + pick(r, "phase: x\n",
		"'phase': 'x' # p\n")
	s.after = pick(r, "", "# foot\n", "\n\n") + pick(r, "log: |\n  a: b\n  - c\n", "z: {a: [b]}\n",
		"") + "---\n" + pick(r, "", "# body\n- t/0.md\ncurrent: x\n")
	for i := range r.IntN(6) + 1 {
		path := fmt.Sprintf("t/%d-ä.md", i)
		s.paths = append(s.paths, path)
		texts := []string{path, "'" + path + "'", `"` + path + `"`, "{file: " + path + ", state: done}",
			"'" + path + " [done]'"}
		if !s.flow {
			texts = append(texts, path+" [done]", path+" # why",
				"file: "+path+"\n"+s.indent+"  note: |\n"+s.indent+"    - x\n"+s.indent+"    # y")
		}
		s.texts = append(s.texts, pick(r, texts...))
		s.gaps = append(s.gaps, pick(r, "", "", "\n", s.indent+"# about "+path+"\n", "\n"+s.indent+"# two\n\n"))
	}
	s.gaps[0] = ""
	s.open, s.close = "tasks:\n", ""
	if s.flow {
		s.open, s.close = "tasks: [", "]\n"
	}
	if r.IntN(3) == 0 {
		s.eol = "\r\n"
		s.before = strings.ReplaceAll(s.before, "\n", "\r\n")
	}
	return s
}

// normal returns the text with the line endings of the sketch.
func (s sketch) normal() string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(s.render(), "\r\n", "\n"), "\r", ""), "\n", s.eol)
}

// quoted writes a new path in the style of the first entry.
func (s sketch) quoted(path string) string {
	switch s.texts[0][0] {
	case '\'':
		return "'" + path + "'"
	case '"':
		return `"` + path + `"`
	}
	return path
}

// cases returns how many of the cases of a random test are played: a fifth of them, all where
// KANBAN_TEST_EXHAUSTIVE is set. The same seeds are the same cases each time.
func cases(all uint64) uint64 {
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		return all
	}
	return all / 5
}

// TestSplicePropertyExact compares edits of random boards with text put together anew: no foreign
// byte moves.
func TestSplicePropertyExact(t *testing.T) {
	for seed := range cases(3000) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := randomSketch(r)
		b := mustParse(t, "k.md", s.normal())
		e, want := randomEdit(r, s)
		got, err := text(b.Splice(e))
		if err != nil {
			t.Fatalf("seed %d: Splice(%+v) of\n%s\n= %v", seed, e, s.normal(), err)
		}
		if got != want.normal() {
			t.Fatalf("seed %d: Splice(%+v) of\n%s\n= \n%q, want\n%q", seed, e, s.normal(), got, want.normal())
		}
	}
}

func randomEdit(r *rand.Rand, s sketch) (Edit, sketch) {
	want, e := s, Edit{}
	want.texts, want.gaps = slices.Clone(s.texts), slices.Clone(s.gaps)
	switch r.IntN(3) {
	case 0:
		e.Null = true
		if s.current != "~" {
			want.current = "null"
		}
	case 1:
		path := "t/new.md"
		e.Current, want.current = &path, path
		if s.current[0] == '\'' || s.current[0] == '"' {
			want.current = s.current[:1] + path + s.current[:1]
		}
	}
	if r.IntN(4) == 0 {
		return e, want
	}
	e.SetTasks, e.Tasks = true, slices.Clone(s.paths)
	switch at := r.IntN(len(s.paths)); r.IntN(3) {
	case 0: // insert before at
		e.Tasks = slices.Insert(e.Tasks, at, "t/new.md")
		want.texts = slices.Insert(want.texts, at, s.quoted("t/new.md"))
		want.gaps = slices.Insert(want.gaps, at, "")
	case 1: // append
		e.Tasks = append(e.Tasks, "t/new.md")
		want.texts, want.gaps = append(want.texts, s.quoted("t/new.md")), append(want.gaps, "")
	case 2: // remove
		if len(s.paths) == 1 {
			return e, want
		}
		e.Tasks = slices.Delete(e.Tasks, at, at+1)
		want.texts = slices.Delete(want.texts, at, at+1)
		want.remove(s, at)
	}
	return e, want
}

// remove deletes the blank lines above an entry but not the comments.
func (s *sketch) remove(old sketch, at int) {
	var kept string
	for line := range strings.Lines(old.gaps[at]) {
		if strings.Contains(line, "#") {
			kept += line
		}
	}
	if at+1 < len(old.gaps) {
		s.gaps[at+1] = kept + s.gaps[at+1]
	} else if !s.flow {
		s.close = kept
	}
	s.gaps = slices.Delete(s.gaps, at, at+1)
}

// TestSplicePropertyShuffle: in any list from the Manager, an entry that stays keeps all of its
// text.
func TestSplicePropertyShuffle(t *testing.T) {
	for seed := range cases(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := randomSketch(r)
		b := mustParse(t, "k.md", s.normal())
		wanted := slices.Clone(s.paths)
		r.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
		wanted = append(wanted[r.IntN(len(wanted)+1):], []string{"t/x.md", "t/y z.md"}[:r.IntN(3)]...)
		got, err := text(b.Splice(Edit{Tasks: wanted, SetTasks: true}))
		if err != nil {
			t.Fatalf("seed %d: Splice(%q) of\n%s\n= %v", seed, wanted, s.normal(), err)
		}
		after := mustParse(t, "k.md", got)
		if !slices.Equal(after.TaskPaths(), wanted) {
			t.Fatalf("seed %d: tasks = %q, want %q", seed, after.TaskPaths(), wanted)
		}
		for i, path := range s.paths {
			text := strings.ReplaceAll(s.texts[i], "\n", s.eol)
			if slices.Contains(wanted, path) && !strings.Contains(got, text) {
				t.Fatalf("seed %d: the entry %q of\n%s\nis gone from\n%s", seed, text, s.normal(), got)
			}
		}
		if strings.Count(got, "#") < strings.Count(s.normal(), "#")-countRemovedComments(s, wanted) {
			t.Fatalf("seed %d: comments of\n%s\nare gone from\n%s", seed, s.normal(), got)
		}
	}
}

func countRemovedComments(s sketch, wanted []string) int {
	n := 0
	for i, path := range s.paths {
		if !slices.Contains(wanted, path) {
			n += strings.Count(s.texts[i], "#")
		}
	}
	return n
}
