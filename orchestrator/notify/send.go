package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"

	"kanban-run/orchestrator/proc"
)

// Words returns a command line, and a function that removes what was made for it.
type Words func() (argv []string, remove func() error, err error)

// Command returns a sender that starts a program with the message on standard input. path is the path
// of the program; "": it is not there. The function words returns the command line, and removes what it
// has made for that. An exit status other than 0 is an error. When the program has ended, the sender kills the processes
// that the program has left behind.
func Command(argv []string, path, dir string, env []string, words Words) Sender {
	return func(ctx context.Context, message []byte) (err error) {
		if path == "" {
			return fmt.Errorf("%s cannot be started: there is no such program", argv[0])
		}
		line, remove, err := words()
		defer func() { err = errors.Join(err, remove()) }()
		if err != nil {
			return fmt.Errorf("%s: %w", argv[0], err)
		}
		exit, err := proc.Run(ctx, ctx, &proc.Spec{
			Argv:    line,
			Dir:     dir,
			Env:     env,
			Stdin:   message,
			Timeout: sendTime,
			Mark:    proc.NewMark(),
			Stays:   true,
		})
		if err == nil && !exit.Succeeded() {
			err = errors.New(exit.String())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", argv[0], err)
		}
		return nil
	}
}

// CheckWebhook returns an error for an invalid address. The error does not show the address.
func CheckWebhook(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("no http or https address")
	}
	return nil
}

// Host returns the host in an address. The rest of the address must not be shown, because it can be
// a secret.
func Host(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// fault returns the reason why a message was not delivered. It does not quote err, which may hold
// the address.
func fault(err error) string {
	var network *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err):
		return "no answer in time"
	case errors.As(err, &network):
		return "it cannot be reached"
	default:
		return "it gave no valid answer"
	}
}

// maxAnswer bounds the part of an endpoint's answer that is read, in bytes.
const maxAnswer = 4 << 10

// Webhook returns a sender that posts the message. It follows no redirection, because the new
// target was not configured. A status other than 2xx is an error.
func Webhook(address string) Sender {
	client := &http.Client{
		Timeout:       sendTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, message []byte) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(message))
		if err != nil {
			return errors.New("the webhook's address cannot be used")
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("User-Agent", "kanban-run")
		answer, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("webhook at %s: %s", req.URL.Host, fault(err))
		}
		defer answer.Body.Close()
		_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // allows reuse of the connection
		if answer.StatusCode < 200 || answer.StatusCode > 299 {
			return fmt.Errorf("webhook at %s: status %d", req.URL.Host, answer.StatusCode)
		}
		return nil
	}
}
