package redact

import "bytes"

// openerBytes begin an escape, or end a line. Around them a secret need not look
// like itself.
const openerBytes = "\\%&\n\r"

var opener = flagsOf(openerBytes)

// openers knows where the next opener of each kind is: most bytes are none.
type openers struct {
	b    []byte
	at   [len(openerBytes)]int
	next int
}

func newOpeners(b []byte) openers {
	o := openers{b: b, next: -1}
	for k := range o.at {
		o.at[k] = -1
	}
	return o
}

// near is how far, in bytes, one is looked for before the search for each kind of
// them: they come in swarms.
const near = 16

func (o *openers) from(i int) int {
	if i <= o.next {
		return o.next
	}
	for k := i; k < min(i+near, len(o.b)); k++ {
		if opener[o.b[k]] != 0 {
			o.next = k
			return k
		}
	}
	o.next = len(o.b)
	for k := range o.at {
		if o.at[k] < i {
			n := bytes.IndexByte(o.b[min(i, len(o.b)):], openerBytes[k])
			if n < 0 {
				n = len(o.b)
			}
			o.at[k] = i + n
		}
		o.next = min(o.next, o.at[k])
	}
	return o.next
}
