package config

import (
	"fmt"
	"time"
)

// strictWatch are the settings of the strict profile: seed 000 knows no patience with models, and
// none with agents that tell nothing.
func strictWatch() []given {
	return []given{{name: "watch.model_warning", value: "2m"}, {name: "watch.model_timeout", value: "5m"}, {name: "watch.mcp_timeout.end", value: "1m"},
		{name: "watch.grace", value: "0"}, {name: "watch.silent_agents", value: "act"}}
}

// finishWatch puts the strict profile over the defaults, and refuses limits that contradict each
// other.
func (r *resolver) finishWatch() error {
	if r.settings.Watch.Profile == "strict" {
		for _, g := range strictWatch() {
			if r.origins[g.name].Source != "default" {
				continue
			}
			g.source = "watch.profile strict"
			if err := r.setRow(g); err != nil {
				return err
			}
			r.recordOrigin(g)
		}
	}
	w := r.settings.Watch
	for _, pair := range []struct {
		first, then       string
		shorter, notUnder time.Duration
	}{
		{"watch.idle_warning", "watch.idle_timeout", w.IdleWarning, w.IdleTimeout},
		{"watch.model_warning", "watch.model_timeout", w.ModelWarning, w.ModelTimeout},
		{"watch.mcp_timeout.default", "watch.mcp_timeout.max", w.MCPDefault, w.MCPMax},
		{"watch.mcp_timeout.max", "watch.mcp_timeout.end", w.MCPMax, w.MCPEnd},
	} {
		if pair.notUnder > 0 && pair.shorter > pair.notUnder {
			first, then := r.origins[pair.first], r.origins[pair.then]
			return &Error{Text: fmt.Sprintf("%s is %s (%s), and longer than %s, %s (%s)", pair.first, first.Value, first.Source, pair.then, then.Value, then.Source),
				Fix: "a warning comes before what follows it"}
		}
	}
	return nil
}
