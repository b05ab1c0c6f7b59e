package claude

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
)

// maxIDs is how many messages are told apart: claude repeats one for each of its parts, and those of sub-agents come in between.
const maxIDs = 64

// account adds up what a run comes to. Claude's own sums are those of the session, and of the one that it was forked from; what is
// taken here is what a result says of the time since the last one, which for the first is the start of the process. Versions
// without that, such as 2.1.197, count by the process.
type account struct {
	results  agent.Spending
	messages agent.Spending // in case there will be no result
	ids      []string
	reported bool
	unpriced bool // a model has no price
	counted  bool
}

// message counts an answer of the model once. Its output is what it was at the first word: less than it came to.
func (a *account) message(m message) {
	if m.ID == "" || len(m.ID) > maxName || slices.Contains(a.ids, m.ID) || m.Usage == (usage{}) {
		return
	}
	if len(a.ids) >= maxIDs {
		a.ids = slices.Delete(a.ids, 0, 1)
	}
	a.ids, a.counted = append(a.ids, strings.Clone(m.ID)), true
	a.messages.Add(m.Usage.spending())
}

func (u usage) spending() agent.Spending {
	return agent.Spending{Input: u.Input + u.CacheWrite + u.CacheRead, Cached: u.CacheRead, Output: u.Output}
}

func (a *account) result(r *result) {
	if r.Since == nil {
		a.reported = a.reported || r.Usage != (usage{}) || r.CostUSD.micros != nil
		if r.CostUSD.micros != nil {
			a.results.Cost = r.CostUSD.micros // of the process, and not only of this result
		}
		a.results.Add(r.Usage.spending())
		return
	}
	a.reported = true
	if len(r.Since) == 0 && r.CostUSD.micros != nil && !a.unpriced {
		// No model answered, as when the API failed: that cost nothing, and the result, which names a sum, says so.
		a.results.Add(agent.Spending{Cost: new(int64)})
	}
	for _, m := range r.Since {
		a.results.Add(agent.Spending{Input: m.Input + m.CacheWrite + m.CacheRead, Cached: m.CacheRead, Output: m.Output, Cost: m.CostUSD.micros})
		a.unpriced = a.unpriced || m.CostUSD.micros == nil
	}
	a.results.Partial = a.unpriced && a.results.Cost != nil
}

// total is nil where nothing at all is known.
func (a *account) total() *agent.Spending {
	switch {
	case a.reported:
		return &a.results
	case a.counted:
		return &a.messages
	default:
		return nil
	}
}

func (a *account) String() string {
	text := fmt.Sprintf("%d tokens in, %d out", a.results.Input, a.results.Output)
	if a.results.Cost != nil {
		text += fmt.Sprintf(", $%.4f", float64(*a.results.Cost)/1e6)
	}
	return text
}
