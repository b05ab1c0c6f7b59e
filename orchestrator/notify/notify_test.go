package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/notify"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
)

func TestMain(m *testing.M) {
	if err := proc.Adopt(); err != nil { // as a run does
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// inbox collects what is sent.
type inbox struct {
	mu       sync.Mutex
	messages []notify.Message
}

func (i *inbox) send(_ context.Context, data []byte) error {
	var m notify.Message
	err := json.Unmarshal(data, &m)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = append(i.messages, m)
	return err
}

func (i *inbox) topics() (all []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, m := range i.messages {
		all = append(all, string(m.Topic))
	}
	return all
}

func start(i *inbox, on ...event.Topic) *notify.Notifier {
	if on == nil {
		on = event.Topics()
	}
	return notify.New(notify.Options{On: on, Senders: []notify.Sender{i.send}, Redactor: redact.New([]string{"hunter2hunter2"}),
		Report: func(board string) string { return "SUPERVISOR_REPORT of " + board }, Now: time.Now, Warn: func(string, string) {}})
}

func entry(e event.Event) event.Entry { return event.Entry{Time: time.Now(), Event: e} }

// TestTopics: which event is told as what, and nothing else is.
func TestTopics(t *testing.T) {
	task := event.AttemptRef{Task: "t1", Role: "R"}
	for _, tt := range []struct {
		event event.Event
		want  event.Topic
	}{
		{event.RunFinished{Outcome: event.Complete}, event.AboutComplete},
		{event.RunFinished{Outcome: event.NeedsPerson}, event.AboutPerson},
		{event.RunFinished{Outcome: event.Exhausted}, event.AboutPerson},
		{event.RunFinished{Outcome: event.Frozen}, event.AboutPerson},
		{event.RunFinished{Outcome: event.Incomplete}, event.AboutPerson},
		{event.RunFinished{Outcome: event.LimitReached}, event.AboutLimit},
		{event.RunInterrupted{Outcome: event.Later}, event.AboutLater},
		{event.RunInterrupted{Outcome: event.Interrupted}, ""},
		{event.RunInterrupted{Outcome: event.Failed}, event.AboutPerson},
		{event.ConsentAsked{AttemptRef: task}, event.AboutPerson},
		{event.SplitBrain{Board: "b"}, event.AboutPerson},
		{event.TeardownBlocked{Board: "b"}, event.AboutPerson},
		{event.ForcedFinalizeCandidate{Board: "b"}, event.AboutPerson},
		{event.LoopSuspected{Task: "t1"}, event.AboutLoop},
		{event.RebootTested{AttemptRef: task, Decision: event.Stuck}, event.AboutStuck},
		{event.RebootTested{AttemptRef: task, Decision: event.Restart}, ""},
		{event.IdleBreach{AttemptRef: task, Overdue: event.Overdue{Severity: "WARN"}}, event.AboutStuck},
		{event.IdleBreach{AttemptRef: task, Overdue: event.Overdue{Severity: "INFO"}}, ""},
		{event.ReviewBreach{AttemptRef: task, Overdue: event.Overdue{Severity: "CRITICAL"}}, event.AboutStuck},
		{event.ToolUnavailable{AttemptRef: task}, event.AboutTool},
		{event.StepFinished{Task: "t1"}, ""},
	} {
		var i inbox
		n := start(&i)
		n.Entry("b", entry(tt.event))
		n.Close(t.Context())
		switch {
		case tt.want == "" && len(i.messages) != 0, tt.want != "" && (len(i.messages) != 1 || i.messages[0].Topic != tt.want):
			t.Errorf("%T: %+v, want %q", tt.event, i.messages, tt.want)
		case tt.want != "":
			if m := i.messages[0]; m.Board != "b" || m.Event != tt.event.Kind() || (m.Report != "") != (tt.want == event.AboutPerson) {
				t.Errorf("%T: %+v", tt.event, m)
			}
		}
		n = start(&i, "nothing")
		n.Entry("b", entry(tt.event))
		n.Close(t.Context())
	}
}

// TestSecrets: no message shows one.
func TestSecrets(t *testing.T) {
	var i inbox
	n := start(&i)
	n.Entry("b", entry(event.LoopSuspected{Task: "t", Suspicion: event.Suspicion{Text: `the password is hunter2hunter2 "quoted"`}}))
	n.Close(t.Context())
	if len(i.messages) != 1 || strings.Contains(i.messages[0].Text, "hunter2") || !strings.Contains(i.messages[0].Text, "[REDACTED_SECRET]") {
		t.Errorf("%+v", i.messages)
	}
}

// TestAntiSpam: seed 002, "Anti-Spam Policy": one message in 20 minutes and two an hour
// about a subject, nothing identical, a recovery behind an alert, and once; what is
// critical is told even so.
func TestAntiSpam(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var i inbox
		n := start(&i)
		said := 0
		say := func(after time.Duration, told bool, e event.Event) {
			t.Helper()
			time.Sleep(after)
			n.Entry("b", entry(e))
			synctest.Wait()
			if got := len(i.topics()) > said; got != told {
				t.Errorf("%s: told %t, want %t", e.Kind(), got, told)
			}
			said = len(i.topics())
		}
		breach := func(severity, task, text string) event.Event {
			return event.IdleBreach{AttemptRef: event.AttemptRef{Task: task}, Overdue: event.Overdue{Severity: severity, Text: text}}
		}
		idle := func(task, text string) event.Event { return breach("WARN", task, text) }
		tool := func(task string, agents int) event.Event {
			return event.ToolUnavailable{AttemptRef: event.AttemptRef{Task: task}, Tool: "make", Agents: agents}
		}
		recovered := event.Recovered{AttemptRef: event.AttemptRef{Task: "t1"}, Text: "moving"}
		say(0, false, recovered)
		say(0, false, breach("INFO", "t1", "a ping pages nobody"))
		say(0, true, idle("t1", "15m"))
		say(time.Minute, false, idle("t1", "16m"))          // cooldown
		say(0, true, breach("CRITICAL", "t1", "16m"))       // which holds no escalation back
		say(0, false, breach("CRITICAL", "t1", "and more")) // cooldown of its own
		say(0, true, tool("t3", 1))
		say(0, false, tool("t4", 2)) // the same trouble
		say(0, true, tool("t5", 3))  // which is the machine's
		say(0, false, tool("t6", 4))
		say(0, true, idle("t2", "15m")) // another subject
		say(18*time.Minute, false, idle("t1", "34m"))
		say(time.Minute, true, idle("t1", "35m"))
		say(30*time.Minute, false, idle("t1", "65m")) // the third within an hour
		say(0, true, event.RunFinished{Board: "b", Outcome: event.NeedsPerson, Text: "why"})
		say(0, true, event.RunFinished{Board: "b", Outcome: event.NeedsPerson, Text: "why"}) // critical
		say(0, true, event.ConsentAsked{AttemptRef: event.AttemptRef{Task: "t1"}})           // between the alert and its recovery
		say(0, true, recovered)
		say(0, false, recovered)
		say(time.Hour, true, idle("t1", "125m"))
		say(20*time.Minute, false, idle("t1", "125m")) // identical
		n.Close(t.Context())
	})
}

// TestSlowSender: runs do not wait for messages, too many of them are dropped, and the end
// waits for a short time only.
func TestSlowSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var warned []string
		sent := 0
		n := notify.New(notify.Options{On: event.Topics(), Redactor: redact.New(nil), Now: time.Now, Warn: func(_, text string) { mu.Lock(); defer mu.Unlock(); warned = append(warned, text) },
			Senders: []notify.Sender{func(ctx context.Context, _ []byte) error {
				mu.Lock()
				sent++
				mu.Unlock()
				<-ctx.Done()
				return errors.New("too slow")
			}}})
		began := time.Now()
		for task := range 200 {
			n.Entry("b", entry(event.LoopSuspected{Task: fmt.Sprint(task)}))
		}
		if time.Since(began) != 0 {
			t.Error("a run waited for a message")
		}
		n.Close(t.Context())
		mu.Lock()
		if took := time.Since(began); took > 31*time.Second || sent > 4 {
			t.Errorf("the end took %v, %d were sent", took, sent)
		}
		all := strings.Join(warned, "\n")
		if len(warned) != 3 || !strings.Contains(all, "too slow") || !strings.Contains(all, "dropped") || !strings.Contains(all, " messages not sent before the end") {
			t.Errorf("%q, want each fault once", warned)
		}
		mu.Unlock()
	})
}

// TestWebhook: an endpoint that fails, leads elsewhere, never answers or answers without end is an
// error, which shows no more than its host.
func TestWebhook(t *testing.T) {
	const secret = "/hooks/s3cr3t-path"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirection was followed") }))
	defer elsewhere.Close()
	var got string
	hang := make(chan struct{})
	defer close(hang)
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"good": {func(w http.ResponseWriter, r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			got = r.Method + " " + r.Header.Get("Content-Type") + " " + string(data)
		}, ""},
		"failing":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "status 500"},
		"redirecting": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "status 302"},
		"slow": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}, "no answer in time"},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			for range 1 << 20 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tt.answer)
			defer server.CloseClientConnections()
			limit := time.Minute
			if name == "slow" {
				limit = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			err := notify.Webhook(server.URL+secret)(ctx, []byte(`{"a":1}`))
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if got != `POST application/json {"a":1}` {
		t.Errorf("the endpoint got %q", got)
	}
	if err := notify.Webhook("http://127.0.0.1:1"+secret)(t.Context(), nil); err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"ftp://x/y", "example.com/hook", "https://", "\x00"} {
		if err := notify.CheckWebhook(bad); err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := notify.CheckWebhook("https://example.com/hook"); err != nil || notify.Host("https://example.com/hook") != "example.com" {
		t.Errorf("%v", err)
	}
}

// TestCommand: a program gets the message, and is ended with all that it
// started when it takes too long.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	sh := func(script string) notify.Sender {
		return notify.Command([]string{"sh", "-c", script}, "/bin/sh", dir, []string{"PATH=" + os.Getenv("PATH")}, func() ([]string, func() error, error) {
			return []string{"/bin/sh", "-c", script}, func() error { return nil }, nil
		})
	}
	if err := sh("cat > got; env > env")(t.Context(), []byte(`{"a":1}`)); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "got")); err != nil || string(data) != `{"a":1}` {
		t.Errorf("%q, %v", data, err)
	}
	if err := sh("exit 3")(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := sh("sleep 600 & sleep 600")(ctx, nil); err == nil || time.Since(began) > 5*time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if err := notify.Command([]string{"no-such-program"}, "", dir, nil, nil)(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no-such-program cannot be started") {
		t.Errorf("%v", err)
	}
}
