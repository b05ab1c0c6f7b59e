// kanban-run-temporal runs boards on many machines, with Temporal as the engine: the command
// "submit" hands boards in, and workers run them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

var version = "dev"

const usage = `kanban-run-temporal runs boards on many machines, with Temporal as the engine.

usage: kanban-run-temporal worker --repository ADDRESS [flags] [-- FLAGS OF KANBAN-RUN]
       kanban-run-temporal submit [flags] REPOSITORY BOARD...
       kanban-run-temporal submit --ack=WORD REPOSITORY BOARD...
       kanban-run-temporal version

  worker   runs boards of the repositories that it is started for
  submit   hands boards in, or decides about boards that wait for a person

The server is that of TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and the TEMPORAL_TLS variables, or of Temporal's own
configuration file; without them, that of this machine (localhost:7233, which "temporal server start-dev" starts).

kanban-run-temporal COMMAND --help says more about a command.
`

// usageError reports a wrong use of the program.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

func main() { os.Exit(run(os.Args[1:])) }

// run runs a command and returns the exit code: 0, 1 after an error, or 2 for a wrong use. For
// submit --wait it returns the exit code of the worst board.
func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	var code int
	var err error
	switch args[0] {
	case "worker":
		err = runWorker(args[1:])
	case "submit":
		code, err = submit(args[1:])
	case "version", "--version":
		fmt.Println(version)
	case "help", "-h", "--help":
		fmt.Print(usage)
	default:
		err = &usageError{fmt.Sprintf("there is no command %q", args[0]), "worker or submit"}
	}
	wrong := (*usageError)(nil)
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return code
	case errors.As(err, &wrong):
		fmt.Fprintf(os.Stderr, "kanban-run-temporal: %v\nhint: %s\n", err, wrong.hint)
		return 2
	default:
		fmt.Fprintf(os.Stderr, "kanban-run-temporal: %v\n", err)
		return max(code, 1)
	}
}

// newFlags returns the flags of a command. They include --queue, which both commands have.
func newFlags(name, about string) (flags *pflag.FlagSet, queue *string) {
	flags = pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() { fmt.Printf("%s\n\nflags:\n%s", strings.TrimSpace(about), flags.FlagUsagesWrapped(120)) }
	return flags, flags.StringP("queue", "q", fleet.Queue, "task queue of Temporal: a board that needs a "+
		"capability, such as gpu, is handed in at a queue of workers that have it")
}

func parse(flags *pflag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return &usageError{err.Error(), "kanban-run-temporal " + flags.Name() + " --help"}
}

// server is a client of a Temporal server, and its options.
type server struct {
	client.Client
	options client.Options
}

// connect connects to the server that the environment or Temporal's configuration file names.
func connect(ctx context.Context) (*server, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, fmt.Errorf("read Temporal's settings: %w", err)
	}
	options.Logger = log.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn})))
	c, err := client.DialContext(ctx, options)
	if err != nil {
		address := options.HostPort
		if address == "" {
			address = client.DefaultHostPort
		}
		return nil, fmt.Errorf("no Temporal server answers at %s: %w\n"+
			"hint: TEMPORAL_ADDRESS names another one; temporal server start-dev starts one on this machine",
			address, err)
	}
	return &server{c, options}, nil
}
