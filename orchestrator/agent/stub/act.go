package stub

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const defaultHuge = 64 << 20

// act does what the rule demands: it gives a good reply or a wrong text, or commits another fault.
// It returns the exit status.
func (c *call) act() (code int, err error) {
	if c.rule.Stderr != "" {
		fmt.Fprintln(c.stderr, c.rule.Stderr)
	}
	reply, err := c.reply()
	if err != nil {
		return 1, fmt.Errorf("encode the reply: %w", err)
	}
	if c.rule.Write && c.input.DoneTask != nil {
		if err := c.writeCurrent(); err != nil {
			return 1, err
		}
	}
	if text, ok := garble(c.rule.Do, reply); ok {
		_, err := c.stdout.Write(text)
		return 0, err
	}
	return c.misbehave(reply)
}

// garble returns the reply, or the wrong text that a bad agent would print. It returns false if the
// stub is to commit a fault of another kind.
func garble(do string, reply []byte) ([]byte, bool) {
	const message = `"message":"`
	switch do {
	case "", "reply":
		return reply, true
	case "garbage":
		return []byte("I have finished the task. All tests pass!\n"), true
	case "half-json":
		return reply[:len(reply)/2], true
	case "empty":
		return nil, true
	case "wrong-enum":
		return bytes.Replace(reply, []byte(`"status":"`), []byte(`"status":"very `), 1), true
	case "missing-field":
		return bytes.Replace(reply, []byte(message), []byte(`"massage":"`), 1), true
	case "duplicate-key":
		return bytes.Replace(reply, []byte("{"), []byte(`{"status":"error",`), 1), true
	case "trailing-text":
		return append(reply, "That is all.\n"...), true
	case "two-objects":
		return append(reply, "{\"status\":\"error\"}\n"...), true
	case "fence":
		return fmt.Appendf(nil, "```json\n%s```\n", reply), true
	case "invalid-utf8":
		return bytes.Replace(reply, []byte(message), []byte(message+"\xff"), 1), true
	default:
		return nil, false
	}
}

// misbehave commits the fault of the rule. Before it hangs, it writes a line to standard error, so
// that a test can wait for the fault.
func (c *call) misbehave(reply []byte) (code int, err error) {
	code = 0
	switch c.rule.Do {
	case "ok-exit-1":
		code = 1
	case "exit":
		return c.exitCode(), nil
	case "crash":
		_, _ = c.stdout.Write(reply[:len(reply)/2])
		c.crash()
	case "hang":
		c.say("hanging")
		hang()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		c.say("ignoring SIGTERM")
		hang()
	case "close-stdout":
		if closer, ok := c.stdout.(io.Closer); ok {
			_ = closer.Close() // no reply is lost, because none was written
		}
		c.say("closed stdout, hanging")
		hang()
	case "slow":
		time.Sleep(c.delay())
	case "leak-child":
		err = c.leak()
	case "write-board":
		err = c.writeBoard()
	case "huge":
		return 0, c.flood()
	default:
		return 1, fmt.Errorf("unknown act %q", c.rule.Do)
	}
	if err == nil {
		_, err = c.stdout.Write(reply)
	}
	return code, err
}

func (c *call) say(text string) { fmt.Fprintln(c.stderr, text) }

// hang waits for ever. It sleeps, because the runtime would report a deadlock if it waited for a
// channel.
func hang() {
	for {
		time.Sleep(math.MaxInt64)
	}
}

func (c *call) exitCode() int {
	if c.rule.Code != nil {
		return *c.rule.Code
	}
	return 1
}

func (c *call) delay() time.Duration {
	if c.rule.For != nil {
		return time.Duration(*c.rule.For)
	}
	return time.Second
}

// crash kills this process by a signal. On a system that cannot do this, crash returns.
func (c *call) crash() {
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
		hang()
	}
}

// leak starts a process that outlives the stub and keeps standard output open.
func (c *call) leak() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, Command, "--leaked")
	// The process gets a session of its own, so that a signal to the group does not reach it.
	cmd.Stdout, cmd.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("leave a process behind: %w", err)
	}
	c.say(fmt.Sprintf("left process %d behind", cmd.Process.Pid))
	return nil
}

// flood prints a reply that is valid except for its length.
func (c *call) flood() error {
	left := int64(defaultHuge)
	if c.rule.Bytes != nil {
		left = *c.rule.Bytes
	}
	_, err := io.WriteString(c.stdout, `{"status":"ok","next_task":null,"tasks":[],"message":"`)
	for block := bytes.Repeat([]byte("x"), 1<<16); err == nil && left > 0; left -= int64(len(block)) {
		_, err = c.stdout.Write(block[:min(left, int64(len(block)))])
	}
	_, end := io.WriteString(c.stdout, "\"}\n")
	return errors.Join(err, end)
}
