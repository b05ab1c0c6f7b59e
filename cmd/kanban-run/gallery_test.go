package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/redact"
)

// TestGalleryHidesLater: what the page of view keeps for the next page is hidden there if it is a secret
// by then.
func TestGalleryHidesLater(t *testing.T) {
	const secret = "hunter2-hunter2"
	path := filepath.Join(t.TempDir(), "kanban.yaml")
	if err := os.WriteFile(path, []byte("current: "+secret+".md\ntasks: ["+secret+".md]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := console.NewSecrets(func() *redact.Redactor { return redact.New(nil) })
	g := &gallery{terminal: &terminal{secrets: secrets}, boards: []string{path}, readers: readersOf(inspect.Looker{}, []string{path})}
	g.page.Hide = secrets.Hide
	shows := func() bool {
		t.Helper()
		page, err := g.render()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(page, []byte(secret))
	}
	if !shows() {
		t.Error("the name of the task is not shown")
	}
	secrets.Add(redact.New([]string{secret}))
	if shows() {
		t.Error("the secret is shown still")
	}
}
