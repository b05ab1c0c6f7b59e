package pool

import (
	"fmt"
	"sync"

	"kanban-run/orchestrator/event"
)

// bill is the sum of the costs of all agents on all boards of one command.
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

// reached returns a sentence about the limit if the sum has reached it. Otherwise it returns "".
func (b *bill) reached() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most == 0 || b.sum < b.most {
		return ""
	}
	return fmt.Sprintf("the limit of %s for all boards of the command (max_cost_total) is reached: %s used",
		event.Dollars(b.most), event.Dollars(b.sum))
}
