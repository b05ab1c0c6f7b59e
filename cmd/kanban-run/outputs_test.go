package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/redact"
)

// TestFitVariable: a later step takes an output in a variable, and no program starts with one of more than 128 KiB.
func TestFitVariable(t *testing.T) {
	for name, text := range map[string]string{
		"lines":    strings.Repeat(strings.Repeat("x", 999)+"\n", 200),
		"one line": strings.Repeat("ü", maxOutput),
	} {
		got := fitVariable(text)
		if len(got) > maxOutput || len(got) < maxOutput-1024 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("%s: %d bytes that end with %q, want %d at most", name, len(got), got[len(got)-10:], maxOutput)
		}
		if cut := strings.TrimSuffix(got, "…"); !strings.HasPrefix(text, cut) || name == "lines" && !strings.HasSuffix(cut, "\n") {
			t.Errorf("%s: cut in the middle of a line", name)
		}
	}
	if got := fitVariable("short"); got != "short" {
		t.Errorf("short: %q", got)
	}
}

// TestMask: in a job's log words and paths stay readable, although a variable with the name of a secret has them.
func TestMask(t *testing.T) {
	var log bytes.Buffer
	j := &job{out: console.New(&log, nil), masks: true}
	var secrets []redact.Secret
	for _, value := range []string{"disabled", "/run/secrets/token", "s3cr3t-value", "Disabled1x", "correcthorsebattery"} {
		secrets = append(secrets, redact.Secret{Name: "TOKEN_" + value, Value: value})
	}
	j.mask(secrets, nil)
	if want := "::add-mask::s3cr3t-value\n::add-mask::Disabled1x\n::add-mask::correcthorsebattery\n"; log.String() != want {
		t.Errorf("masked\n%swant\n%s", log.String(), want)
	}
}
