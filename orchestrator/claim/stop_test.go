package claim_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/claim"
)

// TestStoppedWhileTaking: a run that is stopped in the moment in which it gets its claim has no grant, is told why,
// and leaves nothing taken.
func TestStoppedWhileTaking(t *testing.T) {
	asked := errors.New("asked to stop")
	dir := t.TempDir()
	c := claim.Claim{Mark: "1", Board: filepath.Join(dir, "b.yaml"), Task: filepath.Join(dir, "t.md"), Dir: dir}
	r := claim.NewRegistry(claim.System{})
	for range 100 { // one of two ways through Take, by chance
		stop, cancel := context.WithCancelCause(t.Context())
		cancel(asked)
		if g, err := r.Take(stop, c, silent); g != nil || !errors.Is(err, asked) {
			t.Fatalf("Take = %v, %v, want no grant and %v", g, err, asked)
		}
	}
	g, err := r.Take(t.Context(), c, silent)
	if err != nil || g.Waited {
		t.Fatalf("Take afterwards = %+v, %v", g, err)
	}
	if err := errors.Join(g.Release(), r.Close()); err != nil {
		t.Error(err)
	}
}
