package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/git"
)

const (
	windowOf = 4 << 20  // bytes of an object that are looked at at once
	overlap  = 64 << 10 // of two windows; no secret is as long
	leastOID = 7        // hex digits of an object that is allowed by a part of its name
)

// findSecret looks for known secrets in all that is new in a commit: the contents of files, their
// names, messages and authors, its own and those of the commits that agents and persons have made
// since the last checkpoint. Errors: *SecretError.
func (s *Store) findSecret(stop context.Context, commit string) error {
	known, err := s.known(stop)
	if err != nil {
		return err
	}
	list, err := s.own(stop, git.Call{Git: git.Git{Timeout: moveTime}, Raw: true}, []byte(commit+"\n"+known), "rev-list", "--objects", "--stdin")
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	var objects []object
	var ids strings.Builder
	for line := range strings.Lines(list) {
		id, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		objects = append(objects, object{id, path})
		ids.WriteString(id + "\n")
	}
	look := &scanner{hasSecret: s.HasSecret, objects: objects, allowed: s.isAllowed}
	_, err = s.own(stop, git.Call{Git: git.Git{Stdout: look, Timeout: moveTime}, Raw: true}, []byte(ids.String()), "cat-file", "--batch")
	if look.found != nil {
		return s.describe(stop, look, commit)
	}
	if err == nil && look.next != len(objects) {
		err = errors.New("git gave a part of the objects only")
	}
	if err != nil {
		return fmt.Errorf("checkpoint: look for secrets: %w", err)
	}
	return nil
}

// known are the commits that need no look, with ^ before each: those that this run has looked at, and
// those that the remote has. What references here say is an agent's to write: it counts only where
// nothing is pushed, or as long as the remote does not answer; see push.
func (s *Store) known(stop context.Context) (string, error) {
	if s.looked != "" {
		return "^" + s.looked + "\n", nil
	}
	if s.address == "" {
		base, err := s.base(stop)
		if base == "" {
			return "", err
		}
		return "^" + base + "\n", err
	}
	if s.heads != nil {
		return s.knownHeads(stop)
	}
	refs, err := s.repo.User(stop, "for-each-ref", "--format=^%(objectname)", "refs/remotes")
	if err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	return refs + "\n", nil
}

// knownHeads are the commits of the remote's branches that are here, too, with ^ before each.
func (s *Store) knownHeads(stop context.Context) (string, error) {
	out, err := s.own(stop, git.Call{Raw: true}, []byte(strings.Join(s.heads, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	var all strings.Builder
	for line := range strings.Lines(out) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), "commit "); is {
			all.WriteString("^" + id + "\n")
		}
	}
	return all.String(), nil
}

// isAllowed says whether a person lets an object pass, by its path or by its name.
func (s *Store) isAllowed(o object) bool {
	return slices.ContainsFunc(s.Allow, func(allowed string) bool {
		return allowed == o.path || len(allowed) >= leastOID && strings.HasPrefix(o.id, allowed)
	})
}

// describe says where a secret was found.
func (s *Store) describe(stop context.Context, look *scanner, commit string) error {
	e := &SecretError{File: look.found.path, Object: look.found.id}
	switch {
	case look.kind == "commit":
		e.File, e.Made = fmt.Sprintf("the message or the author of the commit %.12s", e.Object), e.Object != commit
	case look.kind == "tree" && e.File == "":
		e.File = "the name of a file"
	case look.kind == "tree":
		e.File = "the name of a file in " + e.File
	default:
		e.Made = !s.isIn(stop, commit, look.found)
	}
	if e.Made && look.kind == "blob" {
		e.File = fmt.Sprintf("%s, in a commit that was made since the last checkpoint,", e.File)
	}
	return e
}

// isIn says whether the files of a commit have an object at its path.
func (s *Store) isIn(stop context.Context, commit string, o *object) bool {
	id, err := s.own(stop, git.Call{Raw: true}, nil, "rev-parse", "--verify", "--quiet", commit+":"+o.path)
	return err == nil && id == o.id
}

// object is one of git's.
type object struct {
	id, path string // path is that by which it was found; "" of a commit, and of a tree at the top
}

// scanner looks for secrets in what git cat-file --batch prints: of each object a line with its name,
// kind and size, its bytes, and a newline.
type scanner struct {
	hasSecret func([]byte) bool
	allowed   func(object) bool
	objects   []object

	next  int     // objects that were seen
	kind  string  // of the last
	found *object // the first that holds a secret
	head  []byte  // of the next object, as far as it is known
	left  int64   // bytes of the object that are to come
	text  []byte  // of the object, which were not looked at
	tail  bool    // the newline behind an object is to come
}

// Write takes the next bytes. Behind a find it is done with them.
func (l *scanner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && l.found == nil; {
		switch {
		case l.left > 0:
			n := min(l.left, int64(len(rest)))
			l.text, rest = append(l.text, rest[:n]...), rest[n:]
			if l.left -= n; l.left == 0 || len(l.text) >= windowOf {
				l.look()
			}
			l.tail = l.left == 0
		case l.tail:
			rest, l.tail = rest[1:], false
		default:
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				l.head = append(l.head, rest...)
				return len(p), nil
			}
			l.head, rest = append(l.head, rest[:end]...), rest[end+1:]
			if err := l.begin(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// begin begins an object by its line.
func (l *scanner) begin() error {
	fields := strings.Fields(string(l.head))
	l.head, l.text = l.head[:0], l.text[:0]
	if len(fields) != 3 || l.next >= len(l.objects) || fields[0] != l.objects[l.next].id {
		return fmt.Errorf("git says %q of an object", strings.Join(fields, " "))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	l.kind, l.left, l.tail = fields[1], size, size == 0
	l.next++
	return err
}

// look looks at the window, of which the end stays: a secret may go on in the next one.
func (l *scanner) look() {
	o := l.objects[l.next-1]
	if l.hasSecret(l.text) && !l.allowed(o) {
		l.found = &o
	}
	l.text = append(l.text[:0], l.text[max(0, len(l.text)-overlap):]...)
}
