package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/internal/agenttest"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/proc"
)

// TestMain also plays the client, an agent that prints a stub's reply, and one that follows its
// prompt.
func TestMain(m *testing.M) {
	if err := proc.Adopt(); err != nil { // before a test starts a process: see TestConformance
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(agenttest.Main(m, map[string]func([]string) int{
		acp.ClientCommand: func(args []string) int { return acp.ClientMain(args, os.Stdin, os.Stdout, os.Stderr) },
		"fake-acp":        func(args []string) int { return serve(&fake{prompt: saysAsStub(args)}) },
		"actor":           func([]string) int { return serve(&fake{prompt: acts}) },
		"leaked":          func([]string) int { time.Sleep(time.Hour); return 0 },
		"hasty":           func([]string) int { return hasty() },
	}))
}

// fake is an agent made with the SDK.
type fake struct {
	sdk.Agent // nil: the other methods are never called
	conn      *sdk.AgentSideConnection
	begun     chan struct{} // closed when conn is set
	cancelled chan struct{}
	model     string
	stays     bool // behind the end of its input
	prompt    func(ctx context.Context, f *fake, id sdk.SessionId, text string) (sdk.PromptResponse, error)
}

func serve(f *fake) int {
	f.begun, f.cancelled = make(chan struct{}), make(chan struct{})
	f.conn = sdk.NewAgentSideConnection(f, os.Stdout, os.Stdin)
	close(f.begun)
	<-f.conn.Done()
	if f.stays {
		time.Sleep(time.Hour)
	}
	return 0
}

func (f *fake) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	<-f.begun
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber}, nil
}

func (f *fake) NewSession(_ context.Context, q sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if os.Getenv("FAKE_LOGIN") != "" {
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	f.say("s-1", "[a mode] ") // as gemini does
	return sdk.NewSessionResponse{SessionId: "s-1"}, nil
}

func (f *fake) UnstableSetSessionModel(_ context.Context, q sdk.UnstableSetSessionModelRequest) (sdk.UnstableSetSessionModelResponse, error) {
	if q.ModelId != "good" {
		return sdk.UnstableSetSessionModelResponse{}, sdk.NewInvalidParams(map[string]any{"error": "no such model"})
	}
	f.model = string(q.ModelId)
	return sdk.UnstableSetSessionModelResponse{}, nil
}

func (f *fake) Cancel(context.Context, sdk.CancelNotification) error {
	close(f.cancelled)
	return nil
}

func (f *fake) Prompt(ctx context.Context, q sdk.PromptRequest) (sdk.PromptResponse, error) {
	return f.prompt(ctx, f, q.SessionId, q.Prompt[0].Text.Text)
}

func (f *fake) say(id sdk.SessionId, text string) {
	f.update(id, sdk.UpdateAgentMessageText(text))
}

func (f *fake) update(id sdk.SessionId, u sdk.SessionUpdate) {
	_ = f.conn.SessionUpdate(context.Background(), sdk.SessionNotification{SessionId: id, Update: u})
}

// saysAsStub exits without the end of its turn where a stub prints nothing or ends badly.
func saysAsStub(args []string) func(context.Context, *fake, sdk.SessionId, string) (sdk.PromptResponse, error) {
	return func(_ context.Context, f *fake, id sdk.SessionId, text string) (sdk.PromptResponse, error) {
		reply, code := streamtest.Stub(args, text)
		if len(reply) > 0 {
			f.say(id, string(reply))
		}
		if code != 0 || len(reply) == 0 {
			os.Exit(code)
		}
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
	}
}

// acts follows the lines of its prompt that begin with an exclamation mark.
func acts(ctx context.Context, f *fake, id sdk.SessionId, text string) (sdk.PromptResponse, error) {
	r := sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}
	for line := range strings.Lines(strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(text)) {
		do, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch do {
		case "!say":
			f.say(id, what)
		case "!think":
			f.update(id, sdk.UpdateAgentThoughtText(what))
		case "!tool":
			f.tool(ctx, id, sdk.ToolKind(what))
		case "!stop":
			r.StopReason = sdk.StopReason(what)
		case "!model":
			f.say(id, f.model)
		case "!usage":
			f.update(id, sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{Cost: &sdk.Cost{Amount: 0.5, Currency: "USD"}}})
			r.Usage = &sdk.Usage{InputTokens: 10, CachedReadTokens: sdk.Ptr(30), OutputTokens: 5, ThoughtTokens: sdk.Ptr(2), TotalTokens: 47}
		case "!fail":
			return r, &sdk.RequestError{Code: map[string]int{"401": 401, "429": 429}[what], Message: "the provider says " + what}
		case "!stay":
			f.stays = true
		case "!leak":
			leak()
			os.Exit(4)
		case "!hang":
			signal.Ignore(syscall.SIGTERM)
			_ = os.WriteFile("began", nil, 0o644)
			<-f.cancelled
			f.say(id, "I leave.")
			r.StopReason = sdk.StopReasonCancelled
		}
	}
	return r, nil
}

// tool asks for permission, and with it makes a file named after its kind.
func (f *fake) tool(ctx context.Context, id sdk.SessionId, kind sdk.ToolKind) {
	call := sdk.ToolCallId("call-" + kind)
	f.update(id, sdk.StartToolCall(call, "do "+string(kind), sdk.WithStartKind(kind), sdk.WithStartStatus(sdk.ToolCallStatusPending)))
	got, err := f.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: id,
		ToolCall: sdk.ToolCallUpdate{ToolCallId: call, Title: sdk.Ptr("do " + string(kind)), Kind: &kind},
		Options: []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "always"},
			{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"}, {Kind: sdk.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"}}})
	status := sdk.ToolCallStatusFailed
	if err == nil && got.Outcome.Selected != nil && got.Outcome.Selected.OptionId == "yes" {
		status = sdk.ToolCallStatusCompleted
		_ = os.WriteFile("made-"+string(kind), nil, 0o644)
	}
	f.update(id, sdk.UpdateToolCall(call, sdk.WithUpdateStatus(status)))
}

// hasty is an agent without the SDK that exits with its last answer.
func hasty() int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q struct {
			ID     int
			Method string
		}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return 1
		}
		switch q.Method {
		case sdk.AgentMethodInitialize:
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":1}}`+"\n", q.ID)
		case sdk.AgentMethodSessionNew:
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"h-1"}}`+"\n", q.ID)
		case sdk.AgentMethodSessionPrompt:
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"h-1","update":`+
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"status\":\"ok\",\"message\":\"bye\"}"}}}}
{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`+"\n", q.ID)
			return 0
		}
	}
	return 1
}

// leak starts a process that keeps standard output open.
func leak() {
	cmd := exec.Command(os.Args[0], "leaked")
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}
