package config

import (
	"errors"
	"strings"
	"testing"

	"kanban-run/orchestrator/frontmatter"
)

func TestRefusedAmounts(t *testing.T) {
	for want, input := range map[string]Input{
		`flag --max-cost: "-2" is no amount`:              {Flags: map[string][]string{"max_cost": {"-2"}}},
		`F:1:16: max_task_cost: "1,50" is no amount`:      in(t, "max_task_cost: 1,50\n", nil, nil),
		`variable KANBAN_RUN_MAX_ATTEMPT_COST: "x" is no`: {Environ: []string{"KANBAN_RUN_MAX_ATTEMPT_COST=x"}},
	} {
		_, _, err := Load(input)
		if input.File == "" {
			input.File = "no file"
		}
		bad, ok := errors.AsType[*frontmatter.Problem](err)
		if !ok || !strings.HasPrefix(strings.ReplaceAll(bad.Error(), input.File, "F"), want) ||
			bad.Hint() != "write an amount in US dollars, for example 2.50; 0 is none" {
			t.Errorf("Load = %v, want %s and how to write it", err, want)
		}
	}
}
