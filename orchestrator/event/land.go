package event

import (
	"fmt"
	"strings"
)

// LandStarted reports that the files of a merge go into the checkout of its target from now on.
type LandStarted struct {
	Board string `json:"board"`
	Tip   string `json:"tip" text:"fact"`         // commit with the work
	Onto  string `json:"onto_branch" text:"name"` // target, with refs/heads/
	From  string `json:"from" text:"fact"`        // commit of the target before
	To    string `json:"to" text:"fact"`          // and behind
}

func (LandStarted) Kind() string { return "LAND_STARTED" }

// Subject returns the board.
func (e LandStarted) Subject() string { return e.Board }

func (LandStarted) Needs() int { return 4 }

func (e LandStarted) Sentence() Sentence { return traceOf(e) }

// Landed reports that the target has the work. What a person does with the target later changes nothing of that.
type Landed struct {
	Board string `json:"board"`
	Tip   string `json:"tip" text:"fact"`         // commit with the work
	Onto  string `json:"onto_branch" text:"name"` // target, with refs/heads/
	From  string `json:"from" text:"fact"`        // commit of the target before; the same as To: it was there already
	To    string `json:"to" text:"fact"`          // and behind
	Ref   string `json:"ref" text:"name"`         // holds the work
	// Verified is the command that the merge has passed; "": none was asked for.
	Verified string `json:"verified,omitempty"`
}

func (Landed) Kind() string { return "LANDED" }

// Subject returns the board.
func (e Landed) Subject() string { return e.Board }

func (Landed) Needs() int { return 4 }

func (e Landed) Sentence() Sentence { return say(Note, LandedText(e.Onto, e.From, e.To, e.Verified)) }

// LandedText says on which branch the work is, and what the branch was before.
func LandedText(onto, from, to, verified string) string {
	if from == to {
		return fmt.Sprintf("%s has the work already, at %.12s", shortRef(onto), to)
	}
	text := fmt.Sprintf("landed on %s as %.12s..%.12s, not pushed", shortRef(onto), from, to)
	if verified == "" {
		return text + ", not verified"
	}
	return text + "; verified: " + verified
}

// LandRefused reports that the work does not come into the target, and that nothing has moved.
type LandRefused struct {
	Board string   `json:"board"`
	Tip   string   `json:"tip" text:"fact"`         // commit with the work
	Onto  string   `json:"onto_branch" text:"name"` // target, with refs/heads/
	Why   string   `json:"why" text:"fact"`         // such as [LandConflict]
	Files []string `json:"files,omitempty"`         // the files that it is about
	Text  string   `json:"text"`                    // why, in words
	Fix   string   `json:"fix,omitempty"`           // what a person can do
}

// Why work does not land.
const (
	LandConflict = "conflict" // both sides have changed the same
	LandRebased  = "rebased"  // the target has lost the commit at which the work began
	LandWay      = "way"      // the checkout has something of its own in the way

	LandRed       = "red"        // the merge does not pass the command that verifies it
	LandProtected = "protected"  // it changes what decides, such as settings
	LandLeftover  = "leftover"   // a part of it would be lost, or is of a task without success
	LandMoved     = "moved"      // a person has moved the branch of the work, and parts of it are not on it
	LandTakenBack = "taken_back" // it has landed, and the target does not have it any more
)

func (LandRefused) Kind() string { return "LAND_REFUSED" }

// Subject returns the board.
func (e LandRefused) Subject() string { return e.Board }

func (LandRefused) Needs() int { return 4 }

func (e LandRefused) Sentence() Sentence {
	if e.Why == LandTakenBack {
		return say(Warning, e.Text)
	}
	return say(Warning, RefusedText(e.Onto, e.Text))
}

// RefusedText says that the work does not come into a branch, and why.
func RefusedText(onto, why string) string {
	return "it does not land on " + shortRef(onto) + ": " + why
}

// shortRef returns the name of a branch as people write it.
func shortRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
