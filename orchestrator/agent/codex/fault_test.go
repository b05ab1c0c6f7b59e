package codex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

func failedTurn(text string) string {
	quoted := string(streamtest.Quote([]byte(text)))
	return `{"type":"error","message":` + quoted + "}\n" + `{"type":"turn.failed","error":{"message":` + quoted + "}}\n"
}

// TestHopeless: the words tell what no retry can mend; codex gives nothing else.
func TestHopeless(t *testing.T) {
	const config, later = "*agent.ConfigError", "*agent.LaterError"
	for text, want := range map[string]string{
		"unexpected status 401 Unauthorized: Incorrect API key provided: sk-d, url: u":                                                           config,
		"unexpected status 403 Forbidden: no access to it":                                                                                       config,
		"unexpected status 402 Payment Required: your credit is used up, url: u":                                                                 config,
		"exceeded retry limit, last status: 402 Payment Required":                                                                                config,
		"unexpected status 404 Not Found: no such model":                                                                                         config,
		"The model `gpt-9` does not exist or you do not have access to it.":                                                                      config,
		"Missing environment variable: `FAKE_API_KEY`.":                                                                                          config,
		"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.":                config,
		"Your access token could not be refreshed because you have since logged out or signed in to another account. Please sign in again.":      config,
		"Not logged in. Please run codex login.":                                                                                                 config,
		`{"detail":"The 'o3' model is not supported when using Codex with a ChatGPT account."}`:                                                  config,
		"You’ve hit your usage limit. Upgrade to Pro, or try again at 7:55 PM.":                                                                  later,
		"You've hit your usage limit. Try again later.":                                                                                          later,
		"Quota exceeded. Check your plan and billing details.":                                                                                   config,
		"exceeded retry limit, last status: 429 Too Many Requests: You exceeded your current quota, please check your plan and billing details.": config,
		"exceeded retry limit, last status: 429 Too Many Requests":                                                                               later,
		"We’re currently experiencing high demand, which may cause temporary errors.":                                                            later,
		"unexpected status 529 <unknown status code>: overloaded":                                                                                later,
		"stream disconnected before completion: error sending request":                                                                           later,
		`{"type":"error","error":{"message":"fake 400"}}`:                                                                                        "",
	} {
		got := read(contract.Task, proc.Exit{Code: 1}, failedTurn(text)).Report
		var hint interface{ Hint() string }
		switch kind := strings.ReplaceAll(fmt.Sprintf("%T", got.Err), "<nil>", ""); {
		case got.Failure == nil || !strings.HasPrefix(got.Failure.Reason, "exit status 1: "):
			t.Errorf("%s: Failure = %v, want one", text, got.Failure)
		case kind != want:
			t.Errorf("%s: Err = %s %v, want %s", text, kind, got.Err, want)
		case want != "" && (!errors.As(got.Err, &hint) || hint.Hint() == ""):
			t.Errorf("%s: there is no hint", text)
		}
	}
}

const reconnecting401 = `{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: bad key, url: u)"}` + "\n"

// TestGivesUp: codex retries a bad key five times; the first refusal ends the attempt.
func TestGivesUp(t *testing.T) {
	got := read(contract.Task, proc.Exit{}, reconnecting401)
	var config *agent.ConfigError
	if len(got.GaveUp) != 1 || !errors.As(got.GaveUp[0], &config) || !strings.Contains(config.Text, "401 Unauthorized: bad key") ||
		strings.Contains(config.Text, "Reconnecting") {
		t.Errorf("given up: %v, want a *ConfigError in the provider's words", got.GaveUp)
	}
	for _, text := range []string{"We’re currently experiencing high demand", "stream disconnected before completion"} {
		got := read(contract.Task, proc.Exit{}, `{"type":"error","message":"Reconnecting... 1/5 (`+text+`)"}`)
		if len(got.GaveUp) != 0 || len(got.Events) != 1 || got.Events[0].Kind != agent.Retry {
			t.Errorf("given up: %v, events %v, want a retry alone", got.GaveUp, got.Events)
		}
	}
}

const reconnecting429 = `{"type":"error","message":"Reconnecting... 1/1 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"

// TestPatience: a limit that ends within a minute is waited for; a longer silence ends the attempt.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		name  string
		then  func(agent.Reader)
		wants int
	}{
		{"silence", func(agent.Reader) { time.Sleep(2 * time.Minute) }, 1},
		{"it goes on", func(r agent.Reader) {
			time.Sleep(50 * time.Second)
			_, _ = r.Write([]byte(message("here I am")))
			time.Sleep(2 * time.Minute)
		}, 0},
		{"it ends", func(r agent.Reader) { r.End(proc.Exit{}); time.Sleep(2 * time.Minute) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var gaveUp []error
				r := codex.New().Reader(contract.Task, agent.Host{Emit: func(agent.Event) {}, GiveUp: func(err error) { gaveUp = append(gaveUp, err) }})
				if _, err := r.Write([]byte(reconnecting429)); err != nil {
					t.Fatal(err)
				}
				tt.then(r)
				synctest.Wait()
				if len(gaveUp) != tt.wants || tt.wants > 0 && !errors.As(gaveUp[0], new(*agent.LaterError)) {
					t.Errorf("given up: %v, want %d *LaterError", gaveUp, tt.wants)
				}
			})
		})
	}
}
