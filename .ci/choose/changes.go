package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// changes holds the files that differ from a commit, in later commits or in the work tree.
type changes struct {
	known bool   // false: there is no commit to compare with, so that any file may have changed
	why   string // the reason why known is false
	since string // the commit's ID, shortened for people
	files []string
}

// changedSince returns the files in which the work tree differs from a commit. Without a commit, or
// if the clone lacks it, the changes are not known. Errors: those of git.
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

// git returns the entries that a git command prints, each of which ends with a NUL.
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

// changedPackages returns the folders in which a Go file or a file of testdata has changed. If the
// changes are not known or concern all stages, it returns the one word "all" instead.
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

// concernsAll reports whether a file may change the result of every stage: it names versions of
// modules, or chooses or runs stages.
func concernsAll(file string) bool {
	return slices.Contains([]string{"go.mod", "go.sum", "Makefile", ".ci/run", ".ci/stage", ".ci/gotest", ".ci/fuzz"},
		file) || strings.HasPrefix(file, ".ci/choose/")
}
