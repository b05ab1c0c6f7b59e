package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

const submitUsage = `
hands boards in, or decides about boards that wait for a person

usage: kanban-run-temporal submit [flags] REPOSITORY BOARD...
       kanban-run-temporal submit --ack=WORD [-m NOTE] REPOSITORY BOARD...

REPOSITORY is an address as git clone takes it, BOARD a path in it. Each board becomes a workflow, which runs until the board is complete.
A board that is handed in already is left as it is; one whose workflow has ended goes on where it was.

--ack passes a decision on to a board that waits for one: WORD is that of kanban-run ack (retry, accept, override, skip,
release or forced-finalize).`

// choices returns the words that submit can pass to kanban-run ack. The words "restart" and
// "continue" are not among them, because they need a run at work.
func choices() []string {
	return []string{"retry", "accept", "override", "skip", "release", "forced-finalize"}
}

func submit(args []string) (code int, err error) {
	flags, queue := newFlags("submit", submitUsage)
	wait := flags.BoolP("wait", "w", false, "wait until each board is complete, waits for a person or has "+
		"failed, and exit with kanban-run's exit code of the worst")
	ack := flags.String("ack", "", "pass the decision `WORD` on")
	note := flags.StringP("message", "m", "", "`NOTE` to the decision, for the board's journal")
	if err := parse(flags, args); err != nil {
		return 0, err
	}
	jobs, err := jobsOf(flags.Args())
	if err != nil {
		return 0, err
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	decides := flags.Changed("ack")
	if decides && !slices.Contains(choices(), *ack) {
		return 0, &usageError{fmt.Sprintf("there is no choice %q", *ack),
			"--ack=" + strings.Join(choices(), ", --ack=")}
	}
	c, err := connect(stop)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if decides {
		d := fleet.Decision{Choice: *ack, Note: *note}
		err = each(jobs, func(j fleet.Job) error { return decide(stop, c, j, d) })
	} else {
		err = hand(stop, c, *queue, jobs)
	}
	if err != nil || !*wait {
		return 0, err
	}
	return awaitAll(stop, c, jobs)
}

// jobsOf returns a job for each board that the arguments name. Errors: *usageError.
func jobsOf(args []string) ([]fleet.Job, error) {
	if len(args) < 2 {
		return nil, &usageError{"a repository and a board are needed",
			"kanban-run-temporal submit https://host/team/project.git kanban.yaml"}
	}
	if i := slices.IndexFunc(args, func(a string) bool { return slices.Contains(choices(), a) }); i >= 0 {
		return nil, &usageError{fmt.Sprintf("%q stands where a board or a repository is expected", args[i]),
			"write --ack=" + args[i]}
	}
	repository := args[0]
	if info, err := os.Stat(repository); err == nil && info.IsDir() {
		if repository, err = filepath.Abs(repository); err != nil {
			return nil, err
		}
	}
	var jobs []fleet.Job
	for _, board := range args[1:] {
		j := fleet.Job{Repository: repository, Board: filepath.ToSlash(filepath.Clean(board))}
		if err := j.Check(); err != nil {
			return nil, &usageError{err.Error(), "kanban-run-temporal submit --help"}
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// each calls the function do for each job, also after an error, and joins the errors.
func each(jobs []fleet.Job, do func(fleet.Job) error) error {
	var errs []error
	for _, j := range jobs {
		if err := do(j); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", j.Board, err))
		}
	}
	return errors.Join(errs...)
}

// hand starts a workflow for each board. It is no error if a board's workflow is already at work.
func hand(stop context.Context, c *server, queue string, jobs []fleet.Job) error {
	attributes := addAttributes(stop, c)
	err := each(jobs, func(j fleet.Job) error {
		j.Attributes = attributes
		_, err := c.ExecuteWorkflow(stop, client.StartWorkflowOptions{
			ID: j.ID(), TaskQueue: queue,
			WorkflowExecutionErrorWhenAlreadyStarted: true,
			WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
			WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			StaticSummary:                            j.Board,
			StaticDetails:                            "Board `" + j.Board + "` of " + j.Repository,
			Memo:                                     map[string]any{"repository": j.Repository, "board": j.Board},
		}, fleet.WorkflowType, j)
		switch {
		case errors.As(err, new(*serviceerror.WorkflowExecutionAlreadyStarted)):
			fmt.Printf("%s is at work already: %s\n", j.Board, j.ID())
			return nil
		case err == nil:
			fmt.Printf("%s is handed in: %s\n", j.Board, j.ID())
		}
		return err
	})
	if err == nil {
		warnOfQueue(stop, c, queue)
	}
	return err
}

// warnOfQueue warns if no worker polls a queue, because the boards would wait there silently.
func warnOfQueue(stop context.Context, c *server, queue string) {
	d, err := c.DescribeTaskQueue(stop, queue, enums.TASK_QUEUE_TYPE_ACTIVITY)
	if err == nil && len(d.GetPollers()) == 0 {
		fmt.Fprintf(os.Stderr, "warning: no worker waits at the queue %s; the boards begin when one does: "+
			"kanban-run-temporal worker --queue %s\n", queue, queue)
	}
}

// addAttributes adds the search attributes that the server lacks. If this fails, it prints a
// warning and returns false. The boards then have no search attributes.
func addAttributes(stop context.Context, c *server) bool {
	const key, number, whole = enums.INDEXED_VALUE_TYPE_KEYWORD, enums.INDEXED_VALUE_TYPE_DOUBLE,
		enums.INDEXED_VALUE_TYPE_INT
	wanted := map[string]enums.IndexedValueType{
		fleet.OutcomeAttribute.GetName(): key,
		fleet.CostAttribute.GetName():    number,
		fleet.StepAttribute.GetName():    whole,
	}
	if known, err := c.GetSearchAttributes(stop); err == nil {
		for name := range known.GetKeys() {
			delete(wanted, name)
		}
	}
	if len(wanted) == 0 {
		return true
	}
	namespace := cmp.Or(c.options.Namespace, client.DefaultNamespace)
	_, err := c.OperatorService().AddSearchAttributes(stop, &operatorservice.AddSearchAttributesRequest{
		Namespace:        namespace,
		SearchAttributes: wanted,
	})
	if err == nil || errors.As(err, new(*serviceerror.AlreadyExists)) {
		return true
	}
	fmt.Fprintf(os.Stderr, "warning: the server does not know the search attributes, and does not let them "+
		"be added: %v\nhint: temporal operator search-attribute create --name KanbanOutcome --type Keyword "+
		"--name KanbanCost --type Double --name KanbanStep --type Int\n", err)
	return false
}
