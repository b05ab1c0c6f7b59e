package orchestrator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows are all imports that packages of this module may have of one another, each with its
// reason. The picture is in doc.go; a new arrow needs a new reason.
var arrows = map[string]map[string]string{
	"orchestrator": {
		"orchestrator/event":      "it journals what it is about to do, and what came of it",
		"orchestrator/agent":      "a provider that stays busy ends a run",
		"orchestrator/attempt":    "it starts agents and waits for them",
		"orchestrator/board":      "it hashes and names the board",
		"orchestrator/call":       "it has calls made",
		"orchestrator/claim":      "two runs do not work on the same task",
		"orchestrator/clone":      "agents may work in a clone",
		"orchestrator/decisions":  "it has noted what a Lead should know",
		"orchestrator/divergence": "a board and its marks stay as the Manager left them",
		"orchestrator/durable":    "what a full disk does not take is kept elsewhere, and a run knows its place",
		"orchestrator/failpoint":  "tests kill it between two acts",
		"orchestrator/flow":       "it performs what flow decides",
		"orchestrator/gitstore":   "the state of a board goes into commits",
		"orchestrator/guard":      "what a turn must not change is looked at around it",
		"orchestrator/journal":    "a foreign write to it ends the run",
		"orchestrator/land":       "a complete board lands",
		"orchestrator/ledger":     "it journals what happened",
		"orchestrator/pool":       "boards of one command share what there is once",
		"orchestrator/preflight":  "what it runs was checked",
		"orchestrator/result":     "it says how a run ended",
		"orchestrator/run":        "it takes a board for a run",
		"orchestrator/rundir":     "a board has a folder",
		"orchestrator/supervisor": "a supervisor looks in",
		"orchestrator/trust":      "what an agent writes does not get more than the agent",
		"orchestrator/watch":      "it has running agents watched",
		"orchestrator/workspace":  "it reads and writes the board",
	},
	"orchestrator/pool": {
		"orchestrator/agent":  "it says which agents of other runs are at work, and sees that a provider serves one",
		"orchestrator/claim":  "two boards do not work on the same task",
		"orchestrator/event":  "a wait is journaled",
		"orchestrator/flow":   "flow says which waits boards share",
		"orchestrator/health": "boards may meet the same trouble",
		"orchestrator/inbox":  "one watcher waits for what persons say to agents",
		"orchestrator/pause":  "it waits for a provider",
		"orchestrator/rundir": "an inbox lies in the folder of a run",
		"orchestrator/turns":  "a board may find what an agent of another one did",
	},
	"orchestrator/guard": {
		"orchestrator/board":     "a turn begins with a board",
		"orchestrator/event":     "a turn has a call",
		"orchestrator/flow":      "a turn is that of a step, and a frozen board has none",
		"orchestrator/roster":    "a player has the turn",
		"orchestrator/rundir":    "what was looked at is noted in the folder of the run",
		"orchestrator/turns":     "other boards hear of the turn",
		"orchestrator/workspace": "the checkout is in the work directory",
	},
	"orchestrator/turns": {
		"orchestrator/event": "a list of tasks is cut as in its sentences",
	},
	"orchestrator/result": {
		"orchestrator/event":    "a run has an outcome",
		"orchestrator/agent":    "a provider's limit ends a run",
		"orchestrator/claim":    "so does a task of another run",
		"orchestrator/durable":  "and a lock, or a full disk",
		"orchestrator/failure":  "and what a person has to mend",
		"orchestrator/rundir":   "and output is kept beside it",
		"orchestrator/ledger":   "a journal is folded",
		"orchestrator/gitstore": "commits can be refused",
		"orchestrator/trust":    "and what an agent changed",
	},
	"orchestrator/run": {
		"orchestrator/agent":      "it ends what a killed run left at work",
		"orchestrator/event":      "a place that has changed is journaled",
		"orchestrator/durable":    "it locks the board",
		"orchestrator/failpoint":  "tests kill it between two acts",
		"orchestrator/failure":    "a board that cannot be replaced is for a person to mend",
		"orchestrator/flow":       "it says where the board stands",
		"orchestrator/divergence": "what is on a board as its command begins is a person's",
		"orchestrator/ledger":     "a journal that is refused has the marks of what a killed run left",
		"orchestrator/pool":       "boards of one command share what there is once",
		"orchestrator/preflight":  "what it runs was checked",
		"orchestrator/rundir":     "and a folder",
	},
	"orchestrator/supervisor": {
		"orchestrator/event":    "what it says is journaled",
		"orchestrator/agent":    "a message has an ID",
		"orchestrator/attempt":  "its program stays between attempts",
		"orchestrator/board":    "it is told which entries are done",
		"orchestrator/briefing": "it is told what is new",
		"orchestrator/failure":  "its role may not be playable",
		"orchestrator/flow":     "flow says when it is asked",
		"orchestrator/ledger":   "an observer is told of events",
		"orchestrator/roster":   "it is a player",
		"orchestrator/redact":   "an answer shows no secret",
		"orchestrator/rundir":   "a briefing is kept there",
	},
	"orchestrator/call": {
		"orchestrator/config":    "it keeps output as the settings say",
		"orchestrator/event":     "a call has a name, and an attempt a record",
		"orchestrator/agent":     "it hands an adapter what is asked of its agent",
		"orchestrator/attempt":   "it says how one is started",
		"orchestrator/board":     "an input speaks of it",
		"orchestrator/contract":  "it gives calls their inputs",
		"orchestrator/failpoint": "tests kill it between two acts",
		"orchestrator/failure":   "a role may not be playable",
		"orchestrator/flow":      "flow decides which call is due",
		"orchestrator/guard":     "what a supervisor only reads is guarded in its turn",
		"orchestrator/health":    "other programs are shown what an agent does",
		"orchestrator/review":    "a supervisor looks at the work of an agent",
		"orchestrator/roster":    "a player is started for a role",
		"orchestrator/rundir":    "streams and long inputs are kept there",
		"orchestrator/workspace": "an input names what is there",
		"orchestrator/briefing":  "a supervisor is told what is new",
		"orchestrator/ledger":    "an observer is told what an agent does",
		"orchestrator/redact":    "an input holds no secret",
	},
	"orchestrator/briefing": {
		"orchestrator/event":      "it collects them",
		"orchestrator/board":      "it looks whether a task has a file",
		"orchestrator/contract":   "it fills in the supervisor's inputs",
		"orchestrator/flow":       "and says what the supervisor has held",
		"orchestrator/projection": "it tells of the steps",
		"orchestrator/redact":     "a supervisor is told no secret",
		"orchestrator/rundir":     "it keeps the supervisor's files",
		"roles":                   "a supervisor can read its role",
	},
	"orchestrator/preflight": {
		"orchestrator/config":    "the run has settings",
		"orchestrator/durable":   "a board has one name, and has to be replaceable",
		"orchestrator/decisions": "so has the file for decisions",
		"orchestrator/plainfile": "a board is opened to count its names",
		"orchestrator/board":     "boards and tasks are checked",
		"orchestrator/failure":   "what it finds makes a run impossible",
		"orchestrator/event":     "the Manager's role has a name, runs have limits",
		"orchestrator/git":       "a clone is made from what is checked out as the command begins",
		"orchestrator/inspect":   "a board that a dying Manager left is read as it was before",
		"orchestrator/ledger":    "its observer hears of what is odd",
		"orchestrator/redact":    "no path may hold a secret",
		"orchestrator/roster":    "every role's command is checked",
		"orchestrator/rundir":    "a board without a journal may have ended in any way",
		"orchestrator/workspace": "it prepares one for the run",
		"roles":                  "embedded roles have harmless names",
	},
	"orchestrator/inbox": {
		"orchestrator/plainfile": "any process of the user may have put anything there",
	},
	"orchestrator/inspect": {
		"orchestrator/event":      "it foresees what would be journaled",
		"orchestrator/board":      "it reads the board",
		"orchestrator/failure":    "a run may refuse the board",
		"orchestrator/flow":       "it foresees what flow would decide",
		"orchestrator/journal":    "it tells what was read of one",
		"orchestrator/ledger":     "it folds journals as a run does",
		"orchestrator/rundir":     "it finds the files of runs",
		"orchestrator/projection": "it says how a board stands",
		"orchestrator/health":     "with what its agent does",
		"orchestrator/plainfile":  "which the run at work notes in a file",
		"orchestrator/workspace":  "it looks at the board as a run does",
	},
	"orchestrator/once": {
		"orchestrator/event":    "it journals its one call",
		"orchestrator/durable":  "a call under way has a locked note",
		"orchestrator/agent":    "it talks to one",
		"orchestrator/attempt":  "and waits for it",
		"orchestrator/contract": "the agent gets an instruction, and replies",
		"orchestrator/failure":  "a role may not be playable",
		"orchestrator/flow":     "the rule of retries stands there",
		"orchestrator/ledger":   "rejected replies stand in its log",
		"orchestrator/pause":    "it waits for a provider",
		"orchestrator/redact":   "nothing shows a secret",
		"orchestrator/roster":   "a player is started for the role",
		"orchestrator/rundir":   "the log has a folder",
	},
	"orchestrator/ledger": {
		"orchestrator/asked":      "what waits in the work tree holds a board",
		"orchestrator/event":      "it journals, folds and tells them",
		"orchestrator/agent":      "its observer is told what agents do, too",
		"orchestrator/plainfile":  "an agent may have replaced its documents",
		"orchestrator/board":      "the Lead acknowledges a board as it stands",
		"orchestrator/contract":   "the log says what a reply should have been",
		"orchestrator/durable":    "an acknowledgement takes the board's lock",
		"orchestrator/failpoint":  "tests kill it between two acts",
		"orchestrator/failure":    "a board may be frozen",
		"orchestrator/flow":       "it holds the history",
		"orchestrator/journal":    "it appends to one",
		"orchestrator/marks":      "a person may have marks put back",
		"orchestrator/redact":     "no event holds a secret",
		"orchestrator/rundir":     "it writes files of a run",
		"orchestrator/inert":      "what they quote is text there",
		"orchestrator/projection": "the Lead decides about what a board waits for",
		"orchestrator/workspace":  "a task's header may say that it is done",
	},
	"orchestrator/notify": {
		"orchestrator/event":  "it tells of events",
		"orchestrator/proc":   "a program may tell them on",
		"orchestrator/redact": "no message shows a secret",
	},
	"orchestrator/decisions": {
		"orchestrator/durable":   "people write the file, too",
		"orchestrator/event":     "it notes events",
		"orchestrator/plainfile": "the file may be anything",
		"orchestrator/flow":      "a supervisor may be at work",
	},
	"orchestrator/claim": {
		"orchestrator/config":  "a setting says what an overlap means",
		"orchestrator/event":   "a claim in the way is journaled",
		"orchestrator/agent":   "it names the mark of a step's agents",
		"orchestrator/flow":    "flow says what is started next",
		"orchestrator/durable": "any process of the user may have put anything in the place of its file",
		"orchestrator/git":     "its file is in the folder .git",
		"orchestrator/pause":   "a wait for a claim ends with the run's time",
	},
	"orchestrator/divergence": {
		"orchestrator/config":  "a setting says what becomes of a changed board",
		"orchestrator/board":   "it compares the ends of boards",
		"orchestrator/durable": "a board that this machine cannot read now is none that an agent has spoiled",
		"orchestrator/event":   "a change is journaled",
		"orchestrator/failure": "a way for a person is a command",
		"orchestrator/flow":    "flow says whose turn it was, and what is done",
		"orchestrator/guard":   "it is one of the guards of a turn",
		"orchestrator/marks":   "an agent marks no task but its own",
		"orchestrator/turns":   "a change may have come in the turn of another board",
		"orchestrator/ledger":  "a change may be an agent's or a person's, as the next run would see it",
		"orchestrator/rundir":  "the board's earlier bytes lie there",
	},
	"orchestrator/marks": {
		"orchestrator/board":   "it reads and edits the headers of tasks",
		"orchestrator/durable": "a header that this machine cannot read now has its last mark",
		"orchestrator/rundir":  "the marks of before a turn lie there",
	},
	"orchestrator/asked": {
		"orchestrator/board":       "a value is hashed as a board is",
		"orchestrator/durable":     "boards of a work tree share a list",
		"orchestrator/event":       "a change is journaled",
		"orchestrator/frontmatter": "a prompt has a header",
		"orchestrator/git":         "the list is in the folder .git",
		"orchestrator/plainfile":   "an agent may have put anything into the project",
		"orchestrator/rundir":      "it writes as the folder of a run is written",
		"roles":                    "a role file has a name and fields",
	},
	"orchestrator/trust": {
		"orchestrator/agent":     "a permission has a word, and servers have commands",
		"orchestrator/asked":     "what gives more waits for a person",
		"orchestrator/board":     "a role is hashed as a board is",
		"orchestrator/durable":   "a note for the time behind a kill has a place",
		"orchestrator/event":     "a change is journaled",
		"orchestrator/failure":   "a hint has a command",
		"orchestrator/flow":      "the state has the tasks that wait",
		"orchestrator/git":       "a work tree has a top",
		"orchestrator/guard":     "it is one of the guards of a turn",
		"orchestrator/option":    "a rule for variables hands secrets on",
		"orchestrator/plainfile": "an agent may have put anything into the project",
		"orchestrator/proc":      "git bears a mark",
		"orchestrator/redact":    "a variable may hold a secret",
		"orchestrator/roster":    "a player has a command, and gets something",
		"orchestrator/rundir":    "a note of a turn has what it knew before a kill",
		"orchestrator/turns":     "a turn has words",
		"orchestrator/worktree":  "git says which programs are nobody's work",
	},
	"orchestrator/worktree": {
		"orchestrator/plainfile": "an agent may have put anything into the project",
		"orchestrator/git":       "it asks git",
		"orchestrator/proc":      "git bears a mark",
	},
	"orchestrator/workspace": {
		"orchestrator/git":      "git keeps logs of the checkout",
		"orchestrator/event":    "what walk decided is journaled",
		"orchestrator/proc":     "git bears the mark of the step",
		"orchestrator/worktree": "it asks whether the project has changed",
		"orchestrator/board":    "it reads and writes one",
		"orchestrator/contract": "agents see its list of tasks, and a Manager's reply may fail by more than its format",
		"orchestrator/durable":  "a board is put back whole",
		"orchestrator/failure":  "a board may be unreadable",
		"orchestrator/flow":     "it looks at the board as flow does",
		"orchestrator/redact":   "no path may hold a secret",
		"orchestrator/rundir":   "it keeps the board's bytes there",
		"orchestrator/walk":     "the Manager without a model looks at its list",
	},
	"orchestrator/roster": {
		"orchestrator/agent":          "a player is an agent",
		"orchestrator/agent/acp":      "so are the others",
		"orchestrator/agent/claude":   "Claude Code is one",
		"orchestrator/agent/codex":    "Codex is another",
		"orchestrator/agent/gemini":   "so are the others",
		"orchestrator/agent/opencode": "so are the others",
		"orchestrator/agent/stub":     "a dry run has no other",
		"orchestrator/config":         "the settings say what plays a role",
		"orchestrator/contract":       "a Manager without a program has a reader, too",
		"orchestrator/failure":        "a player may be set up wrongly",
		"orchestrator/event":          "a player's work may be reviewed by a plan",
		"orchestrator/frontmatter":    "a role and a task may have settings of their own",
		"orchestrator/health":         "a player's agents are watched",
		"orchestrator/redact":         "it knows the secrets",
		"orchestrator/review":         "a supervisor has a prompt",
		"roles":                       "so do the role files",
		"orchestrator/option":         "settings and roles have rules for variables",
	},
	"orchestrator/health": {
		"orchestrator/agent": "it judges an agent by its events",
		"orchestrator/event": "what it finds is journaled",
	},
	"orchestrator/watch": {
		"orchestrator/config":    "a setting says what a missing tool means",
		"orchestrator/agent":     "it is told of an agent's signs, and tells it something",
		"orchestrator/attempt":   "it ends a hung one, and starts a judge",
		"orchestrator/contract":  "a judge has one",
		"orchestrator/failpoint": "tests kill it between a decision and its act",
		"orchestrator/event":     "what it finds and decides is journaled",
		"orchestrator/health":    "that judges the signs",
		"orchestrator/inbox":     "messages to the agent lie there",
		"orchestrator/proc":      "a judge has time in which processes can work",
		"orchestrator/roster":    "a judge is a player",
		"orchestrator/rundir":    "the health report is a file of the run",
		"orchestrator/board":     "a task says how it is watched",
		"orchestrator/flow":      "the state has what was done before",
		"orchestrator/redact":    "what is journaled shows no secret",
	},
	"orchestrator/attempt": {
		"orchestrator/health":   "it notes the signs of its agent",
		"orchestrator/event":    "what its agent did with tools is journaled",
		"orchestrator/agent":    "it runs one",
		"orchestrator/contract": "a reply is judged by it",
		"orchestrator/pause":    "it ends an agent at a time of the wall clock",
		"orchestrator/proc":     "an agent is a process",
		"orchestrator/redact":   "what it prints is redacted where it enters",
	},
	"orchestrator/git": {
		"orchestrator/durable":   "the mark of its processes follows from the place of the run, and a disk may be full",
		"orchestrator/plainfile": "an agent may have put anything below .git",
		"orchestrator/proc":      "git is a process, and ends with what it has started",
	},
	"orchestrator/clone": {
		"orchestrator/agent":     "the setup is a command as users write them, and a clone has a mark of its own",
		"orchestrator/board":     "a board in the clone lists tasks",
		"orchestrator/config":    "the run has settings",
		"orchestrator/durable":   "a folder has one name, and what comes home outlives a power cut",
		"orchestrator/event":     "a clone and its commits are journaled",
		"orchestrator/failpoint": "tests kill it between two acts",
		"orchestrator/failure":   "what it finds makes a clone impossible",
		"orchestrator/flow":      "flow says which work is to be a commit",
		"orchestrator/git":       "it asks git",
		"orchestrator/gitstore":  "which makes the commits",
		"orchestrator/guard":     "board and tasks come home behind each turn",
		"orchestrator/inert":     "an agent's words in a commit do nothing",
		"orchestrator/plainfile": "an agent may have put anything into the clone",
		"orchestrator/proc":      "it runs the setup",
		"orchestrator/redact":    "no commit holds a secret",
		"orchestrator/roster":    "roles are played in the clone",
		"orchestrator/rundir":    "what does not come home is kept in the run's folder",
		"orchestrator/workspace": "the work directory is in the clone",
	},
	"orchestrator/land": {
		"orchestrator/agent":     "a clone that verifies has an ID of its own",
		"orchestrator/clone":     "a clone whose work has landed goes",
		"orchestrator/durable":   "one board lands after the other, and what lands outlives a power cut",
		"orchestrator/event":     "a landing is journaled",
		"orchestrator/failpoint": "tests kill it between two acts",
		"orchestrator/failure":   "what it finds makes a landing impossible",
		"orchestrator/flow":      "flow knows the work, and keeps how it stands",
		"orchestrator/git":       "it asks git",
		"orchestrator/gitstore":  "which makes the merge",
		"orchestrator/inspect":   "other boards are found",
		"orchestrator/plainfile": "a file of the checkout may be anything",
		"orchestrator/redact":    "what a command prints holds no secret",
		"orchestrator/rundir":    "files are laid out in the run's folder",
		"orchestrator/workspace": "and their tasks",
	},
	"orchestrator/gitstore": {
		"orchestrator/durable":   "a folder has one name",
		"orchestrator/event":     "a checkpoint follows an event",
		"orchestrator/git":       "it asks git",
		"orchestrator/plainfile": "an agent may have put anything into the project",
		"orchestrator/rundir":    "it keeps files in the run's folder",
		"orchestrator/failpoint": "tests kill it before each call of git",
		"orchestrator/failure":   "a hint has a path to copy",
		"orchestrator/flow":      "the journal may go another way",
		"orchestrator/ledger":    "a journal is read before it is opened",
		"orchestrator/redact":    "a subject shows no secret",
		"orchestrator/roster":    "git gets the environment of agents",
	},
	"orchestrator/review": {
		"orchestrator/plainfile":   "SUPERVISOR.md is the user's",
		"orchestrator/frontmatter": "SUPERVISOR.md may begin with one",
		"orchestrator/agent":       "it names a permission in their words",
		"orchestrator/event":       "its sentence shows the last line of an output",
	},
	"orchestrator/rundir": {
		"orchestrator/git":       "a second lock is in the folder .git",
		"orchestrator/failure":   "a hint quotes where a reply is kept",
		"orchestrator/durable":   "folders and stored inputs outlive a power cut",
		"orchestrator/plainfile": "an agent may have put anything into the folder",
	},
	"orchestrator/board": {
		"orchestrator/plainfile":   "a board or a task may be anything",
		"orchestrator/checkpoint":  "a board may say how a supervisor looks in",
		"orchestrator/event":       "and an event keeps what it says",
		"orchestrator/frontmatter": "boards and tasks bear YAML frontmatter",
		"orchestrator/failure":     "an error that it wraps may have a hint",
		"orchestrator/durable":     "a board is old or new, never half",
		"schema":                   "a board has a schema",
	},
	"orchestrator/checkpoint": {
		"orchestrator/event":       "the start of a run says what is declared",
		"orchestrator/frontmatter": "a fault of a declaration has a place",
	},
	"orchestrator/contract": {
		"orchestrator/event": "each call of a step has a contract",
		"schema":             "a reply has a schema",
	},
	"orchestrator/agent": {
		"orchestrator/plainfile": "a role's file of MCP servers is the user's",
		"orchestrator/contract":  "agents are told what it says",
		"orchestrator/event":     "each attempt has a cost",
		"orchestrator/durable":   "what a run left is ended where the run was",
		"orchestrator/proc":      "an agent is a process",
	},
	"orchestrator/walk": {
		"orchestrator/event": "it decides what follows a task, also of one that is not done",
	},
	"orchestrator/agent/stub": {
		"orchestrator/plainfile": "so is the file of rules",
		"orchestrator/agent":     "it is an adapter",
		"orchestrator/contract":  "and replies to calls",
		"orchestrator/proc":      "and looks at how its program ended",
		"schema":                 "its rules have a schema",
		"orchestrator/board":     "its Manager looks at the list",
		"orchestrator/walk":      "as the Manager without a model does",
		"orchestrator/review":    "and accepts work in the words of a review",
	},
	"orchestrator/supervise": {
		"orchestrator/agent":    "it talks to an agent",
		"orchestrator/attempt":  "and has a supervisor look at its work",
		"orchestrator/contract": "a review replies with a text",
		"orchestrator/proc":     "the agent is a process on a pty",
		"orchestrator/review":   "what the supervisor is told, and its verdict",
	},
	"orchestrator/agent/claude": {
		"orchestrator/agent":     "it is an adapter",
		"orchestrator/contract":  "and finds the reply to a call",
		"orchestrator/plainfile": "and reads what its user has set for a folder",
		"orchestrator/proc":      "and looks at how the program ended",
	},
	"orchestrator/journal": {
		"orchestrator/durable":   "the journal is locked and its folder synced",
		"orchestrator/failpoint": "tests kill it between two acts",
	},
	"orchestrator/option": {
		"orchestrator/frontmatter": "a text that is refused has a place",
	},
	"orchestrator/config": {
		"orchestrator/notify":      "settings say what a person is told",
		"orchestrator/checkpoint":  "settings may say how a supervisor looks in",
		"orchestrator/event":       "and an event keeps what they say",
		"orchestrator/failure":     "what a setting names may be wrong, with a hint",
		"orchestrator/frontmatter": "it knows where a text is no YAML, and what a misspelt word was meant to be",
		"orchestrator/plainfile":   "so may the settings",
		"orchestrator/health":      "the limits of the watch are settings",
		"orchestrator/option":      "a setting is a field of a struct",
	},
	"orchestrator/durable": {
		"orchestrator/failpoint": "tests kill it between two acts",
		"orchestrator/failure":   "what mends a refusal is a command to copy",
		"orchestrator/plainfile": "a folder is opened to be synced",
	},
	"orchestrator/proc": {
		"orchestrator/failpoint": "tests kill it between two acts",
		"orchestrator/durable":   "what a run left is ended where the run was",
		"orchestrator/quit":      "guardian and runner catch SIGQUIT",
	},
	"orchestrator/console": {
		"orchestrator/redact": "what is printed is redacted",
		"orchestrator/inert":  "and is text, and nothing but text, on a terminal and in the log of a job",
	},
	"orchestrator/event": {"orchestrator/failure": "what a person does about it is a command to copy"},
	"orchestrator/flow":  {"orchestrator/event": "it folds what can happen, and decides what does"},
	"orchestrator/projection": {
		"orchestrator/event":   "it folds what happened for people",
		"orchestrator/flow":    "beside what the run does next",
		"orchestrator/failure": "what a person does about it is a command to copy",
		"orchestrator/health":  "the agent at work is a part of its board",
		"orchestrator/inert":   "the name of a board may hold anything",
	},
	"orchestrator/view": {}, // it is told what to show
	"orchestrator/page": {
		"orchestrator/projection": "it shows how boards stand, and what they came to",
		"orchestrator/failure":    "what to do about something is a command to copy",
		"orchestrator/event":      "with what happened in them",
		"orchestrator/report":     "in the words of the other reports",
		"orchestrator/inert":      "foreign text is text on a page",
	},
	"orchestrator/report": {
		"orchestrator/projection": "and how a board stands",
		"orchestrator/event":      "it renders them",
		"orchestrator/agent":      "it shows what agents do",
		"orchestrator/health":     "and what they wait for",
		"orchestrator/flow":       "it renders events",
		"orchestrator/console":    "and prints them",
		"orchestrator/inert":      "foreign text is text in XML and Markdown",
	},
	"roles": {
		"orchestrator/frontmatter": "role files bear YAML frontmatter",
		"orchestrator/plainfile":   "role files are the user's",
		"orchestrator/agent":       "a role has the options of its agents",
		"orchestrator/option":      "which are read by their tags",
	},
	"orchestrator/agent/acp": adapter,
	"orchestrator/agent/codex": {
		"orchestrator/agent":     adapter["orchestrator/agent"],
		"orchestrator/contract":  adapter["orchestrator/contract"],
		"orchestrator/plainfile": "it reads what its user trusts",
		"orchestrator/proc":      adapter["orchestrator/proc"],
	},
	"orchestrator/agent/gemini":   adapter,
	"orchestrator/agent/opencode": adapter,
	"orchestrator/agent/internal/streamtest": {
		"orchestrator/attempt":                  "it runs the real tools",
		"orchestrator/agent":                    "it reads streams as an attempt does",
		"orchestrator/agent/internal/agenttest": "adapters of tools pass the same suite",
		"orchestrator/agent/modeltest":          "and work with the real tools",
		"orchestrator/contract":                 "a stream holds a reply",
		"orchestrator/proc":                     "a stream has an end",
		"orchestrator/redact":                   "an attempt's output is redacted",
	},
	"orchestrator/agent/modeltest": {
		"orchestrator/testfile": "programs have their settings in files",
	},
	"orchestrator/agent/internal/agenttest": {
		"orchestrator/agent/stub": "programs are played by stubs",
		"orchestrator/testfile":   "whose rules are in files",
		"orchestrator/attempt":    "it runs them as attempts",
		"orchestrator/agent":      "the suite tests adapters",
		"orchestrator/contract":   "and how they reply",
		"orchestrator/proc":       "and looks at how their processes ended",
		"orchestrator/redact":     "an attempt's output is redacted",
	},
}

// adapter is what an adapter may import.
var adapter = map[string]string{
	"orchestrator/agent":    "it is an adapter",
	"orchestrator/contract": "it finds the reply to a call",
	"orchestrator/proc":     "it judges how its program ended",
}

// forbidden are imports of the standard library that would make a pure package impure.
var forbidden = map[string][]string{
	"orchestrator/event":      {"os", "os/exec", "io", "io/fs", "net", "syscall"},
	"orchestrator/flow":       {"os", "os/exec", "io", "io/fs", "net", "syscall"},
	"orchestrator/projection": {"os", "os/exec", "io", "io/fs", "net", "syscall"},
	"orchestrator/walk":       {"os", "os/exec", "io", "io/fs", "net", "syscall", "time"},
	"orchestrator/contract":   {"os", "os/exec", "io/fs", "net", "syscall", "time"},
	"orchestrator/checkpoint": {"os", "os/exec", "io", "io/fs", "net", "syscall"},
	"orchestrator/health":     {"os", "os/exec", "io", "io/fs", "net", "syscall"},
	"orchestrator/report":     {"os", "os/exec"},
}

func TestImports(t *testing.T) {
	used := map[string]bool{}
	walk(t, func(pkg, file, imported string) {
		if slices.Contains(forbidden[pkg], imported) {
			t.Errorf("%s imports %s, which %s must not", file, imported, pkg)
		}
		target, ours := strings.CutPrefix(imported, "kanban-run/")
		if !ours || strings.HasPrefix(pkg, "cmd/") || strings.HasPrefix(pkg, ".ci") {
			return
		}
		if arrows[pkg][target] == "" {
			t.Errorf("%s: %s must not import %s", file, pkg, target)
		}
		used[pkg+" -> "+target] = true
	})
	for pkg, targets := range arrows {
		for target := range targets {
			if arrow := pkg + " -> " + target; !used[arrow] {
				t.Errorf("the arrow %s is allowed and not used", arrow)
			}
		}
	}
}

// TestPureReadsNoClock: pure packages may speak of times, and read no clock.
func TestPureReadsNoClock(t *testing.T) {
	for _, pkg := range []string{"event", "flow", "walk", "projection", "contract", "health"} {
		files, err := filepath.Glob(pkg + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of %s: %v", pkg, err)
		}
		for _, name := range files {
			text := readFile(t, name)
			if strings.Contains(text, "time.Now(") || strings.Contains(text, "time.Since(") {
				t.Errorf("%s reads the clock", name)
			}
		}
	}
}

// TestOnlyMainExits: a run that is ended by os.Exit leaves agents and locks behind.
func TestOnlyMainExits(t *testing.T) {
	files := 0
	eachFile(t, func(name string) {
		files++
		if strings.HasSuffix(name, "cmd/kanban-run/main.go") || strings.HasPrefix(name, "../.ci") {
			return
		}
		text := readFile(t, name)
		if strings.Contains(text, "os.Exit(") || strings.Contains(text, "log.Fatal") {
			t.Errorf("%s ends the process", name)
		}
	})
	if files < 20 {
		t.Errorf("looked at %d files, want all", files)
	}
}

func walk(t *testing.T, each func(pkg, file, imported string)) {
	t.Helper()
	eachFile(t, func(name string) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(name), "../"))
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			each(pkg, name, imported)
		}
	})
}

// eachFile visits every Go file of the module that is not a test.
func eachFile(t *testing.T, each func(name string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() && name != ".." && isModule(name): // which has rules of its own
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			each(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// eachSource parses the files of eachFile but those of the tools for CI.
func eachSource(t *testing.T, each func(name string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	eachFile(t, func(name string) {
		if strings.HasPrefix(name, "../.ci") {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		each(name, set, file)
	})
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
