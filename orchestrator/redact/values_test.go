package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A value that is too short to be redacted is named, so that the caller can warn.
func TestNewNamed(t *testing.T) {
	r, ignored := NewNamed([]Secret{
		{"PIN", "12345"}, {"API_TOKEN", "abcdef"}, {"EMPTY", ""}, {"SPACE", " ab \n"}, {"WORD", "SECRET"}, {"BLANK", "    "}, {"PIN", "1234"},
	})
	if want := []string{"PIN", "SPACE", "WORD"}; !slices.Equal(ignored, want) {
		t.Errorf("NewNamed ignores %q, want %q", ignored, want)
	}
	if got := r.String("12345 abcdef ab SECRET"); got != "12345 "+Mark+" ab SECRET" {
		t.Errorf("String = %q", got)
	}
}

// Each line of a value, each secret of a document and each credential in it is a
// secret by itself.
func TestPartsOfValues(t *testing.T) {
	key := "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\nshorter=\n-----END " + "PRIVATE KEY-----\n"
	account, err := json.Marshal(map[string]any{
		"type": "service_account", "private_key": key, "client_email": "robot@example.com", "nested": []any{map[string]any{"apiKey": "nested-key-value"}},
		"tokens": []string{"first-of-tokens", "tiny"}, "port": 8080,
	})
	if err != nil {
		t.Fatal(err)
	}
	pretty := "{\n  \"private_key_id\": \"0123456789abcdef\",\n  \"access-key\": \"dashed-key-value\"\n}"
	tests := []struct {
		name, value string
		gone, stay  []string
	}{
		{"a key", key, []string{"AQEFAASCBKcwggSjAgEAAoIB", "shorter=", key, strings.ReplaceAll(key, "\n", "\r\n"), strings.ReplaceAll(key, "\n", `\n`)}, []string{"-----BEGIN PRIVATE KEY-----"}},
		{"a key in one line", strings.ReplaceAll(key, "\n", `\n`), []string{"AQEFAASCBKcwggSjAgEAAoIB", key}, nil},
		{"a document", string(account), []string{string(account), "AQEFAASCBKcwggSjAgEAAoIB", "nested-key-value", "first-of-tokens"}, []string{"tiny", "robot@example.com", "service_account"}},
		{"a document over lines", pretty, []string{`"access-key": "dashed-key-value"`, "dashed-key-value", "0123456789abcdef"}, []string{"private_key_id"}},
		{"a document in base64", base64.StdEncoding.EncodeToString(account), []string{"AQEFAASCBKcwggSjAgEAAoIB", "nested-key-value"}, []string{"robot@example.com"}},
		{"prose in base64", base64.StdEncoding.EncodeToString([]byte("only some words of ordinary prose")), nil, []string{"only some words of ordinary prose"}},
		{"a URL", "postgres://user:p%40ssw0rd@db/x", []string{"p%40ssw0rd", "p@ssw0rd"}, []string{"postgres", "user"}},
		{"a header", "Bearer abcdef-ghijkl", []string{"abcdef-ghijkl"}, []string{"Bearer"}},
		{"short lines", "abc\ndefg\nlong enough line", []string{"long enough line"}, []string{"abc", "defg"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := New([]string{tt.value})
			for _, s := range tt.gone {
				if got := r.String("<" + s + ">"); len(strings.ReplaceAll(got, Mark, "")) > len("<>")+2 {
					t.Errorf("String(%q) = %q", s, got)
				}
			}
			for _, s := range tt.stay {
				if got := r.String(s); got != s {
					t.Errorf("String(%q) = %q, want it unchanged", s, got)
				}
			}
		})
	}
}

// A part of a very long value shows as little as the whole.
func TestLongValue(t *testing.T) {
	var long strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&long, "%x-ö;", i*i)
	}
	value := long.String()
	r := New([]string{value})
	if got := r.String("<" + value + ">"); got != "<"+Mark+">" {
		t.Errorf("%d bytes of a value of %d show", len(got), len(value))
	}
	got := r.String("<" + base64.StdEncoding.EncodeToString([]byte("x"+value)) + ">")
	if shows := len(strings.ReplaceAll(got, Mark, "")); shows > 8 {
		t.Errorf("%d characters of base64 show: %.100q", shows, got)
	}
	if got := r.String(string(mustJSON(value[3000:4000]))); len(got) > 700 {
		t.Errorf("a part in JSON shows: %q", got)
	}
}

func TestPiecesCoverAValue(t *testing.T) {
	for size := 6; size < 1200; size += 7 {
		value := strings.ToValidUTF8(strings.Repeat("aé\U0001f600", size)[:size], "x")
		rest := value
		for i, p := range splitLong(value) {
			if i > 0 && len(p) < pieceSize/2-4 || len(p) > pieceSize || !strings.Contains(value, p) || !utf8.ValidString(p) {
				t.Fatalf("piece %d of %d bytes has %d", i, size, len(p))
			}
			rest = rest[min(len(rest), pieceSize-overlap-4):]
		}
		if got := New([]string{value}).String(value); len(value) >= minValue && got != Mark {
			t.Fatalf("%d bytes: String = %q", size, got)
		}
	}
}

// A hundred values cost little.
func TestNewIsQuick(t *testing.T) {
	values := benchValues(100)
	best := time.Hour
	for range 5 {
		start := time.Now()
		New(values)
		best = min(best, time.Since(start))
	}
	if best > 500*time.Millisecond { // 50 without the race detector, on an idle machine
		t.Errorf("New takes %v", best)
	}
}

// A plain secret before more backslashes than have readings.
func TestBackslashesBehindASecret(t *testing.T) {
	const secret = `st-pl\`
	for n := range 60 {
		text := "^" + secret + strings.Repeat(`\`, n) + "c"
		if got := New([]string{secret}).String(text); strings.Contains(got, secret) {
			t.Errorf("%d backslashes behind it: %q", n, got)
		}
	}
}

// TestLineEndsInARow: a text of nothing but escaped line ends is walked once, not from each of its
// letters n again.
func TestLineEndsInARow(t *testing.T) {
	r := New(benchValues(20))
	text := strings.Repeat(`\n`, 8000)
	began := time.Now()
	if got := r.String(text); got != text {
		t.Errorf("String = %d bytes, want the %d of the text", len(got), len(text))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v, want some 50 ms", took)
	}
}

// TestSpacedHex: the bytes of a hex dump may be any distance apart.
func TestSpacedHex(t *testing.T) {
	secret := "Sw0rdfishTr0mbone77Q"
	r := New([]string{secret})
	var bytes []string
	for i := range len(secret) {
		bytes = append(bytes, fmt.Sprintf("%02x", secret[i]))
	}
	for _, between := range []string{" ", ", ", strings.Repeat(" ", 12), "," + strings.Repeat(" ", 12)} {
		if got := r.String(strings.Join(bytes, between)); got != Mark {
			t.Errorf("String of bytes with %q between = %q, want %q", between, got, Mark)
		}
	}
}
