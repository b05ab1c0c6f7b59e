package agent

import "bytes"

// Ask returns the prompt of a call: the input, or the text of Follow, and then the form of the
// reply. The prompt is the same in every attempt. Source: seed 004, "Input Specification
// (Supervisor → Agent)".
func (a Assignment) Ask() []byte {
	var b bytes.Buffer
	if a.Follow != nil {
		b.WriteString(a.Follow.Text)
	} else {
		b.WriteString("Your input:\n\n")
		b.Write(a.Input)
	}
	if form := a.Contract.ReplyForm(); form != "" {
		b.WriteString("\n\n" + form)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// AskWithRole returns the role's prompt followed by the prompt of [Assignment.Ask], for a tool that
// takes no system prompt.
func (a Assignment) AskWithRole() []byte {
	if a.Prompt == "" {
		return a.Ask()
	}
	return append([]byte(a.Prompt+"\n\n"), a.Ask()...)
}
