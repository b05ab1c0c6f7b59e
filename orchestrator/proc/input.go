package proc

import (
	"os"
	"sync"
	"time"
)

// input is the parent's end of the standard input of a command. What the pipe does not take at
// once is written by a goroutine, which lives for as long as there is something to write.
type input struct {
	pipe *os.File
	wg   *sync.WaitGroup

	mu      sync.Mutex
	rest    []byte // to be written
	writing bool   // a goroutine does it
	ended   bool   // no text follows: the pipe is closed behind the rest
}

// send writes a text behind those before it, and with end closes the pipe behind it; false: it is
// closed. It does not wait.
func (in *input) send(text []byte, end bool) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return false
	}
	in.ended = end
	if len(in.rest) == 0 {
		in.rest = text
	} else {
		in.rest = append(in.rest[:len(in.rest):len(in.rest)], text...)
	}
	if !in.writing {
		in.writing = true
		in.wg.Go(in.write)
	}
	return true
}

// write ends when nothing is left to write. A command may end without
// reading, which breaks the pipe.
func (in *input) write() {
	for text := in.take(nil); len(text) > 0; {
		_, err := in.pipe.Write(text)
		text = in.take(err)
	}
}

// take returns what is to be written next, or notes that nothing is.
func (in *input) take(err error) (text []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	text, in.rest = in.rest, nil
	if err != nil {
		text, in.ended = nil, true
	}
	if len(text) == 0 {
		in.writing = false
		in.closeEnded()
	}
	return text
}

func (in *input) closeEnded() {
	if in.ended {
		_ = in.pipe.Close()
	}
}

// giveUp ends a write that the command does not read, and closes the pipe.
func (in *input) giveUp() {
	_ = in.pipe.SetWriteDeadline(time.Now()) // usually it is closed by now, which is no error
	in.close()
}

// close drops what is not written yet.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended, in.rest = true, nil
	if !in.writing {
		in.closeEnded()
	}
}
