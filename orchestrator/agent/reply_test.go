package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func ptr(s string) *string { return &s }

func TestParseReplyAccepts(t *testing.T) {
	for _, tt := range []struct {
		name     string
		contract Contract
		raw      string
		want     Reply
	}{
		{"plain", TaskContract, `{"status":"ok","message":"done"}`, Reply{Status: OK, Message: "done"}},
		{"white space around", TaskContract, "\r\n\t {\"status\" :\n\"blocked\" , \"message\":\"\"} \n\n", Reply{Status: Blocked}},
		{"an instruction's", InstructionContract, `{"message":"m","status":"escalate"}`, Reply{Status: Escalate, Message: "m"}},
		{"escapes", TaskContract, `{"st\u0061tus":"error","message":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é"}`, Reply{Status: Error, Message: "\"\\/\b\f\n\r\té😀 é"}},
		{"NUL in the message", TaskContract, `{"status":"ok","message":"\u0000"}`, Reply{Status: OK, Message: "\x00"}},
		{"keys of its own", TaskContract, `{"status":"ok","message":"m","next_task":7,"Tasks":0,"x":[{"a":{"a":null}},-1.5e+3,true]}`, Reply{Status: OK, Message: "m"}},
		{"empty key", TaskContract, `{"":0,"status":"ok","message":"m"}`, Reply{Status: OK, Message: "m"}},
		{"depth 64", TaskContract, `{"status":"ok","message":"m","x":` + nested(63) + `}`, Reply{Status: OK, Message: "m"}},
		{"the largest number", TaskContract, `{"status":"ok","message":"m","x":1.7976931348623157e308,"y":1e-999}`, Reply{Status: OK, Message: "m"}},
		{"the Manager's", ManagerContract, `{"status":"ok","message":"m","next_task":"b.md","tasks":["a.md","b.md"]}`,
			Reply{Status: OK, Message: "m", NextTask: ptr("b.md"), Tasks: []string{"a.md", "b.md"}}},
		{"the Manager's last", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":[ ]}`, Reply{Status: OK, Message: "m", Tasks: []string{}}},
		{"escapes in tasks", ManagerContract, `{"tasks":["\u0061.md" , "b\/c.md"],"status":"ok","message":"m","next_task":"d\u00e9.md"}`,
			Reply{Status: OK, Message: "m", NextTask: ptr("dé.md"), Tasks: []string{"a.md", "b/c.md"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, failure := ParseReply(tt.contract, []byte(tt.raw), nil)
			if failure != nil {
				t.Fatalf("ParseReply(%s) = %v, want a reply", tt.raw, failure)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("ParseReply(%s) differs (-want +got):\n%s", tt.raw, diff)
			}
		})
	}
}

func TestParseReplyRefuses(t *testing.T) {
	const good = `{"status":"ok","message":"m"}`
	for _, tt := range []struct {
		name     string
		contract Contract
		raw      string
		want     string
	}{
		{"empty", TaskContract, "", "the reply is empty"},
		{"white space", TaskContract, " \n\t", "the reply is empty"},
		{"prose", TaskContract, "I am done.", `not a JSON object: it begins with "I am done."`},
		{"prose before", TaskContract, "Here it is, as you wished: " + good, `not a JSON object: it begins with "Here it is, as you wishe"…`},
		{"prose with a number", TaskContract, "3 tests pass", `not a JSON object: it begins with "3 tests pass"`},
		{"prose that begins like a literal", TaskContract, "nothing to do", `not a JSON object: it begins with "nothing to do"`},
		{"fence", TaskContract, "```json\n" + good + "\n```", "the reply is in a Markdown fence, want nothing but a JSON object"},
		{"byte order mark", TaskContract, "\uFEFF" + good, "a byte order mark before the JSON object"},
		{"UTF-16", TaskContract, "\xff\xfe{\x00", `not a JSON object: it begins with "\xff\xfe{\x00"`},
		{"list", TaskContract, "[" + good + "]", "the reply is a JSON list, want a JSON object"},
		{"a log line", TaskContract, "[INFO] done", `not a JSON object: it begins with "[INFO] done"`},
		{"null", TaskContract, "null", "the reply is null, want a JSON object"},
		{"boolean", TaskContract, "true", "the reply is a JSON boolean, want a JSON object"},
		{"string", TaskContract, `"ok"`, "the reply is a JSON string, want a JSON object"},
		{"number", TaskContract, "-1", "the reply is a JSON number, want a JSON object"},

		{"half", TaskContract, `{"status":"ok","mess`, `half a JSON object: it ends after 20 bytes, want "`},
		{"cut after the colon", TaskContract, `{"status":`, "half a JSON object: it ends after 10 bytes, want a value"},
		{"cut in a literal", TaskContract, `{"status":nu`, "half a JSON object: it ends after 12 bytes, want a value"},
		{"cut in an escape", TaskContract, `{"a":"\`, "half a JSON object: it ends after 7 bytes, want the rest of an escape"},
		{"cut in \\u", TaskContract, `{"a":"\u00`, "half a JSON object: it ends after 10 bytes, want four hexadecimal digits"},
		{"cut in a number", TaskContract, `{"a":-`, "half a JSON object: it ends after 6 bytes, want a digit"},
		{"only a brace", TaskContract, "{", "half a JSON object: it ends after 1 bytes, want a key in double quotes"},
		{"comma at the end", TaskContract, `{"status":"ok",}`, `not JSON: "}" at byte 16, want a key in double quotes`},
		{"comma at a list's end", TaskContract, `{"a":[1,]}`, `not JSON: "]}" at byte 9, want a value`},
		{"single quotes", TaskContract, `{'status':'ok'}`, `not JSON: "'status':'ok'}" at byte 2, want a key in double quotes`},
		{"comment", TaskContract, `{"status":"ok",/* */"message":"m"}`, `not JSON: "/* */\"message\":\"m\"}" at byte 16, want a key in double quotes`},
		{"no colon", TaskContract, `{"status" "ok"}`, `not JSON: "\"ok\"}" at byte 11, want a colon`},
		{"no comma", TaskContract, `{"status":"ok" "message":"m"}`, `not JSON: "\"message\":\"m\"}" at byte 16, want a comma or }`},
		{"no comma in a list", TaskContract, `{"a":[1 2]}`, `not JSON: "2]}" at byte 9, want a comma or ]`},
		{"NaN", TaskContract, `{"a":NaN}`, `not JSON: "NaN}" at byte 6, want a value`},
		{"leading zero", TaskContract, `{"a":01}`, `not JSON: "01}" at byte 6, want a number without leading zeros`},
		{"bare point", TaskContract, `{"a":1.}`, `not JSON: "}" at byte 8, want a digit`},
		{"bare exponent", TaskContract, `{"a":1e+}`, `not JSON: "}" at byte 9, want a digit`},
		{"plus sign", TaskContract, `{"a":+1}`, `not JSON: "+1}" at byte 6, want a value`},
		{"newline in a string", TaskContract, "{\"a\":\"x\ny\"}", "not JSON: a control character (0x0a) in a string at byte 8"},
		{"control after an escape", TaskContract, "{\"a\":\"\\n\x1b\"}", "not JSON: a control character (0x1b) in a string at byte 9"},
		{"escape of another language", TaskContract, `{"a":"\x41"}`, `not JSON: "\\x41\"}" at byte 7, want an escape of JSON`},
		{"bad hex", TaskContract, `{"a":"\u00g0"}`, `not JSON: "00g0\"}" at byte 9, want four hexadecimal digits`},
		{"signed hex", TaskContract, `{"a":"\u+123"}`, `not JSON: "+123\"}" at byte 9, want four hexadecimal digits`},

		{"trailing prose", TaskContract, good + "\nThat is all, and it took me long.", `text after the JSON object at byte 31: "That is all, and it took"…`},
		{"trailing brace", TaskContract, good + "}", `text after the JSON object at byte 30: "}"`},
		{"two objects", TaskContract, good + "\n" + good, "a second JSON object at byte 31"},
		{"NUL behind it", TaskContract, good + "\x00", `text after the JSON object at byte 30: "\x00"`},

		{"duplicate key", TaskContract, `{"status":"ok","message":"m","status":"ok"}`, "duplicate key status"},
		{"duplicate key, escaped", TaskContract, `{"status":"ok","message":"m","st\u0061tus":"error"}`, "duplicate key status"},
		{"duplicate key of the agent's own", TaskContract, `{"status":"ok","message":"m","x":[{"a b":1,"a b":1}]}`, `duplicate key "a b"`},
		{"case variant beside it", TaskContract, `{"status":"ok","message":"m","Status":"error"}`, "key Status instead of status"},
		{"case variant alone", TaskContract, `{"STATUS":"ok","message":"m"}`, "key STATUS instead of status"},
		{"folding variant", TaskContract, `{"ſtatus":"ok","message":"m"}`, `key "\u017ftatus" instead of status`},
		{"case variant of the Manager's", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":[],"Next_Task":"x"}`, "key Next_Task instead of next_task"},
		{"invalid UTF-8", TaskContract, "{\"status\":\"ok\",\"message\":\"\xff\"}", "invalid UTF-8 at byte 27"},
		{"half a character", TaskContract, "{\"status\":\"ok\",\"message\":\"\xc3\"}", "invalid UTF-8 at byte 27"},
		{"surrogate in UTF-8", TaskContract, "{\"status\":\"ok\",\"message\":\"\xed\xa0\x80\"}", "invalid UTF-8 at byte 27"},
		{"unpaired surrogate", TaskContract, `{"status":"ok","message":"\ud83d"}`, "unpaired surrogate at byte 27"},
		{"second half first", TaskContract, `{"status":"ok","message":"\ude00\ud83d"}`, "unpaired surrogate at byte 27"},
		{"surrogate and a letter", TaskContract, `{"status":"ok","message":"\ud83d\u0041"}`, "unpaired surrogate at byte 27"},
		{"number no one can hold", TaskContract, `{"status":"ok","message":"m","x":1e1000000000}`, `a number that no one can hold at byte 34: "1e1000000000"`},
		{"negative one", TaskContract, `{"status":"ok","message":"m","x":-1e309}`, `a number that no one can hold at byte 34: "-1e309"`},
		{"endless digits", TaskContract, `{"x":0.` + strings.Repeat("1", 100000) + `}`, `a number that no one can hold at byte 6: "0.1111111111111111111111"…`},
		{"depth 65", TaskContract, `{"status":"ok","message":"m","x":` + nested(64) + `}`, "nested deeper than 64"},
		{"depth 9990", TaskContract, strings.Repeat(`{"a":`, 9990), "nested deeper than 64"},
		{"endless list", TaskContract, strings.Repeat(`[`, 100000), `not a JSON object: it begins with "[[[[[[[[[[[[[[[[[[[[[[[["…`},

		{"no status", TaskContract, `{"message":"m"}`, "status is missing"},
		{"nothing", TaskContract, `{}`, "message is missing; status is missing"},
		{"status with a space", TaskContract, `{"status":"ok ","message":"m"}`, `status is "ok ", want ok, blocked, error or escalate`},
		{"a Cyrillic o", TaskContract, `{"status":"оk","message":"m"}`, `status is "\u043ek", want ok, blocked, error or escalate`},
		{"upper case", TaskContract, `{"status":"OK","message":"m"}`, `status is "OK", want ok, blocked, error or escalate`},
		{"status is an object", TaskContract, `{"status":{"ok":true},"message":"m"}`, "status is an object, want ok, blocked, error or escalate"},
		{"message is null", TaskContract, `{"status":"ok","message":null}`, "message is null, want string"},
		{"message is a number", TaskContract, `{"status":"ok","message":12}`, "message is the number 12, want string"},
		{"the Manager's without its part", ManagerContract, good, "next_task is missing; tasks is missing"},
		{"next_task is a list", ManagerContract, `{"status":"ok","message":"m","next_task":["a"],"tasks":[]}`, "next_task is a list, want string or null"},
		{"next_task is empty", ManagerContract, `{"status":"ok","message":"m","next_task":"","tasks":[]}`, "next_task is empty"},
		{"tasks is null", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":null}`, "tasks is null, want list"},
		{"tasks holds null", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":["a",null]}`, "tasks[1] is null, want string"},
		{"tasks holds maps", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":[{"file":"a"}]}`, "tasks[0] is an object, want string"},
		{"many wrong tasks", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":[1,1,1,1,1,1,1]}`,
			"tasks[0] is a number, want string"},
		{"NUL in next_task", ManagerContract, `{"status":"ok","message":"m","next_task":"a\u0000.md","tasks":[]}`, "next_task holds a control character"},
		{"escape in tasks", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":["a","\u001b[2J"]}`, "tasks[1] holds a control character"},
		{"an empty task", ManagerContract, `{"status":"ok","message":"m","next_task":null,"tasks":["a",""]}`, "tasks[1] is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, failure := ParseReply(tt.contract, []byte(tt.raw), nil)
			if failure == nil || reply != nil {
				t.Fatalf("ParseReply(%.200q) = %+v, %v, want it to be refused", tt.raw, reply, failure)
			}
			if failure.Reason != tt.want || failure.Error() != tt.want {
				t.Errorf("ParseReply(%.200q) = %q, want %q", tt.raw, failure.Reason, tt.want)
			}
		})
	}
}

func TestParseReplySize(t *testing.T) {
	frame := len(`{"status":"ok","message":""}`)
	for _, size := range []int{maxReply, maxReply + 1} {
		raw := []byte(`{"status":"ok","message":"` + strings.Repeat("x", size-frame) + `"}`)
		_, failure := ParseReply(TaskContract, raw, nil)
		if got, want := failure != nil, size > maxReply; got != want {
			t.Errorf("ParseReply(%d bytes) = %v, want it to be refused: %t", size, failure, want)
		}
	}
}

// TestParseReplyKeys: the search for duplicate keys must not cost more than the reply is worth.
func TestParseReplyKeys(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"status":"ok","message":"m"`)
	for i := range 1_200_000 {
		fmt.Fprintf(&b, `,"%d":0`, i)
	}
	b.WriteString("}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, failure := ParseReply(TaskContract, b.Bytes(), nil)
	runtime.ReadMemStats(&after)
	if failure == nil || failure.Reason != "more than 100000 keys" {
		t.Errorf("ParseReply(1.2 million keys) = %v, want it to be refused", failure)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 64 {
		t.Errorf("%d MiB were allocated for it, want 64 at most", used)
	}
}

// TestParseReplyLongList: the Manager of a large board sends a large list back every time.
func TestParseReplyLongList(t *testing.T) {
	raw, want := longReply(t, 100_000)
	got, failure := ParseReply(ManagerContract, raw, nil)
	if failure != nil || !slices.Equal(got.Tasks, want) {
		t.Errorf("ParseReply(100000 tasks) = %v, want them all", failure)
	}
}

func longReply(t testing.TB, n int) (raw []byte, tasks []string) {
	t.Helper()
	for i := range n {
		tasks = append(tasks, fmt.Sprintf("tasks/%05d-a-task.md", i))
	}
	list, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"status":"ok","message":"m","next_task":null,"tasks":%s}`, list), tasks
}

func BenchmarkParseReply(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		raw, _ := longReply(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, failure := ParseReply(ManagerContract, raw, nil); failure != nil {
					b.Fatal(failure)
				}
			}
		})
	}
}

// FuzzParseReply holds that nothing panics, that what is accepted means the same to encoding/json and says everything the
// contract asks for, that nothing may be added to it, and that a reason can be shown to people as it is.
func FuzzParseReply(f *testing.F) {
	for _, seed := range []string{
		`{"status":"ok","message":"m"}`, `{"status":"blocked","message":"\ud83d\ude00","next_task":"a","tasks":["a","b\n"]}`,
		`{"status":"ok","message":"m","next_task":null,"tasks":[],"x":[1e5,-0.1,{"a":[true,null]}]}`, "```json\n{}\n```", "{\"a\":\"\xff\"}",
		`{"Status":"ok"}`, `{"status":"ok","status":"ok"}`, `{"x":1e1000000000}`, `{"a":"\ud800"}`, "[[[[", `{"status":"оk","message":""} {}`,
	} {
		for c := range 3 {
			f.Add(c, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, contract int, raw []byte) {
		c := Contract((contract%3 + 3) % 3)
		reply, failure := ParseReply(c, raw, nil)
		if (reply == nil) == (failure == nil) {
			t.Fatalf("ParseReply = %v, %v, want one of them", reply, failure)
		}
		if failure != nil {
			if failure.Reason == "" || strings.ContainsFunc(failure.Reason, unicode.IsControl) {
				t.Errorf("Reason = %q, want a line for people", failure.Reason)
			}
			return
		}
		checkAccepted(t, c, raw, reply)
		if _, failure := ParseReply(c, append(bytes.Clone(raw), "\nx"...), nil); failure == nil {
			t.Error("text behind the object is accepted")
		}
	})
}

func checkAccepted(t *testing.T, c Contract, raw []byte, reply *Reply) {
	t.Helper()
	var other struct {
		Status  *Status `json:"status"`
		Message *string `json:"message"`
	}
	if err := json.Unmarshal(raw, &other); err != nil {
		t.Fatalf("encoding/json refuses it: %v", err)
	}
	if other.Status == nil || *other.Status != reply.Status || other.Message == nil || *other.Message != reply.Message {
		t.Errorf("ParseReply = %+v, encoding/json reads %+v", reply, other)
	}
	if !slices.Contains([]Status{OK, Blocked, Error, Escalate}, reply.Status) {
		t.Errorf("Status = %q", reply.Status)
	}
	if c != ManagerContract {
		return
	}
	var managers struct {
		NextTask *string  `json:"next_task"`
		Tasks    []string `json:"tasks"`
	}
	if err := json.Unmarshal(raw, &managers); err != nil {
		t.Fatalf("encoding/json refuses it: %v", err)
	}
	if diff := cmp.Diff(managers.NextTask, reply.NextTask) + cmp.Diff(managers.Tasks, reply.Tasks); diff != "" || reply.Tasks == nil {
		t.Errorf("encoding/json reads it in another way (-other +got):\n%s", diff)
	}
}

// TestPlainlyFits: what fits plainly fits the schema, and all that is usual fits plainly.
func TestPlainlyFits(t *testing.T) {
	values := []any{nil, "", "ok", "blocked", "error", "escalate", "OK", "tasks/a.md", true, 1.5, []any{}, map[string]any{}}
	keys := []string{"status", "message", "next_task", "tasks"}
	plain := map[Contract]int{}
	envelope := map[string]any{}
	var try func(key int)
	try = func(key int) {
		if key == len(keys) {
			for _, c := range []Contract{TaskContract, ManagerContract, InstructionContract} {
				if plainlyFits(c, envelope) {
					plain[c]++
					if failure := fits(c, envelope); failure != nil {
						t.Errorf("%v: %v fits plainly, and the schema says %v", c, envelope, failure)
					}
				} else if fits(c, envelope) == nil {
					t.Errorf("%v: %v fits the schema, and not plainly", c, envelope)
				}
			}
			return
		}
		delete(envelope, keys[key])
		try(key + 1)
		for _, v := range values {
			envelope[keys[key]] = v
			try(key + 1)
		}
		delete(envelope, keys[key])
	}
	try(0)
	if len(plain) != 3 || plain[ManagerContract] == 0 {
		t.Errorf("plain: %v, want some of each contract", plain)
	}
}
