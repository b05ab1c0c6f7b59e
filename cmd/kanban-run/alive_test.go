package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/console"
)

// stamped notes the time of each write.
type stamped struct {
	mu    sync.Mutex
	begun time.Time
	lines []string
}

func (s *stamped) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s %s", time.Since(s.begun), bytes.TrimSpace(p)))
	return len(p), nil
}

// TestKeepAlive: CircleCI and Travis end a step that is silent for ten minutes: no silence is longer than five.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &stamped{begun: time.Now()}
		stdout, stderr := console.New(log, nil), console.New(log, nil)
		stop := keepAlive(stderr, []*console.Printer{stdout, stderr}, func() []string { return []string{"kanban.yaml is at work: 1 of 3 tasks done"} })
		time.Sleep(2 * time.Minute)
		_ = stdout.Printf("a result\n")
		time.Sleep(11 * time.Minute)
		stop()
		time.Sleep(time.Hour)
		want := "2m0s a result, 6m50s kanban.yaml is at work: 1 of 3 tasks done, 11m40s kanban.yaml is at work: 1 of 3 tasks done"
		if got := strings.Join(log.lines, ", "); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	})
}
