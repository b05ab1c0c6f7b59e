package board

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWithEndOf: what makes the end of a board is put back to the letter, and what else an agent
// wrote stays: design "The end of a board is the Manager's or a person's".
func TestWithEndOf(t *testing.T) {
	const before = "---\nphase: execute # p\ncurrent: 'a.md' # c\ntasks:\n  - a.md # first\n  # why b\n  - file: b.md\n    owner: me\n  - c.md [x]\nz: 1\n---\nbody\n"
	for _, c := range []struct {
		name           string
		before         string // "" is the one above
		replace        []string
		changes, want  string // want "" is the board as it was
		errs, keepText bool
	}{
		{name: "current is null", replace: []string{"'a.md'", "null"}, changes: "current"},
		{name: "current is moved", replace: []string{"'a.md'", "c.md"}, changes: "current"},
		{name: "another spelling of it", replace: []string{"'a.md'", `"a.md"`}, keepText: true},
		{name: "phase", replace: []string{"phase: execute", "phase: done"}, changes: "phase"},
		{name: "phase and current", replace: []string{"phase: execute", "phase: done", "'a.md'", "~"}, changes: "current, phase"},
		{name: "ended is added", replace: []string{"z: 1", "z: 1\nended: blocked"}, changes: "ended"},
		{name: "current is gone", replace: []string{"current: 'a.md' # c\n", ""}, changes: "current",
			want: strings.Replace(before, " # c\n", "\n", 1)},
		{name: "phase is gone", replace: []string{"phase: execute # p\n", ""}, changes: "phase",
			want: strings.Replace(strings.Replace(before, "phase: execute # p\n", "", 1), "z: 1\n", "z: 1\nphase: execute\n", 1)},
		{name: "phase is new", before: "current: a.md\ntasks: [a.md]\n", replace: []string{"current: a.md", "phase: complete\ncurrent: a.md"}, changes: "phase"},
		{name: "a mark", replace: []string{"- a.md", "- a.md [done]"}, changes: "the marks of 1 task"},
		{name: "a mark in a map", replace: []string{"owner: me", "owner: me\n    state: done"}, changes: "the marks of 1 task"},
		{name: "a mark is lost", replace: []string{"c.md [x]", "c.md"}, changes: "the marks of 1 task"},
		{name: "every mark", replace: []string{"- a.md", "- a.md [done]", "owner: me", "owner: me\n    state: done"}, changes: "the marks of 2 tasks"},
		{name: "no mark that ends a task", replace: []string{"- a.md", "- a.md [in work]"}, keepText: true},
		{name: "the last entry is gone", replace: []string{"  - c.md [x]\n", ""}, changes: "1 task less on the list"},
		{name: "a map is gone, and a comment", replace: []string{"  # why b\n  - file: b.md\n    owner: me\n", ""}, changes: "1 task less on the list",
			want: strings.Replace(before, "  # why b\n", "", 1)},
		{name: "the first entry is gone", replace: []string{"  - a.md # first\n", ""}, changes: "1 task less on the list",
			want: strings.Replace(before, "  - a.md # first\n  # why b\n", "  # why b\n  - a.md\n", 1)},
		{name: "an entry is renamed", replace: []string{"c.md [x]", "d.md"}, changes: "1 task less on the list",
			want: strings.Replace(before, "  - c.md [x]\n", "  - c.md [x]\n  - d.md\n", 1)},
		{name: "what else was written stays", replace: []string{"z: 1", "z: 2", "'a.md'", "null", "- c.md [x]", "- c.md [x]\n  - d.md"}, changes: "current",
			want: strings.Replace(strings.Replace(before, "z: 1", "z: 2", 1), "- c.md [x]", "- c.md [x]\n  - d.md", 1)},
		{name: "entries between brackets", before: "current: a.md\ntasks: [a.md, {file: b.md, n: 1}, c.md]\n", replace: []string{"a.md, {file: b.md, n: 1}, c.md", "'a.md [done]', d.md"},
			changes: "the marks of 1 task, 2 tasks less on the list", errs: false, want: "current: a.md\ntasks: [a.md, {file: b.md, n: 1}, c.md, d.md]\n"},
		{name: "the list is gone", replace: []string{before[strings.Index(before, "tasks:"):strings.Index(before, "z: 1")], ""}, changes: "3 tasks less on the list", errs: true},
		{name: "the list has another form", before: "current: a.md\ntasks: [a.md, b.md]\n", replace: []string{"[a.md, b.md]", "\n  - a.md"}, changes: "1 task less on the list", errs: true},
		{name: "checkpoints are others", before: "current: a.md\ncheckpoints: # why\n  role: S\n  at:\n    - {id: C, after: a.md}\ntasks: [a.md]\n",
			replace: []string{"role: S", "role: Deployer"}, changes: "checkpoints"},
		{name: "checkpoints are gone", before: "checkpoints:\n  role: S\n  every: 2\ncurrent: a.md\ntasks: [a.md]\n", replace: []string{"checkpoints:\n  role: S\n  every: 2\n", ""}, changes: "checkpoints"},
		{name: "checkpoints are new", before: "current: a.md\ntasks: [a.md]\n", replace: []string{"tasks:", "checkpoints:\n  role: S\n  every: 2\ntasks:"}, changes: "checkpoints"},
		{name: "checkpoints in another layout", before: "current: a.md\ncheckpoints: {role: S, every: 2}\ntasks: [a.md]\n", replace: []string{"{role: S, every: 2}", "\n  role: 'S'\n  every: 2"}, keepText: true},
		{name: "checkpoints between braces", before: "{current: a.md, checkpoints: {role: S, every: 2}, tasks: [a.md]}\n", replace: []string{"role: S", "role: T"}, changes: "checkpoints", errs: true},
		{name: "where it comes from", before: "current: a.md\nneeds: order\nsplit: x\nsource: y\ntasks: [a.md]\n",
			replace: []string{"needs: order\n", "", "split: x", "split: z", "source: y", "source: [y]"}, changes: "needs, split, source",
			want: "current: a.md\nsplit: x\nsource: y\ntasks: [a.md]\nneeds: order\n"},
		{name: "between braces", before: "{current: a.md, tasks: [a.md]}\n", replace: []string{"current: a.md", "current: null, ended: error"}, changes: "current, ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.before == "" {
				c.before = before
			}
			file := "k.yaml"
			if strings.HasPrefix(c.before, "---") {
				file = "k.md"
			}
			was, now := mustParse(t, file, c.before), mustParse(t, file, strings.NewReplacer(c.replace...).Replace(c.before))
			if string(was.Source) == string(now.Source) {
				t.Fatal("the agent has changed nothing")
			}
			if got := strings.Join(now.EndChanges(was), ", "); got != c.changes {
				t.Errorf("EndChanges = %q, want %q", got, c.changes)
			}
			switch {
			case c.want != "":
			case c.keepText:
				c.want = string(now.Source)
			default:
				c.want = c.before
			}
			got, err := text(now.WithEndOf(was))
			if c.errs {
				if !errors.As(err, new(*SpliceError)) {
					t.Fatalf("WithEndOf = %q, %v, want a *SpliceError", got, err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("WithEndOf = %v, %q\nwant %q", err, got, c.want)
			}
		})
	}
}

// TestWithEndOfRandomBoards: of any board, and whatever was done to its end, the result has the end
// that it had, keeps what was added, and is refused for less than one board in ten.
func TestWithEndOfRandomBoards(t *testing.T) {
	r, refused, changed := rand.New(rand.NewPCG(4, 4)), 0, 0
	all := int(cases(5000))
	for range all {
		s := randomSketch(r)
		was := mustParse(t, "k.md", s.normal())
		s.current, s.currentTail = pick(r, s.current, "null", "t/0-ä.md"), pick(r, s.currentTail, "")
		s.before = pick(r, s.before, strings.NewReplacer("phase: x", "phase: done", "'phase': 'x'", "phase: complete").Replace(s.before))
		s.after = pick(r, s.after, "ended: error\n"+s.after)
		for i := len(s.texts) - 1; i >= 0; i-- {
			switch {
			case r.IntN(4) == 0 && len(s.texts) > 1:
				s.texts, s.gaps = slices.Delete(s.texts, i, i+1), slices.Delete(s.gaps, i, i+1)
			case r.IntN(4) == 0:
				s.texts[i] = strings.Replace(s.texts[i], " [done]", "", 1)
			}
		}
		added := r.IntN(2) == 0
		if added {
			s.texts, s.gaps = append(s.texts, "t/new.md"), append(s.gaps, "")
		}
		now, err := Parse("k.md", []byte(s.normal()))
		if err != nil {
			continue
		}
		if len(now.EndChanges(was)) > 0 {
			changed++
		}
		got, err := text(now.WithEndOf(was))
		if err != nil {
			refused++
			continue
		}
		after := mustParse(t, "k.md", got)
		if left := after.EndChanges(was); len(left) > 0 || after.Terminal() != was.Terminal() || after.EndedWith() != was.EndedWith() {
			t.Fatalf("%q\nbecame %q\nand is put back to %q, with another %v", was.Source, now.Source, got, left)
		}
		if added != slices.Contains(after.TaskPaths(), "t/new.md") {
			t.Fatalf("the added entry is lost from %q", got)
		}
	}
	if changed < all*3/4 || refused > changed/10 {
		t.Errorf("%d of %d changed boards were refused", refused, changed)
	}
}

// TestEndOfOwnEntry: a new mark of an own entry is no change of the end, and stays where the end is put back.
func TestEndOfOwnEntry(t *testing.T) {
	was := mustParse(t, "k.yaml", "current: a.md\ntasks: [a.md, b.md, c.md]\n")
	now := mustParse(t, "k.yaml", "current: a.md\ntasks: ['a.md [done]', 'b.md [done]', c.md]\n")
	if got := strings.Join(now.EndChanges(was, "a.md"), ", "); got != "the marks of 1 task" {
		t.Errorf("EndChanges = %q", got)
	}
	if set, unset, lost := now.EntryChanges(was, "a.md"); !slices.Equal(set, []string{"b.md"}) || unset != nil || lost != nil {
		t.Errorf("EntryChanges = %q, %q, %q", set, unset, lost)
	}
	want := "current: a.md\ntasks: ['a.md [done]', b.md, c.md]\n"
	if got, err := text(now.WithEndOf(was, "a.md")); err != nil || got != want {
		t.Errorf("WithEndOf = %q, %v, want %q", got, err, want)
	}
	want = "current: a.md\ntasks: [a.md, 'b.md [done]', c.md]\n"
	if got, err := text(now.Unmarked(was, "a.md")); err != nil || got != want {
		t.Errorf("Unmarked = %q, %v, want %q", got, err, want)
	}
	if got, err := text(was.Unmarked(now, "a.md")); err != nil || got != string(was.Source) {
		t.Errorf("Unmarked of an entry without a mark = %q, %v", got, err)
	}
	if got := strings.Join(was.EndChanges(now, "a.md"), ", "); got != "the marks of 2 tasks" {
		t.Errorf("EndChanges of marks that are lost = %q", got)
	}
}
