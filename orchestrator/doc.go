// Package orchestrator runs boards: it performs what package flow decides and journals what
// happened. This page is the architecture of kanban-run.
//
// # The one idea
//
// Decide, journal, act. [flow.State] is a fold over the events of a board's journal (package event
// has every kind of event). [flow.Next] looks at this state and at the board, and names one effect,
// mostly Spawn, Walk, WriteBoard or Finish. The run journals the intent, acts, journals the outcome
// and applies both to the state. After a crash the same fold over the same journal gives the same
// state. If the journal has an intent without its outcome, the run starts the act again.
//
//	read board ─► flow.Next ─► Spawn      ─► journal intent ─► attempt ─► judge reply ─► journal outcome ─┐
//	    ▲                  ├─► Walk       ─► walk.Decide ─► journal the decision ─► workspace.Save ───────┤
//	    │                  ├─► WriteBoard ─► journal intent ─► workspace.Save ─────────► journal outcome ─┤
//	    │                  └─► Finish     ─► journal, leave                                               │
//	    └─────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Every program that is started is a Spawn of its own: an agent's work, the reviews of it by a
// command and by a supervisor (seed 003), the Manager. If package walk plays the Manager, no
// program is started. At the effect Walk, package walk decides. The run journals this decision and
// writes it to the board.
//
// The calls of a step follow each other like this; a rejected reply repeats its own call:
//
//	        ┌── not content: the work goes on, in its session where it has one ──┐
//	        ▼                                                                    │
//	start ─ task ─ accepted ─► command ─ content ─► review (fork of the session) ┴─ content ─► manager ─► board
//	        ▲   └── accepted, and the role asks for no review ────────────────────────────────────▲
//	        └── the tool has lost the session (of a review, or of work that goes on)
//
// Between two steps, and after the last one, the resident supervisor looks in (seed 001). That is a
// step of its own. It begins with the call "ready" if the supervisor has no memory of the board:
//
//	finished tasks ─► a checkpoint is due ─► [ready ─►] checkpoint ─► verdict ─► the next task
//	                                            ▲          │  └─────► block ─► a person, the Manager, the end, or on
//	                                            └──────────┘ its program died, or its session is lost
//
// A task whose work goes round in circles is put into quarantine between two steps, or between
// work and review (SuspectLoop); the Manager is told, and names another task (seed 002, "Review
// Loop").
//
// # The states of an attempt
//
//	due ── ATTEMPT_STARTED, synced ──► running ──► accepted   REPLY_ACCEPTED, REVIEW_HELD: the next call is due
//	 ▲                                    │  ├───► rejected   REPLY_REJECTED: due again, MaxRetries times
//	 │                                    │  └───► stopped    ATTEMPT_STOPPED: due again, and no retry is spent
//	 └── stopped by the next run ◄────────┴─ the run died: its processes are found by mark, and ended first
//
// An attempt that follows a stopped attempt goes on in the same session if the agent's tool knows
// that session.
//
// The diagram shows the way of one attempt through the packages, as in loop.spawn. Each kind of
// call has its own file in package call, with the method Prepare for the input of an attempt and
// the method Settle for its end:
//
//	flow.Spawn ─► claim.Holder.Take ─► Caller.Prepare ─► Ledger.Record ─► Caller.Start ─► loop.waitForAgent
//	                                    └ Kind.Prepare                                     │   └ watch.Watch
//	the journal ◄─ event.Event ◄─ Kind.Settle ◄─ Caller.Settle ◄─ attempt.Ended ◄──────────┘
//
// What a turn must not change is looked at around it, by the guards of one list (package guard). Before the
// intent each of them looks, and may refuse the turn; behind the end each looks again, puts back and
// journals; after a kill the next run compares with the note of the turn, whose SHA-256 the intent has.
// Programs that work for us at the end of a run have a turn, too.
//
// # Packages
//
// An arrow points to an import; deps_test.go holds all of them, with a reason for each. There is no
// cycle, and the core knows no screen: a [ledger.Observer] gets each event after its commit. A
// package that does a part of a run gets a Turn. The Turn holds the parts of the run that the
// package uses, mostly as small interfaces.
//
//	cmd/kanban-run ─► everything
//	orchestrator   ─► call ─► briefing                   loop.go, step.go, board.go: the loop
//	orchestrator   ─► run, preflight, result, journal    batch.go, open.go, end.go: a run from start to end
//	orchestrator   ─► pool ─► claim, health, inbox       what the boards of one command share
//	orchestrator   ─► watch, supervisor                  an agent at work, and the supervisor that looks in
//	orchestrator   ─► claim, decisions, gitstore         before and after a step
//	orchestrator   ─► guard ─► turns                     the guards of a turn, before and after an attempt
//	orchestrator   ─► divergence ─► marks, guard         one of them
//	orchestrator   ─► trust ─► roster, asked, guard      one of them
//	orchestrator   ─► clone ─► gitstore, guard, workspace, roster            one of them: a clone for the agents of a board
//	kanban-run land ─► land ─► gitstore, clone      the work of a complete board comes into a branch
//	run            ─► preflight ─► inspect ─► ledger, workspace, projection
//	call, supervisor ─► briefing ─► contract, board, projection, rundir
//	call, supervisor, watch ─► attempt, roster ─► agent ─► contract ─► event, schema
//	watch, attempt ─► health ─► agent          watch ─► inbox
//	result         ─► claim, gitstore, agent, failure
//	claim          ─► durable                  gitstore, worktree ─► git
//	workspace      ─► board, walk, contract, worktree     ledger ─► journal, contract, flow ─► event
//	ledger, workspace, inspect, once ─► rundir ─► durable
//	board, config ─► checkpoint ─► event, frontmatter      how a supervisor looks in, as it is declared
//	board, roles, config ─► frontmatter        board ─► schema, durable      journal ─► durable
//	agent/NAME     ─► agent, contract, proc    an adapter, or the stub of a dry run; roster knows them all
//	supervise      ─► agent, attempt, proc, review                           seed 003 for a person at a terminal
//	report         ─► projection, console, inert         page ─► report, projection         all of them ─► event
//	projection     ─► flow
//
// The comment of each package has its promise in its first sentence: go list -f '{{.ImportPath}}: {{.Doc}}' ./...
//
// # What is said, and where it goes
//
//	agent's output ─► redact.Writer ─► the streams of a step, the tail of stderr, what is shown while it works
//	      └─────────► the reply ─► judged, and redacted again ─► event ─► journal ─► Observer (package report)
//	tell ─► inbox ─► redacted, journaled ─► attempt.Tell ─► the agent's standard input
//	journal ─► decisions.Log ─► DECISIONS.md
//	board, journal ─► gitstore ─► the commits of another clone
//	board, tasks ─► handed out ─► clone ─► agent ─► clone ─► home again; its files ─► gitstore ─► a commit a task ─► clone
//	a commit a task ─► land ─► a merge in the repository ─► the files that differ ─► the checkout, its index, its branch
//	journal ─► flow.History                       what the run does next
//	journal, board ─► projection.Fold, Facts ─► projection.Board ─► every view: status, inbox, ack, report, page, --json
//	every text for a terminal, a pipe or a CI log ─► console.Printer, which redacts and makes inert ─► the stream
//
// sinks_test.go lists all functions that write outside of memory, with the place that they write to.
//
// # Goroutines
//
//	loop ── owns ledger, workspace, state; one select waits for the goroutines below, for timers, stop and kill
//	 ├─ judge ── only beside a hung agent: an attempt of its own, see package watch
//	 └─ attempt ── waits for the pidfd of its process, ends what is left, drains the streams, judges the reply
//	     ├─ stdout ── reads when there is something to read; the signs of the agent go to the loop
//	     ├─ stderr ── the same
//	     └─ stdin ── writes the messages to the agent, where its tool takes any
//
//	inbox.Watcher ── one per process, once an attempt runs longer than postDelay: it wakes the boards' loops
//	notify.Notifier ── one per process, where the settings ask for it: it sends messages to a person
//	proc.Join ── one per process: it reaps the orphans of agents as they die, but no child of an attempt
//
// A program that stays between attempts has a process of its own, and one more goroutine, which
// waits for its end. While the program sleeps, its output is read and dropped.
//
// With -j there is one run for each board that is at work. The goroutines of the runs and of the
// streams call an Observer, so it must be safe for concurrent use.
//
// # Two contexts
//
// stop means "stop deciding": the agent is asked to end, the attempt is journaled as stopped, the
// board can go on later. kill means "now": the agent is killed at once.
//
// # Two processes
//
// What the user starts is the guardian, and the run happens in its child, the runner; package proc
// has the reasons, and docs/running.md what happens when either is killed. The guardian takes the
// signals and holds the boards' locks too.
//
// # What an upgrade leaves
//
// Every later version reads and continues a journal: fields and kinds are only added
// (event/testdata/form.txt has them all), and what an older journal lacks has the zero value. If
// [flow.Next] of a later version reads a field that an older one does not know, the record says so
// with the form of journals that it needs (event.Needs). Then the older version shows the journal,
// and does not run it ([flow.Newer]). A snapshot of other rules than one's own is not compared with
// the state that the events lead to. The journals in ledger/testdata/golden, of all versions, hold
// what flow.Next returns for them.
//
// # What a crash leaves
//
// Events are appended to the journal in memory and committed, with one sync, before the next act
// that the world can see: the start of an agent, a write to the board, the end of the run. An
// observer hears of an event only after its commit. An attempt that is on disk and unfinished goes
// on in its session, or is started again with the same input. An input that is too long for the
// journal is stored under its SHA-256, and synced, before the intent that names it.
//
// The processes of a step bear a mark that is journaled with the step (see proc.Mark). By this mark
// the next run finds the processes that a killed run left behind. The journal also names the place
// of the marks: the device and inode of the run's folder, and the boot. A copy of the folder has
// another inode. There the run of the original may be at work, so nothing is ended by a mark
// (proc.EndMarked), and the open call begins anew under another mark and in no session of the
// original. The same folder is locked, so that what replaces all files in it (sed -i, tar) makes no
// run look dead.
package orchestrator
