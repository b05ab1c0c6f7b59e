package main

import (
	"runtime/debug"
	"testing"
)

// TestCommitOf: a source archive says its commit itself; of a work tree the go command says it.
func TestCommitOf(t *testing.T) {
	const revision, other = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	const placeholder = "$Format:%H %cI$\n"
	noted := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.time", Value: "2026-01-31T07:00:00Z"},
			{Key: "vcs.modified", Value: modified}}
	}
	for _, tt := range []struct {
		name     string
		settings []debug.BuildSetting
		archived string
		want     string
	}{
		{"a clean work tree", noted("false"), placeholder, "commit 0123456789ab of 2026-01-31T07:00:00Z"},
		{"a changed one", noted("true"), placeholder, "commit 0123456789ab of 2026-01-31T07:00:00Z, modified"},
		{"an archive", nil, other + " 2026-01-31T09:00:00+02:00\n", "commit fedcba987654 of 2026-01-31T07:00:00Z"},
		{"an archive in a repository of its user", noted("true"), other + " 2026-01-31T09:00:00+02:00\n", "commit fedcba987654 of 2026-01-31T07:00:00Z"},
		{"neither", nil, placeholder, "no commit known"},
	} {
		if got := commitOf(tt.settings, tt.archived); got != tt.want {
			t.Errorf("%s: commitOf = %q, want %q", tt.name, got, tt.want)
		}
	}
}
