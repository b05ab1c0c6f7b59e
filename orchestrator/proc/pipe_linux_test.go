package proc

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// newPipe makes a pipe with our end as Run has it, and the other as a command has it.
func newPipe(t testing.TB, our int, p *pipe) (theirs *os.File, closed *sync.WaitGroup) {
	t.Helper()
	st := &streams{}
	if _, err := st.open(our, p); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(st.theirs[0], "theirs"), &st.wg
}

// movers are the three ways to serve a pipe. Attend, which polls, is the plain one.
var movers = map[string]func(*pipe){
	"attend": func(p *pipe) { go attend(p) },
	"ears":   func(p *pipe) { (&ears{pipes: map[int32]*pipe{}}).take(p) },
	"drain": func(p *pipe) {
		if p.move() {
			p.close()
		} else {
			hearing.take(p)
		}
	},
}

// failsAfter is a writer that keeps all and fails from the n-th write on.
type failsAfter struct {
	bytes.Buffer
	n int
}

var errFull = errors.New("disk full")

func (w *failsAfter) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, errFull
	}
	return w.Buffer.Write(p)
}

// FuzzPull: whatever a command writes, in whatever pieces, arrives whole, and in the same way by all movers.
func FuzzPull(f *testing.F) {
	f.Add([]byte("hello"), uint32(3), 1000)
	f.Add([]byte(""), uint32(1), 0)
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), 20_000), uint32(70_001), 1000)
	f.Add(bytes.Repeat([]byte("x"), 300<<10), uint32(1<<20), 1000)
	f.Add(bytes.Repeat([]byte("y"), 100<<10), uint32(4096), 2)
	f.Fuzz(func(t *testing.T, text []byte, piece uint32, writes int) {
		if uint64(piece)*100 < uint64(len(text)) || len(text) > 1<<20 {
			t.Skip("slow")
		}
		for name, mover := range movers {
			w := &failsAfter{n: writes}
			p := &pipe{to: w}
			theirs, closed := newPipe(t, 0, p)
			mover(p)
			for rest := text; len(rest) > 0; {
				n := min(len(rest), int(piece))
				if _, err := theirs.Write(rest[:n]); err != nil {
					t.Fatalf("%s: %v, want a pipe that is read to its end", name, err)
				}
				rest = rest[n:]
			}
			_ = theirs.Close()
			closed.Wait()
			if p.err == nil && !bytes.Equal(w.Bytes(), text) || !bytes.HasPrefix(text, w.Bytes()) {
				t.Errorf("%s: %d bytes arrived, want %d", name, w.Len(), len(text))
			}
			if p.err != nil && (w.n >= 0 || !errors.Is(p.err, errFull)) {
				t.Errorf("%s: %v, want no error before the writer's", name, p.err)
			}
		}
	})
}

// FuzzPush: an input arrives whole, whatever its reader does, or as far as he reads.
func FuzzPush(f *testing.F) {
	f.Add([]byte("hello"), uint32(3), 1000)
	f.Add([]byte(""), uint32(1), 1)
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), 20_000), uint32(70_001), 1000)
	f.Add(bytes.Repeat([]byte("x"), 300<<10), uint32(1<<20), 1000)
	f.Add(bytes.Repeat([]byte("y"), 100<<10), uint32(4096), 2)
	f.Fuzz(func(t *testing.T, text []byte, piece uint32, reads int) {
		size := int(min(max(piece, 1), 1<<20))
		if size*100 < len(text) || len(text) > 1<<20 {
			t.Skip("slow")
		}
		for name, mover := range movers {
			p := &pipe{text: text}
			theirs, closed := newPipe(t, 1, p)
			mover(p)
			var got bytes.Buffer
			buf := make([]byte, size)
			for ; reads > 0; reads-- {
				n, err := theirs.Read(buf)
				if got.Write(buf[:n]); err != nil {
					break
				}
			}
			_ = theirs.Close()
			closed.Wait()
			if !bytes.HasPrefix(text, got.Bytes()) || reads > 0 && got.Len() != len(text) {
				t.Errorf("%s: %d bytes arrived, want %d", name, got.Len(), len(text))
			}
		}
	})
}

// TestDropped: a pipe that somebody holds open is not waited for, whether it is silent or being moved.
func TestDropped(t *testing.T) {
	for name, take := range map[string]func(*ears, *pipe){"ears": (*ears).take, "attend": func(_ *ears, p *pipe) { go attend(p) }} {
		t.Run(name, func(t *testing.T) {
			e := &ears{pipes: map[int32]*pipe{}}
			silent := &pipe{to: &bytes.Buffer{}}
			theirs, closed := newPipe(t, 0, silent)
			defer theirs.Close()
			take(e, silent)
			e.drop(silent)
			closed.Wait()

			entered, leave := make(chan struct{}), make(chan struct{})
			busy := &pipe{to: writerFunc(func(p []byte) (int, error) {
				close(entered) // a second write would panic
				<-leave
				return len(p), nil
			})}
			theirs, closed = newPipe(t, 0, busy)
			defer theirs.Close()
			take(e, busy)
			_, _ = theirs.WriteString("one")
			<-entered
			e.drop(busy)
			_, _ = theirs.WriteString("two")
			close(leave)
			closed.Wait()
			if len(e.pipes) > 0 || e.epoll != nil {
				t.Errorf("%d pipes are left, want none and no epoll", len(e.pipes))
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestUnheard: what no epoll takes, here a file, is read all the same.
func TestUnheard(t *testing.T) {
	path := t.TempDir() + "/text"
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var closed sync.WaitGroup
	closed.Add(1)
	var out bytes.Buffer
	e := &ears{pipes: map[int32]*pipe{}}
	e.take(&pipe{fd: fd, open: &closed, to: &out})
	closed.Wait()
	if out.String() != "hello" || e.epoll != nil {
		t.Errorf("%q was read, and the epoll is %v, want hello and none", out.String(), e.epoll)
	}
}
