package event

import (
	"fmt"
	"slices"
	"strings"
)

// GitWay is the route of a board's checkpoints to a git remote.
type GitWay struct {
	Board string `json:"board,omitempty"` // path of the board in the repository
	// Address is the address of the remote, without passwords; "" if checkpoints stay in the clone.
	Address string `json:"address,omitempty"`
	// Settings are the user's settings of git, sorted, each as its key and the digest of its value.
	Settings []string `json:"settings,omitempty"`
	// Branch is the name of the branch; "": not known. A change of the name is no change of the route.
	Branch string `json:"branch,omitempty"`
	// Guarded reports that the run looks in each turn whether the route is changed. The run of an earlier
	// version compares it with the one before, and waits for a person if they differ.
	Guarded bool `json:"guarded,omitempty"`
}

// ChangesSince returns in words the differences of w from an earlier route. It returns "" if the
// routes are equal.
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

// keysMissing returns the keys of the settings that are not in the list "others". A setting whose
// digest differs counts as missing.
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
