package agent_test

import (
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/gemini"
	"kanban-run/orchestrator/agent/opencode"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
)

// ends are the last lines of attempts. Those that name no program's recording are made after public reports of what
// the programs print; models and regions are made up.
var ends = []struct {
	adapter agent.Adapter
	name    string
	stream  string
	exit    proc.Exit
	want    event.Class
	resets  bool // the stream names the end of a limit
}{
	// claude
	{claude.New(), "a reply", claudeEnd(`"is_error":false,"structured_output":{"status":"ok","message":"m"}`), ok, event.ClassAccepted, false},
	{claude.New(), "a reply, and a bad exit behind it", claudeEnd(`"is_error":false,"structured_output":{"status":"ok","message":"m"}`), bad, event.ClassAccepted, false},
	{claude.New(), "a session limit", claudeEnd(`"is_error":true,"terminal_reason":"api_error","result":"You've hit your session limit · resets 3:30am (America/New_York)"`), bad, event.ClassLimit, true},
	{claude.New(), "a weekly limit", claudeEnd(`"is_error":true,"result":"You've hit your weekly limit · resets Thu 9am"`), bad, event.ClassLimit, true},
	{claude.New(), "a limit by its kind", claudeEnd(`"is_error":true,"api_error":"usage_limit_reached","result":"no"`), bad, event.ClassLimit, false},
	{claude.New(), "a limit per minute", claudeEnd(`"is_error":true,"api_error_status":429,"result":"API Error: 429 This request would exceed your rate limit of 10 tokens per minute"`), bad, event.ClassLimit, false},
	{claude.New(), "429 without a limit", claudeEnd(`"is_error":true,"api_error_status":429,"result":"API Error: 429 no"`), bad, event.ClassBusy, false},
	{claude.New(), "overloaded", claudeEnd(`"is_error":true,"terminal_reason":"api_error","api_error_status":529,"result":"API Error: 529 Overloaded"`), bad, event.ClassBusy, false},
	{claude.New(), "a server error", claudeEnd(`"is_error":true,"api_error_status":500,"result":"API Error: 500 Internal server error"`), bad, event.ClassBusy, false},
	{claude.New(), "refused connections", claudeEnd(`"is_error":true,"result":"API Error: Connection error. (ECONNREFUSED)"`), bad, event.ClassBusy, false},
	{claude.New(), "a bad request", claudeEnd(`"is_error":true,"api_error_status":400,"result":"API Error: 400 no"`), bad, event.ClassFormat, false},
	{claude.New(), "too long", claudeEnd(`"is_error":true,"terminal_reason":"prompt_too_long","result":"Prompt is too long"`), bad, event.ClassTooLong, false},
	{claude.New(), "no money", claudeEnd(`"is_error":true,"api_error_status":400,"result":"Credit balance is too low"`), bad, event.ClassRefused, false},
	{claude.New(), "no login", claudeEnd(`"is_error":true,"api_error_status":401,"result":"Invalid API key"`), bad, event.ClassRefused, false},
	{claude.New(), "no such model", claudeEnd(`"is_error":true,"api_error_status":404,"result":"model: x"`), bad, event.ClassRefused, false},
	{claude.New(), "a denied tool", claudeEnd(`"is_error":false,"result":"{}","permission_denials":[{"tool_name":"Write"}]`), ok, event.ClassRefused, false},
	{claude.New(), "its turns are used up", strings.Replace(claudeEnd(`"is_error":true`), "success", "error_max_turns", 1), bad, event.ClassOwnLimit, false},
	{claude.New(), "its money is used up", strings.Replace(claudeEnd(`"is_error":true`), "success", "error_max_budget_usd", 1), bad, event.ClassOwnLimit, false},
	{claude.New(), "success in the middle of a turn", claudeEnd(`"is_error":false,"num_turns":28,"result":"","stop_reason":"tool_use"`), ok, event.ClassCut, false},
	{claude.New(), "no final event", `{"type":"system","subtype":"init","session_id":"s"}`, ok, event.ClassCut, false},
	{claude.New(), "killed", `{"type":"system","subtype":"init","session_id":"s"}`, killed, event.ClassCut, false},
	{claude.New(), "too late", `{"type":"system","subtype":"init","session_id":"s"}`, late, event.ClassCut, false},
	{claude.New(), "an unknown session", strings.Replace(claudeEnd(`"is_error":true,"errors":["No conversation found with session ID: s"]`), "success", "error_during_execution", 1), bad, event.ClassFormat, false},
	{claude.New(), "a limit that is none", claudeEnd(`"is_error":true,"result":"API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited"`), bad, event.ClassBusy, false},
	{claude.New(), "a spent budget", claudeEnd(`"is_error":true,"api_error":"usage_limit_reached","result":"You've hit your org's monthly spend limit"`), bad, event.ClassRefused, false},
	{claude.New(), "an organisation's limit", claudeEnd(`"is_error":true,"api_error_status":400,"result":"API Error: 400 You have reached your specified API usage limits. You will regain access on 2037-12-01 at 00:00 UTC."`), bad, event.ClassLimit, true},
	{claude.New(), "a limit of a plan", claudeEnd(`"is_error":true,"result":"You've hit your Opus limit · resets 8am (UTC)"`), bad, event.ClassLimit, true},
	{claude.New(), "the allowance of a model", claudeEnd(`"is_error":true,"api_error_status":429,"result":"You've reached your Fable limit. Switch to another model to continue."`), bad, event.ClassLimit, false},
	{claude.New(), "the allowance of a model, of a bad request", claudeEnd(`"is_error":true,"api_error_status":400,"result":"You've reached your Fable 5 limit. Switch to another model, or manage usage credits at https://a.example, to continue."`), bad, event.ClassLimit, false},
	{claude.New(), "the allowance of a model, without a status", claudeEnd(`"is_error":true,"result":"You've reached your Fable limit. /model to switch models."`), bad, event.ClassLimit, false},
	{claude.New(), "the allowance of a model by its kind", claudeFault("rate_limit") + claudeEnd(`"is_error":true,"result":"You've reached your Fable limit · resets 3am (UTC). Switch to another model to continue."`), bad, event.ClassLimit, true},
	{claude.New(), "the allowance of a model, called invalid", claudeFault("invalid_request") + claudeEnd(`"is_error":true,"result":"You've reached your Fable limit. Switch to another model to continue."`), bad, event.ClassLimit, false},
	{claude.New(), "a limit by its kind, with its end in words", claudeEnd(`"is_error":true,"api_error":"usage_limit_reached","result":"You've hit your Opus limit · resets 8am (UTC)"`), bad, event.ClassLimit, true},
	{claude.New(), "a server of its own", claudeEnd(`"is_error":true,"result":"MCP error -32000: Connection closed"`), bad, event.ClassFormat, false},
	{claude.New(), "its own question", claudeEnd(`"is_error":true,"result":"Tool permission stream closed before response received"`), bad, event.ClassFormat, false},
	{claude.New(), "a lost connection", claudeEnd(`"is_error":true,"result":"API Error: Connection to the API was lost mid-response"`), bad, event.ClassBusy, false},
	{claude.New(), "a stalled stream", claudeEnd(`"is_error":true,"result":"API Error: The response stopped arriving. The response above may be incomplete."`), bad, event.ClassBusy, false},
	{claude.New(), "a stream that stalled before its first word", claudeEnd(`"is_error":true,"result":"API Error: The response stalled. Try again."`), bad, event.ClassBusy, false},
	{claude.New(), "a stream with a part missing", claudeEnd(`"is_error":true,"result":"API Error: Part of the response never arrived. The response above may be incomplete."`), bad, event.ClassBusy, false},
	{claude.New(), "a malformed stream", claudeEnd(`"is_error":true,"result":"API Error: The response stream was malformed. The response above may be incomplete."`), bad, event.ClassBusy, false},
	{claude.New(), "a silent stream", claudeEnd(`"is_error":true,"result":"API Error: Stream idle timeout - partial response received"`), bad, event.ClassBusy, false},
	{claude.New(), "a warning of a limit", `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1000000000}}` + "\n" + claudeEnd(`"is_error":false,"structured_output":{"status":"ok","message":"m"}`), ok, event.ClassAccepted, false},
	{claude.New(), "extra usage that is used up", claudeEnd(`"is_error":true,"total_cost_usd":0,"result":"You're out of extra usage · resets 2:30pm (Asia/Tokyo)"`), bad, event.ClassLimit, true},
	{claude.New(), "extra usage that nobody renews", claudeEnd(`"is_error":true,"result":"You're out of extra usage"`), bad, event.ClassRefused, false},
	{claude.New(), "a gateway that ends each stream early", claudeEnd(`"is_error":true,"api_error_status":200,"result":"API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the request."`), bad, event.ClassBusy, false},
	{claude.New(), "the agent's own words of a limit", strings.Replace(claudeEnd(`"is_error":true,"errors":["the client tests fail: rate limit exceeded, try again in 3 hours"]`), "success", "error_during_execution", 1), bad, event.ClassFormat, false},
	{claude.New(), "the agent's own words of a busy server", strings.Replace(claudeEnd(`"is_error":true,"result":"{\"note\":\"529 overloaded, connection refused\"}"`), "success", "error_max_structured_output_retries", 1), bad, event.ClassFormat, false},
	{claude.New(), "the agent's own words of money", strings.Replace(claudeEnd(`"is_error":true,"errors":["the shop says: insufficient credits"]`), "success", "error_during_execution", 1), bad, event.ClassFormat, false},
	{claude.New(), "the agent's own words of a policy", strings.Replace(claudeEnd(`"is_error":true,"result":"it is against the content management policy"`), "success", "error_max_structured_output_retries", 1), bad, event.ClassFormat, false},
	{claude.New(), "its safeguards", claudeEnd(`"is_error":true,"result":"API Error: Opus 4.5's safeguards flagged this message. This sometimes happens with safe, normal conversations."`), bad, event.ClassDeclined, false},
	{claude.New(), "its policy", claudeEnd(`"is_error":true,"result":"API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup)."`), bad, event.ClassDeclined, false},
	{claude.New(), "a filter of the output", claudeEnd(`"is_error":true,"api_error_status":400,"result":"API Error: 400 Output blocked by content filtering policy"`), bad, event.ClassDeclined, false},
	{claude.New(), "a refusal by its stop reason", claudeEnd(`"is_error":true,"stop_reason":"refusal","result":"no"`), bad, event.ClassDeclined, false},

	// codex
	{codex.New(), "a reply", codexReply + `{"type":"turn.completed"}`, ok, event.ClassAccepted, false},
	{codex.New(), "a usage limit", codexFailed("You've hit your usage limit. Upgrade to Pro, visit the settings to purchase more credits or try again at 7:55 PM."), bad, event.ClassLimit, true},
	{codex.New(), "a limit of Azure's", codexFailed("stream disconnected before completion: Your requests to gpt-x for gpt-x in eastus2 have exceeded rate limit."), bad, event.ClassLimit, false},
	{codex.New(), "high demand", codexFailed("We're currently experiencing high demand, which may cause temporary errors."), bad, event.ClassBusy, false},
	{codex.New(), "a server error", codexFailed("unexpected status 503 Service Unavailable: no, url: u"), bad, event.ClassBusy, false},
	{codex.New(), "a cut stream", codexFailed("stream disconnected before completion: stream closed before response.completed"), bad, event.ClassBusy, false},
	{codex.New(), "a bad request", codexFailed("unexpected status 400 Bad Request: no, url: u"), bad, event.ClassFormat, false},
	{codex.New(), "too long", codexFailed("Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying."), bad, event.ClassTooLong, false},
	{codex.New(), "no money", codexFailed("Quota exceeded. Check your plan and billing details."), bad, event.ClassRefused, false},
	{codex.New(), "no login", codexFailed("unexpected status 401 Unauthorized: no, url: u"), bad, event.ClassRefused, false},
	{codex.New(), "a spend cap", codexFailed("You've hit your spend cap set by the owner of your workspace."), bad, event.ClassRefused, false},
	{codex.New(), "at capacity", codexFailed("Selected model is at capacity. Please try a different model."), bad, event.ClassBusy, false},
	{codex.New(), "a limit of a minute", codexFailed("Rate limit exceeded: Rate limit reached for gpt-x. Please try again in 11.054s."), bad, event.ClassLimit, true},
	{codex.New(), "no end of its turn", codexReply, ok, event.ClassCut, false},
	{codex.New(), "killed", codexReply, killed, event.ClassCut, false},
	{codex.New(), "unsafe content", codexFailed("Invalid prompt: we've limited access to this content for safety reasons."), bad, event.ClassDeclined, false},
	{codex.New(), "a flagged request", codexFailed("This request has been flagged for possible biological risk."), bad, event.ClassDeclined, false},
	{codex.New(), "a filter of the output", codexFailed("stream error: Incomplete response returned, reason: content_filter"), bad, event.ClassDeclined, false},

	// gemini
	{gemini.New(), "a quota that is renewed", geminiFailed("[API Error: You have exhausted your capacity on this model. Your quota will reset after 3h20m10s.]"), bad, event.ClassLimit, true},
	{gemini.New(), "a quota", geminiFailed(`[API Error: {\"error\":{\"code\":429,\"message\":\"RESOURCE_EXHAUSTED\"}}]`), proc.Exit{Code: 429 % 256}, event.ClassLimit, false},
	{gemini.New(), "a quota of a minute", geminiFailed("[API Error: You exceeded your current quota, please check your plan and billing details. Please retry in 33.5s.]"), proc.Exit{Code: 429 % 256}, event.ClassLimit, true},
	{gemini.New(), "a daily quota", geminiFailed("[API Error: You have exhausted your daily quota on this model.]"), bad, event.ClassLimit, false},
	{gemini.New(), "no network", geminiFailed("[API Error: exception TypeError: fetch failed sending request]"), bad, event.ClassBusy, false},
	{gemini.New(), "429 without a limit", geminiFailed(`[API Error: {\"error\":{\"code\":429,\"message\":\"no\"}}]`), proc.Exit{Code: 429 % 256}, event.ClassBusy, false},
	{gemini.New(), "overloaded", geminiFailed(`[API Error: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\"}}]`), proc.Exit{Code: 503 % 256}, event.ClassBusy, false},
	{gemini.New(), "too long", geminiFailed(`[API Error: {\"error\":{\"code\":400,\"message\":\"The input token count (2000000) exceeds the maximum number of tokens allowed (1048575).\"}}]`), proc.Exit{Code: 400 % 256}, event.ClassTooLong, false},
	{gemini.New(), "no login", "", proc.Exit{Code: 41}, event.ClassRefused, false},
	{gemini.New(), "a signal; it goes on in no session", `{"type":"message","role":"assistant","content":"{"}`, ok, event.ClassFormat, false},
	{gemini.New(), "prohibited content", geminiFailed(`[API Error: {\"error\":{\"code\":400,\"message\":\"The prompt was blocked: PROHIBITED_CONTENT\"}}]`), proc.Exit{Code: 400 % 256}, event.ClassDeclined, false},

	// opencode
	{opencode.New(), "429 without a limit", opencodeFailed(`{"name":"APIError","data":{"statusCode":429,"message":"slow down"}}`), bad, event.ClassBusy, false},
	{opencode.New(), "a usage limit", opencodeFailed(`{"name":"APIError","data":{"statusCode":429,"message":"The usage limit has been reached"}}`), bad, event.ClassLimit, false},
	{opencode.New(), "overloaded", opencodeFailed(`{"name":"APIError","data":{"statusCode":529,"message":"Overloaded"}}`), bad, event.ClassBusy, false},
	{opencode.New(), "too long", opencodeFailed(`{"name":"APIError","data":{"statusCode":400,"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), bad, event.ClassTooLong, false},
	{opencode.New(), "too long by its name", opencodeFailed(`{"name":"ContextOverflowError","data":{"message":"no"}}`), bad, event.ClassTooLong, false},
	{opencode.New(), "no network", opencodeFailed(`{"name":"APIError","data":{"message":"Cannot connect to API: no"}}`), bad, event.ClassBusy, false},
	{opencode.New(), "no end of its step", `{"type":"step_start","sessionID":"s"}`, ok, event.ClassCut, false},
	{opencode.New(), "a filter of Azure's", opencodeFailed(`{"name":"APIError","data":{"statusCode":400,"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}`), bad, event.ClassDeclined, false},
	{opencode.New(), "a filter of the output", `{"type":"step_finish","sessionID":"s","part":{"reason":"content-filter"}}`, ok, event.ClassDeclined, false},

	// acp, whose client prints lines of its own; it has no sessions to go on in
	{acp.New("kanban-run"), "a session limit", acpFailed(`"text":"Internal error: You've hit your session limit · resets 3:10am (Asia/Seoul)"`), bad, event.ClassLimit, true},
	{acp.New("kanban-run"), "the allowance of a model of claude's", acpFailed(`"text":"Internal error: You've reached your Fable limit. Switch to another model to continue."`), bad, event.ClassLimit, false},
	{acp.New("kanban-run"), "a stalled stream of claude's", acpFailed(`"text":"Internal error: API Error: The response stopped arriving. The response above may be incomplete."`), bad, event.ClassBusy, false},
	{acp.New("kanban-run"), "429", acpFailed(`"status":429,"text":"no"`), bad, event.ClassBusy, false},
	{acp.New("kanban-run"), "overloaded", acpFailed(`"text":"Internal error: API Error: 529 Overloaded"`), bad, event.ClassBusy, false},
	{acp.New("kanban-run"), "no login", acpFailed(`"fault":"login","text":"Authentication required"`), bad, event.ClassRefused, false},
	{acp.New("kanban-run"), "killed", `{"type":"session","id":"s"}`, killed, event.ClassFormat, false},
	{acp.New("kanban-run"), "a key that is refused, as qwen tells it", acpFailed(`"status":401,"text":"Internal error: 401 bad key"`), bad, event.ClassRefused, false},
	{acp.New("kanban-run"), "a key that may not", acpFailed(`"status":403,"text":"Internal error: 403 Forbidden"`), bad, event.ClassRefused, false},
	{acp.New("kanban-run"), "a refusal", acpTurn(`{"type":"text","text":"I won't."}`, "refusal"), ok, event.ClassDeclined, false},
	{acp.New("kanban-run"), "copilot's word of a busy provider", acpTurn(copilotBusy, "end_turn"), ok, event.ClassBusy, false},
	{acp.New("kanban-run"), "copilot's word of a login", acpTurn(`{"type":"text","text":"Info: Request failed due to a transient API error. Retrying...\nError: Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401)\n"}`, "end_turn"), ok, event.ClassRefused, false},
	{acp.New("kanban-run"), "the same behind a tool", acpTurn(`{"type":"tool_started","id":"1","tool":"execute"}`+"\n"+copilotBusy, "end_turn"), ok, event.ClassAccepted, false},
	{acp.New("kanban-run"), "the same behind another text", acpTurn(`{"type":"text","text":"I look."}`+"\n"+copilotBusy, "end_turn"), ok, event.ClassAccepted, false},
	{acp.New("kanban-run"), "the same within an answer", acpTurn(`{"type":"text","text":"Info: Request failed due to a transient API error. Retrying...\nThen it worked."}`, "end_turn"), ok, event.ClassAccepted, false},

	// exec: every end without a valid reply
	{agent.Exec(), "a reply", `{"status":"ok","message":"m"}`, ok, event.ClassAccepted, false},
	{agent.Exec(), "words of a limit", "usage limit reached, resets 3am", bad, event.ClassFormat, false},
	{agent.Exec(), "killed", `{"status":"ok","message":"m"}`, killed, event.ClassFormat, false},
	{agent.Exec(), "too late", "", late, event.ClassFormat, false},
}

var (
	ok     = proc.Exit{}
	bad    = proc.Exit{Code: 1}
	killed = proc.Exit{Code: -1, Signal: "killed"}
	late   = proc.Exit{TimedOut: true}
)

func claudeEnd(fields string) string {
	return `{"type":"result","subtype":"success","session_id":"s",` + fields + `}`
}

// claudeFault returns claude's message of a fault, with the kind that claude gives it.
func claudeFault(kind string) string {
	return `{"type":"assistant","error":"` + kind + `","is_api_error_message":true,"message":{"model":"<synthetic>","content":[]}}` + "\n"
}

const codexReply = `{"type":"item.completed","item":{"type":"agent_message","text":"{\"status\":\"ok\",\"message\":\"m\"}"}}` + "\n"

func codexFailed(text string) string {
	return `{"type":"turn.failed","error":{"message":"` + text + `"}}`
}

func geminiFailed(text string) string {
	return `{"type":"result","status":"error","error":{"message":"` + text + `"}}`
}

func opencodeFailed(fault string) string {
	return `{"type":"error","sessionID":"s","error":` + fault + `}`
}

const copilotBusy = `{"type":"text","text":"Info: Request failed due to a transient API error. Retrying..."}`

func acpTurn(lines, reason string) string {
	return lines + "\n" + `{"type":"result","text":"` + reason + `"}`
}

func acpFailed(fields string) string { return `{"type":"error",` + fields + `}` }

// TestClass: what follows from the end of an attempt is its class alone, whichever program it was: docs/overnight.md.
func TestClass(t *testing.T) {
	for _, tt := range ends {
		t.Run(tt.adapter.Name()+", "+tt.name, func(t *testing.T) {
			finished := false
			r := tt.adapter.Reader(contract.Task, agent.Host{Emit: func(e agent.Event) { finished = finished || e.Kind == agent.Result }, GiveUp: func(error) {}})
			if _, err := r.Write([]byte(tt.stream + "\n")); err != nil {
				t.Fatal(err)
			}
			report := r.End(tt.exit)
			if got := report.Class(tt.adapter.Tool(), tt.exit, finished); got != tt.want {
				t.Errorf("Class = %s, want %s: %v, %v", got, tt.want, report.Failure, report.Err)
			}
			later, _ := report.Err.(*agent.LaterError)
			if named := later != nil && !later.Reset.IsZero(); named != tt.resets {
				t.Errorf("Err = %v, want a named reset: %t", report.Err, tt.resets)
			}
		})
	}
}

// TestUnstarted: a tool that ends before its first event, because it or its interpreter is missing, cannot be started.
func TestUnstarted(t *testing.T) {
	cli, own := agent.Tool{Signals: agent.Signals{Session: true}}, agent.Tool{}
	node := "node:internal/modules/cjs/loader:1\n  throw err;\nError: Cannot find module '/opt/claude/cli.js'\n{\n  code: 'MODULE_NOT_FOUND',\n}\nNode.js v20\n"
	for _, tt := range []struct {
		tool   agent.Tool
		code   int
		stderr string
		want   string
	}{
		{cli, 127, "/usr/bin/env: 'node': No such file or directory\n", "claude cannot be started: /usr/bin/env: 'node': No such file or directory (exit status 127)"},
		{cli, 1, node, "claude cannot be started: Error: Cannot find module '/opt/claude/cli.js' (exit status 1)"},
		{cli, 1, "a fault", ""},
		{cli, 0, node, ""},
		{own, 127, "sh: x: not found", ""},
	} {
		got := tt.tool.Unstarted("claude", proc.Exit{Code: tt.code}, tt.stderr)
		if (got == nil) != (tt.want == "") || got != nil && (got.Text != tt.want || !got.Missing) {
			t.Errorf("Unstarted(%d, %q) = %+v, want %q", tt.code, tt.stderr, got, tt.want)
		}
	}
}

// TestLimitIsSaid: the text of a limit says that it is one, also where the provider has other words for it.
func TestLimitIsSaid(t *testing.T) {
	words := agent.Words{Limit: []string{"out of extra usage"}}
	for text, want := range map[string]string{
		"You're out of extra usage · resets 2:30pm (UTC)": "claude: a limit is reached: You're out of extra usage · resets 2:30pm (UTC)",
		"You've hit your session limit · resets 2am":      "claude: You've hit your session limit · resets 2am",
		"Quota exceeded": "claude: Quota exceeded",
	} {
		if got := words.Later("claude", 0, text, time.Now()); got == nil || got.Text != want || got.Busy {
			t.Errorf("Later(%q) = %+v, want %q", text, got, want)
		}
	}
}
