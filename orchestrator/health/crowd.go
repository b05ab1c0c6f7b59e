package health

import (
	"sync"
	"time"
)

// sameTime bounds the time between equal anomalies of two boards. Within that time, they are
// assumed to have the same cause.
const sameTime = 15 * time.Minute

// Crowd holds the anomalies of the agents of several boards. Its methods are safe for concurrent
// use. The zero value is ready for use.
type Crowd struct {
	mu    sync.Mutex
	found map[string]map[string]time.Time // last time of each anomaly, by anomaly and board
}

// Note records the anomaly key of a board's agent and reports whether the agent of another board
// has had the same anomaly within sameTime: seed 000, "REPLAN", "多个成员同时遇到相同问题".
//
// A shared anomaly of a tool is a reason to plan anew. If two agents of one provider do not answer
// questions, the provider is the cause.
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
