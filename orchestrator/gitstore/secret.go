package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// blob is a file of a tree.
type blob struct {
	id, name string
	size     int64
}

const (
	batchSize = 32 << 20 // bytes of files that are read at once
	windowOf  = 4 << 20  // of a larger file
	overlap   = 64 << 10 // of two windows; no secret is as long
)

// findSecret looks for known secrets in what is new since the last
// checkpoint. Errors: *SecretError.
func (s *Store) findSecret(stop context.Context, tree string) error {
	added, err := s.added(stop, tree)
	if err != nil {
		return err
	}
	var batch []blob
	sum := int64(0)
	for i, b := range added {
		if b.size > batchSize {
			if err := s.scanFile(b); err != nil {
				return err
			}
			continue
		}
		batch, sum = append(batch, b), sum+b.size
		if sum > batchSize || i == len(added)-1 {
			if err := s.scan(stop, batch); err != nil {
				return err
			}
			batch, sum = nil, 0
		}
	}
	return s.scan(stop, batch)
}

// added are the files of a tree that the last checkpoint, or the commit that is checked out, does
// not have. What the run itself writes was redacted.
func (s *Store) added(stop context.Context, tree string) (all []blob, err error) {
	from := s.tip
	if from == "" {
		if from, err = s.head(stop); err != nil {
			return nil, err
		}
	}
	args := []string{"diff-tree", "-r", "-z", "--no-renames", "--diff-filter=d", "--raw", from, tree}
	if from == "" {
		args = []string{"diff-tree", "-r", "-z", "--no-renames", "--diff-filter=d", "--raw", emptyTree(tree), tree}
	}
	out, err := s.own.Run(stop, nil, args...)
	if err != nil {
		return nil, err
	}
	var ids strings.Builder
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		about, name := strings.Fields(fields[i]), fields[i+1]
		if len(about) == 5 && !strings.HasPrefix(name, s.inTree+"/") {
			all = append(all, blob{id: about[3], name: name})
			ids.WriteString(about[3] + "\n")
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	sizes, err := s.own.Run(stop, []byte(ids.String()), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	for i, size := range strings.Fields(sizes) {
		if all[i].size, err = strconv.ParseInt(size, 10, 64); err != nil {
			return nil, fmt.Errorf("checkpoint: size of %s: %w", all[i].name, err)
		}
	}
	return all, nil
}

// emptyTree is the name of the tree without files, in a repository whose
// names are as long as another.
func emptyTree(like string) string {
	if len(like) == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// scan looks into files, whose bytes git gives one after the other, each behind a line.
func (s *Store) scan(stop context.Context, batch []blob) error {
	if len(batch) == 0 {
		return nil
	}
	var ids strings.Builder
	for _, b := range batch {
		ids.WriteString(b.id + "\n")
	}
	out, err := s.own.Run(stop, []byte(ids.String()), "cat-file", "--batch")
	if err != nil {
		return err
	}
	rest := []byte(out)
	for _, b := range batch {
		_, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if int64(len(rest)) < b.size {
			return fmt.Errorf("checkpoint: git gave a part of %s only", b.name)
		}
		if s.HasSecret(rest[:b.size]) {
			return &SecretError{b.name}
		}
		rest = rest[b.size:]
		if len(rest) > 0 {
			rest = rest[1:]
		}
	}
	return nil
}

// scanFile looks into a large file in windows, as it is in the work tree.
func (s *Store) scanFile(b blob) error {
	f, err := os.Open(filepath.Join(s.top, filepath.FromSlash(b.name)))
	if err != nil {
		return fmt.Errorf("checkpoint: look for secrets in %s: %w", b.name, err)
	}
	defer f.Close()
	window, kept := make([]byte, windowOf), 0
	for {
		n, err := io.ReadFull(f, window[kept:])
		if s.HasSecret(window[:kept+n]) {
			return &SecretError{b.name}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("checkpoint: look for secrets in %s: %w", b.name, err)
		}
		kept = copy(window, window[len(window)-overlap:])
	}
}
