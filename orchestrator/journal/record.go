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

// Record is one event of a run as it stands in the journal. A program refuses a record with a field
// that it does not know, so a later version may add fields to Data only.
type Record struct {
	Seq    uint64    `json:"seq"`     // 1, 2, 3, … without a gap
	Prev   Sum       `json:"prev"`    // checksum of the record before; 0 in the first
	Epoch  uint64    `json:"epoch"`   // epoch of the run that wrote it; never decreases
	Time   time.Time `json:"time"`    // UTC, later than the record before
	Type   string    `json:"type"`    // the event's kind
	TaskID string    `json:"task_id"` // the event's subject
	Rev    uint64    `json:"rev"`     // revision of the board, from 1; the caller counts it
	Actor  string    `json:"actor"`   // the cause of the event
	// Needs is the form of journals that a program has to know in order to run this journal. It is
	// 0 for the first form.
	Needs int             `json:"needs,omitempty"`
	Data  json.RawMessage `json:"data"` // the event itself, compact JSON
}

// Sum is a CRC-32C. In JSON it is 8 hex digits.
type Sum uint32

func (s Sum) String() string { return fmt.Sprintf("%08x", uint32(s)) }

// MarshalText never fails.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts only the spelling that MarshalText uses.
func (s *Sum) UnmarshalText(digits []byte) error {
	n, ok := parseHex(digits)
	if !ok || len(digits) != 8 {
		return fmt.Errorf("not a checksum: %q", digits)
	}
	*s = Sum(n)
	return nil
}

// Draft is a record before the journal has numbered it. All fields but Data and Needs are required;
// absent Data become null.
type Draft struct {
	Type, TaskID string
	Rev          uint64
	Actor        string
	Needs        int
	Data         json.RawMessage
}

// ErrAmbiguous is the error for a draft without one of its required fields, and for a record in
// which a field occurs twice.
// Source: seed 002, "Reject ambiguous operational payloads".
var ErrAmbiguous = errors.New("ambiguous record")

// MaxRecord is the greatest length of a record's JSON in bytes: twice the longest valid reply. It
// also bounds the memory of a replay.
const MaxRecord = 32 << 20

// headerLen is the length of "%08x %08x ": the JSON's length and CRC-32C.
const headerLen = 18

// checksum returns the CRC-32C of b. The first call makes the table, so that the start of the
// program does not wait for that.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func (d Draft) validate() error {
	fields := []struct{ name, value string }{{"type", d.Type}, {"task_id", d.TaskID}, {"actor", d.Actor}}
	for _, f := range fields {
		if f.value == "" {
			return fmt.Errorf("%w: no %s", ErrAmbiguous, f.name)
		}
		// The encoder would replace invalid bytes by U+FFFD without an error.
		if !utf8.ValidString(f.value) {
			return fmt.Errorf("%s is not valid UTF-8: %q", f.name, f.value)
		}
	}
	if d.Rev == 0 {
		return fmt.Errorf("%w: no rev", ErrAmbiguous)
	}
	if len(d.Data) > MaxRecord {
		return errTooLong(len(d.Data))
	}
	if !utf8.Valid(d.Data) {
		return errors.New("data is not valid UTF-8")
	}
	return nil
}

func errTooLong(n int) error {
	return fmt.Errorf("record of %d bytes is over the limit of %d", n, MaxRecord)
}

// appendRecord appends to dst the line that r becomes on disk, and returns the checksum of r's
// JSON. It first decodes the JSON again: a record that reads back as another one must never reach
// the disk.
func appendRecord(dst []byte, r *Record) ([]byte, uint32, error) {
	line, err := encode(r)
	if err != nil {
		return nil, 0, fmt.Errorf("encode: %w", err)
	}
	if len(line) > MaxRecord {
		return nil, 0, errTooLong(len(line))
	}
	var back Record
	if err := json.Unmarshal(line, &back); err != nil {
		return nil, 0, fmt.Errorf("decode again: %w", err)
	}
	if !equalRecords(r, &back) {
		return nil, 0, errors.New("record does not survive encoding")
	}
	crc := checksum(line)
	dst = append(append(dst, header(len(line), crc)...), line...)
	return append(dst, '\n'), crc, nil
}

// encode returns the JSON of a record in its only valid form.
func encode(r *Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // <, > and & stay as the author wrote them
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads the JSON of one record into r.
func decode(line []byte, r *Record) error {
	*r = Record{}
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	if r.Seq == 0 || r.Type == "" || r.TaskID == "" || r.Actor == "" || r.Data == nil {
		return errors.New("a required field is missing")
	}
	r.Time = r.Time.UTC()
	// Compare, because the decoder accepts a field that occurs twice, or whose name is in another
	// case.
	if again, err := encode(r); err != nil || !bytes.Equal(again, line) {
		return ErrAmbiguous
	}
	return nil
}

func equalRecords(a, b *Record) bool {
	sameTime := a.Time.Equal(b.Time)
	sameData := bytes.Equal(a.Data, b.Data)
	return sameTime && sameData && a.Seq == b.Seq && a.Prev == b.Prev && a.Epoch == b.Epoch &&
		a.Type == b.Type && a.TaskID == b.TaskID && a.Rev == b.Rev && a.Actor == b.Actor && a.Needs == b.Needs
}

// compactData returns data in the form that they have on disk and in a Record.
func compactData(data json.RawMessage) (json.RawMessage, error) {
	if data == nil {
		return json.RawMessage("null"), nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return b.Bytes(), nil
}

// header returns the text before the JSON of a record: the length and the CRC-32C of the JSON.
func header(length int, crc uint32) string { return fmt.Sprintf("%08x %08x ", length, crc) }

// parseHeader reads "%08x %08x ". It accepts only the spelling of the function header. A flipped
// bit is therefore always detected, even if it changes only the case of a digit.
func parseHeader(h []byte) (length int64, crc uint32, ok bool) {
	if len(h) != headerLen || h[8] != ' ' || h[17] != ' ' {
		return 0, 0, false
	}
	n, nok := parseHex(h[:8])
	crc, cok := parseHex(h[9:17])
	return int64(n), crc, nok && cok
}

// nibbles maps each lower-case hex digit to its value plus one, and every other byte to 0.
var nibbles = [256]uint8{
	'0': 1, '1': 2, '2': 3, '3': 4, '4': 5, '5': 6, '6': 7, '7': 8,
	'8': 9, '9': 10, 'a': 11, 'b': 12, 'c': 13, 'd': 14, 'e': 15, 'f': 16,
}

func parseHex(digits []byte) (n uint32, ok bool) {
	ok = true
	for _, c := range digits {
		v := nibbles[c]
		ok = ok && v > 0
		n = n<<4 | uint32(v-1)
	}
	return n, ok
}
