package contract_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"kanban-run/orchestrator/contract"
	"kanban-run/schema"
)

// TestReplySchema: it is the schema of the contract, in one line, without what tools refuse.
func TestReplySchema(t *testing.T) {
	for _, c := range []contract.Kind{contract.Task, contract.Manager, contract.Instruction} {
		source, err := c.ReplySchema()
		if err != nil || bytes.ContainsAny(source, "\n") {
			t.Fatalf("%s: ReplySchema() = %s, %v, want one line", c, source, err)
		}
		var got, full map[string]any
		whole, err := schema.Source(c.Schema())
		if err != nil || json.Unmarshal(source, &got) != nil || json.Unmarshal(whole, &full) != nil {
			t.Fatalf("%s: ReplySchema() = %s, %v, want JSON", c, source, err)
		}
		if got["$schema"] != nil || got["properties"] == nil || got["required"] == nil || full["$schema"] == nil {
			t.Errorf("%s: ReplySchema() = %s, want all but the dialect", c, source)
		}
	}
	if _, err := contract.Review.ReplySchema(); err == nil {
		t.Error("a review has a schema, want none")
	}
}
