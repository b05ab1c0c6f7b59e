package contract

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

func TestParseAccepts(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind Kind
		raw  string
		want Reply
	}{
		{"plain", Task, `{"status":"ok","message":"done"}`, Reply{Status: OK, Message: "done"}},
		{"white space around", Task, "\r\n\t {\"status\" :\n\"blocked\" , \"message\":\"\"} \n\n", Reply{Status: Blocked}},
		{"an instruction's", Instruction, `{"message":"m","status":"escalate"}`, Reply{Status: Escalate, Message: "m"}},
		{"escapes", Task, `{"st\u0061tus":"error","message":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é"}`, Reply{Status: Error, Message: "\"\\/\b\f\n\r\té😀 é"}},
		{"NUL in the message", Task, `{"status":"ok","message":"\u0000"}`, Reply{Status: OK, Message: "\x00"}},
		{"keys of its own", Task, `{"status":"ok","message":"m","next_task":7,"Tasks":0,"x":[{"a":{"a":null}},-1.5e+3,true]}`, Reply{Status: OK, Message: "m"}},
		{"empty key", Task, `{"":0,"status":"ok","message":"m"}`, Reply{Status: OK, Message: "m"}},
		{"depth 64", Task, `{"status":"ok","message":"m","x":` + nested(63) + `}`, Reply{Status: OK, Message: "m"}},
		{"the largest number", Task, `{"status":"ok","message":"m","x":1.7976931348623157e308,"y":1e-999}`, Reply{Status: OK, Message: "m"}},
		{"depth 64 of objects", Task, `{"status":"ok","message":"m","x":` + strings.Repeat(`{"x":`, 62) + "{}" + strings.Repeat("}", 63), Reply{Status: OK, Message: "m"}},
		{"digits", Task, `{"status":"ok","message":"m","x":[0,9,-0,10,0e0,9.09]}`, Reply{Status: OK, Message: "m"}},
		{"a long number", Task, `{"status":"ok","message":"m","x":0.` + strings.Repeat("1", maxNumber-2) + `}`, Reply{Status: OK, Message: "m"}},
		{"the bounds of a plain character", Task, "{\"status\":\"ok\",\"message\":\" ~\x7f\\n ~\"}", Reply{Status: OK, Message: " ~\x7f\n ~"}},
		{"a review's text", Review, " {} is what I miss\n", Reply{Status: OK, Message: " {} is what I miss\n"}},
		{"the Manager's", Manager, `{"status":"ok","message":"m","next_task":"b.md","tasks":["a.md","b.md"]}`,
			Reply{Status: OK, Message: "m", NextTask: ptr("b.md"), Tasks: []string{"a.md", "b.md"}}},
		{"the Manager's last", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":[ ]}`, Reply{Status: OK, Message: "m", Tasks: []string{}}},
		{"escapes in tasks", Manager, `{"tasks":["\u0061.md" , "b\/c.md"],"status":"ok","message":"m","next_task":"d\u00e9.md"}`,
			Reply{Status: OK, Message: "m", NextTask: ptr("dé.md"), Tasks: []string{"a.md", "b/c.md"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, failure := Parse(tt.kind, tt.raw)
			if failure != nil {
				t.Fatalf("Parse(%s) = %v, want a reply", tt.raw, failure)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("Parse(%s) differs (-want +got):\n%s", tt.raw, diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	const good = `{"status":"ok","message":"m"}`
	for _, tt := range []struct {
		name string
		kind Kind
		raw  string
		want string
	}{
		{"empty", Task, "", "the reply is empty"},
		{"white space", Task, " \n\t", "the reply is empty"},
		{"prose", Task, "I am done.", `not a JSON object: its last line is "I am done."`},
		{"prose before", Task, "Here it is, as you wished: " + good, `not a JSON object: its last line is "Here it is, as you wished: {\"status\":\"ok\",\"message\":\"m\"}"`},
		{"a line before the reply", Task, "working on a.md\n" + good, `not a JSON object alone: it begins with the line "working on a.md"`},
		{"prose with a number", Task, "3 tests pass", `not a JSON object: its last line is "3 tests pass"`},
		{"prose that begins like a literal", Task, "nothing to do", `not a JSON object: its last line is "nothing to do"`},
		{"fence", Task, "```json\n" + good + "\n```", "the reply is in a Markdown fence, want nothing but a JSON object"},
		{"byte order mark", Task, "\uFEFF" + good, "a byte order mark before the JSON object"},
		{"UTF-16", Task, "\xff\xfe{\x00", `not a JSON object: its last line is "\xff\xfe{\x00"`},
		{"list", Task, "[" + good + "]", "the reply is a JSON list, want a JSON object"},
		{"a log line", Task, "[INFO] done", `not a JSON object: its last line is "[INFO] done"`},
		{"null", Task, "null", "the reply is null, want a JSON object"},
		{"boolean", Task, "true", "the reply is a JSON boolean, want a JSON object"},
		{"string", Task, `"ok"`, "the reply is a JSON string, want a JSON object"},
		{"number", Task, "-1", "the reply is a JSON number, want a JSON object"},

		{"a zero", Task, "0", "the reply is a JSON number, want a JSON object"},
		{"a nine", Task, "9", "the reply is a JSON number, want a JSON object"},
		{"a list, cut", Task, "[1", `not a JSON object: its last line is "[1"`},
		{"a last line that is shown whole", Task, "x\n" + strings.Repeat("é", 100) + "\n", `not a JSON object: its last line is "` + strings.Repeat("é", 100) + `"`},
		{"a last line that is not", Task, strings.Repeat("x", 9) + strings.Repeat("é", 92) + "the end.", `not a JSON object: its last line is …"` + strings.Repeat("é", 92) + `the end."`},
		{"the end of a text that is all one line", Task, strings.Repeat("é", 1<<20), `not a JSON object: its last line is …"` + strings.Repeat("é", 100) + `"`},
		{"a fence without an object", Task, "```\nmake: *** no rule\n```", `not a JSON object: its last line is "make: *** no rule"`},
		{"the last line that says something", Task, "I did:\n```\n\x1b[31mmake\r\n```\n\n", `not a JSON object: its last line is "\x1b[31mmake"`},
		{"a review that says nothing", Review, " \n", "it says nothing"},
		{"a review that is no UTF-8", Review, "x\xff", "invalid UTF-8"},

		{"half", Task, `{"status":"ok","mess`, "half a JSON object: it ends after 20 bytes"},
		{"cut after the colon", Task, `{"status":`, "half a JSON object: it ends after 10 bytes"},
		{"cut in a literal", Task, `{"status":nu`, "half a JSON object: it ends after 12 bytes"},
		{"cut in an escape", Task, `{"a":"\`, "half a JSON object: it ends after 7 bytes"},
		{"cut in \\u", Task, `{"a":"\u00`, "half a JSON object: it ends after 10 bytes"},
		{"cut behind \\u", Task, `{"a":"\u0041`, "half a JSON object: it ends after 12 bytes"},
		{"cut behind an escape", Task, `{"a":"\n`, "half a JSON object: it ends after 8 bytes"},
		{"cut in the second half of a pair", Task, `{"a":"\ud83d\ude`, "half a JSON object: it ends after 16 bytes"},
		{"cut in a list", Task, `{"a":[1`, "half a JSON object: it ends after 7 bytes"},
		{"cut in a number", Task, `{"a":-`, "half a JSON object: it ends after 6 bytes"},
		{"only a brace", Task, "{", "half a JSON object: it ends after 1 bytes"},
		{"comma at the end", Task, `{"status":"ok",}`, "not JSON: invalid character ',' at start of value at byte 15"},
		{"comma at a list's end", Task, `{"a":[1,]}`, "not JSON: invalid character ',' at start of value at byte 8, in the field a"},
		{"single quotes", Task, `{'status':'ok'}`, `not JSON: invalid character '\'' at start of value at byte 2`},
		{"comment", Task, `{"status":"ok",/* */"message":"m"}`, "not JSON: invalid character '/' at start of value at byte 16"},
		{"no colon", Task, `{"status" "ok"}`, `not JSON: invalid character '"' after object name (expecting ':') at byte 11, in the field status`},
		{"no comma", Task, `{"status":"ok" "message":"m"}`, `not JSON: invalid character '"' after object value (expecting ',' or '}') at byte 16`},
		{"no comma in a list", Task, `{"a":[1 2]}`, "not JSON: invalid character '2' after array element (expecting ',' or ']') at byte 9, in the field a"},
		{"NaN", Task, `{"a":NaN}`, "not JSON: invalid character 'N' at start of value at byte 6, in the field a"},
		{"NaN deep in a field", Task, `{"status":"ok","message":"m","cost":{"of":[1,-Infinity]}}`, "not JSON: invalid character 'I' in number (expecting digit) at byte 47, in the field cost"},
		{"leading zero", Task, `{"a":01}`, "not JSON: invalid character '1' after object value (expecting ',' or '}') at byte 7"},
		{"bare point", Task, `{"a":1.}`, "not JSON: invalid character '}' in number (expecting digit) at byte 8, in the field a"},
		{"bare exponent", Task, `{"a":1e+}`, "not JSON: invalid character '}' in number (expecting digit) at byte 9, in the field a"},
		{"plus sign", Task, `{"a":+1}`, "not JSON: invalid character '+' at start of value at byte 6, in the field a"},
		{"the last control character", Task, "{\"a\":\"\x1f\"}", `not JSON: invalid character '\x1f' in string (expecting non-control character) at byte 7, in the field a`},
		{"a slash for a digit", Task, `{"a":1/}`, "not JSON: invalid character '/' after object value (expecting ',' or '}') at byte 7"},
		{"a colon for a digit", Task, `{"a":1:}`, "not JSON: invalid character ':' at start of value at byte 7"},
		{"a slash for a number", Task, `{"a":/}`, "not JSON: invalid character '/' at start of value at byte 6, in the field a"},
		{"newline in a string", Task, "{\"a\":\"x\ny\"}", `not JSON: invalid character '\n' in string (expecting non-control character) at byte 8, in the field a`},
		{"control after an escape", Task, "{\"a\":\"\\n\x1b\"}", `not JSON: invalid character '\x1b' in string (expecting non-control character) at byte 9, in the field a`},
		{"escape of another language", Task, `{"a":"\x41"}`, "not JSON: invalid escape sequence `\\x` in string at byte 7, in the field a"},
		{"bad hex", Task, `{"a":"\u00g0"}`, "not JSON: invalid escape sequence `\\u00g0` in string at byte 7, in the field a"},
		{"signed hex", Task, `{"a":"\u+123"}`, "not JSON: invalid escape sequence `\\u+123` in string at byte 7, in the field a"},

		{"trailing prose", Task, good + "\nThat is all, and it took me long.", `text after the JSON object at byte 31: "That is all, and it took"…`},
		{"trailing brace", Task, good + "}", `text after the JSON object at byte 30: "}"`},
		{"two objects", Task, good + "\n" + good, "a second JSON object at byte 31"},
		{"an object behind prose behind it", Task, good + " or " + good, "a second JSON object at byte 34"},
		{"braces behind it", Task, good + " in {} or {a}", `text after the JSON object at byte 31: "in {} or {a}"`},
		{"NUL behind it", Task, good + "\x00", `text after the JSON object at byte 30: "\x00"`},

		{"duplicate key", Task, `{"status":"ok","message":"m","status":"ok"}`, "duplicate key status"},
		{"duplicate key, escaped", Task, `{"status":"ok","message":"m","st\u0061tus":"error"}`, "duplicate key status"},
		{"duplicate key beside one that nobody reads", Task, `{"status":"ok","message":"m","x":1,"x":2,"message":"n"}`, "duplicate key message"},
		{"duplicate key within one of the contract", Manager, `{"x":1,"x":2,"status":"ok","message":"m","next_task":null,"tasks":[{"a":1,"a":2}]}`, "duplicate key a"},
		{"another fault behind a duplicate key that nobody reads", Task, `{"x":1,"x":2,"status":"ok","message":"m","y":NaN}`, "not JSON: invalid character 'N' at start of value at byte 46, in the field y"},
		{"case variant beside it", Task, `{"status":"ok","message":"m","Status":"error"}`, "key Status instead of status"},
		{"case variant alone", Task, `{"STATUS":"ok","message":"m"}`, "key STATUS instead of status"},
		{"folding variant", Task, `{"ſtatus":"ok","message":"m"}`, `key "\u017ftatus" instead of status`},
		{"case variant of the Manager's", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":[],"Next_Task":"x"}`, "key Next_Task instead of next_task"},
		{"invalid UTF-8", Task, "{\"status\":\"ok\",\"message\":\"\xff\"}", "not JSON: invalid UTF-8 at byte 27, in the field message"},
		{"half a character", Task, "{\"status\":\"ok\",\"message\":\"\xc3\"}", "not JSON: invalid UTF-8 at byte 27, in the field message"},
		{"surrogate in UTF-8", Task, "{\"status\":\"ok\",\"message\":\"\xed\xa0\x80\"}", "not JSON: invalid UTF-8 at byte 27, in the field message"},
		{"number out of range", Task, `{"status":"ok","message":"m","x":1e1000000000}`, `a number out of range at byte 34, in the field x: "1e1000000000"`},
		{"negative one", Task, `{"status":"ok","message":"m","x":-1e309}`, `a number out of range at byte 34, in the field x: "-1e309"`},
		{"endless digits", Task, `{"x":0.` + strings.Repeat("1", 100000) + `}`, `a number out of range at byte 6, in the field x: "0.1111111111111111111111"…`},
		{"one digit too many", Task, `{"x":0.` + strings.Repeat("1", maxNumber-1) + `}`, `a number out of range at byte 6, in the field x: "0.1111111111111111111111"…`},
		{"depth 65 of objects", Task, `{"status":"ok","message":"m","x":` + strings.Repeat(`{"x":`, 63) + "{}" + strings.Repeat("}", 64), "nested deeper than 64"},
		{"depth 65", Task, `{"status":"ok","message":"m","x":` + nested(64) + `}`, "nested deeper than 64"},
		{"depth 9990", Task, strings.Repeat(`{"a":`, 9990), "nested deeper than 64"},
		{"endless list", Task, strings.Repeat(`[`, 100000), `not a JSON object: its last line is …"` + strings.Repeat("[", 100) + `"`},

		{"no status", Task, `{"message":"m"}`, "status is missing"},
		{"nothing", Task, `{}`, "message is missing; status is missing"},
		{"status with a space", Task, `{"status":"ok ","message":"m"}`, `status is "ok ", want ok, blocked, error or escalate`},
		{"a Cyrillic o", Task, `{"status":"оk","message":"m"}`, `status is "\u043ek", want ok, blocked, error or escalate`},
		{"upper case", Task, `{"status":"OK","message":"m"}`, `status is "OK", want ok, blocked, error or escalate`},
		{"status is an object", Task, `{"status":{"ok":true},"message":"m"}`, "status is an object, want ok, blocked, error or escalate"},
		{"message is null", Task, `{"status":"ok","message":null}`, "message is null, want string"},
		{"message is a number", Task, `{"status":"ok","message":12}`, "message is the number 12, want string"},
		{"the Manager's without its part", Manager, good, "next_task is missing; tasks is missing"},
		{"next_task is a list", Manager, `{"status":"ok","message":"m","next_task":["a"],"tasks":[]}`, "next_task is a list, want string or null"},
		{"next_task is empty", Manager, `{"status":"ok","message":"m","next_task":"","tasks":[]}`, "next_task is empty"},
		{"tasks is null", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":null}`, "tasks is null, want list"},
		{"tasks holds null", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":["a",null]}`, "tasks[1] is null, want string"},
		{"tasks holds maps", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":[{"file":"a"}]}`, "tasks[0] is an object, want string"},
		{"many wrong tasks", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":[1,1,1,1,1,1,1]}`,
			"tasks[0] is the number 1, want string; tasks[1] is the number 1, want string; tasks[2] is the number 1, want string; tasks[3] is the number 1, want string"},
		{"NUL in next_task", Manager, `{"status":"ok","message":"m","next_task":"a\u0000.md","tasks":[]}`, "next_task holds a control character"},
		{"escape in tasks", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":["a","\u001b[2J"]}`, "tasks[1] holds a control character"},
		{"an empty task", Manager, `{"status":"ok","message":"m","next_task":null,"tasks":["a",""]}`, "tasks[1] is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, failure := Parse(tt.kind, tt.raw)
			if failure == nil || reply != nil {
				t.Fatalf("Parse(%.200q) = %+v, %v, want it to be refused", tt.raw, reply, failure)
			}
			if failure.Reason != tt.want || failure.Error() != tt.want {
				t.Errorf("Parse(%.200q) = %q, want %q", tt.raw, failure.Reason, tt.want)
			}
		})
	}
}

// TestParseDoubleKeys: a key that stands twice where nobody reads it costs a warning, which names it, and not the work.
func TestParseDoubleKeys(t *testing.T) {
	const counts = " stands twice in its reply, where nobody reads it; the reply counts"
	long := strings.Repeat("k", 60)
	for members, want := range map[string]string{
		`"x":1,"x":2`:                       `the key "x"` + counts,
		`"x":1,"x":2,"y":1,"y":2`:           `the key "x"` + counts,
		`"x":[{"a b":1,"a b":1}]`:           `the key "a b"` + counts,
		`"":1,"":1`:                         `the key ""` + counts,
		`"` + long + `":1,"` + long + `":1`: "a key of 60 bytes" + counts,
		`"\ud83d":1,"\ude00":2`:             `the key "\ufffd"` + counts + "; " + halfRead,
		`"x":{"status":1},"y":1`:            "",
	} {
		for _, raw := range []string{`{"status":"ok","message":"m",` + members + `}`, `{` + members + `,"message":"m","status":"ok"}`} {
			reply, failure := Parse(Task, raw)
			if failure != nil || reply.Status != OK || reply.Message != "m" || reply.Warning != want {
				t.Errorf("Parse(%s) = %+v, %v, want the warning %q", raw, reply, failure, want)
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	frame := len(`{"status":"ok","message":""}`)
	for _, size := range []int{MaxReply, MaxReply + 1} {
		raw := []byte(`{"status":"ok","message":"` + strings.Repeat("x", size-frame) + `"}`)
		_, failure := Parse(Task, string(raw))
		if got, want := failure != nil, size > MaxReply; got != want {
			t.Errorf("Parse(%d bytes) = %v, want it to be refused: %t", size, failure, want)
		}
	}
}

// TestParseKeys: the search for duplicate keys must not cost more than the reply is worth.
func TestParseKeys(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"status":"ok","message":"m"`)
	for i := range 1_200_000 {
		fmt.Fprintf(&b, `,"%d":0`, i)
	}
	b.WriteString("}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, failure := Parse(Task, b.String())
	runtime.ReadMemStats(&after)
	if failure == nil || failure.Reason != "more than 100000 keys" {
		t.Errorf("Parse(1.2 million keys) = %v, want it to be refused", failure)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 64 {
		t.Errorf("%d MiB were allocated for it, want 64 at most", used)
	}
}

// TestParseLongList: the Manager of a large board sends a large list back every time.
func TestParseLongList(t *testing.T) {
	raw, want := longReply(t, 100_000)
	got, failure := Parse(Manager, string(raw))
	if failure != nil || !slices.Equal(got.Tasks, want) {
		t.Errorf("Parse(100000 tasks) = %v, want them all", failure)
	}
}

// TestParseBounds: a reply may have so many keys, and the Manager's list so many entries, and not
// one more.
func TestParseBounds(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"status":"ok","message":"m"`)
		for i := range n - 2 {
			fmt.Fprintf(&b, `,"%d":0`, i)
		}
		return b.String() + "}"
	}
	tasks := func(n int) string {
		return `{"status":"ok","message":"m","next_task":null,"tasks":["a"` + strings.Repeat(`,"a"`, n-1) + "]}"
	}
	for _, tt := range []struct {
		name string
		kind Kind
		raw  string
		want string // "": it is accepted
	}{
		{"all keys", Task, keys(maxKeys), ""},
		{"a key too many", Task, keys(maxKeys + 1), "more than 100000 keys"},
		{"all tasks", Manager, tasks(maxTasks), ""},
		{"a task too many", Manager, tasks(maxTasks + 1), "tasks has more than 500000 entries"},
	} {
		_, failure := Parse(tt.kind, tt.raw)
		if got := reasonOf(failure); got != tt.want {
			t.Errorf("%s: Parse = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func reasonOf(f *Failure) string {
	if f == nil {
		return ""
	}
	return f.Reason
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

// FuzzParse holds that nothing panics, that what is accepted means the same to encoding/json and
// says everything the contract asks for, that nothing may be added to it, and that a reason can be
// shown to people as it is.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"status":"ok","message":"m"}`, `{"status":"blocked","message":"\ud83d\ude00","next_task":"a","tasks":["a","b\n"]}`,
		`{"status":"ok","message":"m","next_task":null,"tasks":[],"x":[1e5,-0.1,{"a":[true,null]}]}`, "```json\n{}\n```", "{\"a\":\"\xff\"}",
		`{"Status":"ok"}`, `{"status":"ok","status":"ok"}`, `{"x":1e1000000000}`, `{"a":"\ud800"}`, "[[[[", `{"status":"оk","message":""} {}`,
	} {
		for c := range 3 {
			f.Add(c, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind int, raw []byte) {
		c := Kind((kind%3 + 3) % 3)
		reply, failure := Parse(c, string(raw))
		if (reply == nil) == (failure == nil) {
			t.Fatalf("Parse = %v, %v, want one of them", reply, failure)
		}
		if failure != nil {
			if failure.Reason == "" || strings.ContainsFunc(failure.Reason, unicode.IsControl) {
				t.Errorf("Reason = %q, want a line for people", failure.Reason)
			}
			return
		}
		checkAccepted(t, c, raw, reply)
		if _, failure := Parse(c, string(raw)+"\nx"); failure == nil {
			t.Error("text behind the object is accepted")
		}
	})
}

func checkAccepted(t *testing.T, c Kind, raw []byte, reply *Reply) {
	t.Helper()
	var other struct {
		Status  *Status `json:"status"`
		Message *string `json:"message"`
	}
	if err := json.Unmarshal(raw, &other); err != nil {
		t.Fatalf("encoding/json refuses it: %v", err)
	}
	if other.Status == nil || *other.Status != reply.Status || other.Message == nil || *other.Message != reply.Message {
		t.Errorf("Parse = %+v, encoding/json reads %+v", reply, other)
	}
	if !slices.Contains([]Status{OK, Blocked, Error, Escalate}, reply.Status) {
		t.Errorf("Status = %q", reply.Status)
	}
	if c != Manager {
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
