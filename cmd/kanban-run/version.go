package main

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// version is set when a release is built. `go install` leaves it empty, and programVersion returns
// the module's version.
var version = ""

// archivedCommit has the commit and its date in a source archive, for builds without git: git
// archive fills it in, as do the archives that a forge makes with it (see .gitattributes).
//
//go:embed commit.txt
var archivedCommit string

func versionCommand() command {
	return command{
		name: "version", summary: "print the version, the commit that it was built from, and its date",
		examples: `
  kanban-run version
  kanban-run --version`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, _ []string) (int, error) {
				info, ok := debug.ReadBuildInfo()
				if !ok {
					info = &debug.BuildInfo{}
				}
				return exitComplete, t.stdout.PrintTrusted(versionLine(info.Settings, archivedCommit))
			}
		},
	}
}

// versionLine returns the one line of `kanban-run version`, which scripts read:
//
//	kanban-run VERSION (GO, OS/ARCH, commit COMMIT of DATE[, modified])
//
// DATE is in UTC, in the form of RFC 3339. A build of which nothing is known has "no commit known".
func versionLine(settings []debug.BuildSetting, archived string) string {
	return fmt.Sprintf("kanban-run %s (%s, %s/%s, %s)\n", programVersion(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH, commitOf(settings, archived))
}

// commitOf prefers the commit in the archive: an archive may lie in a repository of its user, whose
// commit the go command then notes.
func commitOf(settings []debug.BuildSetting, archived string) string {
	revision, date := splitArchived(archived)
	modified := ""
	if revision == "" {
		noted := map[string]string{}
		for _, s := range settings {
			noted[s.Key] = s.Value
		}
		revision, date = noted["vcs.revision"], noted["vcs.time"]
		if noted["vcs.modified"] == "true" {
			modified = ", modified"
		}
	}
	made, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return "no commit known"
	}
	return fmt.Sprintf("commit %.12s of %s%s", revision, made.UTC().Format(time.RFC3339), modified)
}

// splitArchived returns the commit and its date, or "" for both if commit.txt is not from an
// archive and still has the placeholder.
func splitArchived(text string) (revision, date string) {
	if strings.HasPrefix(text, "$Format") {
		return "", ""
	}
	revision, date, _ = strings.Cut(strings.TrimSpace(text), " ")
	return revision, date
}

// programVersion returns the short name of the version, which is journaled.
func programVersion() string {
	if version != "" {
		return version
	}
	if revision, _ := splitArchived(archivedCommit); revision != "" {
		return fmt.Sprintf("%.12s", revision)
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
