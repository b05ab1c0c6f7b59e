package contract_test

import (
	"encoding/json"
	"regexp"
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
		{"text behind it", object + " done", object},
		{"a warning behind it", object + "\n\nWarning: {3} tools {\"x\", y} are {} \"{\" [{}]", object},
		{"a fence that is only closed", object + "\n```", object},
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
		{"braces behind it", object + " as in {braces}", object},
		{"the same object twice", object + "\nAgain:\n" + strings.Replace(object, ",", ",\n ", 1), object},
		{"another object behind text", object + " and " + other, object + " and " + other},
		{"another object in a fence behind it", object + fence("json", `{"a":1}`), object + fence("json", `{"a":1}`)},
		{"an object without a key behind it", "So: " + object + " struct{}{}", object},
		{"a broken object with a whole one in it", `{"status":"ok","x":` + object + `,}`, `{"status":"ok","x":` + object + `,}`},
		{"braces on both sides", "Use {a}: " + object + " as in {b}", object},
		{"no object", "All done.\n", "All done."},
		{"no valid object", "See {this} and {that}", "See {this} and {that}"},
		{"nothing", " \n", ""},
		{"half an object", `{"status":"ok`, `{"status":"ok`},
		{"before many braces", "So: " + other + strings.Repeat(` {"a",`, 1000), other},
		{"behind many braces", "So: " + strings.Repeat(` {"a",`, 1000) + other, other},
		{"behind more than can be read", "So: " + strings.Repeat(`{"a":`, 1000) + other, "So: " + strings.Repeat(`{"a":`, 1000) + other},
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

// FuzzTextAround: text before and after a reply, of whatever braces and quotation marks, does not
// count, as long as it has no object of its own.
func FuzzTextAround(f *testing.F) {
	const reply = `{"status":"ok","message":"m {\"a\":1} } { \\","x":[{"y":{}}]}`
	opens := regexp.MustCompile(`\{\s*"`)
	f.Add("", "\n\n[warning] 3 tools {a, b} failed: \"}\"")
	f.Add("I changed map[string]struct{}{} and `{`. ", " ```\n{}\n```")
	f.Add("```json\n", "\n```\nDone } {")
	f.Add(strings.Repeat("a {", 100), strings.Repeat("} {x}", 100))
	f.Fuzz(func(t *testing.T, before, after string) {
		if opens.MatchString(before) || opens.MatchString(after) || strings.HasPrefix(strings.TrimSpace(before), "{") {
			t.Skip("an object of its own, or what may be half of one")
		}
		if got := contract.FindReply(before + reply + after); got != reply {
			t.Errorf("FindReply(%q, the reply, %q) = %q", before, after, got)
		}
	})
}
