package attempt_test

import (
	"reflect"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
)

func spent(input, cached, output int64, dollars float64) *agent.Spending {
	s := &agent.Spending{Input: input, Cached: cached, Output: output}
	if dollars >= 0 {
		s.Cost = agent.Micros(dollars)
	}
	return s
}

const unknown = -1

// TestCharge: a tool that counts by the session, as codex does, and says in a fork what its parent
// came to, too.
func TestCharge(t *testing.T) {
	accounts := attempt.Accounts{}
	for _, tt := range []struct {
		name       string
		session    string
		parent     string
		cumulative bool
		told, want *agent.Spending
	}{
		{"unknown", "a", "", true, nil, nil},
		{"the first attempt", "a", "", true, spent(1000, 100, 10, 0.01), spent(1000, 100, 10, 0.01)},
		{"the session goes on", "a", "a", true, spent(1500, 150, 15, 0.03), spent(500, 50, 5, 0.02)},
		{"a fork", "b", "a", true, spent(2500, 150, 20, 0.04), spent(1000, 0, 5, 0.01)},
		{"the fork goes on", "b", "a", true, spent(2600, 150, 21, 0.05), spent(100, 0, 1, 0.01)},
		{"a tool that began anew", "a", "a", true, spent(10, 0, 1, 0.001), spent(0, 0, 0, 0)},
		{"a tool that counts by the attempt", "a", "a", false, spent(70, 0, 7, 0.7), spent(70, 0, 7, 0.7)},
		{"another session", "c", "", true, spent(5, 0, 5, unknown), spent(5, 0, 5, unknown)},
		{"a price from now on", "c", "", true, spent(6, 0, 6, 0.5), spent(1, 0, 1, 0.5)},
	} {
		got := accounts.Charge(&attempt.Ended{Session: tt.session, Spent: tt.told, Cumulative: tt.cumulative}, tt.parent)
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Charge = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestChargeOfInterruptedAttempts: the next result in a session tells the cost of the session, and with it what
// attempts that were interrupted have cost: it is charged once, to the attempt that tells it. A session that was forked
// is charged to its own attempts only.
func TestChargeOfInterruptedAttempts(t *testing.T) {
	accounts := attempt.Accounts{}
	for _, tt := range []struct {
		name    string
		session string
		parent  string
		told    *agent.Spending
		total   float64 // of the session
		want    *agent.Spending
	}{
		{"interrupted with a usage", "a", "", spent(100, 0, 1, unknown), unknown, spent(100, 0, 1, unknown)},
		{"interrupted at once", "a", "a", nil, unknown, nil},
		{"the session goes on", "a", "a", spent(50, 0, 5, 0.02), 0.05, spent(50, 0, 5, 0.05)},
		{"and on", "a", "a", spent(50, 0, 5, 0.02), 0.07, spent(50, 0, 5, 0.02)},
		{"a fork", "b", "a", spent(10, 0, 1, 0.01), 0.08, spent(10, 0, 1, 0.01)},
		{"the fork is interrupted", "b", "b", spent(10, 0, 1, unknown), unknown, spent(10, 0, 1, unknown)},
		{"the fork goes on", "b", "b", spent(10, 0, 1, 0.01), 0.11, spent(10, 0, 1, 0.03)},
		{"a fork that is interrupted", "c", "a", nil, unknown, nil},
		{"goes on", "c", "c", spent(10, 0, 1, 0.01), 0.10, spent(10, 0, 1, 0.03)},
		{"a session of which nothing is known", "d", "d", spent(10, 0, 1, 0.01), 0.50, spent(10, 0, 1, 0.01)},
		{"a total that counts anew", "a", "a", spent(10, 0, 1, 0.01), 0.01, spent(10, 0, 1, 0.01)},
	} {
		o := &attempt.Ended{Session: tt.session, Spent: tt.told}
		if tt.total != unknown {
			o.SessionCost = agent.Micros(tt.total)
		}
		if got := accounts.Charge(o, tt.parent); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Charge = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
