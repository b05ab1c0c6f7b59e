package board

import (
	"os"
	"testing"
)

// TestSetMark: the two fields get the text that they had, and all other bytes stay.
func TestSetMark(t *testing.T) {
	for _, c := range []struct{ name, file, before, after, want string }{
		{"a field that was added", "t.md", "---\nrole: A\n---\nx\n", "---\nrole: A\nstatus: done\n---\nx\n", "---\nrole: A\n---\nx\n"},
		{"a value", "t.md", "---\nstatus: open # c\n---\n", "---\nstatus: done # c\n---\n", "---\nstatus: open # c\n---\n"},
		{"a quoted value", "t.md", "---\nstate: \"to do\"\n---\n", "---\nstate: done\nx: 1\n---\n", "---\nstate: \"to do\"\nx: 1\n---\n"},
		{"the other field", "t.md", "---\nstatus: open\n---\n", "---\nstate: done\nstatus: open\n---\n", "---\nstatus: open\n---\n"},
		{"both fields", "t.md", "---\nrole: A\n---\n", "---\nstate: x\nrole: A\nstatus: done\n---\n", "---\nrole: A\n---\n"},
		{"a field that was removed", "t.md", "---\nrole: A\nstatus: done\n---\nx\n", "---\nrole: A\n---\nx, too\n", "---\nrole: A\nstatus: done\n---\nx, too\n"},
		{"a header that was removed", "t.md", "---\nstatus: done\n---\nx\n", "x\n", "---\nstatus: done\n---\nx\n"},
		{"no header before", "t.md", "x\n", "---\nstatus: done\n---\nx\n", "---\nstatus: null\n---\nx\n"},
		{"line ends", "t.md", "\ufeff---\r\nrole: A\r\n---\r\n", "\ufeff---\r\nrole: A\r\nstatus: done\r\n---\r\n", "\ufeff---\r\nrole: A\r\n---\r\n"},
		{"braces", "t.md", "---\n{role: A}\n---\n", "---\n{role: A, status: done}\n---\n", "---\n{role: A}\n---\n"},
		{"YAML", "t.yaml", "role: A\nstatus: open\n", "role: A\nstatus: done\nx: 1\n", "role: A\nstatus: open\nx: 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := writeTask(t, c.file, c.before)
			task, err := p.ReadTask(c.file)
			if err != nil {
				t.Fatal(err)
			}
			was := task.Mark
			if err := os.WriteFile(task.Ref.Abs, []byte(c.after), 0o600); err != nil {
				t.Fatal(err)
			}
			before, err := p.SetMark(c.file, was)
			if err != nil || string(before) != c.after {
				t.Errorf("SetMark = %q, %v, want the bytes before", before, err)
			}
			if got, err := os.ReadFile(task.Ref.Abs); err != nil || string(got) != c.want {
				t.Errorf("the file is %q, %v, want %q", got, err, c.want)
			}
			if task, err := p.ReadTask(c.file); err != nil || task.Done() != was.Done {
				t.Errorf("ReadTask = %+v, %v, want done %t", task, err, was.Done)
			}
			if before, err := p.SetMark(c.file, was); before != nil || err != nil {
				t.Errorf("SetMark again = %q, %v, want nothing to do", before, err)
			}
		})
	}
}
