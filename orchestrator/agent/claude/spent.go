package claude

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
)

// maxIDs bounds the number of message IDs that are kept. Claude repeats a message for each of its
// parts, and messages of sub-agents may come between the parts.
const maxIDs = 64

// account sums up the cost of one claude process. Claude's own sums include the earlier calls in
// the session. In a fork, they also include the calls in the original session. So account takes
// from each result only the part since the previous result. The sum of the session is kept apart,
// because it also has the cost of attempts that were interrupted. Some versions of claude, such as
// 2.1.197, do not report this part. In their results the cost counts from the start of the process,
// and account takes this cost.
type account struct {
	results  agent.Spending
	messages agent.Spending // spending by messages, used if no result reports its usage
	ids      []string
	session  *int64 // cost of the session so far, in millionths of a US dollar; nil: not reported
	reported bool
	unpriced bool // a model in a result has no price
	hasUsage bool
}

// message counts an answer of the model once, by its first part. The count of output tokens is too
// low, because that part names only the tokens that were written until then.
func (a *account) message(m message) {
	if m.ID == "" || len(m.ID) > maxName || slices.Contains(a.ids, m.ID) || m.Usage == (usage{}) {
		return
	}
	if len(a.ids) >= maxIDs {
		a.ids = slices.Delete(a.ids, 0, 1)
	}
	a.ids, a.hasUsage = append(a.ids, strings.Clone(m.ID)), true
	a.messages.Add(m.Usage.spending())
}

func (u usage) spending() agent.Spending {
	return agent.Spending{Input: u.Input + u.CacheWrite + u.CacheRead, Cached: u.CacheRead, Output: u.Output}
}

func (a *account) result(r *result) {
	if r.Since == nil {
		a.reported = a.reported || r.Usage != (usage{}) || r.CostUSD.micros != nil
		if r.CostUSD.micros != nil {
			a.results.Cost = r.CostUSD.micros // the cost since the start of the process
		}
		a.results.Add(r.Usage.spending())
		return
	}
	a.reported, a.session = true, r.CostUSD.micros
	if len(r.Since) == 0 && r.CostUSD.micros != nil && !a.unpriced {
		// If no model answered, for instance because the API failed, the cost is known to be zero.
		a.results.Add(agent.Spending{Cost: new(int64)})
	}
	for _, m := range r.Since {
		a.results.Add(agent.Spending{
			Input: m.Input + m.CacheWrite + m.CacheRead, Cached: m.CacheRead, Output: m.Output, Cost: m.CostUSD.micros,
		})
		a.unpriced = a.unpriced || m.CostUSD.micros == nil
	}
	a.results.Partial = a.unpriced && a.results.Cost != nil
}

// total returns the spending that the results report. If no result reports its spending, total
// returns the sum over the messages, or nil if no message reports its usage either.
func (a *account) total() *agent.Spending {
	switch {
	case a.reported:
		return &a.results
	case a.hasUsage:
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
