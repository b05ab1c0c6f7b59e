package claude

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// good is a result with a reply.
const good = `{"type":"result","subtype":"success","is_error":false,"result":"{\"status\":\"ok\",\"message\":\"m\"}","session_id":"s"}`

// TestOutcome: a reply needs a result, no error, exit status 0 and no denial. A broken line is
// reported and skipped: seed 003, "解析错误处理".
func TestOutcome(t *testing.T) {
	type lines = []string
	for _, tt := range []struct {
		name   string
		lines  lines
		exit   proc.Exit
		reason string // "": a reply
		event  string
	}{
		{"a good result", lines{good}, proc.Exit{}, "", "result success"},
		{"behind a broken line", lines{"oops {", `{"type":`, "7", good}, proc.Exit{}, "", "warning a line of claude's output cannot be read (not a JSON object): oops {"},
		{"a structured reply and other words", lines{`{"type":"result","result":"Done. {}","structured_output":{"status":"ok","message":"m"}}`}, proc.Exit{}, "", ""},
		{"no structured reply", lines{`{"type":"result","result":"{\"status\":\"ok\",\"message\":\"m\"}","structured_output":null}`}, proc.Exit{}, "", ""},
		{"a good result and a bad end", lines{good}, proc.Exit{Code: 3}, "", ""},
		{"success in the middle of a turn", lines{`{"type":"result","subtype":"success","is_error":false,"num_turns":28,"result":"","stop_reason":"tool_use"}`}, proc.Exit{}, "in the middle of its turn", ""},
		{"a good result, killed", lines{good}, proc.Exit{Code: -1, Signal: "killed"}, "killed by signal: killed", ""},
		{"a good result, too late", lines{good}, proc.Exit{TimedOut: true, Timeout: time.Second}, "timed out after 1s", ""},
		{"no result", lines{`{"type":"system","subtype":"init","session_id":"s"}`}, proc.Exit{}, "it ended without a result", ""},
		{"nothing", nil, proc.Exit{Code: 1}, "exit status 1", ""},
		{"a sub-agent's words are none", lines{`{"type":"assistant","message":{"content":[{"type":"text","text":"{}"}]},"parent_tool_use_id":"t"}`}, proc.Exit{}, "it ended without a result", ""},
		{"retries and an end", lines{`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":529,"error":"overloaded"}`}, proc.Exit{TimedOut: true, Timeout: time.Hour},
			"timed out after 1h0m0s (exit status 0); it was waiting for the API: 529 overloaded", "retry 529 overloaded, again in 500ms (1 of 10)"},
		{"an error after a good result", lines{good, `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["a","b"]}`}, proc.Exit{}, "", ""},
		{"a limit after a good result", lines{good, `{"type":"result","subtype":"success","is_error":true,"result":"You've hit your session limit"}`}, proc.Exit{Code: 1}, "", ""},
		{"an empty result after a good one", lines{good, `{"type":"result","subtype":"success","is_error":false,"result":"","stop_reason":"tool_use"}`}, proc.Exit{}, "", ""},
		{"words after a good result", lines{good, `{"type":"result","subtype":"success","is_error":false,"result":"The background task is done."}`}, proc.Exit{}, "", ""},
		{"a good result after another reply", lines{strings.Replace(good, "ok", "blocked", 1), good}, proc.Exit{}, "", ""},
		{"an error after a good result, killed", lines{good, `{"type":"result","is_error":true}`}, proc.Exit{Code: -1, Signal: "killed"}, "killed by signal: killed", ""},
		{"a good result after an error", lines{`{"type":"result","subtype":"error_during_execution","is_error":true}`, good}, proc.Exit{}, "", ""},
		{"an error by its name only", lines{`{"type":"result","subtype":"error_during_execution","is_error":false,"result":"{\"status\":\"ok\",\"message\":\"m\"}"}`}, proc.Exit{}, "it broke off", ""},
		{"an error without words", lines{`{"type":"result","subtype":"success","is_error":true}`}, proc.Exit{Code: 1}, "it reports an error and does not say which", ""},
		{"a new kind of error", lines{`{"type":"result","subtype":"error_new","is_error":true,"errors":["x"]}`}, proc.Exit{Code: 1}, "error_new: x", ""},
		{"progress", lines{`{"type":"tool_progress","tool_name":"Bash","elapsed_time_seconds":30.2,"heartbeat":true}`, good}, proc.Exit{}, "", "heartbeat Bash shell 30 s"},
		{"a failed tool", lines{`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"go test"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"Exit code 1\nmore"}]}}`, good}, proc.Exit{}, "", "tool ended (failed) Bash shell Exit code 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := play([]byte(strings.Join(tt.lines, "\n")), 0, tt.exit)
			switch f := h.report.Failure; {
			case h.report.Err != nil || tt.reason == "" && f != nil || tt.reason != "" && f == nil:
				t.Errorf("End = %+v, %v, want %q", h.report, f, tt.reason)
			case f != nil && !strings.Contains(f.Reason, tt.reason):
				t.Errorf("Reason = %q, want %q in it", f.Reason, tt.reason)
			case f == nil && string(h.report.Reply) != `{"status":"ok","message":"m"}`:
				t.Errorf("Reply = %s, want the last result's", h.report.Reply)
			}
			if all := strings.Join(h.events, "\n"); !strings.Contains(all, tt.event) {
				t.Errorf("events =\n%s\nwant %q among them", all, tt.event)
			}
		})
	}
}

// TestLaterResult: what follows a valid reply without a reply is a warning, and a turn that a message of ours began
// is not even that.
func TestLaterResult(t *testing.T) {
	const failed = `{"type":"result","is_error":true,"result":"API Error: 529 Overloaded"}`
	const own = `{"type":"command_lifecycle","command_uuid":"00000000-02","state":"started"}`
	for stream, want := range map[string]string{
		good:                                     "",
		good + "\n" + failed:                     "another result follows it, without a reply: API Error: 529 Overloaded; the reply counts",
		good + "\n" + own + "\n" + failed:        "",
		failed + "\n" + own + "\n" + good + "\n": "a failure",
	} {
		r := play([]byte(stream), 0, proc.Exit{}).report
		if got := r.Warning; r.Err != nil && want != "a failure" || r.Err == nil && got != want {
			t.Errorf("End = %+v, want the warning %q for\n%s", r, want, stream)
		}
	}
}

// TestDenials: a denied tool is denied again at every retry, so a person has to change the role.
func TestDenials(t *testing.T) {
	for _, tt := range []struct{ stream, text, hint string }{
		{`{"type":"result","subtype":"success","result":"{}","permission_denials":[{"tool_name":"Write","tool_use_id":"1","tool_input":{"content":"c","file_path":"a.txt"}},` +
			`{"tool_name":"Odd","tool_use_id":"2","tool_input":{"x":1}},{"tool_name":"Write","tool_use_id":"1","tool_input":{"file_path":"a.txt"}}]}`,
			"claude: permission denied: Write (a.txt), Odd", "give the role permission: edit"},
		{`{"type":"result","permission_denials":[{"tool_name":"Write"}]}` + "\n" + good, "claude: permission denied: Write", "give the role permission: edit"},
	} {
		var denied *agent.ConfigError
		if got := play([]byte(tt.stream), 0, proc.Exit{}).report; !errors.As(got.Err, &denied) || denied.Text != tt.text || !strings.HasPrefix(denied.Fix, tt.hint) {
			t.Errorf("End = %+v, want %q with the hint %q", got, tt.text, tt.hint)
		}
	}
}

// TestLostSession: the words are those of claude 2.1.328.
func TestLostSession(t *testing.T) {
	const words = "No conversation found with session ID: 99999999-2222-4333-8444-555555555555"
	result := func(text string) string {
		return `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["` + text + `"]}`
	}
	for _, tt := range []struct {
		name, stdout, stderr string
		lost                 bool
	}{
		{"in a result", result(words), "", true},
		{"on standard error alone", "", words + "\n", true},
		{"another error", result("boom"), words + "\n", false},
		{"no words", "", "boom\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(contract.Task, agent.Host{})
			_, _ = r.Write([]byte(tt.stdout))
			r.ReadStderr(tt.stderr)
			got := r.End(proc.Exit{Code: 1})
			if got.Err != nil || got.Failure == nil || got.Failure.Lost != tt.lost {
				t.Errorf("End = %+v, %+v, want a failure, lost: %t", got, got.Failure, tt.lost)
			}
		})
	}
}

// TestHopeless: errors that no retry can mend, beyond those of the tests with the real claude.
func TestHopeless(t *testing.T) {
	fault := func(kind string) string {
		return `{"type":"assistant","error":"` + kind + `","is_api_error_message":true,"message":{"content":[]}}` + "\n"
	}
	failed := func(more string) string {
		return `{"type":"result","is_error":true,"result":"provider's words"` + more + `}`
	}
	limit := func(status string) string {
		return `{"type":"rate_limit_event","rate_limit_info":{"status":"` + status + `","resetsAt":1000000000}}` + "\n"
	}
	var config *agent.ConfigError
	var later *agent.LaterError
	for _, tt := range []struct {
		name, stream string
		as           any
		hint         string
	}{
		{"an organisation that may not", fault("oauth_org_not_allowed") + failed(""), &config, "/login"},
		{"no money", fault("billing_error") + failed(`,"api_error_status":400`), &config, "billing"},
		{"a limit by its name", failed(`,"api_error":"usage_limit_reached"`), &later, "once the limit is over"},
		{"a limit by its status", failed(`,"api_error_status":429`), &later, ""},
		{"a limit that is not reached", limit("allowed") + failed(`,"api_error_status":429`), &later, ""},
		{"a login by its status", failed(`,"api_error_status":401`), &config, "env.only"},
		{"no such model", failed(`,"api_error_status":404`), &config, "another model"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := play([]byte(tt.stream), 0, proc.Exit{Code: 1}).report.Err
			hint, _ := err.(interface{ Hint() string })
			if !errors.As(err, tt.as) || !strings.Contains(err.Error(), "provider's words") || !strings.Contains(hint.Hint(), tt.hint) {
				t.Errorf("End = %T %v, want %T with the hint %q", err, err, tt.as, tt.hint)
			}
		})
	}
	for status, want := range map[string]time.Time{"allowed": {}, "rejected": time.Unix(1e9, 0).UTC()} {
		err := play([]byte(limit(status)+failed(`,"api_error_status":429`)), 0, proc.Exit{Code: 1}).report.Err
		if !errors.As(err, &later) || later.Reset != want {
			t.Errorf("End = %v, want the time %v of a limit that is %s", err, want, status)
		}
	}
	for text, of := range map[string]bool{
		"You've reached your Fable limit. Switch to another model to continue.": true,
		"You've hit your Opus limit · resets 8am (UTC)":                         true,
		"You've hit your weekly limit · resets 8am (UTC)":                       false,
	} {
		err := play([]byte(`{"type":"result","is_error":true,"result":"`+text+`"}`), 0, proc.Exit{Code: 1}).report.Err
		if !errors.As(err, &later) || later.Model != of || strings.Contains(later.Hint(), "another model") != of {
			t.Errorf("End = %#v, want a limit of one model: %t", err, of)
		}
	}
	for kind, of := range map[string]bool{"five_hour": false, "seven_day_opus": true} {
		event := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"` + kind + `","resetsAt":1000000000}}` + "\n"
		err := play([]byte(event+failed(`,"api_error_status":429`)), 0, proc.Exit{Code: 1}).report.Err
		if !errors.As(err, &later) || later.Model != of {
			t.Errorf("End = %#v, want a limit of one model for %s: %t", err, kind, of)
		}
	}
	// An error that has passed does not count for the result.
	passed := fault("rate_limit") + `{"type":"assistant","message":{"content":[]}}` + "\n" + failed("")
	if r := play([]byte(passed), 0, proc.Exit{Code: 1}).report; r.Err != nil || r.Failure == nil {
		t.Errorf("End = %+v, want a failure", r)
	}
}

// TestImpatience: a second refusal, and a provider that asks for more than a minute, end the
// attempt.
func TestImpatience(t *testing.T) {
	retry := func(status int, delay time.Duration) string {
		return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":%d,"error_status":%d,"error":"e"}`+"\n", delay.Milliseconds(), status)
	}
	for _, tt := range []struct{ name, stream, want string }{
		{"one refusal", retry(401, time.Second), ""},
		{"two", retry(401, time.Second) + retry(401, time.Second), "*agent.ConfigError claude: the API refuses the key or the login (401 e)"},
		{"forbidden", retry(403, time.Second) + retry(403, time.Second), "*agent.ConfigError claude: the API refuses"},
		{"a short wait", retry(429, 59*time.Second), ""},
		{"a long one", retry(429, 61*time.Second), "*agent.LaterError claude: the API wants to be left alone (429 e) (until 20"},
		{"an overloaded server", strings.Repeat(retry(529, time.Hour), 10), ""},
	} {
		if got := strings.Join(play([]byte(tt.stream), 0, proc.Exit{}).gaveUp, "\n"); tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: gave up %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestReviewIsAllOfIt: a review may quote a reply.
func TestReviewIsAllOfIt(t *testing.T) {
	const words = "Wrong:\n\n```json\n{\"status\":\"ok\"}\n```"
	for kind, want := range map[contract.Kind]string{contract.Review: words, contract.Task: `{"status":"ok"}`} {
		r := New().Reader(kind, agent.Host{})
		fmt.Fprintf(r, `{"type":"result","result":%q}`, words)
		if got := string(r.End(proc.Exit{}).Reply); got != want {
			t.Errorf("%s: Reply = %q, want %q", kind, got, want)
		}
	}
}

// TestSession: seed 003, "解析 session_id": in either spelling, and of the first line that has one.
func TestSession(t *testing.T) {
	for stream, want := range map[string]string{
		`{"type":"greased","sessionId":"a"}` + "\n" + good:   "a",
		`{"type":"greased","session_id":"b"}` + "\n" + good:  "b",
		`{"type":"greased","session_id":null}` + "\n" + good: "s",
		`{"type":"result"}`: "",
	} {
		if got := play([]byte(stream), 0, proc.Exit{}).report.Session; got != want {
			t.Errorf("Session = %q, want %q of %s", got, want, stream)
		}
	}
}

// TestSpent: a stopped run is charged the tokens of its messages, each once; a result's figures
// take precedence.
func TestSpent(t *testing.T) {
	message := func(id, parent string) string {
		return `{"type":"assistant","parent_tool_use_id":` + parent + `,"message":{"id":"` + id + `","content":[],"usage":{"input_tokens":1,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":4}}}` + "\n"
	}
	stopped := message("a", "null") + message("b", `"sub"`) + message("a", "null") + message("b", `"sub"`)
	const since = `{"type":"result","total_cost_usd":9,"usage":{"input_tokens":9},"model_usage_since_last_result":{` +
		`"m":{"inputTokens":1,"cacheReadInputTokens":300,"cacheCreationInputTokens":20,"outputTokens":4,"costUSD":0.5},"n":{"inputTokens":1,"costUSD":0.25}}}` + "\n"
	const old = `{"type":"result","total_cost_usd":0.5,"usage":{"input_tokens":1,"cache_read_input_tokens":300,"output_tokens":4}}` + "\n"
	for _, tt := range []struct {
		name, stream string
		want         string
	}{
		{"nothing", "", "nil"},
		{"stopped", stopped, "642 600 8 none"},
		{"a result", stopped + since, "322 300 4 750000"},
		{"two results", since + since, "644 600 8 1500000"},
		{"an old version's", old, "301 300 4 500000"},
		{"an old version's two", old + strings.Replace(old, "0.5", "0.75", 1), "602 600 8 750000"},
	} {
		got := "nil"
		if s := play([]byte(tt.stream), 0, proc.Exit{}).report.Spent; s != nil {
			got = fmt.Sprint(s.Input, " ", s.Cached, " ", s.Output, " none")
			if s.Cost != nil {
				got = fmt.Sprint(s.Input, " ", s.Cached, " ", s.Output, " ", *s.Cost)
			}
		}
		if got != tt.want {
			t.Errorf("%s: Spent = %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestBoundedMemory: memory does not grow with the stream. Its pieces are shorter unless
// KANBAN_TEST_EXHAUSTIVE is set; one kept of each tool is too much in both cases.
func TestBoundedMemory(t *testing.T) {
	r := newReader(contract.Task, agent.Host{})
	size := 24 << 10
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		size = 64 << 10
	}
	blob := strings.Repeat("x", size)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 400 {
		fmt.Fprintf(r, `{"type":"assistant","session_id":"%[1]d%[2]s","message":{"id":"%[1]d","usage":{"input_tokens":1},"content":[{"type":"text","text":"%[2]s"},{"type":"tool_use","id":"%[1]d","name":"%[2]s","input":{"command":"%[2]s"}}]}}`+"\n", i, blob)
		fmt.Fprintf(r, `{"type":"result","subtype":"%[2]s","is_error":true,"errors":["%[2]s"],"permission_denials":[{"tool_use_id":"%[1]d","tool_name":"%[2]s"}]}`+"\n", i, blob)
		fmt.Fprintf(r, "%d no JSON\n", i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 4<<20 {
		t.Errorf("%d KiB are kept of %d MiB, want 4 MiB at most", kept>>10, 400*7*size>>20)
	}
	if len(r.tools) > maxTools || len(r.denials) > maxDenials || len(r.spent.ids) > maxIDs {
		t.Errorf("%d tools, %d denials, %d messages are kept", len(r.tools), len(r.denials), len(r.spent.ids))
	}
	if f := r.End(proc.Exit{}).Failure; f == nil || len(f.Reason) > 2*maxText {
		t.Errorf("Failure = %v, want a short one", f)
	}
}

// FuzzReader: the reader never panics, its reports are bounded, and the stream's chunks do not
// matter.
func FuzzReader(f *testing.F) {
	f.Add([]byte(good), 3, 0)
	f.Add([]byte("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\r\n"+good), 1, 1)
	f.Add([]byte(`{"type":"result","structured_output":{"a":1},"permission_denials":[{}],"model_usage_since_last_result":{"m":{"costUSD":1e300}}}`), 7, 0)
	f.Add([]byte(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e300}}`+"\n"+`{"type":"result","is_error":true,"api_error_status":429}`), 2, 0)
	f.Add([]byte(`{"type":"system","subtype":"api_retry","retry_delay_ms":-1e300,"error_status":429}`), 2, 0)
	f.Fuzz(func(t *testing.T, stream []byte, size, code int) {
		whole := play(stream, 0, proc.Exit{Code: code})
		for _, e := range whole.events {
			if len(e) > 4*maxText {
				t.Errorf("an event has %d bytes", len(e))
			}
		}
		r := whole.report
		if r.Failure != nil && len(r.Failure.Reason) > 4*maxText || len(r.Reply) > len(stream)+maxText || len(r.Session) > maxName {
			t.Errorf("End = %+v, which is more than there was", r)
		}
		if strings.Contains(string(stream), "retry_delay_ms") {
			return // it tells the time
		}
		if cut := play(stream, min(max(1, size), 1<<20), proc.Exit{Code: code}); cut.String() != whole.String() {
			t.Errorf("in pieces of %d: reported\n%s\nwant\n%s", size, cut, whole)
		}
	})
}
