package event

import "fmt"

// CloneMade reports that the agents of the board work in a clone of the checkout from now on. It is journaled
// before the folder gets its name, or, of a clone that is made anew, in the same place.
type CloneMade struct {
	Board   string   `json:"board"`
	Dir     string   `json:"dir" text:"name"`                   // top of the clone
	ID      string   `json:"clone_id" text:"fact"`              // in a file of its folder .git
	Ref     string   `json:"ref" text:"name"`                   // holds the work
	Branch  string   `json:"work_branch" text:"name"`           // shows it to people, with refs/heads/
	From    string   `json:"from_branch,omitempty" text:"name"` // branch that was checked out, with refs/heads/; "": none was
	Tip     string   `json:"tip" text:"fact"`                   // commit from which the clone was made
	Lost    int      `json:"lost,omitempty"`                    // the step whose accepted work was in a clone that is gone, and in no commit; 0: none
	Aside   string   `json:"aside,omitempty"`                   // where that is now which was in the place of the clone
	Without []string `json:"without,omitempty"`                 // tracked files that were changed in the checkout, and not committed: the clone has them as they were
}

func (CloneMade) Kind() string { return "CLONE_MADE" }

// Subject returns the board.
func (e CloneMade) Subject() string { return e.Board }

func (CloneMade) Needs() int { return 4 }

func (e CloneMade) Sentence() Sentence {
	text := fmt.Sprintf("agents work in the clone %s, made at %.12s", e.Dir, e.Tip)
	if e.Aside != "" {
		text += "; what was in its place is now " + e.Aside
	}
	weight := Note
	if len(e.Without) > 0 {
		weight, text = Warning, text+"; not committed, and so not in it: "+List(e.Without, mostNamed)
	}
	if e.Lost > 0 {
		where := "is gone with the clone"
		if e.Aside != "" {
			where = "is there"
		}
		weight, text = Warning, fmt.Sprintf("%s; the work of step %d was in no commit, and %s", text, e.Lost, where)
	}
	return say(weight, text)
}

// CloneReady reports that the clone has all that agents need: its setup is done.
type CloneReady struct {
	Board  string   `json:"board"`
	Branch string   `json:"work_branch,omitempty" text:"name"` // the one that was free; "": as in CloneMade
	Files  []string `json:"files,omitempty"`                   // paths from the top that came into the clone and go into no commit
	Setup  string   `json:"setup,omitempty"`                   // the command that was run; "": none
}

func (CloneReady) Kind() string { return "CLONE_READY" }

// Subject returns the board.
func (e CloneReady) Subject() string { return e.Board }

func (CloneReady) Needs() int { return 4 }

func (e CloneReady) Sentence() Sentence {
	if e.Setup == "" && len(e.Files) == 0 {
		return traceOf(e)
	}
	text := "the clone is ready"
	if e.Setup != "" {
		text += ": " + e.Setup + " was run"
	}
	if len(e.Files) > 0 {
		text += "; in no commit: " + List(e.Files, mostNamed)
	}
	return say(Routine, text)
}

// WorkKept reports that the files of the clone, as accepted work left them, are a commit, and that the clone stands at it.
type WorkKept struct {
	Board     string   `json:"board"`
	Step      int      `json:"step"`
	Task      string   `json:"task" text:"name"`
	Tip       string   `json:"tip" text:"fact"`     // commit with all accepted work
	Parent    string   `json:"parent" text:"fact"`  // of Tip, or of the commit that Tip would have replaced
	Tasks     []string `json:"tasks,omitempty"`     // paths from the top of tasks that the board lists since, which go into no commit
	LeftOut   []string `json:"left_out,omitempty"`  // what git could not take, each with its reason
	Unmoved   bool     `json:"unmoved,omitempty"`   // the branch stays where a person has put it
	Unchanged bool     `json:"unchanged,omitempty"` // nothing was new, so there is no new commit
}

func (WorkKept) Kind() string { return "WORK_KEPT" }

// Subject returns the task.
func (e WorkKept) Subject() string { return e.Task }

func (WorkKept) Needs() int { return 4 }

func (e WorkKept) Sentence() Sentence {
	if e.Unchanged && len(e.LeftOut) == 0 {
		return traceOf(e)
	}
	weight, text := Routine, fmt.Sprintf("the work on %s is the commit %.12s", e.Task, e.Tip)
	if e.Unmoved {
		text += "; the branch for it stays where it was put"
	}
	if len(e.LeftOut) > 0 {
		weight, text = Warning, text+"; without "+List(e.LeftOut, mostNamed)
	}
	return inStep(e.Step, weight, "%s", text)
}

// KeptHome reports files of the board that did not come home from the clone as an agent left them.
type KeptHome struct {
	Board string     `json:"board"`
	Step  int        `json:"step"`
	Files []HomeFile `json:"files"`
}

// HomeFile is a file that did not come home.
type HomeFile struct {
	Name string `json:"name"`
	Why  string `json:"why" text:"fact"` // [ByGit] or [ByBoth]
	Kept string `json:"kept,omitempty"`  // where it is as the agent left it; "": nowhere
}

// Why a file does not come home.
const (
	ByGit  = "git"  // it is as git has it, so a checkout or a stash took it back
	ByBoth = "both" // it was edited at home meanwhile, too
)

func (KeptHome) Kind() string { return "KEPT_HOME" }

// Subject returns the board.
func (e KeptHome) Subject() string { return e.Board }

func (KeptHome) Needs() int { return 4 }

func (e KeptHome) Sentence() Sentence {
	weight, words := Routine, make([]string, len(e.Files))
	for i, f := range e.Files {
		words[i] = f.Name + " (in the clone git took it back)"
		if f.Why == ByBoth {
			weight, words[i] = Warning, f.Name+" (it was edited meanwhile; as it was left in the clone: "+f.Kept+")"
		}
	}
	return inStep(e.Step, weight, "it stays as it is: %s", List(words, mostNamed))
}

// CloneAsks is what a person may decide about a clone that does not stand where the work does.
type CloneAsks struct {
	Why  string `json:"why" text:"fact"`            // such as [CloneStray]
	Head string `json:"head,omitempty" text:"fact"` // the commit at which the clone was left, of CloneStray

	// Of CloneTakenBack: the first step whose work the board at home lacks, the tasks of that work, and the board.
	Step     int      `json:"step,omitempty"`
	Tasks    []string `json:"tasks,omitempty" text:"name"`
	BoardSHA string   `json:"board_sha256,omitempty" text:"fact"` // of the board that was asked about
}

// Why a person is asked about a clone.
const (
	CloneStray     = "stray"      // it was left at a commit that does not follow the work
	CloneSpoiled   = "spoiled"    // it is gone, or no clone any more
	CloneTakenBack = "taken_back" // the board at home stands as before work that is in commits
)
