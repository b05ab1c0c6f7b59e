package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// BlobName returns git's object name of a file's contents, in hex. It uses SHA-256 for a name of 64
// digits, and SHA-1 otherwise.
func BlobName(text []byte, digits int) string {
	h := NewHash("blob", int64(len(text)), digits)
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// NewHash returns a hash for the contents of an object, whose sum is the object's name. kind is the
// object's type in git's words, size its size in bytes, and digits is as in BlobName.
func NewHash(kind string, size int64, digits int) hash.Hash {
	h := sha1.New()
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	return h
}
