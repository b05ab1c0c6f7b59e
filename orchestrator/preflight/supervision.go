package preflight

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
)

// supervision returns the checkpoints that the board declares, or those of the settings if the
// board declares none. It returns nil if the board turns checkpoints off.
func supervision(b *board.Board, s *Setup) *event.Supervision {
	if b.Checkpoints != nil || b.CheckpointsOff {
		return b.Checkpoints
	}
	return s.Checkpoints
}

// checkSupervision checks the checkpoints of a board: their tasks and IDs, the supervisor's role,
// the Manager's part and the requirement.
func (p *Prepared) checkSupervision(b *board.Board) error {
	s := p.Supervision
	if s == nil {
		return nil
	}
	if unlisted := b.CheckCheckpoints(); len(unlisted) > 0 {
		if !p.wasRun() {
			return unlisted[0]
		}
		p.notice(unlisted[0].Error()) // the Manager may have removed the task
	}
	p.warnOfDone(b, s)
	for _, at := range s.At {
		if p.Redactor.Changes(at.ID) {
			return p.placed(b, "at", &failure.Invalid{
				Err: errors.New("an id holds a secret, so it could not be journaled"),
				Fix: "give the checkpoint another id, such as CHECKPOINT-001",
			})
		}
	}
	if err := p.checkReadOnly(s.Role); err != nil {
		return p.placed(b, "role", err)
	}
	if manager, err := p.Player(event.ManagerRole); err == nil && s.OnBlock == event.BlockRevise &&
		!manager.Role.Anomalies {
		return p.placed(b, "on_block", &failure.Invalid{
			Err: errors.New("on_block: revise tells the Manager what blocks, " +
				"and the role Manager accepts no anomalies"),
			Fix: "write accepts: [anomalies] into the Manager's role file, or on_block: person",
		})
	}
	isFile, err := p.Workspace.Place.NamesFile(s.Requirement)
	if err != nil {
		return p.placed(b, "requirement", fmt.Errorf("requirement: %w", err))
	}
	if !isFile && looksLikeFile(s.Requirement) {
		p.warn("checkpoints: the requirement %q names no file in %s, so the supervisor reads it as a text", s.Requirement, p.Workspace.HomeDir())
	}
	if player, err := p.ReadOnlyPlayer(s.Role); err == nil && (player.Role.Permission == "edit" || player.Role.Permission == "full") {
		p.warn("checkpoints: role %s may change files: a supervisor looks only; what it changes voids its verdict", player.Role.Name)
	}
	return nil
}

// placed adds the place of the cause to an error. The place is the key on the board. If the board
// declares no checkpoints, the place is in the settings file.
func (p *Prepared) placed(b *board.Board, key string, err error) error {
	if b.Checkpoints == nil {
		return p.Roster.Settings.Fault("checkpoints."+key, fmt.Errorf("checkpoints: %w", err))
	}
	return b.CheckpointsProblem(key, err)
}

func (p *Prepared) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.Warnings = append(p.Warnings, text)
	p.notice(text)
}

// looksLikeFile reports whether a text looks like the path of a file, such as docs/goal.md.
func looksLikeFile(text string) bool {
	return path.Ext(text) != "" && !strings.HasSuffix(text, ".") && !strings.ContainsAny(text, " \t\r\n")
}

// warnOfDone warns of a checkpoint after a task that the board marks as done, because such a
// checkpoint would never be held.
func (p *Prepared) warnOfDone(b *board.Board, s *event.Supervision) {
	find := b.Finder()
	for _, at := range s.At {
		if i := find(at.After); i >= 0 && b.Entry(i).Done() && !p.wasRun() {
			p.warn("checkpoints: %s comes after %s, which the board marks as done: it will not be held", at.ID, at.After)
		}
	}
}
