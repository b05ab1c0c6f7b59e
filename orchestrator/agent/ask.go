package agent

import "bytes"

// Ask is what an agent that is spoken to in words is told: the input, and the form of its reply. It is
// the same in every attempt. Source: seed 004, "Input Specification (Supervisor → Agent)".
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

// AskWithRole is Ask with the role's prompt before it, for a tool that has no place of its own for one.
func (a Assignment) AskWithRole() []byte {
	if a.Prompt == "" {
		return a.Ask()
	}
	return append([]byte(a.Prompt+"\n\n"), a.Ask()...)
}
