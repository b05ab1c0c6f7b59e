package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/notify"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/trust"
)

// telling is an observer that also passes each event to a notifier.
type telling struct {
	ledger.Observer
	notifier *notify.Notifier
}

// Entry passes an event to the observer and to the notifier.
func (t telling) Entry(board string, e event.Entry) {
	t.Observer.Entry(board, e)
	t.notifier.Entry(board, e)
}

// notifier returns the notifier of the settings, or nil if the settings name neither a command nor
// a webhook. The program of notify.command gets only the environment variables of an agent, because
// an agent may have written the settings.
func (u *setup) notifier(general *resolved, observer ledger.Observer, docs *documents) (*notify.Notifier, error) {
	s := general.settings
	if !s.Notify.IsSet() {
		return nil, nil
	}
	agents := u.roster(general, "", "", false)
	o := notify.Options{
		On:       s.Notify.On,
		Redactor: u.redactor(agents),
		Now:      time.Now,
		Report:   docs.supervisorReport,
		Warn:     observer.Notice,
	}
	held := u.heldSecrets()
	if held != "" {
		observer.Notice("notify", held+", so no command is started for notifications before that is settled: "+asked.Command)
	}
	if s.Notify.Command != "" && held == "" {
		argv, err := agent.SplitCommand(s.Notify.Command)
		if err != nil {
			return nil, &invalidSettings{s.Fault("notify.command", fmt.Errorf("notify.command: %w", err))}
		}
		path, _ := proc.LookPath(argv[0], u.dir) // once, so that an agent cannot put another program before it
		o.Senders = append(o.Senders, notify.Command(argv, path, u.dir, roster.Environment(u.term.environ, s), trust.CopyOf(argv, path, u.dir).Words))
	}
	if s.Notify.Webhook != "" {
		o.Senders = append(o.Senders, notify.Webhook(s.Notify.Webhook))
	}
	return notify.New(o), nil
}

// heldSecrets says which rule for the environment waits for a person, and would hand a secret to the command
// for notifications; "": none.
func (u *setup) heldSecrets() string {
	for _, i := range asked.Waiting(u.dir) {
		if i.By == event.SettingsFile && strings.HasPrefix(i.Field, "env.") {
			return i.Words
		}
	}
	return ""
}

// supervisorReport returns the SUPERVISOR_REPORT on a board's last run, or "" if the journal is unreadable.
func (d *documents) supervisorReport(board string) string {
	b, err := d.look(board)
	if err != nil && !errors.As(err, new(*ledger.NoRunError)) {
		return ""
	}
	return report.SupervisorReport([]*projection.Board{&b.Board})
}
