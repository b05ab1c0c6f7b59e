package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"kanban-run/orchestrator/compact"
)

// interner decodes records and shares the strings that recur in a journal: the
// last one that fell into each place. It is bounded: task names may be as many
// as records.
type interner struct {
	shared [256]string
	minute [len(minuteForm)]byte // the last that was read, and
	unix   int64                 // when it began; 0: none was read
}

// decode reads the JSON of one record into r. Its Data is a part of line.
//
// What encode writes is read by plain, at a twentieth of encoding/json's cost: a
// journal of a million records is replayed before the next agent starts. All
// other spellings go to encoding/json, and a fuzz test holds the two together.
func (in *interner) decode(line []byte, r *Record) error {
	if in.plain(line, r) {
		return nil
	}
	var other Record // and not r, which would be on the heap
	if err := json.Unmarshal(line, &other); err != nil {
		return err
	}
	*r = other
	if r.Seq == 0 || r.Type == "" || r.TaskID == "" || r.Actor == "" || r.Data == nil {
		return errors.New("a required field is missing")
	}
	r.Time = r.Time.UTC()
	// A field twice, or in another case, would be read as what it is not.
	if again, err := appendJSON(nil, r); err != nil || !bytes.Equal(again, line) {
		return ErrAmbiguous
	}
	return nil
}

// plain reads a record exactly as appendJSON spells it. It does not check the
// syntax of the data: the checksum vouches that they are what was written, and
// whoever decodes them will see.
func (in *interner) plain(line []byte, r *Record) bool {
	c := cursor{rest: line, ok: true}
	c.skip(`{"seq":`)
	r.Seq = c.number()
	c.skip(`,"prev":"`)
	r.Prev = c.sum()
	c.skip(`","epoch":`)
	r.Epoch = c.number()
	c.skip(`,"time":"`)
	r.Time = in.time(&c)
	c.skip(`,"type":"`)
	r.Type = in.share(c.text())
	c.skip(`,"task_id":"`)
	r.TaskID = in.share(c.text())
	c.skip(`,"rev":`)
	r.Rev = c.number()
	c.skip(`,"actor":"`)
	r.Actor = in.share(c.text())
	c.skip(`,"data":`)
	data, closed := bytes.CutSuffix(c.rest, []byte("}"))
	r.Data = data
	bare := len(data) > 0 && data[0] > ' ' && data[len(data)-1] > ' '
	return c.ok && closed && bare && r.Seq != 0 && r.Type != "" && r.TaskID != "" && r.Actor != ""
}

func (in *interner) share(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	// The records of one task stand side by side; names differ in the middle, and in their number.
	place := &in.shared[uint8(len(b)+3*int(b[0])+7*int(b[len(b)/3])+31*int(b[len(b)-1]))]
	if string(b) != *place {
		*place = string(b)
	}
	return *place
}

const minuteForm = "2006-01-02T15:04:"

// time reads a time in UTC as appendJSON spells it, and leaves the calendar to
// the library, once a minute.
func (in *interner) time(c *cursor) (t time.Time) {
	s := c.rest
	if len(s) < len(minuteForm) {
		c.ok = false
		return t
	}
	if string(s[:len(minuteForm)]) != string(in.minute[:]) || in.unix == 0 {
		if t.UnmarshalText(append(s[:len(minuteForm):len(minuteForm)], "00Z"...)) != nil {
			c.ok = false
			return t
		}
		copy(in.minute[:], s)
		in.unix = t.Unix()
	}
	c.rest = s[len(minuteForm):]
	second, nanos := c.second()
	return time.Unix(in.unix+second, nanos).UTC()
}

// cursor reads a line from left to right; once something is not as expected,
// ok is false and everything after it is meaningless.
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

// number reads at most 19 digits, which cannot overflow; encoding/json takes
// the rest.
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

// second reads "05Z" or "05.123Z" with the closing quote: at most nine digits of
// a second, of which the last is not 0.
func (c *cursor) second() (second, nanos int64) {
	s := c.rest
	if len(s) < 4 || s[0] < '0' || s[0] > '5' || s[1] < '0' || s[1] > '9' {
		c.ok = false
		return 0, 0
	}
	second = int64(s[0]-'0')*10 + int64(s[1]-'0')
	i := 2
	if s[i] == '.' {
		i++
		for unit := int64(1e8); i < len(s) && unit > 0 && '0' <= s[i] && s[i] <= '9'; i++ {
			nanos += unit * int64(s[i]-'0')
			unit /= 10
		}
		c.ok = c.ok && s[i-1] != '0' && s[i-1] != '.'
	}
	c.rest = s[i:]
	c.skip(`Z"`)
	return second, nanos
}

// text reads up to and with the closing quote, without escapes.
func (c *cursor) text() []byte {
	n := compact.ASCII(c.rest)
	if n < len(c.rest) && c.rest[n] >= 0x80 {
		n = compact.Plain(c.rest)
		c.ok = c.ok && bareRunes(string(c.rest[:n]))
	}
	if n == len(c.rest) || c.rest[n] != '"' {
		c.ok = false
		return nil
	}
	s := c.rest[:n]
	c.rest = c.rest[n+1:]
	return s
}

// bareRunes also knows the two separators of lines that encoding/json escapes.
func bareRunes(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsAny(s, "\u2028\u2029")
}
