package board

import "testing"

// TestIsOther: a YAML file is of another kind if it has fields and none is, or is nearly, one of a board. An
// empty or spoiled board is a board.
func TestIsOther(t *testing.T) {
	for text, want := range map[string]bool{
		"services:\n  db: {image: x}\n": true,
		"site_name: x\nnav: []\n":       true,
		"":                              false,
		"# nothing\n":                   false,
		"tas":                           false,
		"- a\n- b\n":                    false,
		"phase: implement\n":            false,
		"goal: x\ntasks: [a.md]\n":      false,
		"curent: a.md\n":                false,
		"Current: a.md\n":               false,
		"ended: blocked\n":              false,
		"services: [x\n":                false,
	} {
		if got := IsOther("x.yaml", []byte(text)); got != want {
			t.Errorf("IsOther(%q) = %t, want %t", text, got, want)
		}
	}
	if IsOther("x.md", []byte("---\nservices: x\n---\n")) {
		t.Error("a Markdown file is of another kind")
	}
}
