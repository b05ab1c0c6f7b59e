package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// A checkpoint leaves out what git cannot take: the files of a repository within the repository,
// and what it cannot read, such as a FIFO. A file that cannot be read stays in the index as it was
// in the last checkpoint. The message of the commit names what was left out, for a run that
// continues elsewhere.
const (
	leftTrailer = "Kanban-Left-Out"
	mostLeft    = 100 // greatest number of names in a message
)

// Words that stand behind a name of what is left out.
const (
	isRepository = " (a repository of its own)"
	isUnreadable = " (git cannot read it)"
	isRefused    = " (git takes no file of this name)"
)

const (
	addTries    = 3
	addPause    = 200 * time.Millisecond // between two tries of addFiles
	mostWithout = 50                     // greatest number of names that addFiles passes over
)

// The words of git about what it passes over, or cannot pass over.
var (
	unopened = regexp.MustCompile(`(?m)^warning: could not open directory '(.*)': `)
	unseen   = regexp.MustCompile(`(?m)^([^:\n]*): Permission denied$`)
	refused  = regexp.MustCompile(`(?m)^error: invalid path '(.*)'$`)
	unstated = regexp.MustCompile(`(?m)^fatal: unable to stat '(.*)': (Permission denied|No such file or directory)$`)
)

// addFiles updates the index from the work tree, and returns what git could not add. It tries
// several times, since another board's agent may be writing or removing a file. It passes over a
// folder in which git can look at no file.
func (s *Store) addFiles(stop context.Context) (left []string, err error) {
	var without []string // folders that git passes over
	var gone []string    // files that git passes over, because they vanished while it looked at them
	for try := 0; try < addTries; try++ {
		var words bytes.Buffer
		call := git.Call{Git: git.Git{Stderr: &words}, Index: &s.index, Raw: true}
		args := []string{"add", "--all", "--ignore-errors", "--", "."}
		for _, name := range slices.Concat(without, gone) {
			args = append(args, ":(exclude,top,literal)"+name)
		}
		_, err = s.own(stop, call, nil, args...)
		left = nil
		for _, name := range without {
			left = append(left, name+isUnreadable)
		}
		for _, m := range slices.Concat(unopened.FindAllStringSubmatch(words.String(), -1), unseen.FindAllStringSubmatch(words.String(), -1)) {
			left = append(left, strings.TrimSuffix(m[1], "/")+isUnreadable)
		}
		if err == nil || !git.IsRefusal(err) {
			return left, err
		}
		if m := unstated.FindStringSubmatch(words.String()); m != nil && len(without)+len(gone) < mostWithout {
			if m[2] == "Permission denied" {
				without = append(without, cmp.Or(strings.TrimPrefix(path.Dir(m[1]), "."), m[1]))
			} else {
				gone = append(gone, m[1])
			}
			try--
			continue
		}
		if failed := (*git.Error)(nil); errors.As(err, &failed) && failed.Exit.Code == 1 { // all else is added
			var names []string
			for _, m := range refused.FindAllStringSubmatch(words.String(), -1) {
				names = append(names, m[1])
			}
			rest, isAll, broken := s.listRest(stop, names, slices.Concat(without, gone))
			if broken != nil {
				return nil, broken
			}
			if isAll {
				return append(left, rest...), nil
			}
		}
		time.Sleep(addPause)
	}
	return left, err
}

// listRest returns what git did not add to the index, for the reasons that addFiles knows. The
// parameter names has the files whose names git does not take, and without what git was told to pass
// over. The result isAll is false if git could add something now.
func (s *Store) listRest(stop context.Context, names, without []string) (left []string, isAll bool, err error) {
	others, err := s.raw(stop, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, false, err
	}
	changed, err := s.raw(stop, nil, "diff-files", "--name-only", "-z")
	if err != nil {
		return nil, false, err
	}
	for _, name := range strings.FieldsFunc(others+"\x00"+changed, isNUL) {
		inner, is := strings.CutSuffix(name, "/")
		isPassedOver := func(w string) bool { return name == w || strings.HasPrefix(name, w+"/") }
		switch {
		case slices.ContainsFunc(without, isPassedOver):
		case is:
			left = append(left, inner+isRepository)
		case slices.Contains(names, name):
			left = append(left, name+isRefused)
		case s.isUnreadable(name):
			left = append(left, name+isUnreadable)
		default:
			return nil, false, nil
		}
	}
	return left, true, nil
}

// isUnreadable reports whether no try to add a file can succeed.
func (s *Store) isUnreadable(name string) bool {
	info, err := os.Lstat(s.path(name))
	if err != nil || info.Mode().Type() == fs.ModeSymlink {
		return errors.Is(err, fs.ErrPermission)
	}
	f, err := plainfile.Open(s.path(name))
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, plainfile.ErrKind) || errors.Is(err, fs.ErrPermission)
}

// dropForeign removes the repositories within the repository from the index, and returns them. For such
// a repository a checkpoint would hold only the name of a commit. It also removes what no checkpoint
// holds of the run's folder. The result converts is true if settings or attributes may convert files.
func (s *Store) dropForeign(stop context.Context) (inner []string, converts bool, err error) {
	out, err := s.raw(stop, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, false, err
	}
	converts = s.repo.Converts()
	var drop strings.Builder
	kept := s.listKept()
	for entry := range strings.SplitSeq(out, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		isKept := func(k string) bool { return name == k || strings.HasPrefix(name, k+"/") }
		isInner := strings.HasPrefix(about, "160000 ")
		if isInner {
			inner = append(inner, name+isRepository)
		}
		if isInner || strings.HasPrefix(name, s.inTree+"/") && !slices.ContainsFunc(kept, isKept) {
			blob := strings.Fields(about)[1]
			drop.WriteString("0 " + strings.Repeat("0", len(blob)) + "\t" + name + "\x00")
		}
		converts = converts || path.Base(name) == ".gitattributes"
	}
	if drop.Len() > 0 {
		_, err = s.raw(stop, []byte(drop.String()), "update-index", "-z", "--index-info")
	}
	return inner, converts, err
}

// TakeLeftOut returns what the last checkpoint left out, if that differs from what TakeLeftOut
// returned before.
func (s *Store) TakeLeftOut() (left []string) {
	if slices.Equal(s.left, s.leftTold) {
		return nil
	}
	s.leftTold = s.left
	return s.left
}

// Lost returns what the checkpoint that Start has restored left out.
func (s *Store) Lost() []string { return s.lost }

// leftOutOf returns what a checkpoint left out.
func (s *Store) leftOutOf(stop context.Context, tip string) ([]string, error) {
	out, err := s.own(stop, git.Call{Raw: true}, nil,
		"show", "--no-patch", "--format=%(trailers:key="+leftTrailer+",valueonly)", tip)
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' }), err
}
