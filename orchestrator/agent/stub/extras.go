package stub

import (
	"encoding/json"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// extras are a stub's further reports beside its reply, like those of the tools of other adapters.
// schema/stub.schema.json describes the fields.
type extras struct {
	Input   int64      `yaml:"input" json:"input"`
	Cached  int64      `yaml:"cached" json:"cached"`
	Output  int64      `yaml:"output" json:"output"`
	Cost    *float64   `yaml:"cost" json:"cost,omitempty"`
	Session string     `yaml:"session" json:"session,omitempty"`
	Whole   bool       `yaml:"whole_session" json:"whole_session,omitempty"`
	Later   string     `yaml:"later" json:"later,omitempty"`
	Until   *time.Time `yaml:"until" json:"until,omitempty"`
	Lost    bool       `yaml:"lost" json:"lost,omitempty"`

	Untold bool `yaml:"-" json:"untold,omitempty"` // without tokens and cost
}

// extrasReader finds the extras in a key of the reply that other readers do not know. A reply that
// is no JSON has no extras. Of a review, whose reply is a text, it reports the message.
type extrasReader struct {
	agent.Reader
	review bool
}

func (r *extrasReader) End(exit proc.Exit) agent.Report {
	report := r.Reader.End(exit)
	var said struct {
		Message string  `json:"message"`
		Told    *extras `json:"told"`
	}
	if json.Unmarshal([]byte(report.Reply), &said) != nil || said.Told == nil {
		return report
	}
	t := said.Told
	if r.review {
		report.Reply = said.Message
	}
	if t.Lost {
		report.Failure = &contract.Failure{Reason: "the session is not known", Lost: true}
	}
	report.Session, report.Cumulative = t.Session, t.Whole
	if t.Untold {
		return report
	}
	report.Spent = &agent.Spending{Input: t.Input, Cached: t.Cached, Output: t.Output}
	if t.Cost != nil {
		report.Spent.Cost = agent.Micros(*t.Cost)
	}
	if t.Later != "" {
		later := &agent.LaterError{Text: t.Later}
		if t.Until != nil {
			later.Reset = *t.Until
		}
		report.Err = later
	}
	return report
}
