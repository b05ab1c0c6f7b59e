package frontmatter

import (
	"bytes"
	"errors"
	"testing"

	"gopkg.in/yaml.v3"
)

var seeds = []string{
	"phase: design\ncurrent: tasks/a.md\ntasks:\n  - tasks/a.md [done]\n\n  # c\n  - file: b.md\n    state: done\n",
	"request: GOAL: x\n\nImplementation Changes Needed:\n- a\nphase: y\n",
	"tasks: ['a', \"b\", c, ]\n", "a: |\n  x\n\nb: >-\n x\n y\n", "{a: [b: c, {d}], ? e : f}", "a: &x 1\nb: *x\n",
	"? a\n: - - b\n",
	"a: !t b\n<<: {}\n", "ä: 😀\nb: [ü, ö]\n", "a: 'x\n\n y'\nb: x\n  y\n\n  z\n", "- - - a\n", "a:\n- b\nc:\n",
}

// FuzzParse holds the reader to its promises: yaml.v3 reads alike what it accepts, every refusal
// has a file, and no node lies outside the YAML.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte("---\n" + s + "---\nbody\n"))
		f.Add([]byte("\ufeff\r\n---\r\n" + s + "\r\n---\r\n"))
	}
	f.Add([]byte("+++\na = 1\n+++\n"))
	f.Add([]byte("---\na: b\n...\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		d, err := Parse("f.md", source)
		if err != nil {
			checkRefusal(t, source, err)
			return
		}
		if d.Root == nil {
			return
		}
		if !bytes.Equal(source[d.Start:d.Start+len(d.YAML)], d.YAML) || d.Body < d.Start+len(d.YAML) ||
			d.Body > len(source) {
			t.Fatalf("the YAML %q is not where Start %d and Body %d say", d.YAML, d.Start, d.Body)
		}
		checkTree(t, d)
	})
}

func FuzzYAML(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		d, err := ParseYAML("f.yaml", source)
		if err != nil {
			checkRefusal(t, source, err)
			return
		}
		checkTree(t, d)
	})
}

func checkRefusal(t *testing.T, source []byte, err error) {
	t.Helper()
	var p *Problem
	if !errors.As(err, &p) || p.File == "" || p.Text == "" {
		t.Fatalf("refusal of %q = %#v, want a *Problem with a file", source, err)
	}
	if lines := bytes.Count(source, []byte{'\n'}) + 1; p.Line > lines {
		t.Fatalf("refusal of %q = %v, but there are only %d lines", source, err, lines)
	}
}

func checkTree(t *testing.T, d *Document) {
	t.Helper()
	var plain map[string]any
	if err := yaml.Unmarshal(d.YAML, &plain); err != nil {
		t.Fatalf("yaml.Unmarshal(%q) = %v, but it was accepted", d.YAML, err)
	}
	if len(plain) != len(d.Root.Content)/2 {
		t.Fatalf("%q has %d fields, want %d", d.YAML, len(d.Root.Content)/2, len(plain))
	}
	checkExtents(t, d, d.Root, d.Root)
}

func checkExtents(t *testing.T, d *Document, n, parent *yaml.Node) {
	t.Helper()
	from, to := d.Offset(n), d.End(n, parent)
	if from < d.Start || to < from || to > d.Start+len(d.YAML) {
		t.Fatalf("node %q of %q lies at %d-%d, outside %d-%d", n.Value, d.YAML, from, to, d.Start, d.Start+len(d.YAML))
	}
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value != "" && d.Source[from] != n.Value[0] {
		t.Fatalf("node %q of %q does not begin at its offset %d", n.Value, d.YAML, from)
	}
	for _, c := range n.Content {
		checkExtents(t, d, c, n)
	}
}
