package journal

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// appendJSON appends the JSON of r, spelled as encoding/json spells it, at a
// tenth of its cost: the list of tasks in a record is copied once and not looked
// at again. A record that needs escapes goes to encoding/json, and a fuzz test
// holds the two together.
func appendJSON(dst []byte, r *Record) ([]byte, error) {
	if bare(r.Type) && bare(r.TaskID) && bare(r.Actor) && plainTime(r.Time) && r.Data != nil {
		return appendPlain(dst, r), nil
	}
	line, err := spell(*r)
	return append(dst, line...), err
}

// appendPlain spells a record whose data are compact.
func appendPlain(dst []byte, r *Record) []byte {
	dst = strconv.AppendUint(append(dst, `{"seq":`...), r.Seq, 10)
	dst = appendHex8(append(dst, `,"prev":"`...), uint32(r.Prev))
	dst = strconv.AppendUint(append(dst, `","epoch":`...), r.Epoch, 10)
	dst = r.Time.AppendFormat(append(dst, `,"time":"`...), time.RFC3339Nano)
	dst = append(append(dst, `","type":"`...), r.Type...)
	dst = append(append(dst, `","task_id":"`...), r.TaskID...)
	dst = strconv.AppendUint(append(dst, `","rev":`...), r.Rev, 10)
	dst = append(append(dst, `,"actor":"`...), r.Actor...)
	dst = append(append(dst, `","data":`...), r.Data...)
	return append(dst, '}')
}

// bare says whether s stands in JSON as it is.
func bare(s string) bool {
	foreign := false
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		foreign = foreign || c >= utf8.RuneSelf
	}
	return !foreign || bareRunes(s)
}

// bareRunes also knows the two separators of lines that encoding/json escapes.
func bareRunes(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsAny(s, "\u2028\u2029")
}

// plainTime says whether encoding/json takes t, and writes it in UTC.
func plainTime(t time.Time) bool {
	return t.Location() == time.UTC && 0 <= t.Year() && t.Year() <= 9999
}
