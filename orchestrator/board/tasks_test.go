package board

import (
	"reflect"
	"strings"
	"testing"
)

// verify sees foreign changes in lists.
func TestVerifyOfLists(t *testing.T) {
	const source = "current: a\nlog:\n- x\n- y\ntasks:\n- a\n- b [todo]\n- c\n"
	b := mustParse(t, "k.yaml", source)
	for _, c := range []struct {
		name, old, new string
		e              Edit
		want           string
	}{
		{"nothing", "", "", Edit{}, ""},
		{"another list", "- x", "- z", Edit{}, "other fields"},
		{"another list is shorter", "- x\n", "", Edit{}, "other fields"},
		{"another list is none", "\n- x\n- y", " x", Edit{}, "other fields"},
		{"another list with a comment", "- x", "- x # c", Edit{}, ""},
		{"a task", "- b", "- d", Edit{}, "tasks would not"},
		{"a state", "[todo]", "[done]", Edit{}, "tasks would not"},
		{"a state of a list that is set", "b [todo]\n- c", "b [done]\n- d", setTasks("a", "b", "d"),
			"an entry that stays"},
		{"quotes of a list that is set", "- a\n- b [todo]\n- c", "- a\n- 'b [todo]'\n- d", setTasks("a", "b", "d"),
			"an entry that stays"},
		{"a list that is set", "- c", "- d", setTasks("a", "b", "d"), ""},
	} {
		wanted, err := c.e.parseEntries()
		if err != nil {
			t.Fatal(err)
		}
		err = b.verify(mustParse(t, b.File, strings.Replace(source, c.old, c.new, 1)), c.e, wanted)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("verify, where %s changes, = %v, want %q", c.name, err, c.want)
		}
	}
}

func TestEntries(t *testing.T) {
	b := mustParse(t, "k.md", "\n---\ntasks:\n- a\n\n- b [done]\n---\n")
	want := []Entry{{Path: "a", Line: 4}, {Path: "b", State: "done", Line: 6}}
	if got := b.entries; !reflect.DeepEqual(got, want) || b.Len() != 2 || b.Entry(1) != want[1] {
		t.Errorf("Entries() = %+v, Len() = %d, Entry(1) = %+v, want %+v", got, b.Len(), b.Entry(1), want)
	}
	if b := new(Board); b.Len() != 0 || b.TaskPaths() == nil || len(b.entries) != 0 {
		t.Error("a board that was never read has tasks")
	}
}
