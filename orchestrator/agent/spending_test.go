package agent_test

import (
	"math"
	"reflect"
	"testing"

	"kanban-run/orchestrator/agent"
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

// TestCharge: a tool that counts by the session, as codex does, and says in a fork what its parent came to, too.
func TestCharge(t *testing.T) {
	accounts := agent.Accounts{}
	for _, tt := range []struct {
		name       string
		session    string
		parent     string
		cumulative bool
		told, want *agent.Spending
	}{
		{"nobody knows", "a", "", true, nil, nil},
		{"the first attempt", "a", "", true, spent(1000, 100, 10, 0.01), spent(1000, 100, 10, 0.01)},
		{"the session goes on", "a", "a", true, spent(1500, 150, 15, 0.03), spent(500, 50, 5, 0.02)},
		{"a fork", "b", "a", true, spent(2500, 150, 20, 0.04), spent(1000, 0, 5, 0.01)},
		{"the fork goes on", "b", "a", true, spent(2600, 150, 21, 0.05), spent(100, 0, 1, 0.01)},
		{"a tool that began anew", "a", "a", true, spent(10, 0, 1, 0.001), spent(0, 0, 0, 0)},
		{"a tool that counts by the attempt", "a", "a", false, spent(70, 0, 7, 0.7), spent(70, 0, 7, 0.7)},
		{"another session", "c", "", true, spent(5, 0, 5, unknown), spent(5, 0, 5, unknown)},
		{"a price from now on", "c", "", true, spent(6, 0, 6, 0.5), spent(1, 0, 1, 0.5)},
	} {
		got := accounts.Charge(&agent.Outcome{Session: tt.session, Spent: tt.told, Cumulative: tt.cumulative}, tt.parent)
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Charge = %+v, want %+v", tt.name, got, tt.want)
		}
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
