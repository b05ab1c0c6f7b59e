package view

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// door is a listener that admits at most mostClients connections at the same time. To admit a
// further connection, it closes the connection that has been idle for the longest time, once that
// time has reached idleTime. So a program that opens connections and sends nothing cannot keep a
// browser out.
type door struct {
	net.Listener

	mu      sync.Mutex
	room    sync.Cond // signaled when a client leaves or becomes idle
	clients []*client // the idle ones in the order in which they became idle
}

// idleTime is the time without a request after which a client may be closed for another one.
const idleTime = 500 * time.Millisecond

// client is an accepted connection.
type client struct {
	net.Conn
	door *door

	// door.mu guards these fields.
	busy  bool      // a request is being answered
	since time.Time // end of the last answer; before the first answer, the time of the connection
}

func newDoor(l net.Listener) *door {
	d := &door{Listener: l}
	d.room.L = &d.mu
	return d
}

// Accept waits for a connection, and then for room.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, door: d, since: time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.clients) >= mostClients {
		d.makeRoom()
	}
	d.clients = append(d.clients, c)
	return c, nil
}

// makeRoom closes the client that has been idle for the longest time, if that is at least idleTime.
// Otherwise it waits until there might be such a client, or room for another one. In both cases
// the caller has to check again.
func (d *door) makeRoom() {
	i := slices.IndexFunc(d.clients, func(c *client) bool { return !c.busy })
	if i < 0 {
		d.room.Wait()
		return
	}
	if rest := idleTime - time.Since(d.clients[i].since); rest > 0 {
		defer time.AfterFunc(rest, func() {
			d.mu.Lock() // the lock is free only after the wait has begun
			defer d.mu.Unlock()
			d.room.Broadcast()
		}).Stop()
		d.room.Wait()
		return
	}
	_ = d.clients[i].Conn.Close() // then net/http ends the goroutine, and calls client.Close
	d.clients = slices.Delete(d.clients, i, i+1)
}

// Close closes the connection and makes room for another client.
func (c *client) Close() error {
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	c.door.forget(c)
	c.door.room.Signal()
	return c.Conn.Close()
}

func (d *door) forget(c *client) {
	d.clients = slices.DeleteFunc(d.clients, func(other *client) bool { return other == c })
}

// noteState records whether a client waits for an answer or is idle. For net/http a connection is
// active once the whole header of a request has been read.
func noteState(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*client)
	if !ok || state != http.StateActive && state != http.StateIdle {
		return
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	if c.busy = state == http.StateActive; !c.busy && slices.Contains(c.door.clients, c) {
		c.since = time.Now()
		c.door.forget(c)
		c.door.clients = append(c.door.clients, c)
		c.door.room.Signal()
	}
}
