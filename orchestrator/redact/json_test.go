package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// documents are JSON texts with the strings at all places, in all spellings.
func documents(a, b string) (all [][]byte) {
	add := func(text string) { all = append(all, []byte(text)) }
	for _, encode := range []func(string) string{jsonText(true), jsonText(false), eachUnit(`\u%04x`)} {
		x, y := encode(a), encode(b)
		if !strings.HasPrefix(x, `"`) {
			x, y = `"`+x+`"`, `"`+y+`"`
		}
		add(x)
		add(fmt.Sprintf(`[%s,%s,1.5e-3,{}]`, x, y))
		add(fmt.Sprintf("{\r\n\t%s\n:%s , \"\": [true, null, -12]}\n", x, y))
		add(fmt.Sprintf(`{"b":{"c":[[%s]]},"d":%s}`, x, jsonText(false)(y)))
	}
	if raw := []byte(`"` + a + `"`); json.Valid(raw) { // characters that encoders escape
		all = append(all, raw)
	}
	if json.Valid([]byte(b)) {
		all = append(all, []byte(b))
	}
	return all
}

func TestRedactJSON(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	r := New([]string{"hunter2-hunter2", "1234567890", `over","the-quotes`, `{"user":"x","pin":12}`, `cut\u00`, "p<q>&r'\"s", "0.12345678", "alpha-bravo", "bravo-charlie", `{"ok":true,"x":"y"}`, `tail-of\`})
	tests := []struct{ name, text, want string }{
		{"nothing to do", "{\"b\" : 1.50,\n\t\"a\":[true,\"x\\n\"]}", "{\"b\" : 1.50,\n\t\"a\":[true,\"x\\n\"]}"},
		{"a string", `{"b": 1.50, "a":"is hunter2-hunter2."}`, `{"b": 1.50, "a":"is [M]."}`},
		{"a key", `{"x hunter2-hunter2":{"hunter2-hunter2":[]}}`, `{"x [M]":{"[M]":[]}}`},
		{"a text alone", `"hunter2-hunter2"`, `"[M]"`},
		{"two in one", `["hunter2-hunter2 & hunter2-hunter2"]`, `["[M] & [M]"]`},
		{"a number", `{"pin":1234567890}`, `{"pin":"[M]"}`},
		{"within a number", `[-1234567890.5e3 ,1]`, `["[M]" ,1]`},
		{"a number alone", `1234567890`, `"[M]"`},
		{"a number below one", `[0.12345678]`, `["[M]"]`},
		{"two that overlap", `["<alpha-bravo-charlie>"]`, `["<[M]>"]`},
		{"escapes", `["\u0068unter2\u002dhunter2\n"]`, `["[M]\n"]`},
		{"an encoded one in an escape", `["a\u002568unter2-hunter2"]`, `["a[M]"]`},
		{"JSON in an escape", `["\u005cu0068unter2-hunter2 <"]`, `["[M] <"]`},
		{"a token behind an escape", `["<\u0067hp_` + token[4:] + `>"]`, `["<[M]>"]`},
		{"a header", `{"Authorization":"Bearer abcdef0123456789abcdef"}`, `{"Authorization":"Bearer [M]"}`},
		{"two strings", `["x over","the-quotes y"]`, `["x [M]","[M] y"]`},
		{"a document", `{"account":{"user":"x","pin":12},"user":"x"}`, `{"account":{"[M]":"[M]","[M]":"[M]"},"user":"x"}`},
		{"half an escape", `["cut\u0041","cut\u0041"]`, `["[M]","[M]"]`},
		{"a literal in one", `[{"ok":true,"x":"y"}]`, `[{"[M]":true,"[M]":"[M]"}]`},
		{"an escape at its end", `["tail-of\"x"]`, `["[M]x"]`},
		{"HTML", `["\u0070<q>\u0026r'\"s","<&>\n"]`, `["[M]","<&>\n"]`},
		{"empty strings", `{"":[""," "]}`, `{"":[""," "]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, "[M]", Mark)
			got, err := r.JSON([]byte(tt.text))
			if err != nil || string(got) != want {
				t.Errorf("JSON(%s) = %s, %v, want %s", tt.text, got, err, want)
			}
			checkRedactedJSON(t, r, []byte(tt.text))
		})
	}
	for _, text := range []string{"", `{"a":}`, `"a" "b"`, "hunter2-hunter2"} {
		if got, err := r.JSON([]byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("JSON(%q) = %q, %v, want an error", text, got, err)
		}
	}
}

// tokens are the parts of a JSON text, in order, keys with their meaning.
func tokens(t *testing.T, b []byte) (all []json.Token) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%q is no JSON: %v", b, err)
		}
		all = append(all, tok)
	}
}

// checkRedactedJSON: the shape stays, and no string means or is a secret.
func checkRedactedJSON(t *testing.T, r *Redactor, b []byte) {
	t.Helper()
	out, err := r.JSON(b)
	if err != nil {
		t.Fatalf("JSON(%q) = %v", b, err)
	}
	before, after := tokens(t, b), tokens(t, out)
	if len(before) != len(after) {
		t.Fatalf("JSON(%q) = %q, which is of another shape", b, out)
	}
	for i, tok := range after {
		_, number := before[i].(json.Number)
		text, isText := tok.(string)
		if reflect.TypeOf(tok) != reflect.TypeOf(before[i]) && !(number && text == Mark) || !isText && !number && tok != before[i] {
			t.Fatalf("JSON(%q) = %q: %v for %v", b, out, tok, before[i])
		}
		if isText && r.Changes(text) {
			t.Fatalf("JSON(%q) = %q shows a secret in %q", b, out, text)
		}
	}
	for s := range scalars(out) {
		for _, secret := range r.findAll(out) {
			if max(secret.from, s.from) < min(secret.to, s.to) {
				t.Fatalf("JSON(%q) = %q shows %q", b, out, out[secret.from:secret.to])
			}
		}
	}
}

func FuzzRedactJSON(f *testing.F) {
	f.Add("hunter2-hunter2", "x", "y", []byte(`{"a":[1,"hunter2-hunter2"]}`))
	f.Add("1234567890", "0", `\`, []byte(`[-1234567890,"x"]`))
	f.Add(`a","b-c`, "", `\u00`, []byte(`["a","b-c"]`))
	f.Add(`{"k":"v"}`, `"`, "%25", []byte(`[{"k":"v"}]`))
	f.Add(`\u0041\n"'`, `\`, "\n", []byte(`["\u005cu0041\\n\"'"]`))
	f.Add("sk-ant-123456", "ghp_", "\xff", []byte(`["\u0067hp_0123456789abcdefghijABCDEFGHIJ012345"]`))
	f.Fuzz(func(t *testing.T, secret, before, after string, doc []byte) {
		r := New([]string{secret})
		docs := documents(before+secret+after, secret)
		if json.Valid(doc) {
			docs = append(docs, doc)
		}
		for _, d := range docs {
			checkRedactedJSON(t, r, d)
		}
	})
}
