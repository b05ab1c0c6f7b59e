//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leakText is something that a person or a program can read after a run.
type leakText struct {
	name string
	data []byte
}

// leakNeedle is something that must not be in it.
type leakNeedle struct {
	what  string
	data  []byte
	loose bool
}

// minNeedle is how long an encoding must be to be no accident. The value itself
// counts whatever its length.
const minNeedle = 8

// needlesOf are the forms of a secret; with parts also what identifies a piece of it.
func needlesOf(s leakSecret, parts bool) (all []leakNeedle) {
	value := strings.TrimSpace(s.value) // space around a value does not count
	for _, form := range formsOf(value) {
		seek := form.seek
		if seek == nil {
			seek = form.say
		}
		if data := seek(value); len(data) >= minNeedle || data == value {
			all = append(all, leakNeedle{s.name + ", " + form.name, []byte(data), form.loose})
		}
	}
	if parts {
		all = append(all, leakNeedle{s.name + ", a part of it", []byte(s.salt), false})
	}
	return all
}

// findLeaks reports every text that holds one of the needles, as it stands or once JSON is decoded.
func findLeaks(t testing.TB, texts []leakText, needles []leakNeedle) {
	t.Helper()
	var decoded []leakText
	for _, text := range texts {
		if inside := stringsWithin(text.data); len(inside) > 0 {
			decoded = append(decoded, leakText{text.name + ", decoded", inside})
		}
	}
	reported := 0
	for _, text := range append(texts, decoded...) {
		loose := squeezed(text.data)
		for _, n := range needles {
			hay := text.data
			if n.loose {
				hay = loose
			}
			at := bytes.Index(hay, n.data)
			if at < 0 {
				continue
			}
			if reported++; reported > 12 {
				t.Fatal("and more")
			}
			t.Errorf("%s shows %s: %q", text.name, n.what, hay[max(at-60, 0):min(at+len(n.data)+30, len(hay))])
			break // one form is enough
		}
	}
}

// squeezed is a text without white space and without escaped line ends.
func squeezed(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '\\' && i+1 < len(b) && (b[i+1] == 'n' || b[i+1] == 'r' || b[i+1] == '\\'):
			if b[i+1] != '\\' {
				i++
			}
		default:
			out = append(out, c)
		}
	}
	return out
}

// stringsWithin are all keys and strings of a JSON text, or of the lines that are one.
func stringsWithin(b []byte) []byte {
	var out bytes.Buffer
	var v any
	if json.Unmarshal(b, &v) == nil {
		gather(&out, v)
		return out.Bytes()
	}
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &v) == nil {
			gather(&out, v)
		}
	}
	return out.Bytes()
}

func gather(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case string:
		out.WriteString(v + "\x00")
	case []any:
		for _, e := range v {
			gather(out, e)
		}
	case map[string]any:
		for key, e := range v {
			out.WriteString(key + "\x00")
			gather(out, e)
		}
	}
}

// textsUnder are the files of a folder and their names, but for those that the test
// itself or an agent wrote there.
func textsUnder(t testing.TB, folder string, exact func(rel string) bool) (texts []leakText) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil || exact(rel) && !entry.IsDir() {
			return err
		} else if exact(rel) {
			return fs.SkipDir
		}
		name := filepath.Base(folder) + "/" + rel
		texts = append(texts, leakText{"the name " + name, []byte(rel)})
		if entry.IsDir() || !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		texts = append(texts, leakText{name, data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
