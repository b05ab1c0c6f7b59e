package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/git"
)

const (
	windowOf = 4 << 20  // bytes of an object that are searched at once
	overlap  = 64 << 10 // bytes that two windows share; secrets are shorter
	leastOID = 7        // least number of hex digits of an object name in secrets_allow
)

// findSecret searches all new objects of a commit for known secrets: the contents and names of
// files, and the messages and authors of commits. It also searches the commits that agents and
// persons have made since the last checkpoint. It checks that each object has the contents that its
// name stands for. The parameter base is as in writeTree. Errors: *SecretError, *forgedError.
func (s *Store) findSecret(stop context.Context, commit, base string) error {
	objects, err := s.listNew(stop, commit, base)
	if err != nil {
		return err
	}
	var ids strings.Builder
	for _, o := range objects {
		ids.WriteString(o.id + "\n")
	}
	look := &scanner{hasSecret: s.HasSecret, objects: objects, allowed: s.isAllowed}
	_, err = s.own(stop, git.Call{Git: git.Git{Stdout: look, Timeout: moveTime}, Raw: true},
		[]byte(ids.String()), "cat-file", "--batch")
	if git.IsRefusal(err) && look.found == nil {
		look.noteBroken()
	}
	if len(look.forged) > 0 {
		return newForgedError(look.forged)
	}
	if look.found != nil {
		return s.describe(stop, look, commit)
	}
	if err == nil && look.next != len(objects) {
		err = errors.New("git gave a part of the objects only")
	}
	if err != nil {
		return fmt.Errorf("commit: look for secrets: %w", err)
	}
	return nil
}

// listNew lists the objects of a commit that are to be searched, after the trees of the last
// checkpoint, which are only compared with their names: with a forged tree of the past, git would
// take a new object for an old one. Errors: *forgedError for an object that git cannot read.
func (s *Store) listNew(stop context.Context, commit, base string) (objects []object, err error) {
	known, err := s.known(stop, base)
	if err != nil {
		return nil, err
	}
	call := git.Call{Git: git.Git{Timeout: moveTime}, Raw: true}
	if base != "" {
		old, err := s.own(stop, call, nil, "rev-list", "--objects", "--no-walk", "--filter=blob:none", base)
		if err != nil {
			return nil, unreadable(err)
		}
		objects = listed(old, true)
	}
	list, err := s.own(stop, call, []byte(commit+"\n"+known), "rev-list", "--objects", "--stdin")
	if err != nil {
		return nil, unreadable(err)
	}
	return append(objects, listed(list, false)...), nil
}

// listed reads the output of git rev-list --objects.
func listed(list string, old bool) (objects []object) {
	for line := range strings.Lines(list) {
		id, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		objects = append(objects, object{id, path, old})
	}
	return objects
}

// unreadable returns a *forgedError if err names an object that git cannot read.
func unreadable(err error) error {
	failed := (*git.Error)(nil)
	if git.IsRefusal(err) && errors.As(err, &failed) {
		if id := namedObject.FindString(failed.Stderr); id != "" {
			return newForgedError([]object{{id: id}})
		}
	}
	return fmt.Errorf("commit: %w", err)
}

// namedObject matches the name of an object in git's words.
var namedObject = regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{40})\b`)

// known lists the commits that findSecret skips, with ^ before each. Before the first search, the
// list has the commits that the remote has. If checkpoints are not pushed, it has the last
// checkpoint or the commit that is checked out. After a search, the list has only the last searched
// commit. An agent can write the references in this repository. The function relies on these
// references only in two cases: the remote has not answered yet (see push), or checkpoints are not
// pushed.
func (s *Store) known(stop context.Context, base string) (string, error) {
	if s.looked != "" {
		return "^" + s.looked + "\n", nil
	}
	if s.address == "" {
		if base == "" {
			return "", nil
		}
		return "^" + base + "\n", nil
	}
	if s.heads != nil {
		return s.knownHeads(stop)
	}
	refs, err := s.repo.User(stop, "for-each-ref", "--format=^%(objectname)", "refs/remotes")
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return refs + "\n", nil
}

// knownHeads lists the tips of the remote's branches, with ^ before each. It leaves out the tips
// that are not in this repository.
func (s *Store) knownHeads(stop context.Context) (string, error) {
	out, err := s.own(stop, git.Call{Raw: true}, []byte(strings.Join(s.heads, "\n")+"\n"),
		"cat-file", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	var all strings.Builder
	for line := range strings.Lines(out) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), "commit "); is {
			all.WriteString("^" + id + "\n")
		}
	}
	return all.String(), nil
}

// isAllowed reports whether the settings allow an object, by its path or by its name.
func (s *Store) isAllowed(o object) bool {
	return slices.ContainsFunc(s.Allow, func(allowed string) bool {
		return allowed == o.path || len(allowed) >= leastOID && strings.HasPrefix(o.id, allowed)
	})
}

// describe returns the error for the secret that a scanner has found.
func (s *Store) describe(stop context.Context, look *scanner, commit string) error {
	e := &SecretError{File: look.found.path, Object: look.found.id}
	if strings.HasPrefix(look.found.path, s.inTree+"/") {
		e.Own = look.found.path
	}
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

// isIn reports whether a commit has the object o at the path of o.
func (s *Store) isIn(stop context.Context, commit string, o *object) bool {
	id, err := s.own(stop, git.Call{Raw: true}, nil, "rev-parse", "--verify", "--quiet", commit+":"+o.path)
	return err == nil && id == o.id
}

// object is an object of git.
type object struct {
	id, path string // path is "" for a commit, and for the tree at the top
	old      bool   // it is of the last checkpoint, and is not searched
}

// scanner is a writer that searches the output of git cat-file --batch for secrets. The output has,
// for each object, a line with its name, kind and size, then its bytes and a newline.
type scanner struct {
	hasSecret func([]byte) bool
	allowed   func(object) bool
	objects   []object

	next   int       // number of objects that have begun
	kind   string    // type of the object that has begun last
	found  *object   // the first object that holds a secret; nil: none found
	hash   hash.Hash // of the bytes of the object that has begun last
	forged []object  // the objects whose contents have another name than they
	head   []byte    // the beginning of the next object's line; Write awaits the rest
	left   int64     // number of the object's bytes that Write still awaits
	text   []byte    // the window: bytes to search, and the overlap
	tail   bool      // Write awaits the newline after an object
}

// Write searches the next bytes. Once it has found a secret, it ignores all further bytes.
func (l *scanner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && l.found == nil; {
		switch {
		case l.left > 0:
			n := min(l.left, int64(len(rest)))
			l.hash.Write(rest[:n])
			l.text, rest = append(l.text, rest[:n]...), rest[n:]
			if l.left -= n; l.left == 0 || len(l.text) >= windowOf {
				l.look()
			}
			if l.tail = l.left == 0; l.tail {
				l.compare()
			}
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

// begin reads the line in the field head, which announces an object. It returns an error if the
// announced object is not the next one of the list.
func (l *scanner) begin() error {
	fields := strings.Fields(string(l.head))
	l.head, l.text = l.head[:0], l.text[:0]
	if len(fields) == 2 && fields[1] == "missing" && l.next < len(l.objects) { // or git cannot read it
		l.forged = append(l.forged, l.objects[l.next])
		l.next++
		return nil
	}
	if len(fields) != 3 || l.next >= len(l.objects) || fields[0] != l.objects[l.next].id {
		return fmt.Errorf("git says %q of an object", strings.Join(fields, " "))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	l.kind, l.left, l.tail = fields[1], size, size == 0
	l.next++
	l.hash = git.NewHash(l.kind, size, len(fields[0]))
	if l.tail {
		l.compare()
	}
	return err
}

// compare notes an object whose contents are not those that its name stands for.
func (l *scanner) compare() {
	if o := l.objects[l.next-1]; hex.EncodeToString(l.hash.Sum(nil)) != o.id {
		l.forged = append(l.forged, o)
	}
}

// noteBroken notes the object that git could not print.
func (l *scanner) noteBroken() {
	if l.left > 0 || l.tail {
		l.next--
	}
	if l.next < len(l.objects) {
		l.forged = append(l.forged, l.objects[l.next])
	}
}

// look searches the window and keeps its end, because a secret may extend into the next window.
func (l *scanner) look() {
	o := l.objects[l.next-1]
	if !o.old && l.hasSecret(l.text) && !l.allowed(o) {
		l.found = &o
	}
	l.text = append(l.text[:0], l.text[max(0, len(l.text)-overlap):]...)
}
