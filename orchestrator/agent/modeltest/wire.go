package modeltest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
)

// wire is where an answer goes, and it is where stalls and cuts happen: the dialects know nothing of them.
type wire struct {
	w    http.ResponseWriter
	r    *http.Request
	step Step
	sent int // events
}

// object is JSON whose keys need no type of their own.
type object = map[string]any

// event sends one of a stream, with a name unless that is "".
func (w *wire) event(name string, data any) {
	if w.sent == 0 {
		w.w.Header().Set("content-type", "text/event-stream")
		w.w.Header().Set("request-id", "req_modeltest")
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	w.raw(name + "data: " + string(encode(data)) + "\n\n")
	w.sent++
	if w.step.Kind == stall {
		<-w.r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

func (w *wire) raw(text string) {
	_, _ = w.w.Write([]byte(text)) // the client may have left
	_ = http.NewResponseController(w.w).Flush()
}

// middle is where a stream is cut: its text has begun and has no end.
func (w *wire) middle() {
	if w.step.Kind == cut {
		panic(http.ErrAbortHandler)
	}
}

// whole sends an answer that is no stream.
func (w *wire) whole(v any) {
	switch w.step.Kind {
	case stall:
		w.w.Header().Set("content-type", "application/json")
		w.raw("{")
		<-w.r.Context().Done()
		panic(http.ErrAbortHandler)
	case cut:
		w.w.Header().Set("content-type", "application/json")
		w.raw("{")
		panic(http.ErrAbortHandler)
	default:
		writeJSON(w.w, 200, v)
	}
}

// id makes one that the agent has not seen, not even from another model in the same conversation: it may throw away what it
// believes to have.
func id(prefix string) string { return prefix + "_" + rand.Text() }

// content is a text, or a list of parts that have one.
type content []part

type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Name      string          `json:"name"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Input     json.RawMessage `json:"input"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err == nil {
		if text != nil {
			*c = content{{Type: "text", Text: *text}}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
}

// text joins what there is of it.
func (c content) text() string {
	s := ""
	for _, p := range c {
		s += p.Text
	}
	return s
}

// readContent is content that may be of any other form: that one is taken as it stands.
func readContent(data json.RawMessage) string {
	var c content
	if len(data) == 0 || json.Unmarshal(data, &c) != nil {
		return string(data)
	}
	return c.text()
}
