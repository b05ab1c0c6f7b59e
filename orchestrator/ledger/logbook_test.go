package ledger

import (
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
)

// TestRetryEntry: seed 004, "Retry Logging", line by line.
func TestRetryEntry(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := event.ReplyRejected{AttemptRef: event.AttemptRef{Call: event.ManagerCall, Task: "tasks/a.md", Role: "Manager"}, Reason: "stdout is empty", Exit: "exit status 1",
		Received: "x\n```\n# not a heading of ours\n", Retries: 1, Of: 3}
	got := retryEntry("boards/kanban.yaml", at, e)
	for _, want := range []string{
		"\n### [2026-01-02T03:04:05Z] Retry Event\n\n**Agent:** Manager  \n**Task:** kanban.yaml (done_task: tasks/a.md)  \n**Attempt:** 2/3  \n" +
			"**Issue:** Invalid output format: stdout is empty  \n**Exit:** exit status 1\n\n**Expected:**\n```json\n{",
		"**Received:**\n````json\nx\n```\n# not a heading of ours\n````\n",
		"\n**Action:** Rescheduling with exact same parameters\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the entry lacks %q:\n%s", want, got)
		}
	}
	e.Retries = 3
	if got := retryEntry("boards/kanban.yaml", at, e); !strings.Contains(got, "Retries Exhausted") || !strings.Contains(got, "Giving up: agent Manager failed after 3 retries") {
		t.Errorf("the last entry promises another attempt:\n%s", got)
	}
}

// TestRetryEntryOfAReview: the supervisor is named, and work whose session is lost is not promised the same parameters.
func TestRetryEntryOfAReview(t *testing.T) {
	e := event.ReplyRejected{AttemptRef: event.AttemptRef{Call: event.ReviewCall, Task: "tasks/a.md", Role: "Implementor", Round: 1}, Reason: "it says nothing", Of: 3}
	if got := retryEntry("kanban.yaml", time.Now(), e); !strings.Contains(got, "**Agent:** Reviewer of Implementor  \n**Task:** tasks/a.md  \n**Attempt:** 1/3") || !strings.Contains(got, "any text") {
		t.Errorf("the entry is\n%s", got)
	}
	e.Lost = true
	if got := retryEntry("kanban.yaml", time.Now(), e); !strings.Contains(got, "**Action:** the task starts from its beginning\n") {
		t.Errorf("the entry of a lost session is\n%s", got)
	}
}
