package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kanban-run/orchestrator/contract"
)

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
		{"before many braces", "So: " + other + strings.Repeat(" {", 63), other},
		{"before too many", "So: " + other + strings.Repeat(" {", 64), "So: " + other + strings.Repeat(" {", 64)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(contract.FindReply(tt.message)); got != tt.want {
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
		found := string(contract.FindReply(message))
		if !strings.Contains(message, found) {
			t.Errorf("FindReply(%q) = %q, which is not in it", message, found)
		}
		if whole := strings.TrimSpace(message); found != whole && !json.Valid([]byte(found)) {
			t.Errorf("FindReply(%q) = %q, want an object", message, found)
		}
	})
}
