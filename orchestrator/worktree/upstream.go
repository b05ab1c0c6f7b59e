package worktree

import (
	"context"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// maxRefs bounds the files of git's references and settings that are read, in bytes.
const maxRefs = 16 << 20

// UpstreamOf returns a function that reads, without a call of git, the commit of the upstream of the branch
// that is checked out now around dir. The function returns "" if there is none.
func UpstreamOf(dir string) func() string {
	_, folder := git.Folder(dir)
	if folder == "" {
		return func() string { return "" }
	}
	common := git.CommonFolder(folder)
	branch, _ := strings.CutPrefix(wordIn(filepath.Join(folder, "HEAD")), "ref: refs/heads/")
	ref := upstreamRef(filepath.Join(common, "config"), branch)
	return func() string {
		if ref == "" {
			return ""
		}
		if commit := wordIn(filepath.Join(common, filepath.FromSlash(ref))); commit != "" {
			return commit
		}
		packed, _ := plainfile.Read(filepath.Join(common, "packed-refs"), maxRefs) // none: there is no such reference
		for line := range strings.Lines(string(packed)) {
			if commit, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
				return commit
			}
		}
		return ""
	}
}

// upstreamRef returns the name of the reference that a file of settings names as the upstream of a branch.
func upstreamRef(config, branch string) string {
	text, err := plainfile.Read(config, maxRefs)
	if err != nil || branch == "" {
		return ""
	}
	values, section := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if key, value, is := strings.Cut(line, "="); is && section == `[branch "`+branch+`"]` {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	merge, is := strings.CutPrefix(values["merge"], "refs/heads/")
	if remote := values["remote"]; !is || remote == "" || remote == "." {
		return ""
	}
	return "refs/remotes/" + values["remote"] + "/" + merge
}

func wordIn(file string) string {
	text, err := plainfile.Read(file, maxRefs)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// TextAt returns the bytes of a file in a commit, or nil. The path is absolute.
func (t Tree) TextAt(stop context.Context, commit, path string) (text []byte) {
	t.look(stop, func(q *query) {
		rel, err := filepath.Rel(q.repo.Top, path)
		if out, is := q.ask("cat-file", "blob", commit+":"+filepath.ToSlash(rel)); is && err == nil {
			text = []byte(out)
		}
	})
	return text
}
