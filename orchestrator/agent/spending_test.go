package agent_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

func spent(input, cached, output int64, dollars float64) *agent.Spending {
	s := &agent.Spending{Input: input, Cached: cached, Output: output}
	if dollars >= 0 {
		s.Cost = agent.Micros(dollars)
	}
	return s
}

const unknown = -1

func TestSpendingAdd(t *testing.T) {
	for _, tt := range []struct {
		name       string
		a, b, want *agent.Spending
	}{
		{"prices", spent(1, 2, 3, 0.1), spent(10, 20, 30, 0.2), spent(11, 22, 33, 0.3)},
		{"no price so far", spent(1, 0, 0, unknown), spent(1, 0, 0, 0.2), spent(2, 0, 0, 0.2)},
		{"no price now", spent(1, 0, 0, 0.2), spent(1, 0, 0, unknown), spent(2, 0, 0, 0.2)},
		{"no price at all", spent(1, 0, 0, unknown), spent(1, 0, 0, unknown), spent(2, 0, 0, unknown)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := *tt.b
			if tt.a.Add(*tt.b); !reflect.DeepEqual(tt.a, tt.want) || !reflect.DeepEqual(*tt.b, before) {
				t.Errorf("Add = %+v, want %+v", tt.a, tt.want)
			}
		})
	}
}

// TestSpendingHasBounds: what a tool says of itself is kept within what a journal can hold and a
// sum can bear.
func TestSpendingHasBounds(t *testing.T) {
	var none *agent.Spending
	if none.Journaled() != nil {
		t.Error("what no tool told became something")
	}
	cost := int64(math.MinInt64)
	got := (&agent.Spending{Input: math.MaxInt64, Cached: -1, Output: 3, Cost: &cost}).Journaled()
	nothing := int64(0)
	if diff := cmp.Diff(&event.Spending{Input: 1e15, Output: 3, Cost: &nothing}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestMicros(t *testing.T) {
	for dollars, want := range map[float64]int64{0: 0, 0.005: 5000, 0.1: 100_000, 0.06499999999999999: 65_000, 12.3456789: 12_345_679} {
		if got := *agent.Micros(dollars); got != want {
			t.Errorf("Micros(%v) = %d, want %d", dollars, got, want)
		}
	}
	for _, dollars := range []float64{-1, 1e300, math.NaN(), math.Inf(1)} {
		if got := agent.Micros(dollars); got != nil {
			t.Errorf("Micros(%v) = %d, want nil", dollars, *got)
		}
	}
}
