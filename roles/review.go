package roles

import (
	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/option"
)

// readReview returns the review that the key "review" gives. The value of the key is the word
// "supervisor", the word "none", or a mapping such as {command: WORDS, supervisor: true}.
func (f *fields) readReview(value *yaml.Node) (review Review) {
	const fix = "write review: supervisor, none, or {command: make test}"
	if value.Kind == yaml.ScalarNode {
		said := f.readText(value, "review")
		if said != "" && said != "supervisor" && said != "none" {
			f.Fail(value, fix, "review: %q reviews nothing", said)
		}
		review.Supervisor = said == "supervisor"
		return review
	}
	if value.Kind != yaml.MappingNode {
		f.Fail(value, fix, "review must be a word or a mapping")
		return review
	}
	for k, v := range option.Fields(value) {
		switch k.Value {
		case "command":
			if review.Command = f.words(v, "review.command"); len(review.Command) == 0 || review.Command[0] == "" {
				f.Fail(v, fix, "review.command names no program")
			}
		case "permission":
			if review.Permission = agent.ParsePermission(v.Value); review.Permission == "" {
				f.Fail(v, "write permission: read-only, edit or full", "review.permission: %q is no permission",
					v.Value)
			}
		case "changed":
			if review.AsksOfChange = v.Value == "ask"; !review.AsksOfChange && v.Value != "tell" {
				f.Fail(v, "write changed: ask, or changed: tell, which is the default", "review.changed: %q says nothing about a command that an agent changed", v.Value)
			}
		case "supervisor":
			if err := v.Decode(&review.Supervisor); err != nil {
				f.Fail(v, "write supervisor: true or false", "review.supervisor: %q is neither true nor false", v.Value)
			}
		default:
			f.Fail(k, fix, "review has no key %q", k.Value)
		}
	}
	return review
}
