package modeltest

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// responses is the Responses API.
var responses = dialect{"responses", readResponses, writeResponses, refuseOpenAI}

type responsesBody struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Stream       bool            `json:"stream"`
	Input        json.RawMessage `json:"input"`
	Tools        []openAITool    `json:"tools"`
	Text         struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
}

// openAITool is a tool of a request. Its name is in one of two places. A built-in tool has no name,
// only a type.
type openAITool struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

func (t openAITool) name() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Function.Name != "":
		return t.Function.Name
	default:
		return t.Type
	}
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   content         `json:"content"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
}

func readResponses(q *Request, body []byte) error {
	var b responsesBody
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	q.Model, q.Streaming, q.Schema = b.Model, b.Stream, b.Text.Format.Type == "json_schema"
	for _, t := range b.Tools {
		q.Tools = append(q.Tools, t.name())
	}
	if b.Instructions != "" {
		q.Messages = append(q.Messages, Message{"system", b.Instructions})
	}
	var items []responsesItem
	if text := bytes.TrimSpace(b.Input); len(text) > 0 && text[0] == '"' {
		items = []responsesItem{{Type: "message", Role: "user", Content: content{{Text: readContent(text)}}}}
	} else if err := json.Unmarshal(b.Input, &items); err != nil {
		return err
	}
	for _, item := range items {
		if m := item.message(); m.Role != "" {
			q.Messages = append(q.Messages, m)
		}
	}
	return nil
}

func (item responsesItem) message() Message {
	switch item.Type {
	case "", "message":
		if item.Role == "developer" {
			item.Role = "system"
		}
		return Message{item.Role, item.Content.text()}
	case "function_call", "custom_tool_call", "local_shell_call", "reasoning":
		return Message{"assistant", item.Name + " " + item.Arguments + item.Input}
	case "function_call_output", "custom_tool_call_output":
		return Message{"tool", readContent(item.Output)}
	default:
		return Message{}
	}
}

func writeResponses(w *wire, q *Request, a answer) {
	item, blank := responsesAnswer(a)
	response := object{
		"id":     id("resp"),
		"object": "response",
		"status": "in_progress",
		"model":  q.Model,
		"output": []any{},
	}
	done := object{
		"id":     response["id"],
		"object": "response",
		"status": "completed",
		"model":  q.Model,
		"output": []any{item},
		"usage": object{"input_tokens": a.usage.Input, "input_tokens_details": object{"cached_tokens": a.usage.Cached},
			"output_tokens": a.usage.Output, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": a.usage.Input + a.usage.Output},
	}
	if !q.Streaming {
		w.writeWhole(done)
		return
	}
	w.writeEvent("response.created", object{"type": "response.created", "response": response})
	w.writeEvent("response.output_item.added", object{
		"type":         "response.output_item.added",
		"output_index": 0,
		"item":         blank,
	})
	if a.tool == "" {
		w.writeEvent("response.output_text.delta", object{
			"type":          "response.output_text.delta",
			"item_id":       item["id"],
			"output_index":  0,
			"content_index": 0,
			"delta":         a.text,
		})
	}
	w.cutHere()
	w.writeEvent("response.output_item.done", object{
		"type":         "response.output_item.done",
		"output_index": 0,
		"item":         item,
	})
	w.writeEvent("response.completed", object{"type": "response.completed", "response": done})
}

// responsesAnswer returns the complete item of an answer, and the blank form that the item has at
// the start of the stream.
func responsesAnswer(a answer) (item, blank object) {
	if a.tool == "" {
		item = object{"type": "message", "id": id("msg"), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}}}
		return item, object{
			"type":    "message",
			"id":      item["id"],
			"role":    "assistant",
			"status":  "in_progress",
			"content": []any{},
		}
	}
	item = object{"type": "function_call", "id": id("fc"), "call_id": id("call"), "name": a.tool, "status": "completed"}
	// codex 0.169.0 expects the MCP server's name in a field of its own.
	if server, tool, ok := strings.Cut(strings.TrimPrefix(a.tool, "mcp__"), "__"); ok &&
		strings.HasPrefix(a.tool, "mcp__") {
		item["namespace"], item["name"] = "mcp__"+server, tool
	}
	key, value := "arguments", string(a.input)
	var freeform string
	if json.Unmarshal(a.input, &freeform) == nil {
		item["type"], key, value = "custom_tool_call", "input", freeform
	}
	blank = object{"status": "in_progress", key: ""}
	for _, k := range []string{"type", "id", "call_id", "name", "namespace"} {
		if item[k] != nil {
			blank[k] = item[k]
		}
	}
	item[key] = value
	return item, blank
}

func refuseOpenAI(s Step) any {
	if s.Reset != 0 {
		return object{"error": object{
			"type":              "usage_limit_reached",
			"message":           "The usage limit has been reached",
			"plan_type":         "plus",
			"resets_at":         s.Reset,
			"resets_in_seconds": max(s.Reset-time.Now().Unix(), 0),
		}}
	}
	e := object{
		"message": "The server had an error while processing your request. Sorry about that!",
		"type":    "server_error",
		"param":   nil,
		"code":    nil,
	}
	switch s.Code {
	case 400:
		e["message"], e["type"] = "modeltest: the body is not of this API", "invalid_request_error"
	case 401:
		e["message"], e["type"], e["code"] = "Incorrect API key provided: sk-dummy.", "invalid_request_error",
			"invalid_api_key"
	case 403:
		e["message"], e["type"] = "You are not allowed to use this model.", "invalid_request_error"
	case 404:
		e["message"], e["type"], e["code"] = "The model does not exist, or not for you.",
			"invalid_request_error", "model_not_found"
	case 429:
		e["message"], e["type"], e["code"] = "Rate limit reached for requests. Please try again in 20s.",
			"requests", "rate_limit_exceeded"
	case 503, 529:
		e["message"], e["type"] = "The server is currently overloaded with other requests. Sorry about that!",
			"service_unavailable_error"
	}
	if s.Text != "" {
		e["message"] = s.Text
	}
	return object{"error": e}
}
