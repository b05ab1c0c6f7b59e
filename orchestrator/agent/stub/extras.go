package stub

import (
	"encoding/json"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// extras holds what a stub reports beside its reply, such as cost and session. The tools of other
// adapters report this, too. schema/stub.schema.json describes the fields.
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

	Untold bool `yaml:"-" json:"untold,omitempty"` // the stub reports no tokens and no cost
}

// extrasReader finds the extras in the key "told" of the reply, which other readers ignore. A reply
// that is not JSON has no extras. If the reply of a review has extras, the reader reports only the
// message as the reply, since a review is a text.
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
