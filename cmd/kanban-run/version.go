package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// version is set when a release is built. `go install` leaves it empty, and programVersion returns
// the module's version.
var version = ""

func versionCommand() command {
	return command{
		name: "version", summary: "print the version",
		examples: `
  kanban-run version
  kanban-run --version`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, _ []string) (int, error) {
				text := fmt.Sprintf("kanban-run %s (%s, %s/%s)\n", programVersion(), runtime.Version(),
					runtime.GOOS, runtime.GOARCH)
				return exitComplete, t.stdout.PrintTrusted(text)
			}
		},
	}
}

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
