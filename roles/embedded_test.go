package roles

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/schema"
)

var (
	fence     = regexp.MustCompile("(?ms)^```json\n(.*?)\n```$")
	tableRow  = regexp.MustCompile("(?m)^\\| (`[^|]+) \\| ([A-Z][a-z]+) \\|$")
	statuses  = []string{"ok", "blocked", "error", "escalate"}
	taskInput = []string{"kanban_file", "task_file"}
)

func embeddedRoles(t *testing.T) map[string]Role {
	t.Helper()
	all := map[string]Role{}
	for _, role := range load(t).All() {
		all[role.Name] = role
	}
	return all
}

func TestEmbeddedRoles(t *testing.T) {
	all := embeddedRoles(t)
	for _, name := range []string{"Architect", "Implementor", "Manager", "Supervisor"} {
		role, ok := all[name]
		if !ok {
			t.Errorf("no embedded role %s", name)
			continue
		}
		if role.Description == "" || !strings.HasPrefix(role.File, embeddedPrefix) {
			t.Errorf("%s: description %q, file %q, want a description and an embedded file", name, role.Description,
				role.File)
		}
		if role.Agent != "" || role.Command != nil || role.Model != "" || role.Timeout != nil {
			t.Errorf("%s names an agent, command, model or timeout: those are the user's to choose", name)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d embedded roles, want 4", len(all))
	}
}

// An example that breaks the contract would teach every agent to break it. Seed 004, "Output
// Specification" and "Input Specification", which also assign the keys to the roles.
func TestExamplesInPromptsKeepTheContract(t *testing.T) {
	for name, role := range embeddedRoles(t) {
		var replies, inputs, verdicts int
		for _, match := range fence.FindAllStringSubmatch(role.Prompt, -1) {
			var example map[string]any
			if err := json.Unmarshal([]byte(match[1]), &example); err != nil {
				t.Errorf("%s: example %s: %v", name, match[1], err)
				continue
			}
			if _, isReply := example["status"]; isReply {
				replies++
				checkReply(t, name, example)
				continue
			}
			if example["type"] != nil {
				verdicts++
				if violations, err := schema.Validate("checkpoint-reply", example); err != nil || len(violations) > 0 {
					t.Errorf("%s: a verdict of the example does not fit: %v, %v", name, violations, err)
				}
				continue
			}
			inputs++
			checkInput(t, name, example)
		}
		if replies == 0 || inputs == 0 {
			t.Errorf("%s: %d example replies and %d inputs, want both", name, replies, inputs)
		}
		if (verdicts > 0) != (name == "Supervisor") {
			t.Errorf("%s: %d examples of a verdict, want one of the Supervisor's", name, verdicts)
		}
	}
}

func checkReply(t *testing.T, name string, reply map[string]any) {
	t.Helper()
	want := []string{"message", "status"}
	if name == "Manager" {
		want = []string{"message", "next_task", "status", "tasks"}
	}
	if diff := cmp.Diff(want, keys(reply)); diff != "" {
		t.Errorf("%s: keys of the reply %v differ (-want +got):\n%s", name, reply, diff)
	}
	if status, _ := reply["status"].(string); !slices.Contains(statuses, status) {
		t.Errorf("%s: status %v of an example, want one of %v", name, reply["status"], statuses)
	}
	if next, ok := reply["next_task"].(string); ok && !slices.Contains(reply["tasks"].([]any), any(next)) {
		t.Errorf("%s: next_task %s is not among the tasks of the example", name, next)
	}
}

func checkInput(t *testing.T, name string, input map[string]any) {
	t.Helper()
	got := keys(input)
	want := taskInput
	switch {
	case name == "Manager":
		want = []string{"done_task", "kanban_file", "tasks"}
	case input["instruction"] != nil:
		want = []string{"instruction"}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: keys of the example input = %v, want %v", name, got, want)
	}
}

func keys(m map[string]any) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// A project runs only if the prompts say these things. Seed 004, "Constraints" and "Communication
// Model".
func TestPromptsSayWhatMattersMost(t *testing.T) {
	everywhere := []string{
		"one JSON object and **nothing else**", "no Markdown fence around it", "`escalate`", "`blocked`", "[REDACTED_SECRET]", "`instruction`",
	}
	workers := []string{"`## Work Log`", "**Facts:**", "**Analysis:**", "**Conclusion:**", "- Status: ok"}
	own := map[string][]string{
		"Architect": {"Verdict: PASS", "Verdict: CHANGES REQUESTED", "work_items:", "only the Manager writes them",
			"test contract"},
		"Implementor": {"only the Manager writes them", "An earlier attempt of yours", "Partly done is not `ok`"},
		"Manager": {"`phase: complete`", "written by the program, from your reply", "role: Implementor", "done_task", "**same file**",
			"three rounds",
			"An earlier attempt of yours", "## Acceptance Criteria"},
		"Supervisor": {"pass", "warn", "block", "(score: 0.70)", "You do not code", "You change no file", `"recovery": true`, "no messages to\nanalyze",
			"### Design", "### Implementation", "### Final"},
	}
	for name, role := range embeddedRoles(t) {
		said := slices.Concat(everywhere, own[name])
		if name != "Supervisor" { // which writes nothing
			said = append(said, workers...)
		}
		for _, text := range said {
			if name == "Manager" && text == "`## Work Log`" {
				text = "## Work Log"
			}
			if !strings.Contains(role.Prompt, text) {
				t.Errorf("%s: the prompt does not say %q", name, text)
			}
		}
	}
}

// The table in the Manager's prompt is that of seed 004, "Agent Role Mapping".
func TestManagerKnowsThePhaseTable(t *testing.T) {
	var got []string
	for _, row := range tableRow.FindAllStringSubmatch(embeddedRoles(t)["Manager"].Prompt, -1) {
		got = append(got, strings.ReplaceAll(row[1], "`", "")+": "+row[2])
	}
	want := []string{"design: Architect", "plan: Manager", "execute with sub_phase: review: Architect",
		"execute: Implementor", "validate: Architect"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("phase table differs (-want +got):\n%s", diff)
	}
}

// The Manager only keeps the board and needs no shell.
func TestToolsFitTheRoles(t *testing.T) {
	all := embeddedRoles(t)
	if got := all["Manager"].Tools; slices.Contains(got, "Bash") || !slices.Contains(got, "Edit") {
		t.Errorf("tools of the Manager = %v, want Edit and no Bash", got)
	}
	if got := all["Supervisor"].Tools; !slices.Equal(got, []string{"Read", "Grep", "Glob"}) {
		t.Errorf("tools of the Supervisor = %v, want those that read", got)
	}
	for _, name := range []string{"Architect", "Implementor"} {
		if all[name].Tools != nil {
			t.Errorf("tools of the %s = %v, want all that there are", name, all[name].Tools)
		}
	}
}

// TestWeightsAddUp: the score of a checkpoint is a weighted sum: the weights of
// each of its tables make 1.
func TestWeightsAddUp(t *testing.T) {
	weight := regexp.MustCompile(`(?m)^\| .* \| (0\.\d\d) \|`)
	_, checks, _ := strings.Cut(embeddedRoles(t)["Supervisor"].Prompt, "## Which checks")
	tables := strings.Split(checks, "\n### ")[1:]
	if len(tables) != 3 {
		t.Fatalf("%d tables of checks, want those of a design, an implementation and the end", len(tables))
	}
	for _, table := range tables {
		title, text, _ := strings.Cut(table, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		sum := 0.0
		for _, m := range weight.FindAllStringSubmatch(text, -1) {
			w, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += w
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: the weights add up to %.2f", title, sum)
		}
	}
}
