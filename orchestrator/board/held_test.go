package board

import (
	"strings"
	"testing"
)

// TestHoldHeader: needs, files and watch of an earlier header, and a header that cannot be read any
// more, are put back; whatever else stands in the file stays.
func TestHoldHeader(t *testing.T) {
	const header = "---\nrole: Helper\nneeds: [tasks/a.md]\n---\n"
	for name, tt := range map[string]struct{ file, header, source, want, fields string }{
		"the same":             {"t.md", header, header + "B\n", header + "B\n", ""},
		"another layout":       {"t.md", header, "---\nneeds:\n  - tasks/a.md\nrole: Helper\n---\nB\n", "---\nneeds:\n  - tasks/a.md\nrole: Helper\n---\nB\n", ""},
		"one text":             {"t.md", header, "---\nneeds: tasks/a.md\n---\nB\n", "---\nneeds: tasks/a.md\n---\nB\n", ""},
		"another value":        {"t.md", header, "---\nrole: X # why\nneeds: []\n---\nB\n", "---\nrole: X # why\nneeds: [tasks/a.md]\n---\nB\n", "needs"},
		"removed":              {"t.md", header, "---\nrole: X\n---\nB\n", "---\nneeds: [tasks/a.md]\nrole: X\n---\nB\n", "needs"},
		"added":                {"t.md", header, header[:len(header)-4] + "watch: off\n---\nB\n", header[:len(header)-4] + "watch: off\n---\nB\n", ""},
		"broken":               {"t.md", header, "---\nrole: [\n---\nB\n", header + "B\n", "the header"},
		"broken with a BOM":    {"t.md", header, "\ufeff---\nneeds: [\n---\nB\n", header + "B\n", "the header"},
		"no fence, but a rule": {"t.md", header, "---\nrole: Helper\nneeds: [tasks/a.md]\nB precious\n\n---\nrest\n", header + "---\nrole: Helper\nneeds: [tasks/a.md]\nB precious\n\n---\nrest\n", "the header"},
		"the header is gone":   {"t.md", header, "---\n\nB para\n\n---\n\npara two\n", header + "---\n\nB para\n\n---\n\npara two\n", "the header"},
		"YAML":                 {"t.yaml", "role: Helper\nneeds: [a.md]\ndescription: x\n", "role: Helper\nneeds: [\n", "role: Helper\nneeds: [a.md]\ndescription: x\n", "the header"},
		"CRLF":                 {"t.md", strings.ReplaceAll(header, "\n", "\r\n"), "---\r\nrole: [\r\n---\r\nB\r\n", strings.ReplaceAll(header, "\n", "\r\n") + "B\r\n", "the header"},
	} {
		after, fields := holdHeader(tt.file, []byte(tt.header), []byte(tt.source))
		if string(after) != tt.want || strings.Join(fields, " ") != tt.fields {
			t.Errorf("%s: %q with %q, want %q with %q", name, after, fields, tt.want, tt.fields)
		}
	}
}
