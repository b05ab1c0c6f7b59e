package preflight

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/workspace"
	"kanban-run/roles"
)

func (p *Prepared) checkRoleOf(b *board.Board, t *board.Task) error {
	if err := p.checkRole(board.RoleFor(b, t)); err != nil {
		return t.RoleProblem(err)
	}
	return nil
}

// checkRole checks a role once. The role and its judge must have a program, and their names must
// hold no secrets.
func (p *Prepared) checkRole(role string) error {
	return p.checkOnce(duty{role: role}, func() error {
		player, err := p.Player(role)
		if err = p.examine(player, err); err != nil || player.Judge() == "" {
			return err
		}
		err = p.checkReadOnly(player.Judge())
		if reader, found := p.ReadOnlyPlayer(player.Judge()); found == nil && err == nil &&
			reader.Adapter.Tool().Free && !p.DryRun {
			err = fmt.Errorf("%s asks no model, and can answer nothing", reader.Adapter.Name())
		}
		if err != nil {
			return p.Roster.JudgeFault(player.Role, fmt.Errorf("the judge of role %s (watch.judge): %w", player.Role.Name, err))
		}
		return nil
	})
}

// checkReadOnly checks the role of the resident supervisor or of a judge once. Both only read.
func (p *Prepared) checkReadOnly(role string) error {
	return p.checkOnce(duty{role, true}, func() error { return p.examine(p.ReadOnlyPlayer(role)) })
}

// duty is a role and the kind of its work. The field readOnly is true if the role only reads.
type duty struct {
	role     string
	readOnly bool
}

func (p *Prepared) checkOnce(d duty, check func() error) error {
	err, known := p.checked[d]
	if !known {
		err = check()
		p.checked[d] = err
	}
	return err
}

// CheckClone looks whether the programs of all roles are in the clone in which they are to work, too. Of a new clone it says what
// users have set for the checkout by its path. Errors: *failure.Invalid.
func (p *Prepared) CheckClone(isNew bool) error {
	said := map[string]bool{}
	for d := range p.checked {
		if d.readOnly {
			continue
		}
		player, err := p.Player(d.role)
		if err != nil {
			return notInClone(err)
		}
		tool := player.Adapter.Tool()
		if isNew && tool.ByPath != nil && !said[tool.Program] {
			if set := tool.ByPath(player.Assignment, git.TopOf(p.Workspace.HomeDir())); set != "" {
				said[tool.Program] = true
				p.warn("%s goes by the path of the checkout, so this does not count in the clone: %s", tool.Program, set)
			}
		}
		for _, command := range [][]string{player.Assignment.Command, player.Role.Review.Command} {
			for _, word := range command {
				if filepath.IsAbs(word) {
					continue
				}
				home, there := filepath.Join(p.Workspace.HomeDir(), word), filepath.Join(p.Workspace.WorkDir(), word)
				switch {
				case !isFile(home):
				case !isFile(there):
					return notInClone(fmt.Errorf("role %s: %s is not in the clone", player.Role.Name, word))
				case !isSame(home, there) && !said[word]:
					said[word] = true
					p.warn("role %s: %s is another one in the clone than here, and the one there is started: cp %s %s brings yours in", player.Role.Name, word, failure.Quote(home), failure.Quote(there))
				}
			}
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isSame reports whether two programs have the same bytes. One that cannot be read, or is too long for a script, counts as the same.
func isSame(a, b string) bool {
	one, err := plainfile.Read(a, maxScript)
	other, failed := plainfile.Read(b, maxScript)
	return err != nil || failed != nil || string(one) == string(other)
}

// maxScript bounds a script, in bytes.
const maxScript = 1 << 20

func notInClone(err error) error {
	return &failure.Invalid{Err: fmt.Errorf("clones: %w", err), Fix: "commit it, or name it in .worktreeinclude; one that lies elsewhere is named by its whole path"}
}

// examine warns of a player's oddities. It returns an error if the name of the role holds a secret.
// If err is not nil, the search for the player has failed, and examine only returns err.
func (p *Prepared) examine(player *roster.Player, err error) error {
	if err == nil && !roles.Embedded(player.Role.Name) {
		err = workspace.CheckSecrets(p.Redactor, player.Role.Name)
	}
	if err == nil {
		p.warnOfSecret(player)
		p.warnOfIgnored(player)
		if player.Refusal != nil {
			p.notice(fmt.Sprintf("a run would refuse role %s: %v", player.Role.Name, player.Refusal))
		}
	}
	return err
}

// warnOfSecret warns of a secret in a command, because every user of the machine can read the
// commands of running programs.
func (p *Prepared) warnOfSecret(player *roster.Player) {
	if p.Redactor.Changes(player.Shown) {
		p.notice(fmt.Sprintf("the command of role %s holds a secret, which every user of this machine can "+
			"see there: %s (env.pass in .kanban-run.yaml or in a role passes a variable)",
			player.Role.Name, p.Redactor.String(player.Shown)))
	}
}

// warnOfIgnored warns of the options "tools" and "model" of a role if the agent ignores them. For
// instance, a list of tools that restricts nothing must not look like a restriction.
func (p *Prepared) warnOfIgnored(player *roster.Player) {
	role := player.Role
	if role.IsBuiltIn() || p.DryRun {
		return
	}
	ignores := player.Adapter.Tool().Ignores
	tools := slices.Contains(ignores, "tools") && role.Tools != nil
	model := slices.Contains(ignores, "model") && role.Model != ""
	format := ""
	switch {
	case tools && model:
		format = "%s knows neither tools nor models: those of role %s restrict and choose nothing"
	case tools:
		format = "%s knows no list of tools: that of role %s restricts nothing"
	case model:
		format = "%s knows no model: that of role %s chooses nothing"
	default:
		return
	}
	p.notice(fmt.Sprintf(format, player.Adapter.Name(), role.Name))
}

// warnOfCost warns once of the roles whose programs cannot hold the limit of cost that the settings have.
func (p *Prepared) warnOfCost() {
	var names []string
	for _, player := range p.players() {
		if player.Uncosted && !slices.Contains(p.uncosted, player.Role.Name) {
			names = append(names, fmt.Sprintf("%s (%s)", player.Role.Name, player.Adapter.Name()))
			p.uncosted = append(p.uncosted, player.Role.Name)
		}
	}
	if len(names) > 0 {
		p.notice("no agent of these roles ends its attempt at a cost, so --max-attempt-cost does not hold for them: " + strings.Join(names, ", "))
	}
}

// Used returns the roles that the board needs as it stands, with those that may take over work.
func (p *Prepared) Used() (names []string) {
	for d := range p.checked {
		names = append(names, d.role)
	}
	for _, r := range p.Run.Reassign {
		names = append(names, r.Agents...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
