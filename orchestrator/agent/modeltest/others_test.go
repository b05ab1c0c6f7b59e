package modeltest_test

import (
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
)

// other describes a program whose runs differ in the words only.
type other struct {
	args   []string
	reply  func(output) any // the last text
	done   func(output) any // the mark of the end
	fine   any
	failed func(output) any // the mark of a failure
	code   int              // after a 401
}

func others() map[string]other {
	part := func(kind, key string) func(output) any {
		return func(s output) any { return lookUp(s.lastLine(kind, ""), "part", key) }
	}
	return map[string]other{
		"gemini": {
			args:   []string{"-m", "gemini-2.5-flash", "--yolo", "-o", "stream-json"},
			reply:  func(s output) any { return s.lastLine("message", "")["content"] },
			done:   func(s output) any { return s.lastLine("result", "")["status"] },
			fine:   "success",
			failed: func(s output) any { return s.lastLine("result", "")["status"] == "error" },
			code:   401 % 256,
		},
		"opencode": {
			args:   []string{"run", "--format", "json", "--auto"},
			reply:  part("text", "text"),
			done:   part("step_finish", "reason"),
			fine:   "stop",
			failed: func(s output) any { return lookUp(s.lastLine("error", ""), "error", "data", "statusCode") == 401.0 },
			code:   1,
		},
	}
}

func TestOthers(t *testing.T) {
	for name, o := range others() {
		t.Run(name+" text", func(t *testing.T) {
			c := start(t, name)
			r := c.run(t, modeltest.Play(modeltest.Say("All done.")), o.args...)
			want(t, r, "exit code", r.code, 0, "reply", o.reply(r), "All done.", "done", o.done(r), o.fine)
			c.wantKnown(t)
		})
		t.Run(name+" tools", func(t *testing.T) {
			c := start(t, name)
			r := c.run(t, modeltest.Play(modeltest.WriteFile(filepath.Join(c.dir, "out.txt"), "hello\n"),
				modeltest.Shell("cp out.txt b.txt"), modeltest.Say("Written.")), o.args...)
			want(t, r, "exit code", r.code, 0, "reply", o.reply(r), "Written.", "done", o.done(r), o.fine,
				"tools", r.count("tool_use", ""), 2)
			c.wantFile(t, "out.txt", "hello\n")
			c.wantFile(t, "b.txt", "hello\n")
		})
		t.Run(name+" 401", func(t *testing.T) {
			c := start(t, name)
			r := c.run(t, modeltest.Play(modeltest.Status(401), modeltest.Say("x")), o.args...)
			want(t, r, "exit code", r.code, o.code, "failed", o.failed(r), true)
		})
	}
}
