package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Request is a request to the model, with the kind of its answer.
type Request struct {
	Time      time.Time
	Method    string
	Path      string
	Header    http.Header
	Body      []byte
	API       string // anthropic, responses, chat or gemini; "" for an unknown endpoint
	Model     string
	System    string    // text of all system messages
	Messages  []Message // the whole conversation, system messages first
	Tools     []string  // names of the tools
	Schema    bool      // the request has a JSON Schema for the reply
	Streaming bool
	Scripted  bool   // the conversation has a script
	Turn      int    // turns of the assistant since the script
	Answer    string // kind of the step or fault, or the status code
}

// Model is the fake model as an http.Handler. [Server] serves it at an address.
type Model struct {
	mu       sync.Mutex
	requests []*Request
	think    func(q *Request, said string) (Script, bool)
	played   map[string]int // how often each fault was played, by script and place in the script
	answers  int
	answered chan struct{} // closed and replaced when an answer begins
}

// New returns a model without requests.
func New() *Model { return &Model{played: map[string]int{}, answered: make(chan struct{})} }

// SetFallback sets the function think, which makes a script for a prompt that has no script. The
// model calls this function with each user message, from the last to the first, until the function
// returns a script. The calls come from several goroutines.
func (m *Model) SetFallback(think func(q *Request, said string) (Script, bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.think = think
}

// Server is a model that is served at an address.
type Server struct {
	*Model
	URL  string // http://127.0.0.1:port
	http *httptest.Server
}

// Start serves a model on the loopback until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	m := New()
	s := &Server{Model: m, http: httptest.NewServer(m)}
	s.URL = s.http.URL
	t.Cleanup(func() {
		s.http.CloseClientConnections() // a hanging answer waits until its client leaves
		s.http.Close()
	})
	return s
}

// Requests returns all requests so far, in order.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Request, len(m.requests))
	for i, q := range m.requests {
		all[i] = *q
	}
	return all
}

// Await returns once the model has read n requests and begun their answers. A Hang counts as an
// answer that has begun. After a minute the test fails.
func (m *Model) Await(t testing.TB, n int) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		m.mu.Lock()
		got, more := m.answers, m.answered
		m.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("the model was asked %d times in a minute, want %d", got, n)
		}
	}
}

// Unknown lists the requests to unknown endpoints, as "METHOD path".
func (m *Model) Unknown() []string {
	var all []string
	for _, q := range m.Requests() {
		if q.API == "" {
			all = append(all, q.Method+" "+q.Path)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// dialect is one API.
type dialect struct {
	name string
	// read sets those fields of q that are in the body.
	read func(q *Request, body []byte) error
	// write sends an answer, as a stream or in one piece.
	write func(w *wire, q *Request, a answer)
	// refusal returns the body of the answer to a request that the step refuses.
	refusal func(Step) any
}

// ServeHTTP answers a request.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	q := &Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	m.mu.Lock()
	m.requests = append(m.requests, q)
	m.mu.Unlock()
	d, side := route(r)
	switch {
	case side != nil:
		m.record(q, func() { q.API, q.Answer = d.name, "200" })
		writeJSON(w, 200, side)
	case d == nil:
		m.record(q, func() { q.Answer = "404" })
		message := "modeltest: no such endpoint: " + r.Method + " " + r.URL.Path
		writeJSON(w, 404, object{"error": object{"message": message}})
	default:
		m.converse(w, r, d, q)
	}
}

// record changes a recorded request and counts its answer, before the answer begins.
func (m *Model) record(q *Request, change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	m.answers++
	close(m.answered)
	m.answered = make(chan struct{})
}

// route finds the API of a request by the end of the path. It returns nil for an unknown path. The
// second result is the answer to a request that is no conversation, such as a request to count
// tokens.
func route(r *http.Request) (d *dialect, side any) {
	p := r.URL.Path
	post := r.Method == http.MethodPost
	switch {
	case post && strings.HasSuffix(p, "/messages"):
		return &anthropic, nil
	case post && strings.HasSuffix(p, "/count_tokens"):
		return &anthropic, map[string]int64{"input_tokens": DefaultUsage.Input}
	case post && strings.HasSuffix(p, "/responses"):
		return &responses, nil
	case post && strings.HasSuffix(p, "/chat/completions"):
		return &chat, nil
	case post && (strings.HasSuffix(p, ":streamGenerateContent") || strings.HasSuffix(p, ":generateContent")):
		return &gemini, nil
	case post && strings.HasSuffix(p, ":countTokens"):
		return &gemini, map[string]int64{"totalTokens": DefaultUsage.Input}
	default:
		return nil, nil
	}
}

// converse answers a request with the next step of its script.
func (m *Model) converse(w http.ResponseWriter, r *http.Request, d *dialect, q *Request) {
	seen := *q
	seen.API = d.name
	if err := d.read(&seen, q.Body); err != nil {
		m.record(q, func() { q.API, q.Answer = d.name, "400" })
		writeJSON(w, 400, d.refusal(Status(400)))
		return
	}
	for _, msg := range seen.Messages {
		if msg.Role == "system" {
			seen.System += msg.Text + "\n"
		}
	}
	script, turn, found := m.findScript(&seen)
	if !found {
		script = Play(Say("modeltest: the prompt has no script."))
	}
	faults, step := script.planTurn(turn)
	if fault, broken := m.dueFault(script, turn, faults, len(seen.Tools) > 0); broken {
		step = fault
	}
	seen.Scripted, seen.Turn, seen.Answer = found, turn, string(step.Kind)
	m.record(q, func() { *q = seen })
	perform(&wire{w: w, r: r, step: step}, d, &seen, script)
}

// dueFault returns the first of the turn's faults that has not passed yet, or false if all have
// passed. It counts requests with and without tools separately, because an agent's request for a
// title, which has no tools, must not use up a fault meant for the agent's work.
func (m *Model) dueFault(s Script, turn int, faults []Step, tools bool) (Step, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, f := range faults {
		if f.Count == 0 {
			return f, true
		}
		place := s.ID + "\x00" + string(encode([]any{turn, i, tools}))
		if m.played[place] < f.Count {
			m.played[place]++
			return f, true
		}
	}
	return Step{}, false
}

func perform(w *wire, d *dialect, q *Request, s Script) {
	switch w.step.Kind {
	case status:
		for _, h := range w.step.Header {
			w.w.Header().Set(h[0], h[1])
		}
		writeJSON(w.w, w.step.Code, d.refusal(w.step))
	case hang:
		<-w.r.Context().Done()
	default:
		d.write(w, q, s.answer(w.step, q))
	}
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("content-type", "application/json")
	w.Header().Set("request-id", "req_modeltest")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}
