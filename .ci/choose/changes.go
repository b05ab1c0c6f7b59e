package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// changes are the files that differ from a commit, in later commits or in the work tree.
type changes struct {
	known bool   // false: there is no commit to compare with, so that any file may have changed
	why   string // it has no base
	since string // commit, for people
	files []string
}

// changedSince compares the work tree with a commit; "": no commit is known.
func changedSince(commit string) (changes, error) {
	if commit == "" {
		return changes{why: "it is not known when it passed last"}, nil
	}
	short := commit[:min(len(commit), 12)]
	if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		return changes{why: "it passed at " + short + ", which this clone does not have"}, nil
	}
	tracked, err := git("diff", "--name-only", "--no-renames", "-z", commit, "--")
	if err != nil {
		return changes{}, err
	}
	fresh, err := git("ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return changes{}, err
	}
	return changes{known: true, since: short, files: append(tracked, fresh...)}, nil
}

// git returns what a command of git lists, each entry ended by a NUL.
func git(args ...string) ([]string, error) {
	cmd := exec.Command("git", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" }), nil
}

// changedPackages are the folders with Go files, or with testdata, in which a file has changed; "all"
// where that cannot be told.
func changedPackages(c changes) []string {
	if !c.known || slices.ContainsFunc(c.files, concernsAll) {
		return []string{"all"}
	}
	var packages []string
	for _, file := range c.files {
		folder, _, inTestdata := strings.Cut(file, "/testdata/")
		if !inTestdata {
			folder = path.Dir(file)
		}
		if (inTestdata || strings.HasSuffix(file, ".go")) && !slices.Contains(packages, "./"+folder) {
			packages = append(packages, "./"+folder)
		}
	}
	slices.Sort(packages)
	return packages
}

// concernsAll reports whether a file may change the result of any stage: the versions of modules, and
// how stages are chosen and run.
func concernsAll(file string) bool {
	return slices.Contains([]string{"go.mod", "go.sum", "Makefile", ".ci/run", ".ci/stage", ".ci/gotest", ".ci/fuzz"},
		file) || strings.HasPrefix(file, ".ci/choose/")
}
