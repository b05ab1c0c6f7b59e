// Package view serves a live page with the state of boards to the browser of the person that
// started `kanban-run view`. It changes nothing, and answers only on the loopback. A request has to
// bring the token and to name the right host, and must not come from another site's page. All
// clients share one rendered page. Without a viewer the state is not polled.
//
//	GET /?token=T  the token becomes a cookie, and the browser goes on to /
//	GET /          the page, and its number in the header Kanban-Page
//	GET /?since=N  the difference of the page to the page with number N
//	GET /events    server-sent events: "change" when the page has changed
package view

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Source supplies the page and its state.
type Source struct {
	Render func() ([]byte, error) // returns the page; one goroutine at a time calls it
	State  func() string          // returns a text that changes when the page may have changed
	// Difference returns what a browser that has the page was needs to show the page now.
	Difference func(was, now []byte) []byte
	Policy     string // Content-Security-Policy of the page
}

// Server serves the page of a source. Make one with New.
type Server struct {
	source Source
	token  string
	hosts  map[string]bool // the hosts that a request may name
	cookie string          // name of the cookie

	mu      sync.Mutex
	pages   map[int][]byte // the last pages, by their numbers
	number  int            // of the last page; 0: none was rendered
	state   string         // state of the source when the page was rendered
	changed chan struct{}  // closed when the state changes
	viewers int
	awake   chan struct{} // gets a value when the first viewer arrives
}

const (
	pollTime    = 250 * time.Millisecond // time between two polls while there is a viewer
	beatTime    = 15 * time.Second       // time between two signs of life to a viewer
	patience    = 10 * time.Second       // longest time to read a request, or to write to a client
	mostPages   = 4                      // pages that are kept for viewers that have them
	mostViewers = 64
	mostClients = 256 // greatest number of connections at the same time
)

// New returns a server with a new token, for requests to an address of the loopback.
func New(source Source, address net.Addr) *Server {
	token := make([]byte, 32)
	_, _ = rand.Read(token) // rand.Read never fails
	_, port, _ := net.SplitHostPort(address.String())
	s := &Server{
		source:  source,
		token:   hex.EncodeToString(token),
		hosts:   map[string]bool{},
		cookie:  "kanban-run-" + port,
		pages:   map[int][]byte{},
		changed: make(chan struct{}),
		awake:   make(chan struct{}, 1),
	}
	for _, host := range []string{address.String(), "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port} {
		s.hosts[host] = true
	}
	return s
}

// Listen listens on an address of the loopback. Errors: *AddressError for any other address, or an
// error of the system.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &AddressError{address}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &AddressError{address}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	// The name localhost may resolve to an address outside of the loopback.
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return nil, errors.Join(&AddressError{address}, l.Close())
	}
	return newDoor(l), nil
}

// AddressError reports an address outside the loopback.
type AddressError struct{ Address string }

func (e *AddressError) Error() string {
	return fmt.Sprintf("%s is no address of this machine's loopback", e.Address)
}

// Hint names an address that works.
func (*AddressError) Hint() string {
	return "use 127.0.0.1:PORT; to look from another machine, forward the port with ssh -L"
}

// URL returns the URL that a person has to open in a browser. It contains the token.
func (s *Server) URL(address net.Addr) string {
	return "http://" + address.String() + "/?token=" + s.token
}

// Serve answers requests until the context stop is done, and then returns nil. Errors: those of the
// listener and of the server.
func (s *Server) Serve(stop context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: patience,
		ReadTimeout:       patience,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return stop },
		ConnState:         noteState,
	}
	go s.watch(stop)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the page: %w", err)
	case <-stop.Done():
		return errors.Join(server.Close(), ignoreClosed(<-ended))
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	// The error is ignored, because the recorder of a test has no deadline.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
	switch {
	case !s.hosts[r.Host]:
		http.Error(w, "this is another host", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet:
		http.Error(w, "nothing can be changed here", http.StatusMethodNotAllowed)
	case isForeign(r):
		http.Error(w, "another site's page may not ask", http.StatusForbidden)
	case r.URL.Path == "/" && r.URL.Query().Has("token"):
		s.enter(w, r)
	case !s.isKnown(r):
		http.Error(w, "open the address that kanban-run view has printed", http.StatusForbidden)
	case r.URL.Path == "/":
		s.servePage(w, r)
	case r.URL.Path == "/events":
		s.serveEvents(w, r)
	default:
		http.NotFound(w, r)
	}
}

// isForeign reports whether another site's page has sent a request. If a person followed a link on
// that page, the request is not foreign.
func isForeign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err != nil || u.Host != r.Host || u.Scheme != "http"
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	default:
		return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
	}
}

// onward is an HTML page that loads the page at /. A redirect would not work: if a link on another
// site's page or in a file has led here, the browser would follow the redirect without the cookie.
const onward = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><title>kanban-run</title></head><body><a href="/">on to the page</a></body></html>
`

// enter sets the token of the address as a cookie, and sends the browser on to the address without
// the token.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if !isSame(r.URL.Query().Get("token"), s.token) {
		http.Error(w, "this is another token; open the address that kanban-run view has printed", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name:     s.cookie,
		Value:    s.token,
		Path:     "/",
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(onward)) // the client may have left
}

func (s *Server) isKnown(r *http.Request) bool {
	c, err := r.Cookie(s.cookie)
	return err == nil && isSame(c.Value, s.token)
}

// isSame reports whether two texts are equal. Its running time does not reveal how much of them is
// equal.
func isSame(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	since, _ := strconv.Atoi(r.URL.Query().Get("since")) // 0: the viewer has no page
	was, now, number, err := s.current(since)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if was != nil {
		now = s.source.Difference(was, now)
	}
	w.Header().Set("Content-Security-Policy", s.source.Policy+"; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Kanban-Page", strconv.Itoa(number))
	_, _ = w.Write(now) // the client may have left
}

// current returns the page and its number, and also the page with the number since; nil: it is not kept.
// It renders the page anew only if the state has changed.
func (s *Server) current(since int) (was, now []byte, number int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.source.State(); s.number == 0 || state != s.state {
		text, err := s.source.Render()
		if err != nil {
			return nil, nil, 0, err
		}
		s.number, s.state = s.number+1, state
		s.pages[s.number] = text
		delete(s.pages, s.number-mostPages)
	}
	return s.pages[since], s.pages[s.number], s.number, nil
}

// serveEvents sends a viewer an event for each change until the viewer leaves.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !s.join() {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	out := http.NewResponseController(w)
	// The read deadline of the request would also end the answer.
	_ = out.SetReadDeadline(time.Time{})
	changed := s.next()
	for say := "retry: 1000\nevent: change\ndata: begin\n\n"; ; {
		_ = out.SetWriteDeadline(time.Now().Add(patience))
		if _, err := w.Write([]byte(say)); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			// Only this case fetches a new channel. If the case of a beat also fetched a new
			// channel, a change could be missed.
			changed = s.next()
			say = "event: change\ndata: more\n\n"
		case <-beat.C:
			say = ":\n\n"
		}
	}
}

func (s *Server) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// join adds a viewer, and wakes s.watch for the first one. If there are already mostViewers
// viewers, it adds no viewer and returns false.
func (s *Server) join() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.viewers == mostViewers {
		return false
	}
	if s.viewers++; s.viewers == 1 {
		select {
		case s.awake <- struct{}{}:
		default:
		}
	}
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewers--
}

// watch polls the state while there are viewers, and closes s.changed at each change.
func (s *Server) watch(stop context.Context) {
	last := ""
	for {
		s.mu.Lock()
		alone := s.viewers == 0
		s.mu.Unlock()
		if alone {
			select {
			case <-stop.Done():
				return
			case <-s.awake:
			}
		}
		if now := s.source.State(); now != last {
			s.mu.Lock()
			close(s.changed)
			s.changed, last = make(chan struct{}), now
			s.mu.Unlock()
		}
		select {
		case <-stop.Done():
			return
		case <-time.After(pollTime):
		}
	}
}
