package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"kanban-run/orchestrator/compact"
)

// decoder decodes records and shares the strings that recur in a journal.
type decoder struct{ names map[string]string }

// maxNames bounds what is shared: there may be as many task names as records.
const maxNames = 256

func newDecoder() *decoder { return &decoder{names: map[string]string{}} }

// decode reads the JSON of one record into r, whose Data become a part of line.
//
// What appendJSON writes goes through decodePlain, at a tenth of encoding/json's cost: a journal of
// a million records is replayed before the next agent starts. Every other spelling goes to
// encoding/json; a fuzz test holds the two together.
func (d *decoder) decode(line []byte, r *Record) error {
	if d.decodePlain(line, r) {
		return nil
	}
	*r = Record{}
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	if r.Seq == 0 || r.Type == "" || r.TaskID == "" || r.Actor == "" || r.Data == nil {
		return errors.New("a required field is missing")
	}
	r.Time = r.Time.UTC()
	// A field that stands twice, or in another case, would pass for another record.
	if again, err := appendJSON(nil, r); err != nil || !bytes.Equal(again, line) {
		return ErrAmbiguous
	}
	return nil
}

// decodePlain reads a record without escapes, exactly as appendJSON spells it. The syntax of the
// data is not checked: the checksum vouches for them, and their reader decodes them.
func (d *decoder) decodePlain(line []byte, r *Record) bool {
	c := cursor{rest: line, ok: true}
	c.skip(`{"seq":`)
	r.Seq = c.number()
	c.skip(`,"prev":"`)
	r.Prev = c.sum()
	c.skip(`","epoch":`)
	r.Epoch = c.number()
	c.skip(`,"time":"`)
	r.Time = c.time()
	c.skip(`,"type":"`)
	r.Type = d.share(c.text())
	c.skip(`,"task_id":"`)
	r.TaskID = d.share(c.text())
	c.skip(`,"rev":`)
	r.Rev = c.number()
	c.skip(`,"actor":"`)
	r.Actor = d.share(c.text())
	c.skip(`,"data":`)
	data, closed := bytes.CutSuffix(c.rest, []byte("}"))
	r.Data = data
	bare := len(data) > 0 && data[0] > ' ' && data[len(data)-1] > ' '
	return c.ok && closed && bare && r.Seq != 0 && r.Type != "" && r.TaskID != "" && r.Actor != ""
}

// share returns b as a string, the same one for the same bytes.
func (d *decoder) share(b []byte) string {
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	if len(d.names) == maxNames {
		clear(d.names)
	}
	s := string(b)
	d.names[s] = s
	return s
}

// cursor reads a line from left to right. Once ok is false, the rest is meaningless.
type cursor struct {
	rest []byte
	ok   bool
}

func (c *cursor) skip(want string) {
	if len(c.rest) < len(want) || string(c.rest[:len(want)]) != want {
		c.ok = false
		return
	}
	c.rest = c.rest[len(want):]
}

// number reads at most 19 digits, which cannot overflow; encoding/json takes longer ones.
func (c *cursor) number() (n uint64) {
	i := 0
	for ; i < len(c.rest) && i < 20 && '0' <= c.rest[i] && c.rest[i] <= '9'; i++ {
		n = n*10 + uint64(c.rest[i]-'0')
	}
	if i == 0 || i == 20 || i > 1 && c.rest[0] == '0' {
		c.ok = false
	}
	c.rest = c.rest[i:]
	return n
}

func (c *cursor) sum() Sum {
	if len(c.rest) < 8 {
		c.ok = false
		return 0
	}
	n, ok := parseHex(c.rest[:8])
	c.ok = c.ok && ok
	c.rest = c.rest[8:]
	return Sum(n)
}

// time reads a UTC time whose fraction has at most nine digits and no 0 at its end.
func (c *cursor) time() (t time.Time) {
	const whole = len("2006-01-02T15:04:05Z")
	text := c.text()
	switch n := len(text); {
	case n < whole || n > whole+len(".123456789") || text[n-1] != 'Z':
		c.ok = false
	case n > whole && (text[whole-1] != '.' || text[n-2] == '0'):
		c.ok = false
	default:
		c.ok = c.ok && t.UnmarshalText(text) == nil
	}
	return t
}

// text reads a string without escapes and its closing quote.
func (c *cursor) text() []byte {
	n := compact.ASCII(c.rest)
	if n < len(c.rest) && c.rest[n] >= utf8.RuneSelf {
		n = compact.Plain(c.rest)
		c.ok = c.ok && isBare(c.rest[:n])
	}
	if n == len(c.rest) || c.rest[n] != '"' {
		c.ok = false
		return nil
	}
	s := c.rest[:n]
	c.rest = c.rest[n+1:]
	return s
}

// isBare reports whether encoding/json leaves s as it is. s has no quote, backslash or control
// character; encoding/json also escapes the two line separators.
func isBare(s []byte) bool { return utf8.Valid(s) && !bytes.ContainsAny(s, "\u2028\u2029") }
