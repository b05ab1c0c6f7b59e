package proc

import (
	"os"
	"sync"
	"time"
)

// input is the parent's end of the standard input of a command. A goroutine writes the text, and
// ends when none is left.
type input struct {
	pipe *os.File
	wg   *sync.WaitGroup

	mu      sync.Mutex
	rest    []byte // text that is still to be written
	writing bool   // a goroutine runs the method write
	ended   bool   // no more text is accepted; the pipe is closed once the rest is written
}

// send queues a text and returns at once. If end is true, the pipe is closed after the text. It
// returns false if the input has already ended.
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

// write writes the queued text. It returns when none is left, or after an error. A command that
// ends without reading its input causes an error.
func (in *input) write() {
	for text := in.take(nil); len(text) > 0; {
		_, err := in.pipe.Write(text)
		text = in.take(err)
	}
}

// take returns the next text to write. err is the error of the last write. After an error, or if no
// text is left, take returns nil and notes that the goroutine ends.
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

// giveUp interrupts a write that waits for the command to read, and closes the pipe.
func (in *input) giveUp() {
	_ = in.pipe.SetWriteDeadline(time.Now()) // the usual error is that the pipe is already closed
	in.close()
}

// close drops the unwritten text, and closes the pipe once no text is being written.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended, in.rest = true, nil
	if !in.writing {
		in.closeEnded()
	}
}
