package acp

import (
	"bufio"
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

// ClientCommand is the hidden subcommand of kanban-run that runs ClientMain.
const ClientCommand = "acp-client"

const (
	cancelWait = time.Second            // longest wait for the end of a cancelled turn
	leaveWait  = 3 * time.Second        // longest wait for the agent's exit after its last turn
	lateWait   = 300 * time.Millisecond // longest wait for the last output after the agent's end
)

// ClientMain starts the agent's command in the current directory. In args the command stands after
// the flags. ClientMain prompts the agent with the whole stdin or, with --stay, with each line of
// stdin. It prints one event a line. It returns the exit status: 0 once the last turn has ended, 1
// after a failure, 2 for a wrong command line.
func ClientMain(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(ClientCommand, flag.ContinueOnError)
	flags.SetOutput(stderr)
	permission := flags.String("permission", "", "what the agent may do: read-only, edit or full")
	model := flags.String("model", "", "the model that the agent is to use")
	stay := flags.Bool("stay", false, "read one message a line, until the request to leave")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		return 2
	}
	prompts := &prompts{lines: bufio.NewReader(stdin), all: !*stay}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	d := newDialogue(agent.Permission(*permission), stdout)
	if err := d.run(ctx, flags.Args(), *model, prompts, stderr); err != nil {
		d.printFailure(err)
		return 1
	}
	return 0
}

// startError reports that the agent could not be started.
type startError struct{ err error }

func (e *startError) Error() string { return "the agent cannot be started: " + e.err.Error() }

// modelError reports that the agent does not know the model, or does not let the client choose a
// model.
type modelError struct {
	model string
	err   error
}

func (e *modelError) Error() string {
	return fmt.Sprintf("the agent does not take the model %s (its own command may have an option for it): %s",
		e.model, errorText(e.err))
}

// run starts the agent, holds the dialogue and ends the agent. The agent stays in this process's
// group, so that a signal to the group ends both.
func (d *dialogue) run(ctx context.Context, command []string, model string, prompts *prompts, stderr io.Writer) error {
	a, err := startAgent(command, stderr)
	if err != nil {
		return err
	}
	turn, begun, over := make(chan error, 1), make(chan struct{}), make(chan struct{})
	conn := acp.NewClientSideConnection(d, a.in, &delayedReader{a.out, begun, over})
	conn.SetLogger(slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	close(begun)
	go func() {
		turn <- d.runSession(context.WithoutCancel(ctx), conn, model, prompts)
		close(over)
	}()
	select {
	case err = <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
		go d.cancel(conn) // cancel blocks if the agent does not read
		select {
		case <-turn:
		case <-time.After(cancelWait):
		}
	}
	return a.release(ctx, err)
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
	_ = theirs.Close() // the agent has its own descriptor
	if err != nil {
		return nil, errors.Join(&startError{err}, out.Close())
	}
	c := &child{cmd.Process, in, out, make(chan error, 1)}
	go func() {
		c.ended <- cmd.Wait()
		// A process that the agent left behind may keep the pipe open.
		time.AfterFunc(lateWait, func() { _ = out.Close() })
	}()
	return c, nil
}

// release closes the agent's input, waits for the agent's end, and returns err. It kills an agent
// that does not end within the time leaveWait. If err is a *closedError, this time begins only when
// ctx is done. The wait for ctx is bounded, because the parent process stops this process after a
// time limit.
func (c *child) release(ctx context.Context, err error) error {
	_ = c.in.Close() // an error changes nothing, because the dialogue is over
	var gone *closedError
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
		_ = c.process.Kill() // fails only if the agent has ended
		<-c.ended
	}
	return err
}

// delayedReader waits with its first read until the connection is complete. It delays the end of
// input until the turn is over, but at most by lateWait. Otherwise the connection would drop an
// answer that arrives together with the end of input.
type delayedReader struct {
	from  io.Reader
	begun <-chan struct{}
	over  <-chan struct{}
}

func (p *delayedReader) Read(b []byte) (int, error) {
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

// closedError reports that the connection was closed before the turn's end.
type closedError struct{ end error }

func (e *closedError) Error() string {
	if e.end == nil {
		return "the agent ended before its turn did (exit status 0)"
	}
	return fmt.Sprintf("the agent ended before its turn did (%v)", e.end)
}
