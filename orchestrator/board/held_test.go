package board

import (
	"strings"
	"testing"
)

// TestHoldHeader: approve and source of an earlier header, and a header that cannot be read any
// more, are put back; whatever else stands in the file stays.
func TestHoldHeader(t *testing.T) {
	const header = "---\nrole: Helper\napprove: person\n---\n"
	for name, tt := range map[string]struct{ file, header, source, want, fields string }{
		"the same":             {"t.md", header, header + "B\n", header + "B\n", ""},
		"another layout":       {"t.md", header, "---\napprove: \"person\"\nrole: Helper\n---\nB\n", "---\napprove: \"person\"\nrole: Helper\n---\nB\n", ""},
		"one text":             {"t.md", header, "---\napprove: person\n---\nB\n", "---\napprove: person\n---\nB\n", ""},
		"another value":        {"t.md", header, "---\nrole: X # why\napprove: nobody\n---\nB\n", "---\nrole: X # why\napprove: person\n---\nB\n", "approve"},
		"removed":              {"t.md", header, "---\nrole: X\n---\nB\n", "---\napprove: person\nrole: X\n---\nB\n", "approve"},
		"added":                {"t.md", header, header[:len(header)-4] + "watch: off\n---\nB\n", header[:len(header)-4] + "watch: off\n---\nB\n", ""},
		"broken":               {"t.md", header, "---\nrole: [\n---\nB\n", header + "B\n", "the header"},
		"broken with a BOM":    {"t.md", header, "\ufeff---\napprove: [\n---\nB\n", header + "B\n", "the header"},
		"no fence, but a rule": {"t.md", header, "---\nrole: Helper\napprove: person\nB precious\n\n---\nrest\n", header + "---\nrole: Helper\napprove: person\nB precious\n\n---\nrest\n", "the header"},
		"the header is gone":   {"t.md", header, "---\n\nB para\n\n---\n\npara two\n", header + "---\n\nB para\n\n---\n\npara two\n", "the header"},
		"YAML":                 {"t.yaml", "role: Helper\napprove: person\ndescription: x\n", "role: Helper\napprove: [\n", "role: Helper\napprove: person\ndescription: x\n", "the header"},
		"CRLF":                 {"t.md", strings.ReplaceAll(header, "\n", "\r\n"), "---\r\nrole: [\r\n---\r\nB\r\n", strings.ReplaceAll(header, "\n", "\r\n") + "B\r\n", "the header"},
	} {
		after, fields := holdHeader(tt.file, []byte(tt.header), []byte(tt.source))
		if string(after) != tt.want || strings.Join(fields, " ") != tt.fields {
			t.Errorf("%s: %q with %q, want %q with %q", name, after, fields, tt.want, tt.fields)
		}
	}
}
