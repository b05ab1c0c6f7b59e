package event

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// The patterns of words that can differ although the finding is the same. They match the duration
// of a command, moments, addresses and identifiers. They do not match a measured value, a place in
// a file or a date in a name, because these can be the finding itself.
var (
	duration = regexp.MustCompile(`(\b(?:in|took|after|elapsed:?|duration:?)\s|\(|\t)` +
		`\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds|m|min)\b`)
	moment  = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d(\.\d+)?)?z?|\b\d\d:\d\d:\d\d(\.\d+)?\b`)
	hexWord = regexp.MustCompile(`\b0x[0-9a-f]+\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|` +
		`\b[0-9a-f]{7,}\b|\b[0-9]{10,}\b`)
)

// isIdentifier reports whether a word of hexadecimal digits has both digits and letters, or is a
// number that is too long to be a date.
func isIdentifier(word string) bool {
	return strings.ContainsAny(word, "0123456789") && (strings.ContainsAny(word, "abcdefx") || len(word) >= 10)
}

// FindingOf returns the hash of a review's findings without the words that differ in each review.
// It returns "" if the findings are blank.
func FindingOf(said string) string {
	said = moment.ReplaceAllString(duration.ReplaceAllString(strings.ToLower(said), "$1#"), "#")
	said = hexWord.ReplaceAllStringFunc(said, func(word string) string {
		if isIdentifier(word) {
			return "#"
		}
		return word
	})
	said = OneLine(said)
	if said == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(said))
	return hex.EncodeToString(sum[:8])
}

// Suspicion is the evidence that work on a task goes round in circles, with a recommendation: seed
// 002, "Review Loop", actions 3 and 4.
type Suspicion struct {
	Text      string    `json:"text"` // the evidence
	Recommend Recommend `json:"recommend"`
	Reason    string    `json:"reason"` // reason for the recommendation
}

// String returns the evidence with the recommendation.
func (s Suspicion) String() string {
	return fmt.Sprintf("%s (recommended: %s, since %s)", s.Text, s.Recommend, s.Reason)
}

// Recommend is a proposal against a loop: seed 002, "Review Loop".
type Recommend string

// The values of Recommend.
const (
	Clarify    Recommend = "clarify acceptance criteria"
	SwapOwner  Recommend = "swap owner"
	TechReview Recommend = "schedule Tech Lead checkpoint"
)

// LoopSuspected puts a task into quarantine: seed 002, "Review Loop". All other tasks go on.
type LoopSuspected struct {
	Step     int    `json:"step,omitempty"` // number of the open step; 0 between two steps
	Task     string `json:"task" text:"name"`
	Role     string `json:"role" text:"fact"`
	BoardSHA string `json:"board_sha256" text:"fact"`
	TaskSHA  string `json:"task_sha256" text:"fact"` // SHA-256 of the task's file; "" for an unreadable file
	// Told reports that the Manager is told of the quarantine, and is allowed to name another task.
	// Otherwise a person decides.
	Told bool `json:"told"`
	Suspicion
}

func (LoopSuspected) Kind() string { return "LOOP_SUSPECTED" }

// Subject returns the task.
func (e LoopSuspected) Subject() string { return e.Task }

func (e LoopSuspected) Sentence() Sentence {
	s := say(Critical, "a loop is suspected: "+Brief(OneLine(e.Text))).
		tell(Lead|Team, AboutLoop).alert(AlertCritical, e.Kind(), e.Role, escalate)
	s.Add(Note, fmt.Sprintf("recommended: %s, since %s", e.Recommend, e.Reason))
	if e.Told {
		s.Add(Warning, e.Task+" is in quarantine; the Manager is told and may name another task")
	} else {
		s.Add(Critical, e.Task+" is in quarantine, and a person decides")
	}
	return s
}

// TaskFile is the file of a task at the end of a step or of a run.
type TaskFile struct {
	Task string `json:"task" text:"name"`
	SHA  string `json:"task_sha256" text:"fact"` // "" if the file cannot be read
}

// QuarantineEnded lets agents work on a task again.
type QuarantineEnded struct {
	Task   string `json:"task" text:"name"`
	Reason string `json:"reason"`
	ID     string `json:"id,omitempty"` // ID of the Lead's decision; "" after an edit of the task
}

func (QuarantineEnded) Kind() string { return "QUARANTINE_ENDED" }

// Subject returns the task.
func (e QuarantineEnded) Subject() string { return e.Task }

func (e QuarantineEnded) Sentence() Sentence {
	return say(Note, fmt.Sprintf("%s leaves quarantine: %s", e.Task, e.Reason)).tell(Team, "")
}
