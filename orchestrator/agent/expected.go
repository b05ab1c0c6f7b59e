package agent

import (
	"fmt"

	"kanban-run/schema"
)

// Expected is the JSON Schema that the contract's replies must fit, as text for people.
func (c Contract) Expected() string {
	if c == ReviewContract {
		return "any text"
	}
	source, err := schema.Source(c.Schema())
	if err != nil {
		return fmt.Sprintf("schema %s: %v", c.Schema(), err) // cannot happen: the schemas are embedded
	}
	return string(source)
}
