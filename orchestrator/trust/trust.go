// Package trust says what was changed while agents worked. Some files decide what a run starts, what
// it gets, and whom it believes: settings, roles, the prompt of supervisors, MCP servers, and the files
// of commands. A command judges its own turns and nothing else: what was looked at before a turn, and
// differs behind it, was changed in that turn, by whatever hand. If it gives more than the role gets
// that had the turn, a person has to accept it ([asked]); what else decides is said once.
package trust

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/turns"
)

// Options are what a tree looks at.
type Options struct {
	Dir        string // work directory
	Roster     *roster.Roster
	Way        []string                      // files of git's settings that lead the checkpoints to a remote
	Residents  []string                      // roles of the resident supervisors of boards
	IsOwn      func(path string) bool        // whether a file is a board or a task, which decide nothing here; nil: none is
	Redact     func(string) string           // nil: nothing is redacted
	Notice     func(text string)             // nil: nothing is told
	Ignored    func(paths []string) []string // which of the files are untracked, and ignored by git; nil: none
	Upstream   func() string                 // the commit of the branch's upstream, as its ref stands now; "" or nil: there is none
	AtUpstream func(commit, path string) []byte
}

// Tree knows the files that decide in the work directory of a command, for all its boards. It is safe
// for concurrent use.
type Tree struct {
	Options
	top    string // top of the git work tree, or the work directory
	within string // files below it belong to the work tree

	mu       sync.Mutex
	watch    asked.Watch
	sources  []asked.Source
	users    map[asked.Source][]string // roles that use a source
	exempt   map[asked.Source]bool     // programs that tools renew; they are named at the end
	reach    map[string]event.Reach    // what roles get, by name in lower case
	deciders []string                  // roles that decide by the settings
	players  int                       // number of the players whose files are among the sources
	clones   [][2]string               // see WatchClone
	begun    map[asked.Source]*asked.Look
	known    map[asked.Source]*asked.Look // at the last look
	edition  int                          // it grows with each look that finds another value
	group    []*Tree                      // the trees of all work directories of the command
	turns    map[*turn]*turn              // the turns that are open in one of them, with what is known of each here
	begins   int                          // number of turns that were begun
	first    []asked.Item                 // what waited when the command began
	waiting  []asked.Item                 // what waits as of the last look at the list, in case an agent removes it
	found    []Found
}

// turn is one that is open: of a board, or of a call without one.
type turn struct {
	turns.Turn
	number   int // turns are named in the order of their begin
	role     string
	upstream string
}

// Found is a change in a turn of this command.
type Found struct {
	event.ChangedFile
	While string // when it was, in words
	weight
}

// NewTree takes the files as they are when a command begins.
func NewTree(o Options) *Tree {
	t := &Tree{Options: o, top: git.TopOf(o.Dir), users: map[asked.Source][]string{}, exempt: map[asked.Source]bool{},
		begun: map[asked.Source]*asked.Look{}, known: map[asked.Source]*asked.Look{}, turns: map[*turn]*turn{}}
	t.group = []*Tree{t}
	t.within, t.watch.Top = t.top, t.top
	if home := roster.Variable(o.Roster.Environ, "HOME"); home != "" && isBelow(t.top, home) {
		t.within = o.Dir // a repository of the whole home holds more than the project
	}
	o.Roster.LoadAll(o.Dir) // an agent may change the files of any role
	t.deciders = o.Roster.Deciders()
	t.first, _ = asked.Open(o.Dir)
	t.waiting = t.first
	t.look()
	return t
}

// change is a difference between two looks.
type change struct {
	event.ChangedFile
	source        asked.Source
	before, after asked.Value
	was, now      *asked.Look
}

// look returns what has changed since the last look. What was not looked at then is unknown, and not
// changed. The caller holds t.mu.
func (t *Tree) look() (changes []change) {
	if _, err := os.Lstat(t.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil // the folder was moved
	}
	t.findSources()
	for i := 0; i < len(t.sources); i++ { // the list grows by the files of a folder
		s := t.sources[i]
		now, was := t.watch.Look(s), t.known[s]
		if now == was {
			continue
		}
		t.known[s] = now
		for _, file := range now.Entries {
			if _, is := t.users[file]; !is {
				t.add(file)
				if was != nil {
					t.known[file], t.begun[file] = &asked.Look{}, &asked.Look{}
				}
			}
		}
		if was == nil {
			t.begun[s] = now
			t.edition++
			continue
		}
		changes = append(changes, t.compare(s, was, now)...)
	}
	if changes != nil {
		t.edition++
	}
	return changes
}

// compare returns the fields of a source that differ.
func (t *Tree) compare(s asked.Source, was, now *asked.Look) (changes []change) {
	for _, field := range asked.Fields(was, now) {
		c := change{source: s, before: was.Values[field], after: now.Values[field], was: was, now: now}
		c.ChangedFile = event.ChangedFile{By: s.By, File: asked.ShowPath(t.top, s.Path), Field: field,
			SHA: c.after.SHA, Was: c.before.SHA, Roles: t.rolesOf(s, field, cmp.Or(now.Role, was.Role))}
		changes = append(changes, c)
	}
	return changes
}

// rolesOf returns the roles that a field is about; nil: it is about all.
func (t *Tree) rolesOf(s asked.Source, field, role string) []string {
	of, isChoice := strings.CutPrefix(field, "agent.")
	if !isChoice {
		of, isChoice = strings.CutPrefix(field, "exec.")
	}
	switch {
	case s.By == event.RoleFile:
		return []string{role}
	case s.By == event.SettingsFile && isChoice:
		return []string{of}
	default:
		return t.users[s]
	}
}

func (t *Tree) add(s asked.Source, roles ...string) {
	if _, is := t.users[s]; !is {
		t.sources, t.users[s] = append(t.sources, s), []string{}
	}
	for _, r := range roles {
		if !slices.Contains(t.users[s], r) {
			t.users[s] = append(t.users[s], r)
		}
	}
	for _, c := range t.clones {
		t.addIn(c, s, roles)
	}
}

// WatchClone looks at the programs of the checkout in a clone, too: they are started there. The parameters are the
// tops of both. It is called before an agent of this command works in the clone.
func (t *Tree) WatchClone(checkout, clone string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := [2]string{checkout, clone}
	if slices.Contains(t.clones, c) {
		return
	}
	t.findSources()
	for _, s := range slices.Clone(t.sources) {
		t.addIn(c, s, t.users[s])
	}
	t.clones = append(t.clones, c)
	for _, c := range t.look() {
		t.known[c.source] = c.was // what another board's turn has changed meanwhile, its own look finds
	}
}

// ForgetClone looks at no program in a clone any more, because no agent works there and it may go.
func (t *Tree) ForgetClone(clone string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clones = slices.DeleteFunc(t.clones, func(c [2]string) bool { return c[1] == clone })
	isIn := func(s asked.Source) bool { return isBelow(clone, s.Path) }
	for _, s := range t.sources {
		if isIn(s) {
			delete(t.users, s)
			delete(t.known, s)
			delete(t.begun, s)
			delete(t.exempt, s)
		}
	}
	t.sources = slices.DeleteFunc(t.sources, isIn)
}

// isElsewhere reports whether a file, as it is shown, is a program of another place than the clone own, in which a board
// works, or than the checkout if own is "".
func (t *Tree) isElsewhere(f event.ChangedFile, own string) bool {
	if f.By != event.ProgramFile && f.By != event.ReviewFile && f.By != event.PathFile {
		return false
	}
	in := ""
	for _, c := range t.clones {
		if isBelow(c[1], resolve(t.top, f.File)) {
			in = c[1]
		}
	}
	return in != own
}

// addIn adds a program as it lies in a clone.
func (t *Tree) addIn(c [2]string, s asked.Source, roles []string) {
	isProgram := s.By == event.ProgramFile || s.By == event.ReviewFile || s.By == event.PathFile
	if rel, err := filepath.Rel(c[0], s.Path); isProgram && err == nil && filepath.IsLocal(rel) {
		in := asked.Source{By: s.By, Path: filepath.Join(c[1], rel)}
		if _, is := t.users[in]; !is {
			t.sources, t.users[in] = append(t.sources, in), nil
		}
		t.users[in], t.exempt[in] = slices.Clone(roles), t.exempt[s]
	}
}

// findSources adds the files of the players that the roster has found since the last look.
func (t *Tree) findSources() {
	players := t.Roster.Loaded(t.Dir)
	if len(players) == t.players {
		return
	}
	t.players = len(players)
	if len(t.sources) == 0 {
		t.add(asked.Source{By: event.SettingsFile, Path: t.Roster.Places.Settings})
		for _, dir := range t.Roster.Places.Roles {
			t.add(asked.Source{By: event.RoleFile, Path: dir})
		}
		for _, path := range t.Roster.SupervisorPrompts(t.Dir) {
			t.add(asked.Source{By: event.PromptFile, Path: path})
		}
		for _, path := range t.Way {
			t.add(asked.Source{By: event.GitFile, Path: path})
		}
		for _, path := range t.filesOf(t.Roster.NotifyCommand(), "", true) {
			t.add(asked.Source{By: event.NotifyFile, Path: path})
		}
	}
	t.findReaches(players)
	known := len(t.sources)
	for _, p := range players {
		t.addPlayer(p)
	}
	t.exemptRenewed(t.sources[known:])
}

// addPlayer adds the files of one role's programs.
func (t *Tree) addPlayer(p *roster.Player) {
	a, role := p.Assignment, p.Role.Name
	add := func(by event.Decider, paths []string) {
		for _, path := range paths {
			t.add(asked.Source{By: by, Path: path}, role)
		}
	}
	if len(a.Command) > 0 && !t.isIdle(p) { // an adapter's own tool is named by no command
		add(event.ProgramFile, t.filesOf(slices.Concat(a.Command, a.Args), a.Path, false))
	}
	add(event.PathFile, t.placesBefore(p))
	if a.MCP != "" {
		add(event.ServersFile, []string{a.MCP})
		for _, argv := range serverCommands(a) {
			add(event.ProgramFile, t.filesOf(argv, "", false))
		}
	}
	if p.Command != nil { // it is handed the secrets of the role whose work it reviews
		review := p.Command.Assignment
		add(event.ProgramFile, t.filesOf(review.Command, review.Path, false))
		add(event.ReviewFile, t.filesOf(review.Command, review.Path, true))
	}
}

// isIdle reports whether a player is the built-in Supervisor, and no board of the command has it look: then
// the program of other roles plays it only because the settings name one for all.
func (t *Tree) isIdle(p *roster.Player) bool {
	const supervisor = "Supervisor"
	is := func(name string) bool { return strings.EqualFold(name, p.Role.Name) }
	checkpoints := t.Roster.Settings.Checkpoints
	looks := checkpoints != nil && is(cmp.Or(checkpoints.Role, supervisor)) || slices.ContainsFunc(t.Residents, is)
	return is(supervisor) && p.Role.IsBuiltIn() && !looks && !is(t.Roster.Settings.Watch.Judge)
}

// filesOf returns the files of a command in the work tree that are no board and no task.
func (t *Tree) filesOf(argv []string, path string, builds bool) []string {
	return slices.DeleteFunc(Files(argv, path, t.Dir, t.within, builds), func(file string) bool {
		return !isBelow(t.within, file) || t.IsOwn != nil && t.IsOwn(file)
	})
}

// placesBefore returns the paths in the work tree at which the next command would find the program of a
// player instead of the one that this command has found.
func (t *Tree) placesBefore(p *roster.Player) (paths []string) {
	name := p.Adapter.Tool().Program
	if argv := p.Assignment.Command; len(argv) > 0 {
		name = argv[0]
	}
	if name == "" || strings.ContainsRune(name, filepath.Separator) {
		return nil
	}
	for _, folder := range filepath.SplitList(roster.Variable(p.Assignment.Env, "PATH")) {
		path := resolve(t.Dir, filepath.Join(folder, name))
		if path == p.Assignment.Path {
			break
		}
		if isBelow(t.within, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// packages are folders that package managers fill.
var packages = []string{".venv", "venv", "node_modules", ".tox", ".nox", ".direnv", "vendor", ".bundle", "__pypackages__"}

// exemptRenewed exempts the programs that tools renew: links, what a package manager has, and what git
// neither tracks nor shows, as of now. An adapter's own tool is exempt wherever it is found.
func (t *Tree) exemptRenewed(sources []asked.Source) {
	var ask []string
	for _, s := range sources {
		if s.By != event.ProgramFile && s.By != event.PathFile && s.By != event.ServersFile {
			continue
		}
		rel, _ := filepath.Rel(t.within, s.Path)
		isPackage := slices.ContainsFunc(strings.Split(rel, string(filepath.Separator)), func(part string) bool { return slices.Contains(packages, part) })
		isTool := s.By == event.PathFile && !slices.ContainsFunc(t.Roster.Loaded(t.Dir), func(p *roster.Player) bool {
			return len(p.Assignment.Command) > 0 && slices.Contains(t.users[s], p.Role.Name)
		})
		if isPackage || isTool || t.watch.Look(s).Link {
			t.exempt[s] = true
		} else if t.watch.Look(s).Values != nil && slices.ContainsFunc(t.users[s], func(r string) bool { return t.getsMore(r, event.Reach{}) }) {
			ask = append(ask, s.Path)
		}
	}
	if t.Ignored == nil || ask == nil {
		return
	}
	ignored := t.Ignored(ask)
	for _, s := range sources {
		if slices.Contains(ignored, s.Path) {
			t.exempt[s] = true
		}
	}
}
