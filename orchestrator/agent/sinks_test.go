//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/redact"
)

// TestOutputIsRedactedBeforeItIsCut: the tail of stderr, the beginning of a reply and single lines hold parts of a key in which
// nobody would see a key any more.
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
	out, err := agent.Converse(context.Background(), context.Background(), agent.Exec(),
		&agent.Invocation{Argv: argv, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}, agent.TaskContract,
		agent.Sinks{Stdout: &stdout, Stderr: &stderr, Redactor: redact.New(nil)}, func(e agent.Event) { said = append(said, e.String()) })
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

// TestReasonsQuoteNoSecret: a reason quotes the beginning of what it is about, in which nobody would see a secret any more.
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
		out, err := agent.Converse(context.Background(), context.Background(), agent.Exec(), &inv, agent.TaskContract,
			agent.Sinks{Redactor: redact.New([]string{secret})}, func(agent.Event) {})
		if err != nil || out.Failure == nil {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		if text := out.Failure.Reason + out.Received; strings.Contains(text, secret[:8]) || strings.Contains(text, secret[1:9]) {
			t.Errorf("%s: %s, %s", name, out.Failure.Reason, out.Received)
		}
	}
}
