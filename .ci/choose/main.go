// Command choose prints the parts of CI that a change may concern, so that .ci/run leaves out the
// rest:
//
//	choose stages  the make targets that have to run; each target uses a real tool (see stages.go)
//	choose fuzz    the packages in which a file has changed, to be fuzzed for longer
//	choose race    the packages whose tests can have more than one goroutine
//
// A change is the difference from the commit at which a stage passed last. .ci/run keeps this
// commit in the file green/STAGE of the folder that the flag -kept names. If the change is not
// known, the part is run. The answer goes to stdout, one part a line, and the reasons go to stderr.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	kept := flag.String("kept", "", "the folder that remembers which stage passed at which commit")
	flag.Parse()
	answer, err := choose(flag.Arg(0), *kept)
	if err != nil {
		fmt.Fprintln(os.Stderr, "choose:", err)
		os.Exit(1)
	}
	for _, line := range answer {
		fmt.Println(line)
	}
}

func choose(question, kept string) ([]string, error) {
	switch question {
	case "stages":
		return chooseStages(kept)
	case "fuzz":
		changed, err := changedSince(greenCommit(kept, "fuzz-short"))
		if err != nil {
			return nil, err
		}
		return changedPackages(changed), nil
	case "race":
		return concurrentPackages()
	default:
		return nil, fmt.Errorf("%q is not stages, fuzz or race", question)
	}
}

// greenCommit returns the commit at which a stage passed last; "" if it is not known.
func greenCommit(kept, stage string) string {
	text, err := os.ReadFile(filepath.Join(kept, "green", stage))
	if err != nil {
		return "" // the stage has never passed here
	}
	return strings.TrimSpace(string(text))
}
