package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// kind is the type of a packet.
type kind byte

const (
	signalTaken    kind = iota + 1 // sent by the guardian: value is the number of a signal
	requestDone                    // sent by the guardian: the request with this value is done
	requestRefused                 // sent by the guardian: the request with this value failed
	holdFile                       // sent by the runner: hold the file under this value
	releaseFile                    // sent by the runner: close the file held under this value
	exitCode                       // sent by the runner: value is the runner's exit code
)

// packet is one message of the link. It arrives whole or not at all.
type packet struct {
	kind  kind
	value uint32
	file  *os.File // the file of a holdFile; nil in other packets
}

const packetSize = 5

// wire is one end of the link. Packets that were sent before the other end closed still arrive.
type wire struct {
	file *os.File
	conn syscall.RawConn
}

// newWires creates both ends. A child inherits an end only if it is given that end explicitly.
func newWires() (ours *wire, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a link to the runner: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "link")
	ours, err = newWire(fds[0])
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// newWire makes a wire of a descriptor. It closes the descriptor if it fails.
func newWire(fd int) (*wire, error) {
	err := unix.SetNonblock(fd, true)
	file := os.NewFile(uintptr(fd), "link")
	if err == nil {
		var conn syscall.RawConn
		if conn, err = file.SyscallConn(); err == nil {
			return &wire{file, conn}, nil
		}
	}
	_ = file.Close()
	return nil, fmt.Errorf("prepare the link: %w", err)
}

func (w *wire) close() { _ = w.file.Close() }

// shutdown ends the wire, even if some process still holds the other end open. Afterwards the
// method receive returns the packets sent so far and then io.EOF, and sending fails.
func (w *wire) shutdown() {
	_ = w.conn.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) })
}

// trySend sends a packet, or fails at once if too many are unread. A peer with hundreds of unread
// packets is stopped or broken.
func (w *wire) trySend(p packet) error { return w.transmit(p, false) }

// send sends a packet. It waits while the peer has hundreds of unread packets, because a thousand
// boards may make requests at once, and each needs its answer.
func (w *wire) send(p packet) error { return w.transmit(p, true) }

func (w *wire) transmit(p packet, wait bool) error {
	data := binary.LittleEndian.AppendUint32([]byte{byte(p.kind)}, p.value)
	if p.file == nil {
		return w.sendmsg(data, nil, wait)
	}
	conn, err := p.file.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = conn.Control(func(fd uintptr) { sent = w.sendmsg(data, unix.UnixRights(int(fd)), wait) })
	return errors.Join(err, sent)
}

func (w *wire) sendmsg(data, rights []byte, wait bool) error {
	var sent error
	try := func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), data, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		return sent != unix.EAGAIN
	}
	if wait {
		err := w.conn.Write(try)
		return errors.Join(err, sent)
	}
	err := w.conn.Control(func(fd uintptr) { try(fd) }) // conn.Write would wait for the peer
	return errors.Join(err, sent)
}

// receive waits for a packet. Errors: io.EOF if the other end is gone and all its packets were
// received.
func (w *wire) receive() (packet, error) {
	var p packet
	var got error
	err := w.conn.Read(func(fd uintptr) bool {
		p, got = recvmsg(int(fd))
		return got != unix.EAGAIN
	})
	return p, errors.Join(err, got)
}

// recvmsg returns EAGAIN if there is no packet now.
func recvmsg(fd int) (packet, error) {
	data, rights := make([]byte, packetSize), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(fd, data, rights, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	switch {
	case err == unix.ECONNRESET || err == unix.EINTR:
		// ECONNRESET means that the other end closed with packets unread. The error occurs once;
		// the packets of that end still follow.
		return recvmsg(fd)
	case err != nil:
		return packet{}, err
	case n == 0:
		return packet{}, io.EOF
	}
	p := packet{file: receivedFile(rights[:oobn])}
	if n == packetSize {
		p.kind, p.value = kind(data[0]), binary.LittleEndian.Uint32(data[1:])
	}
	return p, nil
}

// receivedFile returns the file of a packet. It returns nil if the packet has no file, or if this
// process had no descriptor left for the file.
func receivedFile(rights []byte) *os.File {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil
	}
	return os.NewFile(uintptr(fds[0]), "held")
}
