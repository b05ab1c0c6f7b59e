package roles

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// readWatch sets the role's settings for the watch of agents. The roster checks their values when
// it makes a player of the role.
func (f *fields) readWatch(r *Role, value *yaml.Node) {
	for _, v := range f.Doc.Flatten(value) {
		if v.Name != "as" {
			r.Watch = append(r.Watch, v)
			continue
		}
		if r.WatchAs = v.Text; !slices.Contains([]string{"coder", "reviewer", "lead"}, v.Text) {
			f.Fail(v.Node, "write as: coder, reviewer or lead", "watch: as: %q is no kind of agent", v.Text)
		}
	}
}
