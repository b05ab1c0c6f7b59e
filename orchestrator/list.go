package orchestrator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/redact"
)

// list is the list of tasks as a Manager gets it. Whatever is made of 100,000 tasks takes longer than the rest of a step, so it
// is made once for as long as the board's list stays the same.
type list struct {
	paths []string // as agents see them
	clean []string // as they are compared; paths itself where that is the same
	text  []byte   // JSON, made by encode: a part of room
	room  []byte   // of a long list with space for the rest of an input before the text, and always with the end of one after it
	hash  string   // made by sum
	safe  bool     // it was looked at and holds no secret
}

const (
	headroom = 4 << 10      // bytes before the text of a long list
	isLong   = maxJournaled // from how many bytes on a list is not copied into each input: those are not journaled
)

func newList(paths []string) *list { return &list{paths: paths, clean: cleanAll(paths)} }

// listOf is the board's list. Where the board does not lie in the work directory itself, it depends on which files there are and
// is made anew.
func (r *run) listOf(b *board.Board) *list {
	paths := b.TaskPaths()
	if r.listed == nil || !r.place.Flat() || !isSame(r.listed.paths, paths) {
		r.listed = newList(r.seenAll(paths))
	}
	return r.listed
}

// isSame says whether two lists are one in memory.
func isSame(a, b []string) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// encode is what json.Marshal makes of the paths.
func (l *list) encode() []byte {
	if l.text != nil {
		return l.text
	}
	size, space := 3, 0
	for _, p := range l.paths {
		size += len(p) + 3
	}
	if size >= isLong {
		space = headroom
	}
	room := append(make([]byte, space, space+size), '[')
	for i, p := range l.paths {
		if i > 0 {
			room = append(room, ',')
		}
		room = appendString(room, p)
	}
	l.room = append(room, ']', '}')
	l.text = l.room[space : len(l.room)-1]
	return l.text
}

// before is what stands before the list in an input that ends with it.
func (l *list) before(text []byte) (head []byte, ok bool) {
	if l == nil {
		return nil, false
	}
	head, ok = bytes.CutSuffix(text, []byte{'}'})
	if !ok {
		return nil, false
	}
	return bytes.CutSuffix(head, l.encode())
}

// sum is the SHA-256 of the JSON, in hex.
func (l *list) sum() string {
	if l.hash == "" {
		sum := sha256.Sum256(l.encode())
		l.hash = hex.EncodeToString(sum[:])
	}
	return l.hash
}

// input is what json.Marshal makes of a managerInput with this list. Of a long list it is the next one in the same memory: the one
// before must not be needed any more.
func (l *list) input(kanban, done string) []byte {
	l.encode()
	head := appendString([]byte(`{"kanban_file":`), kanban)
	head = appendString(append(head, `,"done_task":`...), done)
	head = append(head, `,"tasks":`...)
	space := len(l.room) - len(l.text) - 1
	if len(l.text) < isLong || len(head) > space {
		return slices.Concat(head, l.room[space:])
	}
	from := space - len(head)
	copy(l.room[from:], head)
	return l.room[from:]
}

// escaped are the bytes that json.Marshal may write in another way.
var escaped = func() (set [256]bool) {
	for c := range set {
		set[c] = c < ' ' || c >= utf8.RuneSelf || strings.IndexByte(`"\<>&`, byte(c)) >= 0
	}
	return set
}()

// appendString appends what json.Marshal makes of a string, without asking it where nothing needs an escape.
func appendString(text []byte, s string) []byte {
	for i := range len(s) {
		if escaped[s[i]] {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic("encode a string: " + err.Error()) // there is a form for every one
			}
			return append(text, quoted...)
		}
	}
	return append(append(append(text, '"'), s...), '"')
}

// vet is the first path of the list that holds a secret, or "". A secret that shows in the JSON and in no path is a word of the
// program's own.
func (l *list) vet(secrets *redact.Redactor) string {
	if l.safe {
		return ""
	}
	if secrets.ChangesBytes(l.encode()) {
		for _, p := range l.paths {
			if secrets.Changes(p) {
				return p
			}
		}
	}
	l.safe = true
	return ""
}

// cleanAll is path.Clean for a list, which it returns itself when nothing changes.
func cleanAll(paths []string) []string {
	for i, p := range paths {
		if board.Clean(p) == p {
			continue
		}
		clean := append(make([]string, 0, len(paths)), paths[:i]...)
		for _, p := range paths[i:] {
			clean = append(clean, board.Clean(p))
		}
		return clean
	}
	return paths
}
