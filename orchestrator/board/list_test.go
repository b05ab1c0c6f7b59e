package board

import "testing"

// Entries of one path are reused in their order; further ones are new.
func TestSpliceTakesEntriesOfOnePathInOrder(t *testing.T) {
	const source = "tasks:\n- x.md\n- a.md # 1\n- ./a.md # 2\n- b.md\n"
	for _, c := range []struct {
		name string
		edit Edit
		want string
	}{
		{"both move", setTasks("a.md", "a.md", "b.md", "x.md"), "tasks:\n- a.md # 1\n- ./a.md # 2\n- b.md\n- x.md\n"},
		{"one more", setTasks("a.md", "a.md", "a.md", "x.md"), "tasks:\n- a.md # 1\n- ./a.md # 2\n- a.md\n- x.md\n"},
		{"two more", setTasks("a.md", "a.md", "a.md", "a.md", "x.md"),
			"tasks:\n- a.md # 1\n- ./a.md # 2\n- a.md\n- a.md\n- x.md\n"},
		{"one less", setTasks("b.md", "a.md", "x.md"), "tasks:\n- b.md\n- a.md # 1\n- x.md\n"},
	} {
		t.Run(c.name, func(t *testing.T) { checkSplice(t, "k.yaml", source, c.edit, c.want) })
	}
}
