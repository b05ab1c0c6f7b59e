package git

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kanban-run/orchestrator/proc"
)

// leads matches the names of settings that lead a call to a remote elsewhere, or start a program for it.
var leads = regexp.MustCompile(`^(url\..*|http\..*(proxy|ssl).*|core\.(sshcommand|askpass)|gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand|credential\.(.*\.)?helper|include(if\..*)?\.path)$`)

// address matches the names of settings with the address of a remote.
var address = regexp.MustCompile(`^remote\..*\.(push)?url$`)

// WayFiles returns the files with the settings that lead to a remote: those of the user, and that of the
// repository around dir, whose addresses alone count.
func WayFiles(dir string) (files []string) {
	if global := os.Getenv("GIT_CONFIG_GLOBAL"); global != "" {
		files = append(files, global)
	} else if home := os.Getenv("HOME"); home != "" {
		config := os.Getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(home, ".config")
		}
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config"))
	}
	if _, folder := Folder(dir); folder != "" {
		files = append(files, filepath.Join(CommonFolder(folder), "config"))
	}
	return files
}

// WayIn returns the values of the settings in a file that lead to a remote, by name; of a repository's own file
// the addresses. It returns nil if git cannot read the file. git is looked for outside of the work tree
// around dir.
func WayIn(file, dir string) map[string][]string {
	program, err := find(dir)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	g := Git{Program: program, Dir: filepath.Dir(file), Mark: proc.NewMark(), Timeout: userTime, MaxOutput: maxText}
	out, err := g.Run(ctx, nil, "config", "--file", file, "--list", "-z")
	if err != nil {
		return nil
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(file), "HEAD"))
	isOwn := err == nil
	way := map[string][]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if isOwn && address.MatchString(key) || !isOwn && (address.MatchString(key) || leads.MatchString(key)) {
			way[key] = append(way[key], value)
		}
	}
	return way
}
