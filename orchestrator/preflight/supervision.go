package preflight

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
)

// supervision is what the board declares, else what the settings do.
func supervision(b *board.Board, s *Setup) *flow.Supervision {
	if b.Checkpoints != nil || b.CheckpointsOff {
		return b.Checkpoints
	}
	return s.Checkpoints
}

// checkSupervision checks what the checkpoints of a board need: tasks, a supervisor and a requirement.
func (p *Prepared) checkSupervision(b *board.Board) error {
	s := p.Supervision
	if s == nil {
		return nil
	}
	if unlisted := b.CheckCheckpoints(); len(unlisted) > 0 {
		return unlisted[0]
	}
	for _, at := range s.At {
		if p.Redactor.Changes(at.ID) {
			return placed(b, "at", &failure.Invalid{Err: errors.New("an id holds a secret, so it could not be journaled"),
				Fix: "give the checkpoint another id, such as CHECKPOINT-001"})
		}
	}
	if err := p.checkRole(s.Role); err != nil {
		return placed(b, "role", err)
	}
	isFile, err := p.Workspace.Place.NamesFile(s.Requirement)
	if err != nil {
		return placed(b, "requirement", fmt.Errorf("requirement: %w", err))
	}
	if !isFile && looksLikeFile(s.Requirement) {
		p.warnOdd("the requirement %q names no file in %s, so the supervisor reads it as a text", s.Requirement, p.Dir())
	}
	if player, err := p.Player(s.Role); err == nil && mayWrite(player) {
		p.warnOdd("role %s may change files: a supervisor looks only; what it changes voids its verdict", player.Role.Name)
	}
	return nil
}

// placed gives an error its place on the board. The settings' declaration has none.
func placed(b *board.Board, key string, err error) error {
	if b.Checkpoints == nil {
		return fmt.Errorf("checkpoints in .kanban-run.yaml: %w", err)
	}
	return b.CheckpointsProblem(key, err)
}

func (p *Prepared) warnOdd(format string, args ...any) {
	text := fmt.Sprintf("checkpoints: "+format, args...)
	p.Odd = append(p.Odd, text)
	p.notice(text)
}

// looksLikeFile recognises a word such as docs/goal.md.
func looksLikeFile(text string) bool {
	return path.Ext(text) != "" && !strings.HasSuffix(text, ".") && !strings.ContainsAny(text, " \t\r\n")
}

// mayWrite reports whether a program may change files as it is set up. Of an agent that knows no list of tools only
// a permission says so: what it does without one is its own affair.
func mayWrite(player *roster.Player) bool {
	a, tool := player.Assignment, player.Adapter.Tool()
	switch {
	case a.Permission != "":
		return a.Permission != agent.ReadOnly
	case tool.Program == "" || slices.Contains(tool.Ignores, "tools"):
		return false
	}
	writers := []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"}
	return slices.ContainsFunc(writers, func(writer string) bool {
		return !slices.Contains(a.Denied, writer) && (a.Tools == nil || hasTool(a.Tools, writer))
	})
}

// hasTool looks for a tool in a list. Bash(git log:*) is no Bash: its commands are picked.
func hasTool(tools []string, name string) bool {
	return slices.ContainsFunc(tools, func(tool string) bool {
		tool, _, picked := strings.Cut(tool, "(")
		return strings.TrimSpace(tool) == name && !(picked && name == "Bash")
	})
}
