package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Message is a message of a request's conversation. Role is the same for every API: "tool" for the
// result of a tool, and "system", "user" or "assistant" for any other message.
type Message struct {
	Role string
	Text string
}

// findScript returns the last script in a user or system message, and the number of the assistant's
// turns after it. It skips tool results, because a program that a tool runs might print the prompt.
func (m *Model) findScript(q *Request) (s Script, turns int, found bool) {
	m.mu.Lock()
	think := m.think
	m.mu.Unlock()
	for i, said := range slices.Backward(q.Messages) {
		if said.Role != "system" && said.Role != "user" {
			continue
		}
		if s, found = lastScript(said.Text); !found && think != nil && said.Role == "user" {
			if s, found = think(q, said.Text); s.ID == "" {
				s.ID = string(encode(s))
			}
		}
		if found {
			return s, countTurns(q.Messages[i+1:]), true
		}
	}
	return Script{}, 0, false
}

// countTurns counts the assistant's turns. Consecutive assistant messages are one turn, because an
// agent may send one answer back as several messages.
func countTurns(messages []Message) int {
	turns, before := 0, ""
	for _, m := range messages {
		if m.Role == "assistant" && before != "assistant" {
			turns++
		}
		before = m.Role
	}
	return turns
}

// planTurn returns the step of a turn and the faults before it.
func (s Script) planTurn(turn int) (faults []Step, step Step) {
	n := 0
	for _, st := range s.Steps {
		switch {
		case st.isFault():
			faults = append(faults, st)
			continue
		case n == turn:
			return faults, st
		}
		n, step, faults = n+1, st, nil
	}
	switch {
	case len(faults) > 0:
		step = Say("The script ends with a fault that has passed.")
	case step.callsTool():
		step = Say("The script is over.")
	}
	return faults, step
}

// answer is a step, translated for the agent that sent the request.
type answer struct {
	text  string
	tool  string // name of the tool to call; "" if the answer is a text
	input json.RawMessage
	usage Usage
}

// answer translates a step into a text, or into a call of one of the request's tools. If a request
// has no tools, the answer is a single word in place of a call. For instance, a request for a title
// or a summary has no tools.
func (s Script) answer(step Step, q *Request) answer {
	a := answer{usage: DefaultUsage}
	switch {
	case step.Tokens != nil:
		a.usage = *step.Tokens
	case s.Usage != nil:
		a.usage = *s.Usage
	}
	switch step.Kind {
	case structured:
		a.reply(step.Input, q.Tools)
	case walk:
		a.reply(walkReply(q.Messages), q.Tools)
	case tool:
		a.tool, a.input = step.Name, step.Input
	case writeFile:
		a.tool, a.input = fileTool(q.Tools, step.Name, step.Text)
	case shell:
		a.tool, a.input = shellTool(q.Tools, step.Text)
	default:
		a.text = step.Text
	}
	switch {
	case step.callsTool() && len(q.Tools) == 0:
		a.tool, a.text = "", "Work"
	case step.callsTool() && a.tool == "":
		a.text = fmt.Sprintf("modeltest: none of the tools %q can do a step of kind %s", q.Tools, step.Kind)
	}
	return a
}

func (a *answer) reply(data json.RawMessage, tools []string) {
	if slices.Contains(tools, structuredTool) {
		a.tool, a.input = structuredTool, data
		return
	}
	a.text = string(data)
}

const structuredTool = "StructuredOutput"

// fileTool returns the call that writes a file. It uses the agent's tool for files, or a shell if
// the agent has no such tool.
func fileTool(tools []string, path, text string) (string, json.RawMessage) {
	for _, t := range []struct{ name, path string }{
		{"Write", "file_path"},
		{"write_file", "file_path"},
		{"write", "filePath"},
	} {
		if slices.Contains(tools, t.name) {
			return t.name, encode(map[string]string{t.path: path, "content": text})
		}
	}
	return shellTool(tools, "printf %s "+quote(text)+" > "+quote(path))
}

// shellTool returns the call that runs a command, or ("", nil) if no tool can do this.
func shellTool(tools []string, command string) (string, json.RawMessage) {
	for _, name := range []string{"Bash", "run_shell_command", "bash"} {
		if slices.Contains(tools, name) {
			return name, encode(map[string]string{"command": command, "description": "a step of the script"})
		}
	}
	switch {
	case slices.Contains(tools, "exec_command"):
		return "exec_command", encode(map[string]string{"cmd": command})
	case slices.Contains(tools, "shell_command"):
		return "shell_command", encode(map[string]string{"command": command})
	case slices.Contains(tools, "shell"):
		return "shell", encode(map[string][]string{"command": {"sh", "-c", command}})
	default:
		return "", nil
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
