package agent_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/schema"
)

// TestAsk: seed 004, "Input Specification (Supervisor → Agent)": the input as it is, and then the form of the reply.
func TestAsk(t *testing.T) {
	const input = `{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}`
	for _, c := range []agent.Contract{agent.TaskContract, agent.ManagerContract, agent.InstructionContract, agent.ReviewContract} {
		a := agent.Assignment{Contract: c, Input: []byte(input)}
		asked := string(a.Ask())
		if !strings.HasPrefix(asked, "Your input:\n\n"+input+"\n") {
			t.Errorf("%s: Ask() = %q, want the input first", c, asked)
		}
		if again := string(a.Ask()); again != asked {
			t.Errorf("%s: Ask() = %q, and then %q", c, asked, again)
		}
		form := strings.Contains(asked, `"required":["status","message"`)
		if isReview := c == agent.ReviewContract; form == isReview {
			t.Errorf("%s: Ask() = %q, form of the reply: %t, want %t", c, asked, form, !isReview)
		}
	}
}

// TestAskFollow: who is told to go on is not given the input again.
func TestAskFollow(t *testing.T) {
	a := agent.Assignment{Contract: agent.TaskContract, Input: []byte(`{"instruction":"x"}`), Follow: &agent.Follow{Text: "Tests are missing."}}
	asked := string(a.Ask())
	if !strings.HasPrefix(asked, "Tests are missing.\n") || strings.Contains(asked, "instruction") || !strings.Contains(asked, `"status"`) {
		t.Errorf("Ask() = %q, want the feedback and the form of the reply, without the input", asked)
	}
	a.Contract = agent.ReviewContract
	if got := string(a.Ask()); got != "Tests are missing.\n" {
		t.Errorf("Ask() = %q, want the text alone", got)
	}
}

// TestReplySchema: it is the schema of the contract, in one line, without what tools refuse.
func TestReplySchema(t *testing.T) {
	for _, c := range []agent.Contract{agent.TaskContract, agent.ManagerContract, agent.InstructionContract} {
		source, err := c.ReplySchema()
		if err != nil || bytes.ContainsAny(source, "\n") {
			t.Fatalf("%s: ReplySchema() = %s, %v, want one line", c, source, err)
		}
		var got, full map[string]any
		whole, err := schema.Source(c.Schema())
		if err != nil || json.Unmarshal(source, &got) != nil || json.Unmarshal(whole, &full) != nil {
			t.Fatalf("%s: ReplySchema() = %s, %v, want JSON", c, source, err)
		}
		if got["$schema"] != nil || got["properties"] == nil || got["required"] == nil || full["$schema"] == nil {
			t.Errorf("%s: ReplySchema() = %s, want all but the dialect", c, source)
		}
	}
	if _, err := agent.ReviewContract.ReplySchema(); err == nil {
		t.Error("a review has a schema, want none")
	}
}

func TestFindReply(t *testing.T) {
	const object, other = `{"status":"ok","message":"m {}"}`, `{"status":"error","message":"n"}`
	fence := func(language, text string) string { return "```" + language + "\n" + text + "\n```" }
	for _, tt := range []struct{ name, message, want string }{
		{"the object itself", object, object},
		{"with white space", "\n " + object + "\r\n", object},
		{"text behind it is not passed over", object + " done", object + " done"},
		{"two objects", object + "\n" + other, object + "\n" + other},
		{"a fence", fence("json", object), object},
		{"a fence without a language", "So:\n\n" + fence("", object) + "\n", object},
		{"a fence with CRLF", "So:\r\n```json\r\n" + object + "\r\n```\r\n", object},
		{"the last of two fences", fence("json", other) + "\nand then\n" + fence("json", object), object},
		{"a fence of something else behind it", fence("json", object) + "\n" + fence("sh", "ls {a,b}"), object},
		{"a fence that holds no JSON", "I used " + fence("", "{x}") + " and reply " + object, object},
		{"in a sentence", "My reply is " + object + ". Thank you.", object},
		{"the outer one", `Reply: {"status":"ok","message":"m","a":{"b":{}}}`, `{"status":"ok","message":"m","a":{"b":{}}}`},
		{"the last of two in sentences", "First " + other + ", then " + object, object},
		{"braces in text", "Use {braces}: " + object, object},
		{"braces behind it", object + " as in {braces}", object + " as in {braces}"},
		{"braces on both sides", "Use {a}: " + object + " as in {b}", object},
		{"no object", "All done.\n", "All done."},
		{"no valid object", "See {this} and {that}", "See {this} and {that}"},
		{"nothing", " \n", ""},
		{"half an object", `{"status":"ok`, `{"status":"ok`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(agent.FindReply(tt.message)); got != tt.want {
				t.Errorf("FindReply(%q) = %q, want %q", tt.message, got, tt.want)
			}
		})
	}
}

// FuzzFindReply: what is found stands in the message, and what is taken out of a text is an object.
func FuzzFindReply(f *testing.F) {
	f.Add("a ```json\n{\"a\":1}\n``` b")
	f.Add("x {{}} {\"a\":{}} }")
	f.Add(strings.Repeat("{", 1000) + "}")
	f.Fuzz(func(t *testing.T, message string) {
		found := string(agent.FindReply(message))
		if !strings.Contains(message, found) {
			t.Errorf("FindReply(%q) = %q, which is not in it", message, found)
		}
		if whole := strings.TrimSpace(message); found != whole && !json.Valid([]byte(found)) {
			t.Errorf("FindReply(%q) = %q, want an object", message, found)
		}
	})
}
