// Package orchestrator runs a board: it performs what package flow decides and journals what happened. This page is the
// architecture of kanban-run.
//
// # The one idea
//
// Decide, journal, act. [flow.State] is a fold over the events of a board's journal; [flow.Next] looks at it and at the board
// and names one effect: StartAgent, WriteBoard or Finish. The runner journals the intent, acts, journals the outcome and
// applies both to the state. After a crash the same fold over the same journal says where the run stands; an intent without
// an outcome is unknown, and is started again rather than assumed.
//
//	read board ─► flow.Next ─► StartAgent ─► journal intent ─► agent.Converse ─► judge reply ─► journal outcome ─┐
//	    ▲                  ├─► WriteBoard ─► journal intent ─► board.Save ─► journal outcome ─────────────────────┤
//	    │                  └─► Finish     ─► journal, leave                                                      │
//	    └─────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// # Who may import whom
//
//	cmd/kanban-run ─► everything
//	orchestrator   ─► flow, board, agent, journal, durable, redact, config, roles, review
//	board, roles, config ─► frontmatter       board   ─► schema, durable     journal ─► durable, compact
//	agent          ─► proc, redact, schema    digest  ─► flow                console ─► redact
//	supervise      ─► agent, proc, review
//	agent/NAME     ─► agent, proc             (an adapter; orchestrator knows them all)
//	report         ─► flow, digest, console, redact                          flow    ─► compact
//
// Nothing else, and no cycle: deps_test.go holds it. What a crash test stops also imports failpoint, which is empty in every
// other build. The core knows no screen (an [Observer] is told what was committed), and
// flow knows neither clock nor file nor process.
//
// # Where things are
//
//	job.go        one board's run as it was asked for, and all checks that need no agent: Prepare
//	open.go       taking a board: lock, journal, leftovers, ownership; run.go: the loop; look.go: the board in it
//	ledger.go     the only place where an event is journaled, applied and shown
//	ownership.go  who may write: handoff, epoch, split brain; reconcile.go: what follows when somebody else did
//	turn.go       StartAgent: one attempt of one call; spending.go: what it came to
//	judge.go      the Manager's reply against the board that it left
//	reviewed.go   an attempt in which a supervisor looks at the work: several programs, one outcome (seed 003)
//	record.go     WriteBoard
//	cast.go       which program plays a role; environ.go: what its environment is; doctor.go: whether it is there and will do
//	files.go      the files of a run; spool.go: the streams of its agents; logbook.go: supervisor-log.md; statefile.go: state.md
//	batch.go      several boards side by side; once.go: a single call without a board
//	inspect.go    the journal for those who only read; skim.go: where a board stands, in a hurry; verify.go: what is to be
//	              said about it; ack.go: the Lead's word
//
// The agents' programs are spoken to by package agent and one package below it for each kind; package supervise is seed 003 for a person
// at a terminal, and shares with reviewed.go what a supervisor is told (package review).
//
// # What is said, and where it goes
//
//	agent's output ─► redact.Writer ─► the spools of a step, the tail of stderr, what is shown while it works
//	      └─────────► the reply ─► judged, and redacted again ─► event ─► journal ─► Observer (package report)
//	journal ─► flow.History ─► status, ack        journal ─► digest ─► report.Markdown, report.JUnit
//	every text for a terminal, a pipe or a CI log ─► console.Printer, which redacts and makes inert ─► the stream
//
// sinks_test.go lists all functions that write to something else than memory, and what they write to.
//
// # Goroutines
//
// One goroutine owns a board's run, its journal and its state; nobody else touches them. With -j there is one such goroutine
// for each board that runs; more than a hundred of them only wait, and have another one work for them (see desk.apart).
// agent.Converse and proc.Run start goroutines for the pipes of one agent and wait for them before they return. Observers are
// called from the owning goroutine, and activity from the goroutine of an agent's stream, so an Observer is safe for concurrent
// use.
//
// # Two contexts
//
// stop means "stop deciding": the agent is asked to end, the attempt is journaled as stopped, the board can go on later.
// kill means "now": the agent is killed at once.
//
// # Two processes
//
// What the user starts is the guardian, and the run happens in its child, the runner; package proc has the reasons. The
// guardian takes the signals and holds the boards' locks too. If the runner dies it ends the agents; if it dies itself, the
// runner ends them and leaves (both contexts end); if both die, the next run ends them before it starts anything.
//
// # What a crash leaves
//
// Events are appended to the journal in memory and committed, with one sync, before the next act that the world can see: the
// start of an agent, a write to the board, the end of the run. An observer hears of an event only after its commit. So what
// was reported is on disk, what is on disk and unfinished is started again with the same input, and a reply that is on disk
// is never asked for twice. The processes of a step bear a mark that is journaled with the step (see proc.Mark): what a killed
// run left behind is found by it and ended before anything is started anew.
package orchestrator
