// Package git runs git in a repository that agents of the same user can change: its settings,
// hooks, index, objects and references. Such a change must not start a program, send a push
// elsewhere, or delay a call.
//
//	Open ─► Repo: the paths of its parts ─► Settings: of the user and of the repository
//	Repo.Own  ─► GIT_DIR is a folder made for the call; the caller gives settings and index
//	Repo.User ─► the repository itself: rev-parse, for-each-ref, update-ref and config only
//
// Each call has a limit of time and of output, and ends with the run. Its process bears a mark.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/proc"
)

// Git is the configuration of a call of git.
type Git struct {
	Program   Program
	Dir       string   // working directory
	Env       []string // variables besides those of Run; of several with one name, the last counts
	Mark      proc.Mark
	Timeout   time.Duration // time limit of a call; 0: no limit
	MaxOutput int           // limit of the output that Run returns, in bytes; longer output is an error; 0: no limit
	Stdout    io.Writer     // receives the output; nil: Run returns it
	Stderr    io.Writer     // receives standard error, besides the words in an Error; nil: nothing else does
	Writes    []string      // folders that the call may write to, whose disks could be full

	settings []string // settings of git as KEY=VALUE, besides those in the variable fixed
}

// EndLeftovers ends the processes of git that a run left when it was killed together with its
// guardian. runs is the path of the folder of the board's runs. The caller holds the board's lock,
// so no other run uses the folder. EndLeftovers returns the mark for all processes of git that are
// started for this folder. The mark is computed from the folder's place, because git is started
// before the journal is open; the path can be that of another container, too.
func EndLeftovers(runs string) (proc.Mark, error) {
	place := durable.PlaceOf(runs)
	mark := proc.MarkOf("git of " + string(place))
	return mark, proc.EndMarked(place, place, mark)
}

// Error is the failure of a call of git.
type Error struct {
	Args   []string
	Exit   proc.Exit
	Stderr string // the first mostWords bytes of standard error
	Full   bool   // a disk that the call writes to is full
}

func (e *Error) Error() string {
	text := "git " + e.Args[0] + ": " + e.Exit.String()
	if e.Exit.TimedOut {
		text = fmt.Sprintf("git %s took longer than %v", e.Args[0], e.Exit.Timeout)
	}
	if words := strings.TrimSpace(e.Stderr); words != "" {
		text += ": " + words
	}
	return text
}

// Unwrap returns the error of the system that git has met, or nil, so that a full disk is one whichever
// program met it. Git has other words for a full disk in each place, and a name can have them too, so
// the free space decides. What a server says is about the server.
func (e *Error) Unwrap() error {
	if e.Full {
		return syscall.ENOSPC
	}
	for line := range strings.Lines(e.Stderr) {
		if strings.HasPrefix(line, "remote:") {
			continue
		}
		for _, code := range systemErrors {
			if strings.Contains(strings.ToLower(line), code.Error()) {
				return code
			}
		}
	}
	return nil
}

var systemErrors = []syscall.Errno{syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ESTALE, syscall.EFBIG,
	syscall.ENOTCONN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// IsRefusal reports whether git ended by itself with an error. A git that was killed, took too long or
// met a full disk says nothing about the repository.
func IsRefusal(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && !e.Exit.TimedOut && e.Exit.Signal == "" && !e.Full
}

// ErrTooLong is the error of Run if git prints more than MaxOutput.
var ErrTooLong = errors.New("git printed too much")

// mostWords bounds the text of standard error in an Error, in bytes.
const mostWords = 4 << 10

// fixed holds the settings of every call. They keep git from running a program that the repository
// names, and from trusting the repository's caches.
var fixed = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false",
	"core.commitGraph=false", "core.multiPackIndex=false", "pack.useBitmaps=false",
	"gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
	"fetch.unpackLimit=1", // git syncs a pack, and single objects only since 2.36
}

// Run returns the output of git. If the context is canceled, Run returns the cause of the
// cancellation. Other errors: *Error, [ErrTooLong], and those of package proc.
func (g Git) Run(stop context.Context, stdin []byte, args ...string) (string, error) {
	argv := []string{g.Program.Path}
	for _, s := range slices.Concat(g.settings, fixed) {
		argv = append(argv, "-c", s)
	}
	env := lastOf(slices.Concat([]string{
		"HOME=" + os.Getenv("HOME"), "LC_ALL=C",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=" + protocols,
	}, g.Env, []string{g.Program.Search.Entry()}))
	var stdout bytes.Buffer
	out := g.Stdout
	switch {
	case out != nil:
	case g.MaxOutput > 0:
		out = &limited{&stdout, g.MaxOutput + 1}
	default:
		out = &stdout
	}
	words := &limited{&bytes.Buffer{}, mostWords}
	stderr := io.Writer(words)
	if g.Stderr != nil {
		stderr = io.MultiWriter(words, g.Stderr)
	}
	exit, err := proc.Run(stop, stop, &proc.Spec{
		Argv:    append(argv, args...),
		Dir:     g.Dir,
		Env:     env,
		Stdin:   stdin,
		Stdout:  out,
		Stderr:  stderr,
		Mark:    g.Mark,
		Timeout: g.Timeout,
		Grace:   time.Second,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("run git %s: %w", args[0], err)
	case exit.Stopped:
		return "", context.Cause(stop)
	case !exit.Succeeded():
		// Without words a call has answered a question with no.
		full := (words.Len() > 0 || exit.Signal != "") && slices.ContainsFunc(g.Writes, durable.IsFull)
		return stdout.String(), &Error{args, exit, words.String(), full}
	case g.MaxOutput > 0 && stdout.Len() > g.MaxOutput:
		return "", ErrTooLong
	}
	return stdout.String(), nil
}

// lastOf keeps only the last entry of each name, because a program may use the first of two.
func lastOf(env []string) (all []string) {
	at := map[string]int{}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if i, is := at[name]; is {
			all[i] = entry
			continue
		}
		at[name], all = len(all), append(all, entry)
	}
	return all
}

// limited is a buffer that keeps the first bytes, up to a limit, and drops the rest.
type limited struct {
	*bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(0, l.most-l.Len()))])
	return len(p), nil
}
