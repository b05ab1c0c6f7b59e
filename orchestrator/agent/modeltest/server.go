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

// Request is what was asked and how it was answered.
type Request struct {
	Time      time.Time
	Method    string
	Path      string
	Header    http.Header
	Body      []byte
	API       string // anthropic, responses, chat or gemini; "" is an endpoint that no agent is known to need
	Model     string
	System    string    // all that is said in the system's name
	Messages  []Message // all of the conversation, the system first
	Tools     []string  // by name
	Schema    bool      // it asks for a reply of a JSON Schema
	Streaming bool
	Scripted  bool   // the conversation has a script
	Turn      int    // how often the assistant has spoken since
	Answer    string // the kind of the step or the fault, or the status code
}

// Model is the fake model: an http.Handler, without a server.
type Model struct {
	mu       sync.Mutex
	requests []*Request
	think    func(q *Request, said string) (Script, bool)
	spent    map[string]int // faults played, by script and place
	answers  int
	answered chan struct{} // closed and made anew with each answer
}

// New makes a model that has been asked nothing.
func New() *Model { return &Model{spent: map[string]int{}, answered: make(chan struct{})} }

// Otherwise has the model do what think says where there is no script in a prompt: think looks at what users said, from the last message
// to the first, until it knows what to do. It is called from several goroutines.
func (m *Model) Otherwise(think func(q *Request, said string) (Script, bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.think = think
}

// Server is a model at an address.
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
		s.http.CloseClientConnections() // a hanging answer waits for its client to leave
		s.http.Close()
	})
	return s
}

// Requests are all so far, in their order.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Request, len(m.requests))
	for i, q := range m.requests {
		all[i] = *q
	}
	return all
}

// Await returns when n requests have been read and their answers begin, a Hang's silence among them.
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

// Unknown lists what was asked of no known endpoint, as "METHOD path".
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
	// read fills in what the body says.
	read func(q *Request, body []byte) error
	// write gives an answer, as a stream or in one piece.
	write func(w *wire, q *Request, a answer)
	// refusal is the body of a step's status code.
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
		m.note(q, func() { q.API, q.Answer = d.name, "200" })
		writeJSON(w, 200, side)
	case d == nil:
		m.note(q, func() { q.Answer = "404" })
		writeJSON(w, 404, object{"error": object{"message": "modeltest: no such endpoint: " + r.Method + " " + r.URL.Path}})
	default:
		m.converse(w, r, d, q)
	}
}

// note writes down how a request is answered, before that is done.
func (m *Model) note(q *Request, change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	m.answers++
	close(m.answered)
	m.answered = make(chan struct{})
}

// route finds the API by the end of the path, whatever base address an agent was given. Side is the answer to a question that
// is no conversation.
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

// converse plays the step of the script that is due.
func (m *Model) converse(w http.ResponseWriter, r *http.Request, d *dialect, q *Request) {
	seen := *q
	seen.API = d.name
	if err := d.read(&seen, q.Body); err != nil {
		m.note(q, func() { q.API, q.Answer = d.name, "400" })
		writeJSON(w, 400, d.refusal(Status(400)))
		return
	}
	for _, msg := range seen.Messages {
		if msg.Role == "system" {
			seen.System += msg.Text + "\n"
		}
	}
	script, turn, found := m.find(&seen)
	if !found {
		script = Play(Say("modeltest: the prompt has no script."))
	}
	faults, step := script.plan(turn)
	if fault, broken := m.due(script, turn, faults, len(seen.Tools) > 0); broken {
		step = fault
	}
	seen.Scripted, seen.Turn, seen.Answer = found, turn, string(step.Kind)
	m.note(q, func() { *q = seen })
	perform(&wire{w: w, r: r, step: step}, d, &seen, script)
}

// due returns the fault that a request runs into, if there is one. Requests with tools and without are counted apart: an agent
// that first asks for a title must not use up what is meant for its work.
func (m *Model) due(s Script, turn int, faults []Step, tools bool) (Step, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, f := range faults {
		if f.Count == 0 {
			return f, true
		}
		place := s.ID + "\x00" + string(encode([]any{turn, i, tools}))
		if m.spent[place] < f.Count {
			m.spent[place]++
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
