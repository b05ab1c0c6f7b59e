package modeltest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
)

// wire sends an answer to one request. It carries out a stall or a cut for all dialects.
type wire struct {
	w    http.ResponseWriter
	r    *http.Request
	step Step
	sent int // number of events sent
}

// object is a JSON object.
type object = map[string]any

// writeEvent sends an event of a stream. If name is "", the event has no name.
func (w *wire) writeEvent(name string, data any) {
	if w.sent == 0 {
		w.w.Header().Set("content-type", "text/event-stream")
		w.w.Header().Set("request-id", "req_modeltest")
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	w.writeRaw(name + "data: " + string(encode(data)) + "\n\n")
	w.sent++
	if w.step.Kind == stall {
		<-w.r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

func (w *wire) writeRaw(text string) {
	_, _ = w.w.Write([]byte(text)) // the client may have left
	_ = http.NewResponseController(w.w).Flush()
}

// cutHere ends the connection if the step is a cut. A dialect calls it after the beginning of the
// text.
func (w *wire) cutHere() {
	if w.step.Kind == cut {
		panic(http.ErrAbortHandler)
	}
}

// writeWhole sends an answer that is not a stream.
func (w *wire) writeWhole(v any) {
	switch w.step.Kind {
	case stall:
		w.w.Header().Set("content-type", "application/json")
		w.writeRaw("{")
		<-w.r.Context().Done()
		panic(http.ErrAbortHandler)
	case cut:
		w.w.Header().Set("content-type", "application/json")
		w.writeRaw("{")
		panic(http.ErrAbortHandler)
	default:
		writeJSON(w.w, 200, v)
	}
}

// id returns an ID that no model has used before, because an agent may drop a message with an ID
// that it knows.
func id(prefix string) string { return prefix + "_" + rand.Text() }

// content is a text, or a list of parts with texts.
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

// text joins the texts.
func (c content) text() string {
	s := ""
	for _, p := range c {
		s += p.Text
	}
	return s
}

// readContent returns the text of a JSON value that is a content. It returns any other JSON
// unchanged.
func readContent(data json.RawMessage) string {
	var c content
	if len(data) == 0 || json.Unmarshal(data, &c) != nil {
		return string(data)
	}
	return c.text()
}
