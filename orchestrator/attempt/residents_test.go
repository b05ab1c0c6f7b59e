package attempt_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// message is what a resident of these tests is told.
type message struct {
	Do   string `json:"do"`
	Text string `json:"text,omitempty"`
}

// resident is a program that does what each message says.
type resident struct{ told []string }

func playResident(args []string) int {
	if len(args) > 0 { // a child of one
		if args[0] == "parent" {
			launch(args[1:]...)
		}
		if args[0] == "child" {
			_ = os.NewFile(3, "started").Close()
			hang()
		}
		return 0
	}
	var r resident
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, "not a message:", string(line))
			return 9
		}
		r.told = append(r.told, m.Text)
		r.do(m)
	}
}

// reply is a valid reply in one line, without its end.
func reply(text string) string {
	line, _ := json.Marshal(map[string]string{"status": "ok", "message": text})
	return string(line)
}

func (r *resident) do(m message) {
	switch m.Do {
	case "say":
		fmt.Println(reply(m.Text))
	case "remember":
		fmt.Println(reply(fmt.Sprintf("%d %s", os.Getpid(), strings.Join(r.told, " "))))
	case "print":
		fmt.Println(m.Text)
	case "report": // on standard error, right before the answer
		fmt.Fprintln(os.Stderr, m.Text)
		fmt.Println(reply("reported"))
	case "twice":
		fmt.Print(reply("the answer") + "\n" + reply("unasked") + "\n")
	case "begin": // a line that ends only when the next message is there
		fmt.Print(reply("the answer") + "\n" + reply("unasked")[:20])
	case "end":
		fmt.Print(reply("unasked")[20:] + "\n" + reply("the second answer") + "\n")
	case "later": // prints unasked once it is told to, and says so in a file
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGUSR1)
		fmt.Println(reply(fmt.Sprint(os.Getpid())))
		go func() {
			<-asked
			fmt.Println(reply("unasked"))
			_ = os.WriteFile(m.Text, nil, 0o600)
		}()
	case "exit":
		os.Exit(3)
	case "leave": // with nothing said
		os.Exit(0)
	case "hang":
		fmt.Fprintln(os.Stderr, "hanging")
		hang()
	case "deaf": // to all but a kill
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(reply("deaf"))
		hang()
	case "flood":
		for {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 1000))
		}
	case "child", "orphan", "unmarked":
		fmt.Println(reply(fmt.Sprint(os.Getpid(), " ", startChild(m.Do))))
	}
}

func hang() { time.Sleep(time.Hour) }

// startChild returns the number of a process in a session of its own: a child, an
// orphan, or one without a mark.
func startChild(kind string) string {
	r, w, _ := os.Pipe()
	out, write, _ := os.Pipe()
	cmd := exec.Command(os.Args[0], "resident", "parent", "child")
	if kind == "child" {
		cmd = exec.Command(os.Args[0], "resident", "child")
	}
	if kind == "unmarked" {
		resetMarks()
		cmd.Env = []string{"GORACE=atexit_sleep_ms=0"}
	}
	cmd.Stdout, cmd.ExtraFiles, cmd.SysProcAttr = write, []*os.File{w}, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	_, _ = w.Close(), write.Close()
	_, _ = r.Read(make([]byte, 1)) // until it runs
	if kind == "child" {
		return fmt.Sprint(cmd.Process.Pid)
	}
	_ = cmd.Wait()
	var pid string
	_, _ = fmt.Fscan(out, &pid)
	return pid
}

// launch starts a process and says its number.
func launch(args ...string) {
	cmd := exec.Command(os.Args[0], append([]string{"resident"}, args...)...)
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{os.NewFile(3, "started")}, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println(cmd.Process.Pid)
}
