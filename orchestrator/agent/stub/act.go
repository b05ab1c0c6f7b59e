package stub

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// act gives a good reply, unless the rule demands a fault. Before it hangs, it writes a line to
// standard error, so that a test can wait for the fault.
func (c *call) act() error {
	if c.rule.Stderr != "" {
		fmt.Fprintln(c.stderr, c.rule.Stderr)
	}
	reply, err := c.reply()
	if err != nil {
		return fmt.Errorf("encode the reply: %w", err)
	}
	switch c.rule.Do {
	case "garbage":
		reply = []byte("I have finished the task. All tests pass!\n")
	case "half-json":
		reply = reply[:len(reply)/2]
	case "empty":
		reply = nil
	case "wrong-enum":
		reply = bytes.Replace(reply, []byte(`"status":"`), []byte(`"status":"very `), 1)
	case "hang":
		fmt.Fprintln(c.stderr, "hanging")
		hang()
	case "slow":
		time.Sleep(c.delay())
	case "write-board":
		err = c.writeBoard()
	}
	if err == nil {
		_, err = c.stdout.Write(reply)
	}
	return err
}

// hang waits for ever. It sleeps, because the runtime would report a deadlock if it waited for a
// channel.
func hang() {
	for {
		time.Sleep(math.MaxInt64)
	}
}

func (c *call) delay() time.Duration {
	if c.rule.For != nil {
		return time.Duration(*c.rule.For)
	}
	return time.Second
}
