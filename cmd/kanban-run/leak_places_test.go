//go:build linux

package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// leakPlace is where an agent says or leaves a secret. The last act of a call says what is on
// standard output and how the agent ends.
type leakPlace struct {
	name string
	last bool
	do   func(c *leakCall, a leakAct)
}

func leakPlaces() []leakPlace {
	return slices.Concat(streams(), boards(), replies(), endings())
}

// streams are places beside the reply.
func streams() []leakPlace {
	return []leakPlace{
		{"a line of stderr", false, func(c *leakCall, a leakAct) { c.stderr("the token is ", c.said(a), "\n", a.cut) }},
		{"no line of stderr", false, func(c *leakCall, a leakAct) { c.stderr("", c.said(a), "", a.cut) }},
		{"a dump of variables on stderr", false, func(c *leakCall, a leakAct) {
			c.stderr("+ env\nHOME=/root\nDEPLOY_TOKEN=", c.said(a), "\nLANG=C\n", a.cut)
		}},
		{"a tool's output on stderr", false, func(c *leakCall, a leakAct) {
			c.stderr("> Authorization: Bearer ", c.said(a), "\r\n> Accept: */*\r\n{\"type\":\"tool_result\",\"content\":\"", a.cut)
		}},
		{"in the middle of a huge line of stderr", false, func(c *leakCall, a leakAct) {
			c.stderr(strings.Repeat("0123456789 ", 14_000), c.said(a), strings.Repeat(" 9876543210", 14_000)+"\n", a.cut)
		}},
		{"where the last lines of stderr begin", false, func(c *leakCall, a leakAct) {
			said := c.said(a)
			c.stderr(strings.Repeat("x", 3000), said, strings.Repeat("y", max(2048-int(a.cut)%(len(said)+8), 0)), 0)
		}},
		{"a look at the run's files", false, func(c *leakCall, a leakAct) {
			c.line(`cp -R .kanban-run "$D/../seen/%d" 2>/dev/null`, c.n)
		}},
	}
}

// boards are places in the project. Most stop the board.
func boards() []leakPlace {
	return []leakPlace{
		{"a file's name", false, func(c *leakCall, a leakAct) { c.make(c.said(a)) }},
		{"another field of the board", false, func(c *leakCall, a leakAct) {
			c.board(leakBoard + "note: " + yamlScalar(c.said(a)) + "\n")
		}},
		{"current on the board", false, func(c *leakCall, a leakAct) {
			said := c.said(a)
			c.make(said)
			c.board("current: " + yamlScalar(said) + "\ntasks: " + leakTasks + "\n")
		}},
		{"a task on the board", false, func(c *leakCall, a leakAct) {
			c.board("current: tasks/1.md\ntasks:\n  - " + yamlScalar("tasks/"+c.said(a)) + "\n")
		}},
		{"phase on the board", false, func(c *leakCall, a leakAct) { c.board(leakBoard + "phase: " + yamlScalar(c.said(a)) + "\n") }},
		{"a broken board", false, func(c *leakCall, a leakAct) { c.board("current: tasks/1.md\nnote: " + c.said(a) + ": [\n") }},
		{"a key of the board, twice", false, func(c *leakCall, a leakAct) {
			key := yamlScalar(c.said(a))
			c.board(leakBoard + key + ": 1\n" + key + ": 2\n")
		}},
		{"a task's role", false, func(c *leakCall, a leakAct) {
			c.line("cat %s >tasks/2.md", c.file("---\nrole: "+yamlScalar(c.said(a))+"\n---\n"))
		}},
	}
}

// replies are places in it.
func replies() []leakPlace {
	one := func(name string, reply string, inside func(c *leakCall, a leakAct) string) leakPlace {
		return leakPlace{name, true, func(c *leakCall, a leakAct) {
			c.around(strings.ReplaceAll(reply, "NEXT", c.next()), inside(c, a), a.cut)
		}}
	}
	quoted := func(c *leakCall, a leakAct) string { return exactJSON(c.said(a)) }
	bare := func(c *leakCall, a leakAct) string { return c.said(a) }
	return []leakPlace{
		one("message", leakReply(`"ok"`, `"it is MARK now"`, "NEXT", leakTasks), quoted),
		one("message, not escaped", leakReply(`"ok"`, `"MARK"`, "NEXT", leakTasks), bare),
		one("message, all escaped", leakReply(`"ok"`, `"MARK"`, "NEXT", leakTasks), func(c *leakCall, a leakAct) string {
			secret := c.secrets[a.form&1].value
			if !utf8.ValidString(secret) {
				return secret
			}
			return jsonUnits(secret)
		}),
		one("message of one who is blocked", leakReply(`"blocked"`, `"MARK"`, "NEXT", leakTasks), quoted),
		one("message of one who escalates", leakReply(`"escalate"`, `"MARK"`, "NEXT", leakTasks), quoted),
		one("a huge message", leakReply(`"ok"`, `"`+strings.Repeat("text ", 30_000)+`MARK`+strings.Repeat(" text", 30_000)+`"`, "NEXT", leakTasks), quoted),
		one("next_task", leakReply(`"ok"`, `""`, `"MARK"`, leakTasks), quoted),
		one("tasks", leakReply(`"ok"`, `""`, "NEXT", `["tasks/1.md","tasks/2.md","tasks/3.md","tasks/MARK"]`), quoted),
		one("tasks, one a line", leakReply(`"ok"`, `""`, "NEXT", "[\n\"tasks/1.md\",\n\"tasks/2.md\",\n\"MARK\"\n]"), quoted),
		one("status", leakReply(`"MARK"`, `""`, "NEXT", leakTasks), quoted),
		one("other fields", `{"status":"ok","message":"","next_task":NEXT,"tasks":`+leakTasks+`,"x":{"y":["MARK"]}}`, quoted),
		one("a key", `{"MARK":1,"status":"ok","message":"","next_task":NEXT,"tasks":`+leakTasks+`}`, quoted),
		{"a key, twice", true, func(c *leakCall, a leakAct) {
			said := exactJSON(c.said(a))
			c.stdout(`{"`+said+`":1,"`, said, `":2,"status":"ok","message":""}`, a.cut)
		}},
		one("a reply in a fence", "```json\n"+leakReply(`"ok"`, `"MARK"`, "NEXT", leakTasks)+"\n```", quoted),
		one("before the reply", "MARK\n"+leakReply(`"ok"`, `""`, "NEXT", leakTasks), bare),
		one("behind the reply", leakReply(`"ok"`, `""`, "NEXT", leakTasks)+"\nMARK", bare),
	}
}

// endings are replies that are none.
func endings() []leakPlace {
	return []leakPlace{
		{"garbage", true, func(c *leakCall, a leakAct) { c.stdout("", c.said(a), "\n", a.cut) }},
		{"garbage that looks like a reply", true, func(c *leakCall, a leakAct) { c.stdout(`{"status":"ok","message":`, c.said(a), "}\n", a.cut) }},
		{"many lines", true, func(c *leakCall, a leakAct) {
			c.stdout(strings.Repeat("reading a file\n", 9)+"DEPLOY_TOKEN=", c.said(a), "\n"+strings.Repeat("thinking\n", 9), a.cut)
		}},
		{"in the middle of a huge line", true, func(c *leakCall, a leakAct) {
			c.stdout(strings.Repeat("0123456789 ", 14_000), c.said(a), strings.Repeat(" 9876543210", 14_000), a.cut)
		}},
		{"where an excerpt ends", true, func(c *leakCall, a leakAct) {
			said := c.said(a)
			c.stdout(strings.Repeat("x", 4096-int(a.cut)%(len(said)+8)), said, strings.Repeat("y", 3000), 0)
		}},
		{"half a reply", true, func(c *leakCall, a leakAct) { c.stdout(`{"status":"ok","message":"`, exactJSON(c.said(a)), "", a.cut) }},
		{"a list", true, func(c *leakCall, a leakAct) { c.stdout(`["`, exactJSON(c.said(a)), `"]`, a.cut) }},
		{"a failure", true, func(c *leakCall, a leakAct) {
			c.stderr("fatal: cannot log in with ", c.said(a), "\n", a.cut)
			c.line("exit 3")
		}},
		{"a reply and a failure", true, func(c *leakCall, a leakAct) {
			c.around(leakReply(`"ok"`, `"MARK"`, "null", leakTasks), exactJSON(c.said(a)), a.cut)
			c.line("exit 1")
		}},
		{"a signal", true, func(c *leakCall, a leakAct) {
			c.stdout("", c.said(a), "", a.cut)
			c.line("kill -9 $$")
		}},
		{"no end", true, func(c *leakCall, a leakAct) {
			c.stdout("", c.said(a), "", a.cut)
			if c.says(leakShort) {
				c.line("exec sleep 20")
			}
		}},
		{"more than is read", true, func(c *leakCall, a leakAct) {
			said := c.said(a)
			c.stdout(strings.Repeat("z", leakMaxOutput-int(a.cut)%(len(said)+8)), said, strings.Repeat("z", 100), 0)
			c.line("sleep 0.02")
		}},
	}
}

const (
	leakBoard     = "current: tasks/1.md\ntasks: " + leakTasks + "\n"
	leakMaxOutput = 16 << 10
)

// exactJSON is the body of a JSON string, or the text itself when JSON would lose bytes of it.
func exactJSON(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	return jsonBody(s)
}

// yamlScalar writes a text so that a board can hold it, if one can: in flow
// style YAML and JSON agree.
func yamlScalar(s string) string { return `"` + exactJSON(s) + `"` }
