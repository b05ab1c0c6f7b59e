package orchestrator

import (
	"fmt"
	"sync"

	"kanban-run/orchestrator/event"
)

// bill adds up what the agents of all boards of one command have cost.
type bill struct {
	most int64 // in millionths of a US dollar; 0: no limit
	mu   sync.Mutex
	sum  int64
}

func (b *bill) add(cost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sum += cost
}

// reached returns in words that the limit is reached, or "".
func (b *bill) reached() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most == 0 || b.sum < b.most {
		return ""
	}
	return fmt.Sprintf("the limit of %s for all boards of the command (max_cost_total) is reached: %s used",
		event.Dollars(b.most), event.Dollars(b.sum))
}
