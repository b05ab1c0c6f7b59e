package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// BlobName returns git's object name of a file's contents, in hex. It uses SHA-256 for a name of 64
// digits, and SHA-1 otherwise.
func BlobName(text []byte, digits int) string {
	h := sha1.New()
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}
