package contract

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestHalfAPair: RFC 8259, section 8.2, allows half a surrogate pair, as it stays where a string is
// cut inside an emoji. It is read as U+FFFD, with a warning, in every reply that is JSON. All else
// stays as it is.
func TestHalfAPair(t *testing.T) {
	const form, half = `{"status":"ok","message":"$"}`, true
	for _, tt := range []struct {
		text, want string
		half       bool
	}{
		{`fixed \ud83c`, "fixed \uFFFD", half},
		{`\uD83C`, "\uFFFD", half},
		{`a\udf89b`, "a\uFFFDb", half},
		{`\uDF89`, "\uFFFD", half},
		{`\udf89\ud83c`, "\uFFFD\uFFFD", half},
		{`\ud83c\ud83c\udf89`, "\uFFFD🎉", half},
		{`\ud83c\u0041`, "\uFFFDA", half},
		{`\ud83c\n`, "\uFFFD\n", half},
		{`\\\ud83c`, `\` + "\uFFFD", half},
		{`\\ud83c`, `\ud83c`, !half},
		{`\\\\ud83c`, `\\ud83c`, !half},
		{`\"\ud83c\uDF89\"`, `"🎉"`, !half},
		{`\uD83c\udf89`, "🎉", !half},
		{`\ufffd ud83c`, "\uFFFD ud83c", !half},
		{`\ud7ff\ue000`, "\uD7FF\uE000", !half},
	} {
		reply, failure := Parse(Task, strings.Replace(form, "$", tt.text, 1))
		if failure != nil {
			t.Errorf("%s: %v, want a reply", tt.text, failure)
			continue
		}
		if reply.Message != tt.want || (reply.Warning != "") != tt.half {
			t.Errorf("%s: %q with the warning %q, want %q", tt.text, reply.Message, reply.Warning, tt.want)
		}
	}
	for kind, text := range map[Kind]string{
		Manager:     `{"status":"ok","message":"\ud83c","next_task":"a\ud83c.md","tasks":["a\ud83c.md"],"\ud83c":1}`,
		Instruction: `{"status":"ok","message":"m","x":{"\ud83c":1}}`,
		Ready:       `{"type":"ready","message":"\ud83c"}`,
		Checkpoint:  `{"type":"checkpoint_reply","verdict":"pass","score":1,"key_findings":["\ud83c"],"risks":[],"quality_trend":"\ud83c"}`,
		Judge: strings.ReplaceAll(`{"q1":$,"q2":$,"q3":$,"q4":$,"q5":$,"message":""}`, "$",
			`{"yes":true,"evidence":"\ud83c"}`),
	} {
		if reply, failure := Parse(kind, text); failure != nil || reply.Warning == "" {
			t.Errorf("%v: Parse(%s) = %+v, %v, want a reply and a warning", kind, text, reply, failure)
		}
	}
}

// FuzzJoinSurrogates: what JSON says stays the same, and the text has no half of a pair any more.
func FuzzJoinSurrogates(f *testing.F) {
	f.Add(`"\ud83c\\\udf89\ud83c\udf89"`)
	f.Add(`"\\\`)
	f.Add(`"\ud83c\u+123\u"`)
	f.Fuzz(func(t *testing.T, text string) {
		joined, changed := joinSurrogates(text)
		if len(joined) != len(text) || changed == (joined == text) {
			t.Errorf("joinSurrogates(%q) = %q, %t", text, joined, changed)
		}
		if again, more := joinSurrogates(joined); more {
			t.Errorf("joinSurrogates(%q) leaves a half in %q, and then %q", text, joined, again)
		}
		var before, after any
		if json.Unmarshal([]byte(text), &before) != nil {
			return
		}
		if err := json.Unmarshal([]byte(joined), &after); err != nil {
			t.Errorf("joinSurrogates(%q) = %q: %v", text, joined, err)
		}
		one, _ := json.Marshal(before)
		if other, _ := json.Marshal(after); string(one) != string(other) {
			t.Errorf("joinSurrogates(%q) = %q, which says %s, not %s", text, joined, other, one)
		}
	})
}
