package health

import (
	"sync"
	"time"
)

// sameTime is the window in which agents of two boards have to be found unwell to share a cause.
const sameTime = 15 * time.Minute

// Crowd holds the anomalies of the agents of several boards. Its methods are safe for concurrent
// use; the zero value is ready.
type Crowd struct {
	mu    sync.Mutex
	found map[string]map[string]time.Time // by anomaly and tool, and by board
}

// Note records an anomaly of a tool that the agent of a board has, and reports whether another
// board's agent has the same within sameTime: seed 000, "REPLAN", "多个成员同时遇到相同问题". An anomaly of no
// tool is no reason to plan anew.
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
