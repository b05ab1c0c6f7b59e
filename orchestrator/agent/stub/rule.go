package stub

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/plainfile"
	"kanban-run/schema"
)

const maxRules = 256 << 10

// rule is an entry of a stub file. schema/stub.schema.json describes the fields.
type rule struct {
	Role    string    `yaml:"role"`
	Task    string    `yaml:"task"`
	Call    string    `yaml:"call"`
	Attempt attempts  `yaml:"attempt"`
	Do      string    `yaml:"do"`
	Status  string    `yaml:"status"`
	Message *string   `yaml:"message"`
	Next    nextTask  `yaml:"-"` // the key next_task, see findNext
	Tasks   *[]string `yaml:"tasks"`
	For     *duration `yaml:"for"`
	Stderr  string    `yaml:"stderr"`
	Board   *string   `yaml:"board"`
	Tell    *extras   `yaml:"tell"`
	Verdict string    `yaml:"verdict"`
}

// attempts is one number or a list of them.
type attempts []int

func (a *attempts) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode((*[]int)(a))
	}
	*a = make([]int, 1)
	return n.Decode(&(*a)[0])
}

// nextTask is the key next_task. It distinguishes null, which ends the work, from an absent key.
type nextTask struct {
	set  bool
	path *string
}

// duration is a duration in Go's form, such as 1m30s. The value 0 needs no unit.
type duration time.Duration

func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := time.ParseDuration(n.Value)
	*d = duration(parsed)
	return err
}

// loadRules reads the rules of a file. It returns nil if file is "".
func loadRules(file string) ([]rule, error) {
	if file == "" {
		return nil, nil
	}
	source, err := plainfile.Read(file, maxRules)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := yaml.Unmarshal(source, &plain); err != nil {
		return nil, err
	}
	violations, err := schema.Validate("stub", plain)
	if err != nil {
		return nil, err
	}
	if len(violations) > 0 {
		return nil, errors.New("rule " + violations[0].String())
	}
	var nodes []yaml.Node
	if err := yaml.Unmarshal(source, &nodes); err != nil {
		return nil, err
	}
	rules := make([]rule, len(nodes))
	for i, n := range nodes {
		if err := n.Decode(&rules[i]); err != nil {
			return nil, err
		}
		rules[i].Next = findNext(&n)
	}
	return rules, nil
}

// findNext returns the rule's next_task. It reads the YAML node, because a decoder does not
// distinguish null from an absent key.
func findNext(n *yaml.Node) nextTask {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "next_task" {
			continue
		}
		if v := n.Content[i+1]; v.Tag != "!!null" {
			return nextTask{true, &v.Value}
		}
		return nextTask{set: true}
	}
	return nextTask{}
}

// matches reports whether the rule is for the call. The parameter attempt is the number of calls
// with this role and input so far, including this call.
func (r rule) matches(c *call, attempt int) bool {
	task := c.input.task()
	switch {
	case r.Role != "" && !strings.EqualFold(r.Role, c.role):
		return false
	case r.Call != "" && r.Call != c.kind:
		return false
	case r.Task != "" && path.Clean(r.Task) != path.Clean(task) && r.Task != path.Base(task):
		return false
	default:
		return r.Attempt == nil || slices.Contains(r.Attempt, attempt)
	}
}

// countCall counts a call, and returns the number of calls with this role and input so far. If dir
// is "", it always returns 1. A retry gives an agent the same bytes, so the stub itself has to
// count. Each call becomes one byte in a file. Source: seed 004, "Retry Rule (CRITICAL)".
func countCall(dir, role string, input []byte) (int, error) {
	if dir == "" {
		return 1, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	name := fmt.Sprintf("%x", sha256.Sum256(append([]byte(strings.ToLower(role)+"\x00"), input...)))
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = f.WriteString("x")
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
