package roles

import "gopkg.in/yaml.v3"

// readReview returns the review that the key "review" gives. The value of the key is the word
// "supervisor", the word "none", or a mapping such as {command: WORDS, supervisor: true}.
func (f *fields) readReview() (review Review) {
	const fix = "write review: supervisor, none, or {command: make test}"
	value := f.lookUp("review")
	if value == nil || value.Kind == yaml.ScalarNode {
		said := f.readText("review")
		if said != "" && said != "supervisor" && said != "none" {
			f.fail(value, fix, "review: %q reviews nothing", said)
		}
		review.Supervisor = said == "supervisor"
		return review
	}
	if value.Kind != yaml.MappingNode {
		f.fail(value, fix, "review must be a word or a mapping")
		return review
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		switch k, v := value.Content[i], value.Content[i+1]; k.Value {
		case "command":
			if review.Command = f.words(v, "review.command"); len(review.Command) == 0 || review.Command[0] == "" {
				f.fail(v, fix, "review.command names no program")
			}
		case "permission":
			if review.Permission = ParsePermission(v.Value); review.Permission == "" {
				f.fail(v, "write permission: read-only, edit or full", "review.permission: %q is no permission",
					v.Value)
			}
		case "changed":
			if review.AsksOfChange = v.Value == "ask"; !review.AsksOfChange && v.Value != "tell" {
				f.fail(v, "write changed: ask, or changed: tell, which is the default", "review.changed: %q says nothing about a command that an agent changed", v.Value)
			}
		case "supervisor":
			if err := v.Decode(&review.Supervisor); err != nil {
				f.fail(v, "write supervisor: true or false", "review.supervisor: %q is neither true nor false", v.Value)
			}
		default:
			f.fail(k, fix, "review has no key %q", k.Value)
		}
	}
	return review
}
