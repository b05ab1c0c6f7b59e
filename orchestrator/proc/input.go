package proc

import (
	"os"
	"sync"
	"time"
)

// input is the parent's end of the standard input of a command. Text that the pipe does not take at
// once is written by a goroutine, which lives for as long as there is text to write.
type input struct {
	pipe *os.File
	wg   *sync.WaitGroup

	mu      sync.Mutex
	rest    []byte // to be written
	writing bool   // by a goroutine
	ended   bool   // no text follows: the pipe is closed after the rest
}

// send adds a text to those to be written. If end is true, it closes the pipe after that text. It
// does not wait. It returns false if the input has ended.
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

// write returns when all text is written, or after an error: a command that ends without reading
// its input breaks the pipe.
func (in *input) write() {
	for text := in.take(nil); len(text) > 0; {
		_, err := in.pipe.Write(text)
		text = in.take(err)
	}
}

// take returns the next text to write. err is the error of the last write. If err is not nil, or if
// there is no more text, take returns nil and notes that the goroutine ends.
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
	_ = in.pipe.SetWriteDeadline(time.Now()) // usually the pipe is closed by now, which is no error
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
