package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/git"
)

// Change is a file that differs between two commits.
type Change struct {
	Name            string // path from the top
	WasMode, IsMode string // as in a tree, such as 100644; "000000": there is none
	Was, Is         string // names of the blobs
}

// Changes lists the files that differ between two commits.
func (w *Works) Changes(stop context.Context, from, to string) (all []Change, err error) {
	s := w.store
	err = s.inCalls(func() error {
		out, err := s.own(stop, git.Call{Raw: true}, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", from, to)
		fields := strings.Split(out, "\x00")
		for i := 0; i+1 < len(fields); i += 2 { // ":WASMODE ISMODE WAS IS STATUS", NAME
			about := strings.Fields(strings.TrimPrefix(fields[i], ":"))
			all = append(all, Change{fields[i+1], about[0], about[1], about[2], about[3]})
		}
		return err
	})
	return all, explain(err)
}

// LayOut writes files of a commit below a folder, as a checkout would write them.
func (w *Works) LayOut(stop context.Context, commit string, names []string, folder string) error {
	s := w.store.in(folder) // in which git finds no .gitattributes but those of the commit
	if len(names) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return explain(s.inCalls(func() error {
		var index git.Index
		call := git.Call{Index: &index}
		if _, err := s.own(stop, call, nil, "read-tree", commit); err != nil { // which refuses names that lead out
			return err
		}
		_, err := s.own(stop, call, []byte(strings.Join(names, "\x00")), "checkout-index", "-z", "--stdin", "--prefix="+filepath.Clean(folder)+"/")
		return err
	}))
}

// IsSplit reports whether the user's index is in several files, which only git itself may change.
func (w *Works) IsSplit(stop context.Context) (bool, error) {
	out, err := w.store.repo.User(stop, "rev-parse", "--shared-index-path")
	return strings.TrimSpace(out) != "", err
}

// BlobOf returns the name of the blob that git would make of a file of the work tree.
func (w *Works) BlobOf(stop context.Context, name string) (blob string, err error) {
	s := w.store
	err = s.inCalls(func() error {
		blob, err = s.own(stop, git.Call{}, nil, "hash-object", "--", name)
		return err
	})
	return blob, explain(err)
}

// StagedOf returns what the user's index has at some paths, as "MODE BLOB STAGE" each. It returns the index, too.
func (w *Works) StagedOf(stop context.Context, names []string) (staged map[string]string, index *git.Index, err error) {
	s := w.store
	err = s.inCalls(func() error {
		if index, err = s.repo.ReadIndex(); err != nil {
			return err
		}
		out, err := s.own(stop, git.Call{Index: index, Raw: true}, nil, "ls-files", "-z", "--stage")
		staged = map[string]string{}
		for entry := range strings.SplitSeq(out, "\x00") {
			if about, name, ok := strings.Cut(entry, "\t"); ok && slices.Contains(names, name) {
				staged[name] = about
			}
		}
		return err
	})
	return staged, index, explain(err)
}

// WithChanges returns a user's index in which exactly the changed files are as a commit has them.
func (w *Works) WithChanges(stop context.Context, index *git.Index, changes []Change) (text []byte, err error) {
	s := w.store
	err = s.inCalls(func() error {
		var info strings.Builder
		for _, c := range changes {
			if c.IsMode == "000000" {
				info.WriteString("0 " + strings.Repeat("0", len(c.Is)) + "\t" + c.Name + "\x00")
			}
		}
		for _, c := range changes { // behind the removals: a folder may give way to a file
			if c.IsMode != "000000" {
				info.WriteString(c.IsMode + " " + c.Is + "\t" + c.Name + "\x00")
			}
		}
		_, err := s.own(stop, git.Call{Index: index, Raw: true}, []byte(info.String()), "update-index", "-z", "--index-info")
		return err
	})
	return index.Bytes(), explain(err)
}

// Refresh has the user's index know the times of the files that were put into the checkout, so that git need not look into them.
// What differs, differs.
func (w *Works) Refresh(stop context.Context) error {
	_, err := w.store.repo.User(stop, "update-index", "-q", "--refresh")
	if git.IsRefusal(err) {
		return nil
	}
	return err
}

// Text returns the bytes of a blob.
func (w *Works) Text(stop context.Context, blob string) (text string, err error) {
	err = w.store.inCalls(func() error {
		text, err = w.store.own(stop, git.Call{Raw: true}, nil, "cat-file", "blob", blob)
		return err
	})
	return text, explain(err)
}

// SizeOf returns the size of what changes bring, in bytes.
func (w *Works) SizeOf(stop context.Context, changes []Change) (size int64, err error) {
	var blobs strings.Builder
	for _, c := range changes {
		if strings.Trim(c.Is, "0") != "" {
			blobs.WriteString(c.Is + "\n")
		}
	}
	err = w.store.inCalls(func() error {
		out, err := w.store.own(stop, git.Call{Raw: true}, []byte(blobs.String()), "cat-file", "--batch-check=%(objectsize)")
		for line := range strings.Lines(out) {
			if n, failed := strconv.ParseInt(strings.TrimSpace(line), 10, 64); failed == nil { // else it is no object of this repository
				size += n
			}
		}
		return err
	})
	return size, explain(err)
}

// differing returns the paths at which two commits or trees differ, of all or of the given names.
func (s *Store) differing(stop context.Context, call git.Call, a, b string, names ...string) ([]string, error) {
	call.Raw, call.Env = true, append(slices.Clip(call.Env), "GIT_LITERAL_PATHSPECS=1")
	out, err := s.own(stop, call, nil, append([]string{"diff-tree", "-r", "-z", "--no-renames", "--name-only", a, b, "--"}, names...)...)
	return strings.FieldsFunc(out, isNUL), err
}

// in returns the store with a folder in the place of the work tree.
func (s *Store) in(folder string) *Store {
	at, repo := *s, *s.repo
	repo.Tree = folder
	at.repo = &repo
	return &at
}
