package event

import (
	"fmt"
	"slices"
	"strings"
)

// GitWay is the route of checkpoints to their remote. Agents can change it, but a change has no
// effect before a person has accepted it.
type GitWay struct {
	Board    string   `json:"board,omitempty" text:"free"`    // the board's path in the repository
	Address  string   `json:"address,omitempty" text:"free"`  // without passwords; "": checkpoints stay in the clone
	Settings []string `json:"settings,omitempty" text:"free"` // of the user's git: KEY DIGEST, sorted
}

// ChangesSince returns in words how w differs from was, or "" if they are equal.
func (w *GitWay) ChangesSince(was *GitWay) string {
	var changes []string
	if w.Address != was.Address {
		changes = append(changes, fmt.Sprintf("the address of the remote was %s and is %s",
			orNone(was.Address), orNone(w.Address)))
	}
	if w.Board != was.Board {
		changes = append(changes, fmt.Sprintf("the repository is another one: the board was %s in it and is %s",
			was.Board, w.Board))
	}
	names := append(keysMissing(w.Settings, was.Settings), keysMissing(was.Settings, w.Settings)...)
	if slices.Sort(names); len(names) > 0 {
		changes = append(changes, "settings of git are others: "+strings.Join(slices.Compact(names), ", "))
	}
	return strings.Join(changes, "; ")
}

// keysMissing returns the keys of the settings that others lacks, or has with another digest.
func keysMissing(settings, others []string) (keys []string) {
	for _, s := range settings {
		if key, _, _ := strings.Cut(s, " "); !slices.Contains(others, s) {
			keys = append(keys, key)
		}
	}
	return keys
}

func orNone(address string) string {
	if address == "" {
		return "none"
	}
	return address
}
