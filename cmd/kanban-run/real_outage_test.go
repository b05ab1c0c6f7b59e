//go:build linux

package main

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// refusesUntil has the model refuse every request about a task until over says that the outage is over.
func (s *realSite) refusesUntil(over func() bool, step func() modeltest.Step) {
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if taskOf(said) != "" && !over() {
			return modeltest.Play(step()), true
		}
		return s.work(q, said)
	})
}

// TestRealOutage: a provider that is overloaded, or whose limit is reached, is waited for with real tools, and
// costs no retry. A limit that ends on another day ends the run with 75 at once.
func TestRealOutage(t *testing.T) {
	t.Parallel()
	for how, tt := range map[string]struct {
		status int
		says   []string
	}{
		"overloaded":        {529, []string{"the provider is busy", "which is busy, and asks again at", "Implementor ok in"}},
		"too many requests": {429, []string{"asks again at", "Implementor ok in"}},
	} {
		t.Run(how, func(t *testing.T) {
			onEach(t, func(t *testing.T, name string) {
				s := newReal(t, name, 1)
				began := time.Now()
				waited := func() bool {
					return strings.Contains(s.read("output"), "asks again at") && time.Since(began) >= lasts(0)
				}
				s.refusesUntil(waited, func() modeltest.Step { return modeltest.Status(tt.status) })
				s.run(exitComplete, "--max-retries", "0")
				s.says(tt.says...)
			}, "gemini", "opencode", "acp")
		})
	}
	t.Run("no end", func(t *testing.T) {
		onEach(t, func(t *testing.T, name string) {
			s := newReal(t, name, 1)
			s.refusesUntil(func() bool { return false }, func() modeltest.Step { return modeltest.Status(529) })
			s.run(exitLater, "--patience", "3s")
			if n := strings.Count(s.read("output"), "Implementor started"); n != 3 {
				t.Errorf("it was started %d times within its patience, want 3:\n%s", n, s.read("output"))
			}
		}, "gemini", "opencode", "acp")
	})
	t.Run("a limit that resets", func(t *testing.T) {
		s := newReal(t, "claude", 1)
		s.env = modeltest.Subscribed(s.env)
		reset := sync.OnceValue(func() time.Time { return time.Now().Add(lasts(8 * time.Second)) }) // from the first request
		s.refusesUntil(func() bool { return !time.Now().Before(reset()) },
			func() modeltest.Step { return modeltest.Limited(reset(), 0) })
		s.run(exitComplete, "--max-retries", "0")
		s.says("a limit of the account is reached", "waits for claude's limit until", "Implementor ok in")
	})
	t.Run("a limit that resets on another day", func(t *testing.T) {
		s := newReal(t, "claude", 1)
		s.env = modeltest.Subscribed(s.env)
		reset := time.Now().Add(100 * time.Hour)
		s.refusesUntil(func() bool { return false }, func() modeltest.Step { return modeltest.Limited(reset, 0) })
		s.run(exitLater)
		s.says("a limit of the account is reached")
		if strings.Contains(s.read("output"), "waits for claude") {
			t.Error("it waits")
		}
	})
}

// lasts returns how long an outage lasts: a short time, unless KANBAN_TEST_OUTAGE is a time such as 2m.
func lasts(short time.Duration) time.Duration {
	if long, err := time.ParseDuration(os.Getenv("KANBAN_TEST_OUTAGE")); err == nil {
		return long
	}
	return short
}

// TestRealNoConnection: an API that cannot be reached for a while is waited for.
func TestRealNoConnection(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		at, err := url.Parse(s.model.URL)
		must(t, err)
		// Not 127.0.0.1: the server of another test might take the port while nobody listens there.
		l, err := net.Listen("tcp", "127.0.0.2:0")
		must(t, err)
		address := l.Addr().String()
		must(t, l.Close())
		for i, v := range s.env {
			s.env[i] = strings.ReplaceAll(v, at.Host, address)
			if home, ok := strings.CutPrefix(v, "CODEX_HOME="); ok {
				file := filepath.Join(home, "config.toml")
				text, err := os.ReadFile(file)
				must(t, err)
				must(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), at.Host, address)), 0o600))
			}
		}
		back := time.AfterFunc(lasts(15*time.Second), func() {
			again, err := net.Listen("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = again.Close() })
			_ = http.Serve(again, httputil.NewSingleHostReverseProxy(at)) // until the listener is closed
		})
		defer back.Stop()
		s.run(exitComplete, "--max-retries", "0")
		if name == "codex" { // it waits for the network itself
			s.says("waits for its provider", "Implementor ok in")
			return
		}
		s.says("the provider is busy", "Implementor ok in")
	}, "gemini", "opencode", "acp")
}
