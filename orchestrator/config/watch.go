package config

import (
	"fmt"
	"time"

	"kanban-run/orchestrator/frontmatter"
)

// strictWatch returns the settings of the strict profile. As in seed 000, they give no extra time
// to models, or to agents that do not report their work.
func strictWatch() []given {
	return []given{
		{name: "watch.model_warning", value: "2m"},
		{name: "watch.model_timeout", value: "5m"},
		{name: "watch.mcp_timeout.end", value: "1m"},
		{name: "watch.grace", value: "0"},
		{name: "watch.answer", value: "30s"},
		{name: "watch.silent_agents", value: "act"},
	}
}

// finishWatch replaces defaults by the strict profile if that is chosen. It checks the limits
// unless the input is Partial.
func (r *resolver) finishWatch() error {
	if r.settings.Watch.Profile == "strict" {
		for _, g := range strictWatch() {
			if r.origins[g.name].Source != "default" {
				continue
			}
			g.source = "watch.profile strict"
			if err := r.set(g); err != nil {
				return err
			}
			r.recordOrigin(g)
		}
	}
	if r.in.Partial {
		return nil
	}
	return r.checkWatch()
}

// minInterval is the shortest time between two checks. A check takes up to that long under load.
const minInterval = 100 * time.Millisecond

// checkWatch returns an error if two limits are in the wrong order. For example, a warning has to
// come before its timeout. checkWatch also returns an error if the time between two checks is too
// short, or is so long that a limit would be seen too late.
func (r *resolver) checkWatch() error {
	w := r.settings.Watch
	if w.Frequency > 0 && w.Frequency < minInterval {
		o := r.originOf("watch.frequency", w.Frequency)
		text := fmt.Sprintf("watch.frequency is %s (%s), and has to be %s at least", o.Value, o.Source, minInterval)
		return r.limitError(text, "0 turns the watch off", "watch.frequency")
	}
	for _, pair := range []struct {
		first, then       string
		shorter, notUnder time.Duration
	}{
		{"watch.idle_warning", "watch.idle_timeout", w.IdleWarning, w.IdleTimeout},
		{"watch.model_warning", "watch.model_timeout", w.ModelWarning, w.ModelTimeout},
		{"watch.mcp_timeout.default", "watch.mcp_timeout.max", w.MCPDefault, w.MCPMax},
		{"watch.mcp_timeout.max", "watch.mcp_timeout.end", w.MCPMax, w.MCPEnd},
		{"watch.model_timeout", "watch.ceiling", w.ModelTimeout, w.Ceiling},
		{"watch.frequency", "watch.model_timeout", w.Frequency, w.ModelTimeout},
		{"watch.frequency", "watch.idle_timeout", w.Frequency, w.IdleTimeout},
	} {
		if pair.notUnder > 0 && pair.shorter > pair.notUnder {
			first, then := r.originOf(pair.first, pair.shorter), r.originOf(pair.then, pair.notUnder)
			text := fmt.Sprintf("%s is %s (%s), and longer than %s, %s (%s)",
				pair.first, first.Value, first.Source, pair.then, then.Value, then.Source)
			return r.limitError(text, "the first has to come before the second", pair.first, pair.then)
		}
	}
	return nil
}

// limitError returns an error at the place of the first limit that has a place in a file.
func (r *resolver) limitError(text, fix string, limits ...string) error {
	p := &frontmatter.Problem{Text: text, Fix: fix}
	for _, name := range limits {
		if g := r.settings.places[name]; g.file != "" && p.File == "" {
			p.File, p.Line, p.Column = g.file, g.line, g.column
		}
	}
	return p
}

// originOf returns the origin of a limit. A limit that a role or a task takes over from the
// settings has no origin in r, so originOf names "settings" as its source.
func (r *resolver) originOf(name string, value time.Duration) Origin {
	if o, ok := r.origins[name]; ok {
		return o
	}
	return Origin{Name: name, Value: value.String(), Source: "settings"}
}
