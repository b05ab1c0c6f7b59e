package redact

import "math"

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + upper + lower
)

// class is a set of bytes.
type class [256]bool

var (
	isAlnum    = classOf(alnum)
	isHexDigit = classOf(digits + "abcdefABCDEF")
)

func classOf(chars string) *class {
	var c class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
}

// hasAll reports whether all bytes of b are in the class.
func (c *class) hasAll(b []byte) bool {
	for _, x := range b {
		if !c[x] {
			return false
		}
	}
	return true
}

func not(c *class) *class {
	var n class
	for i := range c {
		n[i] = !c[i]
	}
	return &n
}

// bitsOf is like classOf, but maps a member to 1 and any other byte to 0, so that callers can
// combine the results without branches.
func bitsOf(chars string) *[256]byte {
	var c [256]byte
	for i := range len(chars) {
		c[chars[i]] = 1
	}
	return &c
}

// byteSet is a class that takes one bit per byte value.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c/64] |= 1 << (c % 64) }
func (s *byteSet) has(c byte) bool { return s[c/64]&(1<<(c%64)) != 0 }

var allBytes = byteSet{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}
