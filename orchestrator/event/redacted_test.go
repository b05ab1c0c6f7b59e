package event_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/eventtest"
)

// facts are the texts of events that no redaction changes and no journal refuses: hashes, words of
// this program, roles, of which the embedded ones are no secrets, and lists that are looked at when
// they are accepted. A text that agents or people choose belongs here only if its origin looks for
// secrets in it.
var facts = []string{
	// hashes and marks
	".after_sha256", ".before.board_sha256", ".before_sha256", ".behind", ".board_sha256", ".decide_sha256", ".digest", ".files[].sha256",
	".files[].was_sha256", ".files[].state", ".finding", ".given", ".kept[].sha256", ".leaving.finding", ".leaving.tree", ".mark", ".place",
	".marks_sha256", ".quarantined[].task_sha256", ".report_sha256", ".snapshot_hash", ".snapshot_hashes[]", ".stored", ".clone.board_sha256", ".clone.head", ".clone.why", ".from", ".to", ".why", ".clone_id", ".parent", ".tip",
	".task_sha256", ".tasks_sha256", ".tree", ".owner", ".owners[]", ".previous_owner",
	// words of this program, or of a schema
	".action", ".adapter", ".anomaly_type", ".check", ".data.status", ".data.supervision_verdict", ".data.verification", ".executor",
	".files[].why", ".gone", ".manager", ".manager_adapter", ".on_divergence", ".policy", ".provider", ".recommendation", ".refusal.provider",
	".severity", ".source", ".status", ".supervisor_adapter", ".until", ".version",
	// what is looked at before
	".reassign[].agents[]", ".reassign[].role", ".role", ".supervision.role", ".tasks[]",
}

// names are the texts by which a later run goes: an event with a secret in one is refused.
var names = []string{
	".before.current", ".clone.tasks[]", ".checkpoint", ".checkpoint.after", ".checkpoint.again", ".checkpoint.id", ".checkpoint.scope[]",
	".current", ".dir", ".file", ".from_branch", ".next_task", ".onto_branch", ".path", ".quarantined[].task", ".ref", ".renamed[].from", ".renamed[].to", ".supervision.at[].after",
	".supervision.at[].id", ".supervision.at[].scope[]", ".task", ".tasks[]", ".work_branch",
}

// TestRedacted puts a secret into each text of each kind of event, one after the other: it is
// redacted, or the event is refused, or the text is a fact.
func TestRedacted(t *testing.T) {
	shown, refused := map[string]bool{}, map[string]bool{}
	for _, kind := range event.Kinds() {
		zero, err := event.Decode(kind, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		full := reflect.New(reflect.TypeOf(zero))
		eventtest.Fill(full.Interface())
		for path, texts := range textsOf("", full.Elem(), map[string][]reflect.Value{}) {
			for _, text := range texts {
				was := text.String()
				text.SetString("a hunter2")
				isRefused, isShown := checkText(t, kind, path, full.Elem().Interface().(event.Event))
				refused[path], shown[path] = refused[path] || isRefused, shown[path] || isShown
				text.SetString(was)
			}
		}
	}
	for path := range shown {
		if shown[path] != slices.Contains(facts, path) {
			t.Errorf("%s shows a secret: %t, and is a fact: %t", path, shown[path], !shown[path])
		}
		if refused[path] != slices.Contains(names, path) {
			t.Errorf("%s with a secret is refused: %t, and is a name: %t", path, refused[path], !refused[path])
		}
	}
	for _, path := range slices.Concat(facts, names) {
		if _, is := shown[path]; !is {
			t.Errorf("no event has %s", path)
		}
	}
}

// checkText reports whether an event with a secret in the text with the path is refused, or shows it.
func checkText(t *testing.T, kind, path string, e event.Event) (refused, shown bool) {
	t.Helper()
	before, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	clean := func(text string) string { return strings.ReplaceAll(text, "hunter2", "hidden") }
	name := event.SecretName(e, clean)
	if refused = name != ""; refused && name != "a hidden" {
		t.Errorf("%s: the secret in %s is shown as %q", kind, path, name)
	}
	now, err := json.Marshal(event.Redacted(e, clean))
	if err != nil {
		t.Fatal(err)
	}
	same := string(now) == string(before)
	if !same && string(now) != clean(string(before)) {
		t.Errorf("%s: with a secret in %s it is redacted to %s", kind, path, now)
	}
	if after, err := json.Marshal(e); err != nil || string(after) != string(before) {
		t.Errorf("%s: the event itself was changed", kind)
	}
	return refused, same && !refused
}

// textsOf lists the strings below a value by their paths. A string of a type of its own is a word of
// this program.
func textsOf(path string, v reflect.Value, all map[string][]reflect.Value) map[string][]reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			all[path] = append(all[path], v)
		}
	case reflect.Pointer:
		textsOf(path, v.Elem(), all)
	case reflect.Slice:
		for i := range v.Len() {
			textsOf(path+"[]", v.Index(i), all)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if at := path + "." + name; f.Anonymous {
				textsOf(path, v.Field(i), all)
			} else {
				textsOf(at, v.Field(i), all)
			}
		}
	}
	return all
}
