package health

import (
	"sync"
	"time"
)

// sameTime is how close together agents of two boards have to be found unwell.
const sameTime = 15 * time.Minute

// Crowd knows what the agents of several boards were found to have. Its methods are safe for
// concurrent use; the zero value is ready.
type Crowd struct {
	mu    sync.Mutex
	found map[string]map[string]time.Time // by anomaly and tool, and by board
}

// Note notes an anomaly of a tool that the agent of a board has, and says whether that of
// another board has the same at the same time: seed 000, "REPLAN", "多个成员同时遇到相同问题". Anomalies of
// no tool are none of the plan's.
func (c *Crowd) Note(board, key string, now time.Time) (shared bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil {
		c.found = map[string]map[string]time.Time{}
	}
	if c.found[key] == nil {
		c.found[key] = map[string]time.Time{}
	}
	c.found[key][board] = now
	for other, at := range c.found[key] {
		shared = shared || other != board && now.Sub(at) < sameTime
	}
	return shared
}
