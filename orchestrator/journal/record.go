package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
	"unicode/utf8"
)

// Record is one event of a run as it stands in the journal.
type Record struct {
	Seq    uint64          `json:"seq"`     // 1, 2, 3, … without a gap
	Prev   string          `json:"prev"`    // CRC-32C of the JSON before, 8 hex digits; "00000000" first
	Epoch  uint64          `json:"epoch"`   // which run wrote it; never falls
	Time   time.Time       `json:"time"`    // UTC, later than the record before
	Type   string          `json:"type"`    // the event's kind
	TaskID string          `json:"task_id"` // what it is about
	Rev    uint64          `json:"rev"`     // of the board's records, from 1; the writer counts
	Actor  string          `json:"actor"`   // who caused it
	Data   json.RawMessage `json:"data"`    // the event itself, compact JSON
}

// Draft is a record before the journal has given it its place. All but Data
// are required; absent Data becomes null.
type Draft struct {
	Type, TaskID string
	Rev          uint64
	Actor        string
	Data         json.RawMessage
}

// ErrAmbiguous is a draft without one of its required fields.
// Source: seed 002, "Reject ambiguous operational payloads".
var ErrAmbiguous = errors.New("ambiguous record")

// MaxRecord is the greatest length of a record's JSON, in bytes: twice that of
// the longest valid reply. Replay needs so much memory, and no more.
const MaxRecord = 32 << 20

// headerLen is the length of "%08x %08x ": the JSON's length and CRC-32C.
const headerLen = 18

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func (d Draft) check() error {
	fields := []struct{ name, value string }{{"type", d.Type}, {"task_id", d.TaskID}, {"actor", d.Actor}}
	for _, f := range fields {
		if f.value == "" {
			return fmt.Errorf("%w: no %s", ErrAmbiguous, f.name)
		}
		// The encoder would put U+FFFD in its place and say nothing.
		if !utf8.ValidString(f.value) {
			return fmt.Errorf("%s is not valid UTF-8: %q", f.name, f.value)
		}
	}
	if d.Rev == 0 {
		return fmt.Errorf("%w: no rev", ErrAmbiguous)
	}
	if len(d.Data) > MaxRecord {
		return tooLong(len(d.Data))
	}
	if !utf8.Valid(d.Data) {
		return errors.New("data is not valid UTF-8")
	}
	return nil
}

func tooLong(n int) error {
	return fmt.Errorf("record of %d bytes is over the limit of %d", n, MaxRecord)
}

// encode returns the JSON of r, which decodes to r again, byte for byte of its
// data: a record that reads back as another one must never reach the disk.
func encode(r Record) ([]byte, error) {
	line, err := spell(r)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	if len(line) > MaxRecord {
		return nil, tooLong(len(line))
	}
	var names interner
	back, err := names.decode(line)
	if err != nil {
		return nil, fmt.Errorf("decode again: %w", err)
	}
	if !equal(r, back) {
		return nil, errors.New("record does not survive encoding")
	}
	return line, nil
}

// spell returns the one form in which a record is written.
func spell(r Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the data stays as the author wrote it
	err := enc.Encode(r)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func equal(a, b Record) bool {
	sameTime := a.Time.Equal(b.Time)
	sameData := bytes.Equal(a.Data, b.Data)
	return sameTime && sameData && a.Seq == b.Seq && a.Prev == b.Prev && a.Epoch == b.Epoch &&
		a.Type == b.Type && a.TaskID == b.TaskID && a.Rev == b.Rev && a.Actor == b.Actor
}

// compactJSON is the form in which data stands on disk and in a Record.
func compactJSON(data json.RawMessage) (json.RawMessage, error) {
	if data == nil {
		return json.RawMessage("null"), nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return b.Bytes(), nil
}

// appendLine appends the record as it stands on disk: one line.
func appendLine(dst, line []byte) []byte {
	dst = append(appendHeader(dst, line), line...)
	return append(dst, '\n')
}

func appendHeader(dst, line []byte) []byte {
	return fmt.Appendf(dst, "%08x %08x ", len(line), checksum(line))
}

// parseHeader reads "%08x %08x ". Only the spelling that appendHeader uses is
// one, so that no flipped bit, not even in the case of a digit, goes unseen.
func parseHeader(h []byte) (length int64, crc uint32, ok bool) {
	if len(h) != headerLen || h[8] != ' ' || h[17] != ' ' {
		return 0, 0, false
	}
	n, nok := parseHex(h[:8])
	crc, cok := parseHex(h[9:17])
	return int64(n), crc, nok && cok
}

func parseHex(digits []byte) (n uint32, ok bool) {
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | uint32(c-'0')
		case 'a' <= c && c <= 'f':
			n = n<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

func hex8(n uint32) string { return fmt.Sprintf("%08x", n) }

// isHex8 reports whether s is hex8(n), and makes no string to find out.
func isHex8(s string, n uint32) bool {
	got, ok := parseHex([]byte(s))
	return ok && len(s) == 8 && got == n
}
