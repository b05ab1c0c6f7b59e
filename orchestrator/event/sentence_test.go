package event_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
)

var weights = map[event.Weight]string{event.Trace: "trace", event.Routine: "routine", event.Note: "note", event.Success: "success", event.Warning: "warning", event.Critical: "critical"}

// readers follow the kind of an event in the golden file.
var readers = map[event.Readers]string{event.Lead: " to the Lead", event.Team: " in DECISIONS.md", event.Lead | event.Team: " to the Lead and in DECISIONS.md"}

func topic(s event.Sentence) string {
	if s.Topic == "" {
		return ""
	}
	return ", sent as " + string(s.Topic)
}

// reported is the line below, of what SUPERVISOR_REPORT says.
func reported(s event.Sentence) string {
	a := s.Alert
	line := strings.TrimSpace(strings.Join([]string{a.Severity, a.Type, a.Owner}, " "))
	if len(a.Actions) > 0 {
		line = strings.TrimSpace(line + " → " + strings.Join(a.Actions, " "))
	}
	if line == "" {
		return ""
	}
	return "    reported: " + line + "\n"
}

// TestAlerts: each alert and action is one of the seed's lists: seed 002, "Supervisor Report Format".
func TestAlerts(t *testing.T) {
	for _, e := range sentences() {
		a := e.Sentence().Alert
		if a.Type != "" && (!slices.Contains(event.AlertTypes(), a.Type) || !slices.Contains(event.AlertSeverities(), a.Severity)) {
			t.Errorf("%T: %s %s is not on the seed's list", e, a.Severity, a.Type)
		}
		for _, action := range a.Actions {
			if !slices.Contains(event.AlertActions(), action) {
				t.Errorf("%T: action %s is not on the seed's list", e, action)
			}
		}
	}
}

// sentences are events of every kind, in each way that they are told.
func sentences() []event.Event {
	ref := func(c event.Call, attempt, round int) event.AttemptRef {
		return event.AttemptRef{Step: 2, Call: c, Task: "t.md", Role: "Implementor", Attempt: attempt, Round: round}
	}
	at := time.Date(2026, time.November, 25, 22, 30, 0, 0, time.UTC)
	work, review, command := ref(event.TaskCall, 1, 0), ref(event.ReviewCall, 2, 1), ref(event.CommandCall, 1, 1)
	look, ready := ref(event.CheckpointCall, 1, 0), ref(event.ReadyCall, 1, 0)
	cost := int64(1_500_000)
	spent, next := &event.Spending{Input: 1200, Output: 200, Cost: &cost}, "n.md"
	idle := event.Anomaly{Check: "idle", Severity: "warning", Details: "silent for 20m", Advice: "restart"}
	critical := idle
	critical.Severity, critical.Action = "critical", "it is asked"
	held := func(verdict string, then event.OnBlock, findings ...string) event.CheckpointHeld {
		e := event.CheckpointHeld{AttemptRef: look, End: event.End{Millis: 61_000}, Trend: "stable", Then: then}
		e.Data.ID, e.Data.Verdict, e.Data.Score, e.Data.Findings, e.Data.Report = "CHECKPOINT-001", verdict, 0.5, findings, "r.md"
		return e
	}
	long := strings.Repeat("ä", 401)
	return []event.Event{
		event.RunStarted{Tasks: 1, Workdir: "/w"}, event.RunStarted{Tasks: 1, Workdir: "/w", NoGit: true}, event.RunStarted{Tasks: 2, Workdir: "/w", Withheld: []string{"A", "B"}}, event.RunStarted{Tasks: 2, Workdir: "/w", Withheld: []string{"A", "B"}, PartlyWithheld: []event.PartlyWithheld{{Roles: []string{"R"}, Names: []string{"B"}}}},
		event.RunInterrupted{Board: "b", Outcome: event.LimitReached, Reason: "the limit"}, event.RunInterrupted{Board: "b", Outcome: event.Interrupted, Reason: "a signal"}, event.RunInterrupted{Board: "b", Outcome: event.Later, Reason: "the provider"},
		event.RunFinished{Board: "b", Outcome: event.NeedsPerson, Text: "look"}, event.RunFinished{Board: "b", Outcome: event.Exhausted, By: event.ByNoReply, Text: "no reply"}, event.RunFinished{Board: "b", Outcome: event.NeedsPerson, By: event.ByReview, Text: "not content"},
		event.RunFinished{Board: "b", Outcome: event.NeedsPerson, By: event.ByCheckpoint, Text: "it blocks"}, event.RunFinished{Board: "b", Outcome: event.Incomplete, By: event.ByUndone, Text: "undone"}, event.RunFinished{Board: "b", Outcome: event.Frozen, Text: "no match"}, event.RunFinished{Board: "b", Outcome: event.Complete, Text: "done"}, event.RunFinished{Board: "b", Outcome: event.LimitReached, Text: "the limit"},
		event.Acknowledged{Board: "b", Text: "a.md is to be done again, as you decided"}, event.Acknowledged{Board: "b", Text: "accepted by you", Note: "fine"},
		event.StepStarted{Step: 2, Task: "t.md", Role: "Implementor"}, event.StepStarted{Step: 2, Task: "t.md", Role: "Implementor", Index: 1, Of: 3},
		event.StepStarted{Step: 2, Role: "Supervisor", Call: event.ReadyCall},
		event.StepStarted{Step: 2, Role: "Supervisor", Call: event.CheckpointCall, Checkpoint: &event.Checkpoint{ID: "CHECKPOINT-001", Scope: []string{"a.md", "b.md"}}},
		event.StepFinished{Step: 2, Manager: "ok", NextTask: &next}, event.StepFinished{Step: 2, Manager: "ok"}, event.StepFinished{Step: 2}, event.StepFinished{Step: 2, Manager: "blocked", Warning: "the file stands"},
		event.StepAbandoned{Step: 2, Reason: "it was edited"}, event.CallRestarted{Step: 2, Reason: "it was edited"},
		event.AttemptStarted{AttemptRef: work}, event.AttemptStarted{AttemptRef: ref(event.TaskCall, 2, 0)}, event.AttemptStarted{AttemptRef: ref(event.TaskCall, 2, 2)},
		event.AttemptStarted{AttemptRef: ref(event.TaskCall, 3, 2), GoesOn: true}, event.AttemptStarted{AttemptRef: command, Command: "make test"}, event.AttemptStarted{AttemptRef: review},
		event.AttemptStarted{AttemptRef: look}, event.AttemptStarted{AttemptRef: look, GoesOn: true}, event.SessionNamed{AttemptRef: work, Session: "s"},
		event.ReplyAccepted{AttemptRef: work, Status: "ok", End: event.End{Millis: 999}}, event.ReplyAccepted{AttemptRef: work, Status: "blocked", Message: long, End: event.End{Millis: 1000, Spent: spent}},
		event.ReplyAccepted{AttemptRef: work, Status: "escalate", Message: "too big"}, event.ReplyAccepted{AttemptRef: work, Status: "ok", End: event.End{Millis: 10_000, Spent: &event.Spending{Free: true}}}, event.ReplyAccepted{AttemptRef: ready, Status: "ok", Message: "I am here"},
		event.ReplyRejected{AttemptRef: work, Reason: "not JSON", Exit: "exit status 1", Of: 3, Stderr: "why\n}\n", Output: "out"},
		event.ReplyRejected{AttemptRef: work, Reason: "exit status 1", Exit: "exit status 1", Retries: 3, Of: 3, Output: "out", End: event.End{Spent: spent}}, event.ReplyRejected{AttemptRef: work, Reason: "gone", Lost: true, Of: 3},
		event.ReplyRejected{AttemptRef: look, Reason: "gone", Lost: true, Of: 3}, event.ReplyRejected{AttemptRef: look, Reason: "it died", Died: true, Of: 3},
		event.ReplyRejected{AttemptRef: review, Reason: "API Error: 500", Of: 3}, event.AttemptStopped{AttemptRef: work, Reason: "the run was stopped", End: event.End{Spent: spent}}, event.AttemptStopped{AttemptRef: review, Reason: "the run was stopped"},
		event.ReviewHeld{AttemptRef: review, Completed: true, End: event.End{Millis: 3_600_000}}, event.ReviewHeld{AttemptRef: review, Feedback: "tests are\nmissing", End: event.End{Millis: 60_000, Spent: spent}},
		event.ReviewHeld{AttemptRef: command, Feedback: "exit status 1\nok\nFAIL x\n"}, event.ReviewHeld{AttemptRef: command, Feedback: "exit status 1"},
		event.BoardWriteStarted{Task: "t.md"}, event.BoardWritten{Task: "t.md"}, event.ManagerWalked{Step: 2, Task: "t.md", Status: "ok", Message: "t.md is done"}, event.ManagerWalked{Step: 2, Status: "error", Message: "no"},
		event.BoardEnded{Task: "CHECKPOINT-001"},
		event.AnomalyFound{AttemptRef: work, Anomaly: idle}, event.AnomalyFound{AttemptRef: review, Anomaly: critical}, event.Recovered{AttemptRef: work},
		event.RebootTested{AttemptRef: work, Anomaly: idle, Decision: event.Restart, Text: "text"}, event.RebootTested{AttemptRef: work, Anomaly: idle, Decision: event.Stuck, Text: "text"}, event.RebootTested{AttemptRef: work, Anomaly: idle, Decision: event.Replan, Text: "text"},
		event.IdleBreach{AttemptRef: work, Overdue: event.Overdue{Severity: "INFO", Action: "PING", Text: "no progress"}}, event.IdleBreach{AttemptRef: work, Overdue: event.Overdue{Severity: "WARN", Action: "ESCALATE", Text: "no progress"}},
		event.ReviewBreach{AttemptRef: review, Overdue: event.Overdue{Severity: "CRITICAL", Action: "REASSIGN_PROPOSAL", Text: "no verdict"}},
		event.AttemptStopped{AttemptRef: work, Reason: "claude: 529 Overloaded", Refusal: &event.Refusal{Provider: "claude"}, End: event.End{Class: event.ClassBusy}}, event.AttemptStopped{AttemptRef: work, Reason: "codex: You've hit your usage limit", Refusal: &event.Refusal{Provider: "codex"}, End: event.End{Class: event.ClassLimit}},
		event.AttemptStopped{AttemptRef: work, Reason: "claude: You've reached your limit", Refusal: &event.Refusal{Provider: "claude", Model: "large"}, End: event.End{Class: event.ClassLimit}},
		event.ProviderWait{Step: 2, Role: "Implementor", Provider: "claude", Class: event.ClassBusy, Since: at, Until: at.Add(10 * time.Second)}, event.ProviderWait{Step: 2, Role: "Manager", Provider: "codex", Class: event.ClassLimit, Since: at, Until: at.Add(5 * time.Hour), Named: true},
		event.ProviderWait{Step: 2, Role: "Implementor", Provider: "codex", Class: event.ClassLimit, Since: at, Until: at.Add(99 * time.Hour), Named: true, Shared: true}, event.ProviderBack{Step: 2, Provider: "codex", Millis: 5 * 3600 * 1000},
		event.ProviderWait{Step: 2, Call: event.ReviewCall, Role: "Implementor", Provider: "claude", Class: event.ClassBusy, Since: at, Until: at.Add(10 * time.Second)},
		event.AttemptStopped{AttemptRef: event.AttemptRef{Call: event.TaskCall, Step: 2, Task: "tasks/a.md", Role: "Implementor", Attempt: 1}, Reason: "the watch ended it", Stderr: "warming up\nwaiting for db lock\n"},
		event.AttemptStopped{AttemptRef: event.AttemptRef{Call: event.ReviewCall, Step: 2, Task: "tasks/a.md", Role: "Implementor", Attempt: 2}, Reason: "claude: API Error: 529", End: event.End{Class: event.ClassBusy}},
		event.ReplyRejected{AttemptRef: work, Reason: "claude: Prompt is too long", Exit: "exit status 1", Of: 3, Fresh: true, End: event.End{Class: event.ClassTooLong}},
		event.ReplyRejected{AttemptRef: work, Reason: "API Error: Opus's safeguards flagged this message", Exit: "exit status 1", Of: 3, Output: "out", End: event.End{Class: event.ClassDeclined}},
		event.AnomalyFound{AttemptRef: work, Anomaly: event.Anomaly{Check: "MCP stuck", Severity: "critical", Details: "no answer; an agent of another board has the same", Advice: "replan", Action: "the call is ended"}},
		event.AnomalyFound{AttemptRef: work, Anomaly: event.Anomaly{Check: "asks for help", Severity: "warning", Details: "it says: I need help", Advice: "assist"}},
		event.JudgeAsked{AttemptRef: work, Anomaly: idle, Judge: "Judge"}, event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Reason: "too late", Spent: spent},
		event.ConsentAsked{AttemptRef: work, Anomaly: idle}, event.ConsentGiven{AttemptRef: work, Choice: event.ConsentRestart}, event.ConsentGiven{AttemptRef: work, Choice: event.ConsentContinue}, event.ConsentGiven{AttemptRef: work, Choice: event.ConsentVoid},
		event.MessageSent{AttemptRef: work, Type: event.Tell, Content: event.Content{Text: "use Go"}}, event.MessageSent{AttemptRef: work, Type: event.AssistOffer, Content: event.Content{Details: "a mirror"}},
		event.MessageSent{AttemptRef: work, Type: event.HealthCheck, Content: event.Content{Question: "well?"}}, event.MessageSent{AttemptRef: work, Type: event.HealthCheck, Urgent: true, Content: event.Content{Question: "well?"}},
		event.MessageHeard{AttemptRef: work}, event.MessageHeard{AttemptRef: work, Answer: "yes"}, event.MessageLost{AttemptRef: work, Type: event.HealthCheck, Reason: "it ended"}, event.MessageLost{AttemptRef: work, Type: event.Tell, Reason: "it ended", Text: "use Go"},
		event.ToolUnavailable{AttemptRef: work, Tool: "gh", Agent: "claude", Reason: "not found", Agents: 1, Then: event.ToolCaveat}, event.ToolUnavailable{AttemptRef: work, Tool: "gh", Agent: "claude", Reason: "not found", Agents: 3, Then: event.ToolRetry},
		event.ToolUnavailable{AttemptRef: work, Tool: "gh", Agents: 4, Then: event.ToolSkip}, event.ToolUnavailable{AttemptRef: work, Tool: "gh", Agents: 1, Then: event.ToolStop},
		event.CheckoutMoved{AttemptRef: work, Moves: []string{"checkout: moving from work to main", "stash: WIP"}},
		event.CloneMade{Board: "b", Dir: "/p.clones/b", Tip: "0123456789abcdef"}, event.CloneMade{Board: "b", Dir: "/p.clones/b", Tip: "0123456789abcdef", Aside: "/p.clones/b.old-1", Lost: 2, Without: []string{"code.txt"}},
		event.CloneReady{Board: "b"}, event.CloneReady{Board: "b", Setup: "npm ci", Files: []string{".env"}},
		event.LandStarted{Onto: "refs/heads/main"}, event.Landed{Onto: "refs/heads/main", From: "0123456789abcdef", To: "fedcba9876543210"}, event.Landed{Onto: "refs/heads/main", From: "fedcba9876543210", To: "fedcba9876543210"},
		event.LandRefused{Onto: "refs/heads/main", Why: event.LandConflict, Text: "both sides have changed a.go"},
		event.WorkKept{Step: 2, Task: "t.md", Tip: "0123456789abcdef"}, event.WorkKept{Step: 2, Task: "t.md", Unchanged: true}, event.WorkKept{Step: 2, Task: "t.md", Tip: "0123456789abcdef", Unmoved: true, LeftOut: []string{"web (a repository of its own)"}},
		event.KeptHome{Board: "b", Step: 2, Files: []event.HomeFile{{Name: "t.md", Why: event.ByGit}}}, event.KeptHome{Board: "b", Step: 2, Files: []event.HomeFile{{Name: "t.md", Why: event.ByBoth, Kept: "kept/t.md"}}},
		event.LeftOut{Board: "b", Branch: "board/b", Names: []string{"web (a repository of its own)"}},
		event.FilesChanged{Board: "b", Task: "t.md", Role: "Implementor", Files: []event.ChangedFile{{File: "a.sh"}, {File: ".kanban-run.yaml", Field: "env"}}},
		event.FilesChanged{Board: "b", Task: "t.md", Role: "Implementor", Files: []event.ChangedFile{{By: event.TaskRole, File: "u.md", Field: "role", Roles: []string{"Deployer"}, Asks: true}}},
		event.StepFinished{Step: 2, Task: "u.md", Role: "Deployer", Status: "changed", Manager: "ok"},
		event.StepFinished{Step: 2, Task: "u.md", Role: "Deployer", Status: "ok", Manager: "ok", Dropped: []string{"v.md"}},
		event.FilesChanged{Board: "b", Task: "t.md", Role: "tell.sh", While: "while ./tell.sh ran", Files: []event.ChangedFile{{File: "a.sh", Asks: true}, {File: "b.md", Field: "prompt"}}},
		event.BoardLeft{Board: "b"}, event.BoardLeft{Board: "b", Text: "b was changed behind the end"},
		event.FilesSettled{Board: "b", Files: []event.ChangedFile{{File: "a.sh"}}},
		event.ReviewHeld{AttemptRef: event.AttemptRef{Call: event.CommandCall, Step: 1, Round: 1}, Completed: true, Command: "./check.sh", Changed: "check.sh changed while t.md was worked on"},
		event.WorkUndone{Board: "b", Step: 2, Tasks: []string{"a.md", "b.md"}}, event.WorkUndone{Board: "b", Tasks: []string{"a.md"}}, event.WorkUndone{Board: "b", Step: 1}, event.WorkUndone{Board: "b", Step: 1, Gone: event.GoneFiles, Tasks: []string{"a.md"}}, event.WorkUndone{Board: "b", Step: 2, Gone: event.GoneMarks, Tasks: []string{"a.md"}},
		event.Pushed{Board: "b", Branch: "board/b"},
		event.PushFailed{Board: "b", Branch: "board/b", Reason: "no pushes today"},
		event.ToolsUsed{AttemptRef: work, ToolWork: event.ToolWork{Uses: []event.ToolUse{{Tool: "Bash", Calls: 2, Millis: 1500, Failed: 1}, {Calls: 1, Millis: 5}}}},
		held("pass", ""), held("warn", event.BlockOverride, "slow", "no\ntests"), held("block", event.BlockRevise, "wrong"),
		event.CheckpointMissed{Task: "CHECKPOINT-001", Reason: "no\nreply", Then: event.BlockOverride}, event.SupervisorFailed{AttemptRef: look, Reason: "no disk", Errors: 2}, event.SupervisorFailed{AttemptRef: look, Reason: "no disk", Errors: 3, Then: event.BlockRevise},
		event.ScopeViolated{AttemptRef: look, Text: "it changed a.go"}, event.SupervisorLost{Reason: "killed"}, event.SupervisorDismissed{Approved: true}, event.SupervisorDismissed{}, event.CheckpointReopened{Task: "CHECKPOINT-001"},
		event.LoopSuspected{Task: "t.md", Suspicion: event.Suspicion{Text: "3 rounds", Recommend: event.SwapOwner, Reason: "nothing changes"}, Told: true}, event.LoopSuspected{Task: "t.md", Suspicion: event.Suspicion{Text: "3 rounds", Recommend: event.SwapOwner, Reason: "nothing changes"}},
		event.QuarantineEnded{Task: "t.md", Reason: "it was edited"}, event.DuplicateTask{Task: "t.md", Owner: "o.yaml"}, event.DuplicateTask{Task: "t.md"},
		event.ScopeOverlaps{Task: "t.md", Files: []string{"a", "b"}, OwnerTask: "o.md", Owner: "o.yaml"}, event.ScopeOverlaps{Task: "t.md", Files: []string{"a"}, OwnerTask: "o.md", Owner: "o.yaml", Waits: true},
		event.TaskSetAside{Step: 2, Task: "t.md", Role: "Implementor", Status: "blocked", Reason: "Implementor replied blocked: no key\nmore"},
		event.Reassigned{Step: 2, Role: "Implementor", To: "codex", Reason: "4 attempts"}, event.ReassignProposed{Step: 2, Task: "t.md", Role: "Implementor", Strategy: event.Specialist}, event.MarkerMissing{Text: "no sections"}, event.DecisionsViolated{Text: "outside"},
		event.TeardownMoved{To: event.TeardownInit}, event.TeardownMoved{To: event.Retrying, Round: 2}, event.TeardownMoved{To: event.ReadyToDelete, Status: "success"}, event.TeardownMoved{To: event.FailedSafe, Reason: "no answer"},
		event.TeardownBlocked{Reason: "work is open"}, event.ForcedFinalizeCandidate{Board: "my b.yaml", Missing: []string{"x", "y"}}, event.ForcedFinalizeAcked{Note: "fine"},
		event.StateDiverged{Source: event.SourceBoard, Before: "1", After: "2", Policy: event.PolicyAccept, Text: "it was changed"}, event.StateDiverged{Source: event.SourceBoard, Step: 2, Before: "1", After: "2", Policy: event.PolicyFreeze, Text: "it was changed"},
		event.StateDiverged{Source: event.SourceBoard, Before: "1", After: "2", Policy: event.PolicyRestore, Text: "it was changed"}, event.StateDiverged{Source: event.SourceBoard, Before: "1", After: "2", Policy: event.PolicyAsk, Text: "it was changed"},
		event.PlaceChanged{Place: "b 1:1", Mark: "1", Left: true}, event.PlaceChanged{Place: "b 1:1", Mark: "1"}, event.PlaceChanged{Place: "b 1:1", Mark: "1", Booted: true},
		event.StateDiverged{Source: event.SourceBoard, Before: "1", After: "1", Text: "it was touched"}, event.StateDiverged{Source: event.SourceState, Before: "1", After: "2", Text: "state.md was changed"},
		event.HandoffOffered{Board: "b"}, event.HandoffAcked{Board: "b"}, event.SnapshotTaken{Board: "b"}, event.LockEntered{Board: "b"}, event.HandoffDuplicate{Epoch: 3, Owner: "o"}, event.HandoffMissing{Text: "no handoff"}, event.SplitBrain{Text: "two owners"},
		event.SnapshotNotFound{Text: "none"}, event.SnapshotConflict{Text: "two"}, event.ReconcileConflict{Text: "both"}, event.LockExited{ReplayIndex: 7, Decision: event.DecisionNoImpact},
	}
}

// TestSentences holds the words of every kind of event to testdata/sentences.txt, which
// KANBAN_TEST_UPDATE=1 makes anew.
func TestSentences(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	const golden = "testdata/sentences.txt"
	var b strings.Builder
	said := map[string]bool{}
	for _, e := range sentences() {
		s := e.Sentence()
		said[e.Kind()] = true
		fmt.Fprintf(&b, "%s%s%s\n  %s: %s\n", e.Kind(), readers[s.For], topic(s), weights[s.Weight], s)
		for _, more := range s.More {
			fmt.Fprintf(&b, "    %s: %s\n", weights[more.Weight], more)
		}
		b.WriteString(reported(s))
	}
	for _, kind := range event.Kinds() {
		if !said[kind] {
			t.Errorf("no sentence of %s is held to its words", kind)
		}
	}
	if os.Getenv("KANBAN_TEST_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWarningOfAReply: every outcome that takes a reply says what was wrong with the reply.
func TestWarningOfAReply(t *testing.T) {
	end := event.End{Warning: "half a character"}
	for _, e := range []event.Event{
		event.ReplyAccepted{Status: "ok", End: end},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Call: event.ReadyCall}, End: end},
		event.ReviewHeld{Completed: true, End: end},
		event.ReviewHeld{End: end},
		event.CheckpointHeld{Then: event.BlockOverride, End: end},
		event.SupervisorFailed{End: end},
		event.JudgeAnswered{Warning: end.Warning},
	} {
		if got := e.Sentence().Whole(); !strings.HasSuffix(got, "; warning: half a character") {
			t.Errorf("%T says %q", e, got)
		}
	}
}

// TestSentencesOfManyNames: a sentence with a list of names stays short. The event has all of them.
func TestSentencesOfManyNames(t *testing.T) {
	names := make([]string, 2000)
	for i := range names {
		names[i] = fmt.Sprintf("tasks/%d.md", i)
	}
	for _, e := range []event.Event{
		event.StepFinished{Dropped: names},
		event.ScopeOverlaps{Files: names},
		event.StepStarted{Call: event.CheckpointCall, Checkpoint: &event.Checkpoint{Scope: names}},
	} {
		s := e.Sentence()
		text := s.String()
		for _, more := range s.More {
			text += more.String()
		}
		if len(text) > 500 || !strings.Contains(text, "and 1995 more") {
			t.Errorf("%s: %d bytes: %.200s", e.Kind(), len(text), text)
		}
	}
}
