package board

import (
	"crypto/sha256"
	"encoding/hex"
)

// besides is from how many bytes on a hash is worth a goroutine: of a large board it takes as long as all the rest.
const besides = 1 << 20

// summer makes the SHA-256 of a board's bytes while they are still being read.
type summer struct {
	pieces chan []byte
	sum    chan string
}

// newSummer is nil for a board that is not worth it.
func newSummer(size int64) *summer {
	if size < besides {
		return nil
	}
	s := &summer{make(chan []byte, 4), make(chan string, 1)}
	go func() {
		h := sha256.New()
		for p := range s.pieces {
			h.Write(p)
		}
		s.sum <- hex.EncodeToString(h.Sum(nil))
	}()
	return s
}

// add takes the next bytes, which must not be changed any more.
func (s *summer) add(piece []byte) {
	if s != nil {
		s.pieces <- piece
	}
}

// end says that no more follow.
func (s *summer) end() {
	if s != nil {
		close(s.pieces)
	}
}

// of is the SHA-256 of the source, whose bytes have all been added.
func (s *summer) of(source []byte) string {
	if s == nil {
		return SHA(source)
	}
	return <-s.sum
}
