package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/config"
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

// TestShortestLimit: a limit of less than the journal can say is the least that it can say, and not none.
func TestShortestLimit(t *testing.T) {
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Hour: 3_600_000} {
		if got := millis(d); got != want {
			t.Errorf("millis(%v) = %d, want %d", d, got, want)
		}
	}
}
