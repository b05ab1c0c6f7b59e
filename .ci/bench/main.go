// Command bench measures the cost of kanban-run itself and prints each figure with its goal. Some
// figures are ratios to the time of a bare C loop that does the same work, because absolute times
// mean little on another machine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// row is one figure. The function measure is called once a round; the median of the rounds is
// compared with the goal.
type row struct {
	name    string
	unit    string
	goal    float64
	once    bool // measured in one round, because it takes long
	measure func(*lab) (float64, error)
}

// errSkipped is wrapped by the error of a row that cannot be measured on this machine.
var errSkipped = errors.New("skipped")

func main() {
	binary := flag.String("binary", "bin/kanban-run", "the kanban-run to measure")
	rounds := flag.Int("rounds", 5, "rounds a row")
	only := flag.String("only", ".", "measure the rows whose name matches")
	flag.Parse()
	if err := bench(*binary, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(binary string, rounds int, only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Println("bench skipped: there is no C compiler (cc), so there is no floor to measure against")
		return nil
	}
	l, err := newLab(binary)
	if err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	missed := 0
	for _, r := range rows() {
		if !match.MatchString(r.name) {
			continue
		}
		ok, err := l.measureRow(r, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if !ok {
			missed++
		}
	}
	fmt.Printf("%d goals missed\n", missed)
	return nil
}

// measureRow measures and prints a row, and reports whether the row meets its goal.
func (l *lab) measureRow(r row, rounds int) (bool, error) {
	if r.once {
		rounds = 1
	}
	var values []float64
	for range rounds {
		v, err := r.measure(l)
		if errors.Is(err, errSkipped) {
			fmt.Printf("%-44s %v\n", r.name, err)
			return true, nil
		}
		if err != nil {
			return false, err
		}
		values = append(values, v)
	}
	slices.Sort(values)
	median := values[len(values)/2]
	verdict := "ok"
	if median > r.goal {
		verdict = "MISS"
	}
	fmt.Printf("%-44s %8.2f %-7s goal <= %-6g %-5s (%.2f to %.2f)\n",
		r.name, median, r.unit, r.goal, verdict, values[0], values[len(values)-1])
	return median <= r.goal, nil
}

// lab holds the programs and boards of the measurements.
type lab struct{ dir, binary, source string }

func newLab(binary string) (*lab, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w (make build first)", err)
	}
	source, err := filepath.Abs(".ci/bench/floor")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kanban-run-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, binary: binary, source: source}
	for name, flags := range map[string]string{
		"floor": "-O2", "agent": "-O2 -nostdlib -static -fno-stack-protector", "first": "-O2 -nostdlib -static -fno-stack-protector",
		"manager": "-O2 -nostdlib -static -fno-stack-protector -fno-builtin",
	} {
		args := append(strings.Fields(flags), "-w", "-o", l.path(name), filepath.Join(source, name+".c"))
		if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cc %s.c: %w\n%s", name, err, out)
		}
	}
	return l, nil
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }
