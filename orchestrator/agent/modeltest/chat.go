package modeltest

import "encoding/json"

// chat is the Chat Completions API.
var chat = dialect{"chat", readChat, writeChat, refuseOpenAI}

type chatBody struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
		Calls   []struct {
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools  []openAITool `json:"tools"`
	Format struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

func readChat(q *Request, body []byte) error {
	var b chatBody
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	q.Model, q.Streaming, q.Schema = b.Model, b.Stream, b.Format.Type == "json_schema"
	for _, t := range b.Tools {
		q.Tools = append(q.Tools, t.name())
	}
	for _, m := range b.Messages {
		text := m.Content.text()
		for _, c := range m.Calls {
			text += c.Function.Name + " " + c.Function.Arguments
		}
		if m.Role == "developer" {
			m.Role = "system"
		}
		q.Messages = append(q.Messages, Message{m.Role, text})
	}
	return nil
}

func writeChat(w *wire, q *Request, a answer) {
	usage := object{
		"prompt_tokens":         a.usage.Input,
		"completion_tokens":     a.usage.Output,
		"total_tokens":          a.usage.Input + a.usage.Output,
		"prompt_tokens_details": object{"cached_tokens": a.usage.Cached},
	}
	delta, reason := object{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		call := object{
			"index":    0,
			"id":       id("call"),
			"type":     "function",
			"function": object{"name": a.tool, "arguments": string(a.input)},
		}
		delta, reason = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	name := id("chatcmpl")
	if !q.Streaming {
		w.writeWhole(object{"id": name, "object": "chat.completion", "model": q.Model, "usage": usage,
			"choices": []any{object{"index": 0, "message": delta, "finish_reason": reason}}})
		return
	}
	chunk := func(choices ...any) object {
		return object{
			"id":      name,
			"object":  "chat.completion.chunk",
			"created": 1,
			"model":   q.Model,
			"choices": append([]any{}, choices...),
		}
	}
	w.writeEvent("", chunk(object{
		"index":         0,
		"delta":         object{"role": "assistant", "content": ""},
		"finish_reason": nil,
	}))
	w.writeEvent("", chunk(object{"index": 0, "delta": delta, "finish_reason": nil}))
	w.cutHere()
	w.writeEvent("", chunk(object{"index": 0, "delta": object{}, "finish_reason": reason}))
	last := chunk()
	last["usage"] = usage
	w.writeEvent("", last)
	w.writeRaw("data: [DONE]\n\n")
}
