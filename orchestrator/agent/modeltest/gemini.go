package modeltest

import (
	"encoding/json"
	"strings"
)

// gemini is the API of generateContent.
var gemini = dialect{"gemini", readGemini, writeGemini, refuseGemini}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
		Call *struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

type geminiBody struct {
	System   geminiContent   `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Type string `json:"responseMimeType"`
	} `json:"generationConfig"`
}

func readGemini(q *Request, body []byte) error {
	var b geminiBody
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	_, model, _ := strings.Cut(q.Path, "/models/")
	q.Model, _, _ = strings.Cut(model, ":")
	q.Streaming = strings.HasSuffix(q.Path, ":streamGenerateContent")
	q.Schema = b.Config.Type == "application/json"
	b.System.Role = "system"
	q.Messages = b.System.messages(q.Messages)
	for _, c := range b.Contents {
		q.Messages = c.messages(q.Messages)
	}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			q.Tools = append(q.Tools, f.Name)
		}
	}
	return nil
}

func (c geminiContent) messages(to []Message) []Message {
	role := c.Role
	if role == "model" {
		role = "assistant"
	}
	for _, p := range c.Parts {
		switch {
		case p.Call != nil:
			to = append(to, Message{role, p.Call.Name + " " + string(p.Call.Args)})
		case p.Response != nil:
			to = append(to, Message{"tool", string(p.Response.Response)})
		default:
			to = append(to, Message{role, p.Text})
		}
	}
	return to
}

func writeGemini(w *wire, q *Request, a answer) {
	usage := object{"promptTokenCount": a.usage.Input, "cachedContentTokenCount": a.usage.Cached,
		"candidatesTokenCount": a.usage.Output, "totalTokenCount": a.usage.Input + a.usage.Output}
	part := object{"text": a.text}
	if a.tool != "" {
		part = object{"functionCall": object{"name": a.tool, "args": a.input}}
	}
	chunk := func(part object) object {
		return object{"modelVersion": q.Model, "responseId": "modeltest",
			"candidates": []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}}}
	}
	finish := func(chunk object) object {
		chunk["candidates"].([]any)[0].(object)["finishReason"] = "STOP"
		chunk["usageMetadata"] = usage
		return chunk
	}
	if !q.Streaming {
		w.writeWhole(finish(chunk(part)))
		return
	}
	// A call is sent whole, in the last chunk, so only a text can be cut.
	if w.step.Kind == stall || w.step.Kind == cut {
		w.writeEvent("", chunk(part))
		w.cutHere()
	}
	w.writeEvent("", finish(chunk(part)))
}

func refuseGemini(s Step) any {
	text, state := "An internal error has occurred.", "INTERNAL"
	switch s.Code {
	case 400:
		text, state = "modeltest: the body is not of this API", "INVALID_ARGUMENT"
	case 401:
		text, state = "API key not valid. Please pass a valid API key.", "UNAUTHENTICATED"
	case 429:
		text, state = "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED"
	case 503, 529:
		text, state = "The model is overloaded. Please try again later.", "UNAVAILABLE"
	}
	return object{"error": object{"code": s.Code, "message": text, "status": state}}
}
