package attempt_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/redact"
)

// TestOutputIsRedactedBeforeItIsCut: the tail of stderr, the beginning of a reply and single lines
// hold parts of a key in which a redactor would not recognise it.
func TestOutputIsRedactedBeforeItIsCut(t *testing.T) {
	var key strings.Builder
	key.WriteString("-----BEGIN PRIVATE KEY-----\n")
	for i := range 60 {
		fmt.Fprintf(&key, "LINE%02d%s\n", i, strings.Repeat("kEy+", 14))
	}
	key.WriteString("-----END PRIVATE KEY-----\n")
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := []string{"/bin/sh", "-c", `cat "$1" >&2; echo done >&2; head -c 3000 /dev/zero | tr '\0' x; cat "$1"`, "sh", file}
	var stdout, stderr bytes.Buffer
	var said []string
	out, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: agent.Invocation{Argv: argv, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}, Contract: contract.Task, Sinks: attempt.Sinks{Stdout: &stdout, Stderr: &stderr, Redactor: redact.New(nil)}, Emit: func(e agent.Event) { said = append(said, e.String()) }})

	if err != nil || out.Failure == nil {
		t.Fatalf("Converse = %+v, %v, want a failure", out, err)
	}
	for name, text := range map[string]string{"stdout": stdout.String(), "stderr": stderr.String(), "Received": out.Received, "Stderr": out.Stderr,
		"Reason": out.Failure.Reason, "events": strings.Join(said, "\n")} {
		if strings.Contains(text, "LINE") || strings.Contains(text, "kEy+") {
			t.Errorf("%s shows the key: %.200q", name, text)
		}
	}
	if out.Stderr != redact.Mark+"\ndone\n" || !strings.HasPrefix(out.Received, "xxx") || len(said) == 0 {
		t.Errorf("Stderr = %q, Received = %.20q, events = %q", out.Stderr, out.Received, said)
	}
}

// TestReasonsQuoteNoSecret: a reason quotes the beginning of what it is about, in which a redactor
// would not recognise a secret.
func TestReasonsQuoteNoSecret(t *testing.T) {
	const secret = "Zq8vT1mLw93KxY7bNc5RdF2hJ6pG4sA0uE9wQ3tBZq8vT1mLw93KxY7bNc5RdF2hJ6pG4sA0uE9wQ3tB"
	for name, reply := range map[string]string{
		"no object": secret, "text behind": `{"status":"ok","message":"m"} ` + secret, "a key twice": `{"` + secret + `":1,"` + secret + `":1}`,
		"a status": `{"status":"` + secret + `","message":"m"}`, "an odd key": `{"STATUS":"` + secret + `","message":"m"}`, "no value": `{"status":` + secret + `}`,
		"in escapes": `{"status":"\u005aq8vT1mLw93KxY7bNc5RdF2hJ6pG4sA0uE9wQ3tBZq8vT1mLw93KxY7bNc5RdF2hJ6pG4sA0uE9wQ3tB","message":"m"}`,
	} {
		file := filepath.Join(t.TempDir(), "reply")
		if err := os.WriteFile(file, []byte(reply), 0o600); err != nil {
			t.Fatal(err)
		}
		inv := agent.Invocation{Argv: []string{"/bin/cat", file}, Dir: t.TempDir()}
		out, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New([]string{secret})}})

		if err != nil || out.Failure == nil {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		if text := out.Failure.Reason + out.Received; strings.Contains(text, secret[:8]) || strings.Contains(text, secret[1:9]) {
			t.Errorf("%s: %s, %s", name, out.Failure.Reason, out.Received)
		}
	}
}

// talkative is an adapter that emits an event with a text as it is.
type talkative struct {
	agent.Adapter
	text string
}

func (a talkative) Reader(c contract.Kind, h agent.Host) agent.Reader {
	h.Emit(agent.Event{Kind: agent.Text, Text: a.text})
	return a.Adapter.Reader(c, h)
}

// TestEventsAreRedactedBeforeTheyAreShortened: an event is a short line for people, and a secret of
// many lines is none in pieces.
func TestEventsAreRedactedBeforeTheyAreShortened(t *testing.T) {
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("kEy+", 15)+"\n", 40) + "-----END PRIVATE KEY-----"
	for _, tt := range []struct{ name, text, want string }{
		{"lines", "one\n\n two\t three \n", "one two three"},
		{"a key", "the key is\n" + key + "\nthere", "the key is " + redact.Mark + " there"},
		{"a key where it is cut", strings.Repeat("x", 1000) + "\n" + key, strings.Repeat("x", 1000) + " " + redact.Mark},
		{"long", strings.Repeat("é", 1000), strings.Repeat("é", 512) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			inv := agent.Invocation{Argv: []string{"/bin/true"}, Dir: t.TempDir()}
			_, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: talkative{agent.Exec(), tt.text}, Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)}, Emit: func(e agent.Event) {
				got = append(got, e.String())
				if strings.Contains(e.Text, "kEy+kEy+") {
					t.Errorf("the event's text has the key: %q", e.Text)
				}
			}})

			if err != nil || len(got) != 1 || got[0] != tt.want {
				t.Errorf("events = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
