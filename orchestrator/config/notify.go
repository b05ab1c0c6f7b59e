package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/notify"
)

// Notify holds the ways to send messages to a person, and the topics of these messages.
type Notify struct {
	Command string // program and arguments; "" if there is none
	Webhook string // address, which may be a secret; "" if there is none
	On      []event.Topic
}

// IsSet reports whether messages are sent.
func (n Notify) IsSet() bool { return n.Command != "" || n.Webhook != "" }

// defaultTopics are all topics except "complete". A complete board needs no action of a person.
const defaultTopics = "needs_person stuck loop tool limit later"

func notifyRows() []row {
	return []row{
		{Setting{Name: "notify.command", Variable: "KANBAN_RUN_NOTIFY_COMMAND", InFile: true, Default: noDefault,
			Help: "program that gets a message as JSON on its standard input when a person is needed"},
			func(s *Settings, v, _ string) error { s.Notify.Command = v; return nil }},
		{Setting{Name: "notify.webhook", Variable: "KANBAN_RUN_NOTIFY_WEBHOOK", InFile: true, Default: noDefault,
			Help: "address that the message is posted to"},
			func(s *Settings, v, _ string) error {
				s.Notify.Webhook = v
				if err := notify.CheckWebhook(v); v != "" && err != nil {
					return &valueError{err.Error(), "write https://HOST/PATH"}
				}
				return nil
			}},
		{Setting{Name: "notify.on", Variable: "KANBAN_RUN_NOTIFY_ON", InFile: true, Default: defaultTopics,
			Help: "what is told: " + defaultTopics + " complete"},
			func(s *Settings, v, _ string) (err error) { s.Notify.On, err = parseTopics(v); return err }},
	}
}

func parseTopics(text string) (topics []event.Topic, err error) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !slices.Contains(event.Topics(), event.Topic(word)) {
			hint := frontmatter.Suggest(word, strings.Fields(defaultTopics+" complete"), "the topics are ")
			return nil, &valueError{"unknown topic " + word, hint}
		}
		topics = append(topics, event.Topic(word))
	}
	return topics, nil
}

// notify reads the settings below the key "notify".
func (f *settingsFile) notify(value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write notify: {webhook: https://HOST/PATH}", "notify must be a mapping")
		return
	}
	keys := []string{"command", "webhook", "on"}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, v := value.Content[i], value.Content[i+1]
		switch {
		case !slices.Contains(keys, key.Value):
			hint := frontmatter.Suggest(key.Value, keys, "notify has the keys ")
			f.fail(key, hint, "unknown key %q in notify", key.Value)
		case v.Tag == "!!null":
		case key.Value == "on" && v.Kind == yaml.SequenceNode:
			var words []string
			for _, item := range v.Content {
				words = append(words, item.Value)
			}
			f.add(v, given{name: "notify.on", value: strings.Join(words, " ")})
		default:
			f.scalar("notify."+key.Value, "", v)
		}
	}
}
