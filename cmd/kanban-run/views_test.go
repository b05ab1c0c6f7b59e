package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/creack/pty"
)

// viewsCommand is the first argument of this test binary when it is to perform several commands, each of
// which would otherwise be a process.
const viewsCommand = "print-views"

// glance is a command that looks at a board, and what it prints.
type glance struct {
	Words   []string
	Columns uint16 // of its terminal of 24 rows; 0: its output is a pipe
	Out     string // what it prints to both streams
	Code    int
}

// printViews performs the views that it reads, one after another, and prints them with their output.
func printViews(stdin io.Reader, stdout io.Writer) int {
	var views []glance
	err := json.NewDecoder(stdin).Decode(&views)
	for i := range views {
		if err == nil {
			err = views[i].perform()
		}
	}
	if err == nil {
		err = json.NewEncoder(stdout).Encode(views)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// perform performs the command in this process.
func (v *glance) perform() error {
	read, write, err := os.Pipe()
	if v.Columns > 0 {
		if read, write, err = pty.Open(); err == nil {
			err = pty.Setsize(read, &pty.Winsize{Rows: 24, Cols: v.Columns})
		}
	}
	if err != nil {
		return err
	}
	all := make(chan string)
	go func() {
		text, _ := bufio.NewReader(read).ReadString(0) // what is missing is seen
		all <- strings.TrimSuffix(text, "\x00")
	}()
	var in io.Reader = write
	if v.Columns == 0 {
		if in, err = os.Open(os.DevNull); err != nil {
			return err
		}
	}
	v.Code = run(v.Words, in, write, write)
	// The end of the file would not do: a command may still wait for a key of the terminal.
	if _, err := write.Write([]byte{0}); err != nil {
		return err
	}
	v.Out = <-all
	return errors.Join(write.Close(), read.Close())
}
