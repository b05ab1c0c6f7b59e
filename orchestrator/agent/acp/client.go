package acp

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
)

// ClientCommand is the hidden subcommand of kanban-run that is the protocol's client; see ClientMain.
const ClientCommand = "acp-client"

const (
	cancelWait = time.Second            // for an agent that has been asked to leave its turn
	leaveWait  = 3 * time.Second        // for one that has nothing more to do
	lateWait   = 300 * time.Millisecond // for what is on its way when the agent has ended
)

// ClientMain is the hidden subcommand: it starts the agent that args name behind their flags, in the current directory, prompts it with
// what stdin holds, and prints an event a line. It returns the exit status: 0 once the turn has ended, 2 when it was started wrongly.
func ClientMain(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(ClientCommand, flag.ContinueOnError)
	flags.SetOutput(stderr)
	permission := flags.String("permission", "", "what the agent may do: read-only, edit or full")
	model := flags.String("model", "", "the model that the agent is to use")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		return 2
	}
	prompt, err := io.ReadAll(stdin)
	if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	d := newDialogue(agent.Permission(*permission), stdout)
	if err := d.run(ctx, flags.Args(), *model, string(prompt), stderr); err != nil {
		d.fail(err)
		return 1
	}
	return 0
}

// startError says that there is no agent to talk to.
type startError struct{ err error }

func (e *startError) Error() string { return "the agent cannot be started: " + e.err.Error() }

// modelError says that the agent does not know a model, or lets nobody choose one.
type modelError struct {
	model string
	err   error
}

func (e *modelError) Error() string {
	return fmt.Sprintf("the agent does not take the model %s (its own command may have an option for it): %s", e.model, said(e.err))
}

// run has the agent as a child for as long as the dialogue takes. The child is in the group of this process, which is ended as a whole.
func (d *dialogue) run(ctx context.Context, command []string, model, prompt string, stderr io.Writer) error {
	a, err := startAgent(command, stderr)
	if err != nil {
		return err
	}
	turn, begun, over := make(chan error, 1), make(chan struct{}), make(chan struct{})
	conn := acp.NewClientSideConnection(d, a.in, &patient{a.out, begun, over})
	conn.SetLogger(slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	close(begun)
	go func() {
		turn <- d.talk(context.WithoutCancel(ctx), conn, model, prompt)
		close(over)
	}()
	select {
	case err = <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
		go d.cancel(conn) // beside this, because an agent that reads nothing would hold it up
		select {
		case <-turn:
		case <-time.After(cancelWait):
		}
	}
	return a.part(ctx, err)
}

// child is the agent's process.
type child struct {
	process *os.Process
	in      io.WriteCloser
	out     *os.File
	ended   chan error
}

func startAgent(command []string, stderr io.Writer) (*child, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr, cmd.WaitDelay = stderr, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	err = cmd.Start()
	_ = theirs.Close() // the agent has its own
	if err != nil {
		return nil, errors.Join(&startError{err}, out.Close())
	}
	c := &child{cmd.Process, in, out, make(chan error, 1)}
	go func() {
		c.ended <- cmd.Wait()
		time.AfterFunc(lateWait, func() { _ = out.Close() }) // what it left behind may keep the other end open
	}()
	return c, nil
}

// part lets the agent go. One that has closed its output and goes on has not ended: who started this process says how long that may
// take.
func (c *child) part(ctx context.Context, err error) error {
	_ = c.in.Close() // there is nobody to tell
	var gone *goneError
	if errors.As(err, &gone) {
		select {
		case gone.end = <-c.ended:
			return err
		case <-ctx.Done():
		}
	}
	select {
	case <-c.ended:
	case <-time.After(leaveWait):
		_ = c.process.Kill() // it is gone already, or goes now
		<-c.ended
	}
	return err
}

// patient begins to read when the connection has all that it needs, for that is not made at once. It reads an end only when the turn is
// over, or nothing more comes of it: the connection would forget an answer that came with its end.
type patient struct {
	from  io.Reader
	begun <-chan struct{}
	over  <-chan struct{}
}

func (p *patient) Read(b []byte) (int, error) {
	<-p.begun
	n, err := p.from.Read(b)
	if err != nil {
		select {
		case <-p.over:
		case <-time.After(lateWait):
		}
	}
	return n, err
}

// goneError says that the connection was closed before the turn's end.
type goneError struct{ end error }

func (e *goneError) Error() string {
	if e.end == nil {
		return "the agent ended before its turn did (exit status 0)"
	}
	return fmt.Sprintf("the agent ended before its turn did (%v)", e.end)
}
