package agent

import (
	"encoding/json"
	"time"

	"kanban-run/orchestrator/proc"
)

// tale is what a stub tells beside its reply, as the tools behind other adapters do; schema/stub.schema.json says what the fields mean.
type tale struct {
	Input   int64      `yaml:"input" json:"input"`
	Cached  int64      `yaml:"cached" json:"cached"`
	Output  int64      `yaml:"output" json:"output"`
	Cost    *float64   `yaml:"cost" json:"cost,omitempty"`
	Session string     `yaml:"session" json:"session,omitempty"`
	Whole   bool       `yaml:"whole_session" json:"whole_session,omitempty"`
	Later   string     `yaml:"later" json:"later,omitempty"`
	Until   *time.Time `yaml:"until" json:"until,omitempty"`
}

// taleReader finds what a stub tells in a key of its reply that means nothing to anybody else. A reply that is no JSON tells nothing.
type taleReader struct{ objectReader }

func (r *taleReader) End(exit proc.Exit) Report {
	report := r.objectReader.End(exit)
	var said struct {
		Told *tale `json:"told"`
	}
	if json.Unmarshal(report.Reply, &said) != nil || said.Told == nil {
		return report
	}
	t := said.Told
	report.Session, report.Cumulative = t.Session, t.Whole
	report.Spent = &Spending{Input: t.Input, Cached: t.Cached, Output: t.Output}
	if t.Cost != nil {
		report.Spent.Cost = Micros(*t.Cost)
	}
	if t.Later != "" {
		later := &LaterError{Text: t.Later}
		if t.Until != nil {
			later.Reset = *t.Until
		}
		report.Err = later
	}
	return report
}
