//go:build linux

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// leakSecret is a value that is registered with the runner.
type leakSecret struct{ name, value, salt string }

// newLeakSecret makes a secret of a fuzzer's bytes. The salt is in it so that it is no
// word of the program's own, and between any two characters, so that the value may
// begin and end with anything.
func newLeakSecret(name string, raw []byte, salt string, at byte) leakSecret {
	raw = bytes.ReplaceAll(raw[:min(len(raw), 54)], []byte{0}, nil)
	cut := int(at) % (len(raw) + 1)
	for cut < len(raw) && !utf8.RuneStart(raw[cut]) {
		cut++
	}
	return leakSecret{name, string(raw[:cut]) + salt + string(raw[cut:]), salt}
}

// The fuzzer's script: a header, and then acts. Acts with a last word end a call of the agent.
const (
	leakHeader = 5
	leakActLen = 3
)

// The bits of the header's first two bytes. Those of the third are questions that are not asked.
const (
	leakJob   byte = 3 // the first two are a number: plain, --json, -q, or plain in a CI job
	leakKeep  byte = 1 << (iota + 1)
	leakShort      // timeout
	leakBound      // max_output
	leakOther      // on_divergence, and the secret of the settings is an agent's variable
	leakDryRun
	leakOnce
)

const (
	leakOnBoard byte = 1 << iota // the board holds a secret from the beginning
	leakInCommand
	leakInRole
	leakInSettings
	leakInInstruction
	leakInNote
	leakNoRetries
	leakNested // the one secret is a part of the other
)

// leakScript is what the agent does, call by call, and what the runner is told.
type leakScript struct {
	secrets  [2]leakSecret
	how, in  byte
	unasked  byte
	acts     []leakAct
	shell    strings.Builder
	chunks   map[string]string // the files that the shell script prints
	names    []string          // of files that agents make
	splits   bool              // an agent may be ended when it has said a part of a secret
	told     []string
	numCalls int
}

// leakAct is what an agent does: what, with which secret in which form, and
// where it is cut into writes.
type leakAct struct{ place, form, cut byte }

func newLeakScript(variable, setting, script []byte) *leakScript {
	for len(script) < leakHeader {
		script = append(script, 0)
	}
	s := &leakScript{how: script[0], in: script[1], unasked: script[2], chunks: map[string]string{}}
	s.secrets[0] = newLeakSecret("DEPLOY_TOKEN", variable, "kQvXjZ", script[3])
	setting = bytes.ToValidUTF8(setting, nil)
	s.secrets[1] = newLeakSecret("setting", setting, "WzGpYq", script[4])
	if s.has(leakNested) {
		s.secrets[1].value = strings.ToValidUTF8(s.secrets[0].value, "") + s.secrets[1].value
	}
	for script = script[leakHeader:]; len(script) >= leakActLen && len(s.acts) < 60; script = script[leakActLen:] {
		s.acts = append(s.acts, leakAct{script[0], script[1], script[2]})
	}
	cut := slices.ContainsFunc(s.acts, func(a leakAct) bool { return a.cut&3 != 0 })
	s.splits = s.says(leakShort) || s.says(leakBound) && cut
	s.write()
	return s
}

// usable says whether a settings file can hold the one secret, where $ begins a name; the other
// can be a variable whatever it is.
func (s *leakScript) usable() bool {
	text := s.secrets[1].value
	data, err := yaml.Marshal([]string{text})
	var back []string
	return err == nil && text[0] != '$' && yaml.Unmarshal(data, &back) == nil && len(back) == 1 && back[0] == text && !bytes.Contains(data, []byte("!!"))
}

func (s *leakScript) says(flag byte) bool { return s.how&flag != 0 }
func (s *leakScript) has(flag byte) bool  { return s.in&flag != 0 }

// said is a secret as an act prints it. One form more than there are is all of them.
func (s *leakScript) said(a leakAct) string {
	secret := s.secrets[a.form&1]
	forms := formsOf(secret.value)
	if k := int(a.form >> 1); k < len(forms) {
		s.tell("%s as %q", secret.name, forms[k].name)
		return forms[k].say(secret.value)
	}
	s.tell("%s in all forms", secret.name)
	var all []string
	for _, form := range forms {
		all = append(all, form.say(secret.value))
	}
	return strings.Join(all, " ; ")
}

func (s *leakScript) tell(format string, args ...any) {
	s.told[len(s.told)-1] += " " + fmt.Sprintf(format, args...)
}

// write makes the agent's shell script: a case for each call. Behind the last, every
// call is a good Manager's that ends the board. It uses few programs, because each
// costs more than all the rest.
func (s *leakScript) write() {
	s.shell.WriteString("#!/bin/sh\nread -r input || :\nD=${0%/*} n=1\nwhile [ -e \"$D/call-$n\" ]; do n=$((n+1)); done\n: >\"$D/call-$n\"\ncase $n in\n")
	places := leakPlaces()
	c := s.call()
	for _, a := range s.acts {
		p := places[int(a.place)%len(places)]
		s.told = append(s.told, fmt.Sprintf("call %d, %s:", c.n, p.name))
		p.do(c, a)
		if p.last {
			c.end()
			c = s.call()
		}
	}
	c.reply(`"ok"`, `"as it should be"`)
	c.end()
	fmt.Fprintf(&s.shell, "*) echo '%s' ;;\nesac\n", leakReply(`"ok"`, `"the end"`, "null", leakTasks))
}

func (s *leakScript) call() *leakCall {
	s.numCalls++
	fmt.Fprintf(&s.shell, "%d)\n", s.numCalls)
	return &leakCall{leakScript: s, n: s.numCalls}
}

// leakCall is one call of the agent as it is written down.
type leakCall struct {
	*leakScript
	n, files int
}

func (c *leakCall) end() { c.shell.WriteString(";;\n") }

func (c *leakCall) line(format string, args ...any) { fmt.Fprintf(&c.shell, format+"\n", args...) }

// file puts bytes aside for the shell script, and returns their name in it.
func (c *leakCall) file(text string) string {
	c.files++
	name := fmt.Sprintf("bytes-%d-%d", c.n, c.files)
	c.chunks[name] = text
	return `"$D/` + name + `"`
}

// print writes to standard output, or to standard error, with a write for each of up to four
// pieces; all cuts are in secret.
func (c *leakCall) print(to, before, secret, after string, cut byte) {
	text, from := before+secret+after, 0
	for k := range int(cut & 3) {
		at := len(before) + int(cut>>3)*(k+1)%(len(secret)+1)
		if at <= from {
			continue
		}
		c.line("cat %s%s", c.file(text[from:at]), to)
		if cut&4 != 0 {
			c.line("sleep 0.01")
		}
		from = at
	}
	c.line("cat %s%s", c.file(text[from:]), to)
}

func (c *leakCall) stderr(before, secret, after string, cut byte) {
	c.print(" >&2", before, secret, after, cut)
}

// stdout prints and leaves.
func (c *leakCall) stdout(before, secret, after string, cut byte) {
	c.print("", before, secret, after, cut)
}

const leakTasks = `["tasks/1.md","tasks/2.md","tasks/3.md"]`

// leakReply is a reply that suits a Manager and a task agent alike; its parts are JSON.
func leakReply(status, message, next, tasks string) string {
	return fmt.Sprintf(`{"status":%s,"message":%s,"next_task":%s,"tasks":%s}`, status, message, next, tasks)
}

// next is the task that a call names.
func (c *leakCall) next() string { return fmt.Sprintf(`"tasks/%d.md"`, c.n%3+1) }

func (c *leakCall) reply(status, message string) {
	c.stdout(leakReply(status, message, c.next(), leakTasks)+"\n", "", "", 0)
}

// around prints a reply with the secret where MARK stands in it.
func (c *leakCall) around(reply, secret string, cut byte) {
	before, after, _ := strings.Cut(reply, "MARK")
	c.stdout(before, secret, after+"\n", cut)
}

// board replaces the board.
func (c *leakCall) board(text string) {
	c.line(": >\"$D/wrote\"; cat %s >kanban.yaml", c.file(text))
}

// make makes an empty file in the work directory, if it can have such a name.
func (c *leakCall) make(name string) {
	if name == "" || len(name) > 200 || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." || name[0] == '-' {
		return
	}
	c.names = append(c.names, name)
	c.line(": 2>/dev/null >'%s'", strings.ReplaceAll(name, "'", `'\''`))
}
