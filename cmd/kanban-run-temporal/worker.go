package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"kanban-run/cmd/kanban-run-temporal/fleet"
	"kanban-run/cmd/kanban-run-temporal/runner"
)

const workerUsage = `
runs boards of the repositories that it is started for

usage: kanban-run-temporal worker --repository ADDRESS [flags] [-- FLAGS OF KANBAN-RUN]

It waits for boards at a queue of the server, and runs each with kanban-run in a clone of its own. The state of a board is the branch
board/NAME of its repository, so that any worker can go on with it. The flags after -- are for kanban-run on every board: agents, limits.
SIGTERM and Ctrl-C end it: its boards stop, resumable, and other workers go on with them.`

// stopTime bounds how long an ending worker waits for its boards to stop and for the server to hear
// of their end.
const stopTime = 45 * time.Second

func runWorker(args []string) error {
	flags, queue := newFlags("worker", workerUsage)
	repositories := flags.StringArrayP("repository", "r", nil, "`ADDRESS` of a repository whose boards are "+
		"run; https://host/team/ stands for all that begin so. May be repeated")
	jobs := flags.IntP("jobs", "j", 1, "run up to `N` boards side by side")
	folder := flags.String("work", "work", "`DIR` for the clones; workers do not share it")
	program := flags.String("kanban-run", "kanban-run", "`PATH` of the program")
	lease := flags.Duration("lease", 45*time.Second,
		"a worker that the server has not heard of for this time has lost its boards; it stops them before")
	own, rest := args, []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		own, rest = args[:i], args[i+1:]
	}
	if err := parse(flags, own); err != nil {
		return err
	}
	if err := checkWorker(flags.Args(), rest, *repositories, *jobs, *lease); err != nil {
		return err
	}
	path, err := exec.LookPath(*program)
	if err != nil {
		return &usageError{fmt.Sprintf("there is no program %s: %v", *program, err),
			"install kanban-run, or name it with --kanban-run"}
	}
	if err := runner.HideEnvironment(); err != nil {
		return fmt.Errorf("hide this program's environment from agents: %w", err)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	clones, err := runner.OpenFolder(*folder)
	if err != nil {
		return fmt.Errorf("the folder for clones: %w", err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	return work(stop, *queue, *jobs, &runner.Runner{
		Program:      path,
		Flags:        rest,
		Repositories: *repositories,
		Folder:       clones,
		Lease:        *lease,
		Name:         runner.Name(),
		Log:          log,
	})
}

func checkWorker(args, rest, repositories []string, jobs int, lease time.Duration) error {
	switch {
	case len(args) > 0:
		return &usageError{fmt.Sprintf("%q is no flag of worker", args[0]), "flags for kanban-run come after --"}
	case len(repositories) == 0:
		return &usageError{"a worker runs boards of the repositories that it is told, and was told none",
			"--repository ADDRESS"}
	case jobs < 1:
		return &usageError{"--jobs has to be 1 at least", "-j 4 runs four boards side by side"}
	case lease < 3*time.Second:
		return &usageError{"--lease has to be 3s at least", "the default is 45s"}
	}
	for _, flag := range rest {
		if name, _, _ := strings.Cut(flag, "="); name == "--checkpoint" || name == "--checkpoint-remote" ||
			name == "--json" {
			return &usageError{"the worker sets " + name + " itself", "leave it out"}
		}
	}
	return nil
}

// work runs boards until its context is cancelled or the worker fails. It returns when the boards
// have stopped.
func work(stop context.Context, queue string, jobs int, r *runner.Runner) error {
	c, err := connect(stop)
	if err != nil {
		return err
	}
	defer c.Close()
	failed := make(chan error, 1)
	w := worker.New(c.Client, queue, worker.Options{
		Identity:                           r.Name,
		MaxConcurrentActivityExecutionSize: jobs,
		WorkerStopTimeout:                  stopTime,
		// The client retries a heartbeat for a third of the lease. Then the run ends, before the
		// end of the lease.
		MaxHeartbeatThrottleInterval: r.Lease / 3,
		OnFatalError:                 func(err error) { failed <- err },
	})
	w.RegisterWorkflowWithOptions(fleet.Boards{Lease: r.Lease}.Board,
		workflow.RegisterOptions{Name: fleet.WorkflowType})
	w.RegisterActivityWithOptions(r.Run, activity.RegisterOptions{Name: fleet.RunActivity})
	if err := w.Start(); err != nil {
		return err
	}
	r.Log.Info("waits for boards", "queue", queue, "repositories", strings.Join(r.Repositories, " "), "jobs",
		jobs, "clones", r.Folder.Path)
	select {
	case <-stop.Done():
		r.Log.Info("stops its boards")
	case err = <-failed:
	}
	w.Stop()
	return err
}
