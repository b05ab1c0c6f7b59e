package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kanban-run/schema"
)

// Ask is what an agent that is spoken to in words is told: the input, and the form of its reply. It is the same in every attempt.
// Source: seed 004, "Input Specification (Supervisor → Agent)" and "Output Specification (Agent → Supervisor)".
func (a Assignment) Ask() []byte {
	var b bytes.Buffer
	if a.Follow != nil {
		b.WriteString(a.Follow.Text)
	} else {
		b.WriteString("Your input:\n\n")
		b.Write(a.Input)
	}
	if a.Contract != ReviewContract {
		fmt.Fprintf(&b, "\n\nWhen your work is done, your final message is one JSON object and nothing else: no text around it, no Markdown fence.\n"+
			"It fits this JSON Schema:\n\n%s", a.Contract.inline())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// AskWithRole is Ask with the role's prompt before it, for a tool that has no place of its own for one.
func (a Assignment) AskWithRole() []byte {
	if a.Prompt == "" {
		return a.Ask()
	}
	return append([]byte(a.Prompt+"\n\n"), a.Ask()...)
}

// inline is the schema of the contract in one line.
func (c Contract) inline() []byte {
	source, err := c.ReplySchema()
	if err != nil {
		return nil // cannot happen: the schemas are embedded
	}
	return source
}

// ReplySchema is the JSON Schema of the contract's replies as tools take it: in one line, without the name of its dialect, which
// some refuse, and without what is only for people.
func (c Contract) ReplySchema() ([]byte, error) {
	source, err := schema.Source(c.Schema())
	if err != nil {
		return nil, err
	}
	var s map[string]any
	if err := json.Unmarshal(source, &s); err != nil {
		return nil, err
	}
	for _, key := range []string{"$schema", "$id", "title", "examples"} {
		delete(s, key)
	}
	return json.Marshal(s)
}

// FindReply is the text of the reply in an agent's last message: the whole of it, else the last JSON object in a Markdown fence,
// else the last that stands in it. Where there is none it is the message itself, so that what is wrong with it can be said.
func FindReply(message string) []byte {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") {
		return []byte(text)
	}
	if fenced := lastFenced(text); fenced != "" {
		return []byte(fenced)
	}
	if object := lastObject(text); object != "" {
		return []byte(object)
	}
	return []byte(text)
}

// lastFenced is the last object that a fence holds alone.
func lastFenced(text string) string {
	found := ""
	for _, part := range strings.Split(text, "```") {
		_, inner, isBlock := strings.Cut(part, "\n")
		inner = strings.TrimSpace(inner)
		if isBlock && strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
			found = inner
		}
	}
	return found
}

// maxLook bounds the search for an object in a text: each brace may begin one.
const maxLook = 64

// lastObject is the object that ends last in the text, and of those the one that begins first.
func lastObject(text string) string {
	from, to := 0, 0
	for at, looks := len(text), 0; looks < maxLook; looks++ {
		if at = strings.LastIndexByte(text[:at], '{'); at < 0 {
			break
		}
		if end := at + objectLength(text[at:]); end > at && end > to {
			from, to = at, end
		}
	}
	return text[from:to]
}

// objectLength is how much of the text is an object, from its beginning; 0 where none begins there.
func objectLength(text string) int {
	var object json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(text))
	if decoder.Decode(&object) != nil {
		return 0
	}
	return int(decoder.InputOffset())
}
