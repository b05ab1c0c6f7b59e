package inert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"
	"unsafe"
)

// decoded is the value of a JSON text.
func decoded(t *testing.T, b []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q is no JSON: %v", b, err)
	}
	return v
}

func TestJSON(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing to do", `{"a":[1,"b\n\u001b ü ✓ 日本 ❤️"]}`, `{"a":[1,"b\n\u001b ü ✓ 日本 ❤️"]}`},
		{"DEL and C1", "\"\x7f\u009b2J\"", `"\u007f\u009b2J"`},
		{"direction and lines", "[\"a\u202eb\u2028\"]", `["a\u202eb\u2028"]`},
		{"above the first plane", "\"tag\U000e0041\"", `"tag\udb40\udc41"`},
		{"not UTF-8", "\"\x9b2J\xff\"", `"\ufffd2J\ufffd"`},
		{"a joiner", "\"a\u200db\u00e9\ufe0f\"", `"a\u200dbé\ufe0f"`},
		{"white space", "{\r\n\t\"a\": 1\n}", "{ \n \"a\": 1\n}"},
		{"hashes", `"##[error]x ###[a]"`, `"#\u0023[error]x ##\u0023[a]"`},
		{"Azure", `"##vso[x]"`, `"#\u0023vso[x]"`},
		{"a key", `{"##[a]":1}`, `{"#\u0023[a]":1}`},
		{"behind a backslash", `"\\##[a]\"##[b]"`, `"\\#\u0023[a]\"#\u0023[b]"`},
		{"marks", "\"#\u0591#\u0591[\"", "\"#\u0591\\u0023\u0591[\""},
		{"colons in a string", "[\n\"::error::x\",\n  \"::\"\n]", "[\n\"::error::x\",\n  \"::\"\n]"},
		{"colons around one", "{\"a\"\n:\"::error::x\"}", "{\"a\"\n:\"::error::x\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(JSON([]byte(tt.text))); got != tt.want {
				t.Errorf("JSON(%q) = %q, want %q", tt.text, got, tt.want)
			}
			checkJSON(t, []byte(tt.text))
		})
	}
}

func checkJSON(t *testing.T, b []byte) {
	t.Helper()
	out := JSON(b)
	if got, want := decoded(t, out), decoded(t, b); !reflect.DeepEqual(got, want) {
		t.Fatalf("JSON(%q) = %q", b, out)
	}
	checkHarmless(t, "JSON", string(out))
	checkScreen(t, string(out))
	if again := Lines(string(out)); again != string(out) || strings.ContainsAny(again, "\t") {
		t.Fatalf("JSON(%q) = %q, which is not inert", b, out)
	}
	if again := JSON(out); unsafe.SliceData(again) != unsafe.SliceData(out) {
		t.Fatalf("JSON(%q) is not what it was given", out)
	}
}

// documents are JSON texts with the strings at all places, in several spellings.
func documents(a, b string) (all [][]byte) {
	add := func(text string) { all = append(all, []byte(text)) }
	for _, encode := range []func(string) string{marshaled, units} {
		x, y := encode(a), encode(b)
		add(x)
		add(fmt.Sprintf(`[%s,%s,1.5e-3,{}]`, x, y))
		add(fmt.Sprintf("{\r\n\t%s\n:%s , \"\": [true, null, -12]}\n", x, y))
		add(fmt.Sprintf(`{"b":{"c":[[%s]]},"d":%s}`, x, y))
	}
	if raw := []byte(`"` + a + `"`); json.Valid(raw) { // characters that encoders escape
		all = append(all, raw)
	}
	if json.Valid([]byte(b)) {
		all = append(all, []byte(b))
	}
	return all
}

// marshaled is s as encoding/json writes it.
func marshaled(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// units is s as JSON with an escape for each unit of UTF-16.
func units(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, u)
	}
	return `"` + b.String() + `"`
}

func FuzzJSON(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, "[\"##[\"\r\n,\t\"::\"]")
	}
	f.Add("##[command]x ##vso[a] ::b::", "{\"\x7f\u0591::\":\n\n\n1}")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, doc := range documents(a, b) {
			checkJSON(t, doc)
		}
	})
}
