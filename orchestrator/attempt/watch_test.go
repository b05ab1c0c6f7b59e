package attempt

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/health"
)

// TestShow: what an agent does is shown a second later at the latest, also the last of several
// things at once, and nothing behind its end.
func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown []string
		var w watch
		began := time.Now()
		w.begin(began, Spec{Show: func(l health.Live) {
			doing := l.Activity
			for _, c := range l.Open {
				doing = c.Tool
			}
			shown = append(shown, time.Since(began).String()+" "+doing)
		}})
		w.note(agent.Event{Kind: agent.Session, ID: "s"})
		w.note(agent.Event{Kind: agent.Text, Text: "Let me see."})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		w.note(agent.Event{Kind: agent.Text, Text: "I run the tests."})
		w.note(agent.Event{Kind: agent.ToolStarted, ID: "1", Tool: "Bash"})
		time.Sleep(500 * time.Millisecond)
		w.note(agent.Event{Kind: agent.ToolEnded, ID: "1"})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		w.note(agent.Event{Kind: agent.ToolStarted, ID: "2", Tool: "Read"})
		w.end()
		w.note(agent.Event{Kind: agent.ToolStarted, ID: "3", Tool: "Edit"})
		time.Sleep(2 * time.Second)
		if want := []string{"1s model", "3s Bash", "4s model"}; !slices.Equal(shown, want) {
			t.Errorf("shown: %q, want %q", shown, want)
		}
	})
}
