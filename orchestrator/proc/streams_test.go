package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
)

// newPipe makes streams with one pipe, its end as Run has it, and the other as a command has it.
func newPipe(t testing.TB, our int) (st *streams, ours, theirs *os.File) {
	t.Helper()
	st = &streams{}
	ours, err := st.openPipe(our)
	if err != nil {
		t.Fatal(err)
	}
	theirs = st.childEnds[0]
	st.childEnds = nil
	return st, ours, theirs
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

// FuzzPull: whatever a command writes, in whatever pieces, arrives whole.
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
		w := &failsAfter{n: writes}
		st, ours, theirs := newPipe(t, 0)
		o := &output{from: ours, to: w}
		st.outputs = []*output{o}
		st.startReading()
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(piece))
			if _, err := theirs.Write(rest[:n]); err != nil {
				t.Fatalf("%v, want a pipe that is read to its end", err)
			}
			rest = rest[n:]
		}
		_ = theirs.Close()
		st.wg.Wait()
		if o.err == nil && !bytes.Equal(w.Bytes(), text) || !bytes.HasPrefix(text, w.Bytes()) {
			t.Errorf("%d bytes arrived, want %d", w.Len(), len(text))
		}
		if o.err != nil && (w.n >= 0 || !errors.Is(o.err, errFull)) {
			t.Errorf("%v, want no error before the writer's", o.err)
		}
		if o.buf != nil {
			t.Error("a buffer is kept after the end")
		}
	})
}

// FuzzPush: an input arrives whole, whatever its reader does, or as far as it is read.
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
		st, ours, theirs := newPipe(t, 1)
		st.input, st.outputs = input{pipe: ours, wg: &st.wg}, []*output{{from: ours}}
		st.writeInput(text, true)
		var got bytes.Buffer
		buf := make([]byte, size)
		for ; reads > 0; reads-- {
			n, err := theirs.Read(buf)
			if got.Write(buf[:n]); err != nil {
				break
			}
		}
		_ = theirs.Close()
		st.wg.Wait()
		if !bytes.HasPrefix(text, got.Bytes()) || reads > 0 && got.Len() != len(text) {
			t.Errorf("%d bytes arrived, want %d", got.Len(), len(text))
		}
	})
}

// TestCancelled: a pipe that a process holds open is not waited for, whether it is silent or being
// read.
func TestCancelled(t *testing.T) {
	st, ours, theirs := newPipe(t, 0)
	defer theirs.Close()
	silent := &output{from: ours, to: &bytes.Buffer{}}
	st.outputs = []*output{silent}
	st.startReading()
	silent.cancel()
	st.wg.Wait()

	entered, leave := make(chan struct{}), make(chan struct{})
	st, ours, theirs = newPipe(t, 0)
	defer theirs.Close()
	busy := &output{from: ours, to: writerFunc(func(p []byte) (int, error) {
		close(entered) // a second write would panic
		<-leave
		return len(p), nil
	})}
	st.outputs = []*output{busy}
	st.startReading()
	_, _ = theirs.WriteString("one")
	<-entered
	busy.cancel()
	_, _ = theirs.WriteString("two")
	close(leave)
	st.wg.Wait()
	for _, f := range []*os.File{silent.from, busy.from} {
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Close = %v, want a pipe that was closed", err)
		}
	}
}

// TestInputGivenUp: an input that is not read is not waited for.
func TestInputGivenUp(t *testing.T) {
	st, ours, theirs := newPipe(t, 1)
	defer theirs.Close()
	st.input, st.outputs = input{pipe: ours, wg: &st.wg}, []*output{{from: ours}}
	st.writeInput(make([]byte, 4<<20), true)
	st.outputs = nil
	if err := st.drain(); err != nil {
		t.Error(err)
	}
	if err := ours.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close = %v, want a pipe that was closed", err)
	}
}

// TestSilentOutputHasNoBuffer: it is lent only while there is something to read.
func TestSilentOutputHasNoBuffer(t *testing.T) {
	_, ours, theirs := newPipe(t, 0)
	defer ours.Close()
	defer theirs.Close()
	o := &output{from: ours, to: io.Discard}
	conn, err := ours.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	pass := func() (n int, ok bool) {
		_ = conn.Control(func(fd uintptr) { n, ok = o.pass(fd) })
		return n, ok
	}
	if _, ok := pass(); ok || o.buf != nil {
		t.Error("an empty pipe was read, or its buffer kept")
	}
	_, _ = theirs.WriteString("one")
	if n, ok := pass(); !ok || o.buf == nil || n != 3 {
		t.Errorf("%d bytes were read, want 3", n)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestUnpollable: what the runtime cannot wait for, here a file, is read all the same.
func TestUnpollable(t *testing.T) {
	path := t.TempDir() + "/text"
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := &output{from: f, to: &out}
	o.copy()
	if out.String() != "hello" {
		t.Errorf("%q was read, want hello", out.String())
	}
}
