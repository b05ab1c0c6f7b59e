package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// interner decodes records and shares the strings that recur in a journal. It
// is bounded: task names may be as many as records.
type interner map[string]string

const maxInterned = 4096

// decode reads the JSON of one record. Its Data is a copy of the caller's own.
//
// What encode writes is read by plain, at a tenth of encoding/json's cost: a
// journal of a million records is replayed before the next agent starts. All
// other spellings go to encoding/json, and a fuzz test holds the two together.
func (in *interner) decode(line []byte) (Record, error) {
	if r, ok := in.plain(line); ok {
		return r, nil
	}
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, err
	}
	if r.Seq == 0 || r.Type == "" || r.TaskID == "" || r.Actor == "" || r.Data == nil {
		return Record{}, errors.New("a required field is missing")
	}
	r.Time = r.Time.UTC()
	// A field twice, or in another case, would be read as what it is not.
	if again, err := spell(r); err != nil || !bytes.Equal(again, line) {
		return Record{}, ErrAmbiguous
	}
	return r, nil
}

// plain reads a record exactly as encode spells it when no string needs an
// escape. It does not check the syntax of the data: the checksum vouches that
// they are what encode wrote, and whoever decodes them will see.
func (in *interner) plain(line []byte) (Record, bool) {
	c := cursor{rest: line, ok: true}
	var r Record
	c.skip(`{"seq":`)
	r.Seq = c.number()
	c.skip(`,"prev":"`)
	prev := c.text()
	c.skip(`,"epoch":`)
	r.Epoch = c.number()
	c.skip(`,"time":"`)
	r.Time = c.time()
	c.skip(`,"type":"`)
	kind := c.text()
	c.skip(`,"task_id":"`)
	task := c.text()
	c.skip(`,"rev":`)
	r.Rev = c.number()
	c.skip(`,"actor":"`)
	actor := c.text()
	c.skip(`,"data":`)
	data, closed := bytes.CutSuffix(c.rest, []byte("}"))
	bare := len(data) > 0 && data[0] > ' ' && data[len(data)-1] > ' '
	if !c.ok || !closed || !bare || r.Seq == 0 || len(kind) == 0 || len(task) == 0 || len(actor) == 0 {
		return Record{}, false
	}
	r.Prev, r.Data = string(prev), bytes.Clone(data)
	r.Type, r.TaskID, r.Actor = in.share(kind), in.share(task), in.share(actor)
	return r, true
}

func (in *interner) share(b []byte) string {
	if s, ok := (*in)[string(b)]; ok {
		return s
	}
	if *in == nil {
		*in = interner{}
	}
	s := string(b)
	if len(*in) < maxInterned {
		(*in)[s] = s
	}
	return s
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

// text reads up to and with the closing quote, ASCII without escapes only.
func (c *cursor) text() []byte {
	for i, b := range c.rest {
		if b == '"' {
			s := c.rest[:i]
			c.rest = c.rest[i+1:]
			return s
		}
		if b < ' ' || b == '\\' || b >= 0x7f {
			break
		}
	}
	c.ok = false
	return nil
}

func (c *cursor) time() (t time.Time) {
	s := c.text()
	if !bytes.HasSuffix(s, []byte("Z")) || t.UnmarshalText(s) != nil {
		c.ok = false
	}
	return t
}
