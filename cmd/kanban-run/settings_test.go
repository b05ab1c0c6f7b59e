package main

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/console"
	"kanban-run/schema"
)

// TestSchemaOfSettings: what the settings file may hold is what its schema says.
func TestSchemaOfSettings(t *testing.T) {
	source, err := schema.Source("settings")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Properties map[string]any }
	if err := json.Unmarshal(source, &doc); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range config.Table() {
		if name, _, _ := strings.Cut(s.Name, "."); s.InFile && !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(doc.Properties)); !slices.Equal(got, want) {
		t.Errorf("the schema has %v, want %v", got, want)
	}
}

// TestAnnotationFits: a service shows 4,096 characters of an annotation. What happened is cut,
// never the exit code and the hint.
func TestAnnotationFits(t *testing.T) {
	j := &job{out: console.New(io.Discard, nil)}
	text := j.fitted(strings.Repeat("é", 9000)+"end", "do it again", exitNeedsPerson)
	if n := utf8.RuneCountInString(text); n > 4096 || n < 4000 || !strings.Contains(text, "é\n…\né") || !strings.HasSuffix(text, "end (exit code 3)\ndo it again") {
		t.Errorf("%d characters: %s", n, text)
	}
	if got := j.fitted("short", "", exitFailed); got != "short (exit code 1)" {
		t.Errorf("fitted = %q", got)
	}
}
