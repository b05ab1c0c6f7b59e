package claude

import (
	"fmt"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// TestPrices: an unknown price is unknown, not zero.
func TestPrices(t *testing.T) {
	for _, tt := range []struct{ name, fields, want string }{
		{"known", `"model_usage_since_last_result":{"m":{"inputTokens":3,"outputTokens":2,"costUSD":0.5}}`, "3 2 $0.50 false"},
		{"none", `"model_usage_since_last_result":{"m":{"inputTokens":3,"outputTokens":2}}`, "3 2 unknown false"},
		{"null", `"model_usage_since_last_result":{"m":{"inputTokens":3,"outputTokens":2,"costUSD":null}}`, "3 2 unknown false"},
		{"text", `"model_usage_since_last_result":{"m":{"inputTokens":3,"outputTokens":2,"costUSD":"0.5"}}`, "3 2 unknown false"},
		{"negative", `"model_usage_since_last_result":{"m":{"inputTokens":3,"outputTokens":2,"costUSD":-3}}`, "3 2 unknown false"},
		{"of one model", `"model_usage_since_last_result":{"m":{"inputTokens":3,"outputTokens":2},"n":{"inputTokens":1,"outputTokens":1,"costUSD":1}}`, "4 3 $1.00 true"},
		{"of an old version", `"usage":{"input_tokens":3,"output_tokens":2},"total_cost_usd":0.25`, "3 2 $0.25 false"},
		{"text of an old version", `"usage":{"input_tokens":3,"output_tokens":2},"total_cost_usd":"0.25"`, "3 2 unknown false"},
		{"of a call that failed", `"total_cost_usd":0,"model_usage_since_last_result":{}`, "0 0 $0.00 false"},
		{"of a session that did no more", `"total_cost_usd":0.5,"model_usage_since_last_result":{}`, "0 0 $0.00 false"},
		{"of no model, and no sum", `"model_usage_since_last_result":{}`, "0 0 unknown false"},
		{"of no model, and no sum that is one", `"total_cost_usd":null,"model_usage_since_last_result":{}`, "0 0 unknown false"},
		{"nothing at all", `"num_turns":1`, "nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(contract.Task, agent.Host{})
			_, _ = r.Write([]byte(`{"type":"result","subtype":"success","result":"x",` + tt.fields + "}\n"))
			got := "nothing"
			if s := r.End(proc.Exit{}).Spent; s != nil {
				cost := "unknown"
				if s.Cost != nil {
					cost = fmt.Sprintf("$%.2f", float64(*s.Cost)/1e6)
				}
				got = fmt.Sprint(s.Input, " ", s.Output, " ", cost, " ", s.Partial)
			}
			if got != tt.want {
				t.Errorf("a result with %s comes to %s, want %s", tt.fields, got, tt.want)
			}
		})
	}
}
