package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/journal"
)

// forge [-next] [-again] [-beside] JOURNAL KIND TASK DATA: writes a record that no run would
// write, with a right checksum. It is of the last epoch, or with -next of the next one; with
// -again it makes the revision of the last record again. -beside writes as a program does that
// knows of no lock, while a run is at work, -unknown as one does that knows another kind, and
// -needs N as one does whose record needs form N of the journal.
func forge(ts *testscript.TestScript, _ bool, args []string) {
	flags := flag.NewFlagSet("forge", flag.ContinueOnError)
	next := flags.Bool("next", false, "")
	again := flags.Bool("again", false, "")
	beside := flags.Bool("beside", false, "")
	unknown := flags.Bool("unknown", false, "")
	needs := flags.Int("needs", 0, "")
	ts.Check(flags.Parse(args))
	path := ts.MkAbs(flags.Arg(0))
	target := path
	if *beside {
		target = filepath.Join(ts.MkAbs("."), "forged.jsonl")
		ts.Check(os.WriteFile(target, []byte(ts.ReadFile(flags.Arg(0))), 0o600))
	}
	var before int64
	if info, err := os.Stat(path); err == nil {
		before = info.Size()
	}
	var rev uint64
	j, err := journal.Open(target, time.Now, func(r journal.Record) error { rev = r.Rev; return nil })
	ts.Check(err)
	begin := j.ContinueEpoch
	if *next {
		begin = j.BeginEpoch
	}
	_, err = begin()
	ts.Check(err)
	if !*again {
		rev++
	}
	draft := journal.Draft{Type: flags.Arg(1), TaskID: flags.Arg(2), Rev: rev, Actor: "kanban-run", Needs: *needs, Data: json.RawMessage(flags.Arg(3))}
	if !*unknown {
		e, err := event.Decode(draft.Type, draft.Data)
		ts.Check(err)
		draft.Actor = event.Actor(e)
	}
	_, err = j.Append(draft)
	ts.Check(err)
	ts.Check(j.Commit())
	ts.Check(j.Close())
	if *beside {
		appendBytes(ts, path, target, before)
	}
}

func appendBytes(ts *testscript.TestScript, path, forged string, from int64) {
	text, err := os.ReadFile(forged)
	ts.Check(err)
	ts.Check(os.Remove(forged))
	ts.Check(os.Remove(forged + ".head"))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	ts.Check(err)
	_, err = f.Write(text[from:])
	ts.Check(err)
	ts.Check(f.Close())
}
