package modeltest

import (
	"cmp"
	"encoding/json"
)

// anthropic is the Messages API.
var anthropic = dialect{"anthropic", readAnthropic, writeAnthropic, refuseAnthropic}

type anthropicBody struct {
	Model    string  `json:"model"`
	System   content `json:"system"`
	Stream   bool    `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

func readAnthropic(q *Request, body []byte) error {
	var b anthropicBody
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	q.Model, q.Streaming = b.Model, b.Stream
	for _, p := range b.System {
		q.Messages = append(q.Messages, Message{"system", p.Text})
	}
	for _, m := range b.Messages {
		for _, p := range m.Content {
			q.Messages = append(q.Messages, readPart(m.Role, p))
		}
	}
	for _, t := range b.Tools {
		q.Tools = append(q.Tools, t.Name)
		q.Schema = q.Schema || t.Name == structuredTool
	}
	return nil
}

func readPart(role string, p part) Message {
	switch p.Type {
	case "tool_result":
		return Message{"tool", readContent(p.Content)}
	case "tool_use":
		return Message{role, p.Name + " " + string(p.Input)}
	default:
		return Message{role, p.Text}
	}
}

// writeAnthropic writes an answer. As in the API, input_tokens does not include cached tokens.
func writeAnthropic(w *wire, q *Request, a answer) {
	usage := object{"input_tokens": a.usage.Input - a.usage.Cached, "cache_creation_input_tokens": 0,
		"cache_read_input_tokens": a.usage.Cached, "output_tokens": a.usage.Output}
	message := object{"id": id("msg"), "type": "message", "role": "assistant", "model": q.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage}
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}, "end_turn"
	if a.tool != "" {
		block = object{"type": "tool_use", "id": id("toolu"), "name": a.tool, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": string(a.input)}, "tool_use"
	}
	if w.step.Kind == decline {
		reason = "refusal"
	}
	if !q.Streaming {
		message["content"], message["stop_reason"] = []any{fillBlock(block, a)}, reason
		w.writeWhole(message)
		return
	}
	w.writeEvent("message_start", object{"type": "message_start", "message": message})
	w.writeEvent("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block})
	w.writeEvent("ping", object{"type": "ping"})
	w.writeEvent("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	w.cutHere()
	w.writeEvent("content_block_stop", object{"type": "content_block_stop", "index": 0})
	w.writeEvent("message_delta", object{
		"type":  "message_delta",
		"usage": usage,
		"delta": object{"stop_reason": reason, "stop_sequence": nil},
	})
	w.writeEvent("message_stop", object{"type": "message_stop"})
}

func fillBlock(block object, a answer) object {
	if a.tool != "" {
		block["input"] = a.input
	} else {
		block["text"] = a.text
	}
	return block
}

func refuseAnthropic(s Step) any {
	kind, text := "api_error", "Internal server error"
	switch s.Code {
	case 400:
		kind, text = "invalid_request_error", "modeltest: the body is not of this API"
	case 401:
		kind, text = "authentication_error", "invalid x-api-key"
	case 403:
		kind, text = "permission_error", "Your API key does not have permission to use the specified resource."
	case 404:
		kind, text = "not_found_error", "model: not found"
	case 429:
		kind, text = "rate_limit_error", "This request would exceed your account's rate limit. Please try again later."
	case 529:
		kind, text = "overloaded_error", "Overloaded"
	}
	return object{"type": "error", "error": object{"type": kind, "message": cmp.Or(s.Text, text)}, "request_id": "req_modeltest"}
}
