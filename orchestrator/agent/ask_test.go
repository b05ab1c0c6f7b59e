package agent_test

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// TestAsk: seed 004, "Input Specification (Supervisor → Agent)": the input as it is, and then the
// form of the reply.
func TestAsk(t *testing.T) {
	const input = `{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}`
	for _, c := range []contract.Kind{contract.Task, contract.Manager, contract.Instruction, contract.Review} {
		a := agent.Assignment{Contract: c, Input: []byte(input)}
		asked := string(a.Ask())
		if !strings.HasPrefix(asked, "Your input:\n\n"+input+"\n") {
			t.Errorf("%s: Ask() = %q, want the input first", c, asked)
		}
		if again := string(a.Ask()); again != asked {
			t.Errorf("%s: Ask() = %q, and then %q", c, asked, again)
		}
		form := strings.Contains(asked, `"required":["status","message"`)
		if isReview := c == contract.Review; form == isReview {
			t.Errorf("%s: Ask() = %q, form of the reply: %t, want %t", c, asked, form, !isReview)
		}
	}
}

// TestAskFollow: an agent that continues a session is not given the input again.
func TestAskFollow(t *testing.T) {
	a := agent.Assignment{Contract: contract.Task, Input: []byte(`{"instruction":"x"}`), Follow: &agent.Follow{Text: "Tests are missing."}}
	asked := string(a.Ask())
	if !strings.HasPrefix(asked, "Tests are missing.\n") || strings.Contains(asked, "instruction") || !strings.Contains(asked, `"status"`) {
		t.Errorf("Ask() = %q, want the feedback and the form of the reply, without the input", asked)
	}
	a.Contract = contract.Review
	if got := string(a.Ask()); got != "Tests are missing.\n" {
		t.Errorf("Ask() = %q, want the text alone", got)
	}
}
