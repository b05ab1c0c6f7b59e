package redact

import "bytes"

// openerBytes begin an escape, or end a line. Around them a secret may be spelled differently.
const openerBytes = "\\%&\n\r"

var opener = bitsOf(openerBytes)

// openers finds the next opener; most bytes are none.
type openers struct {
	b       []byte
	places  [len(openerBytes)]int
	nearest int
}

func newOpeners(b []byte) openers {
	o := openers{b: b, nearest: -1}
	for k := range o.places {
		o.places[k] = -1
	}
	return o
}

// near is the distance, in bytes, that is searched byte by byte first: openers come in swarms.
const near = 16

func (o *openers) nextFrom(i int) int {
	if i <= o.nearest {
		return o.nearest
	}
	for k := i; k < min(i+near, len(o.b)); k++ {
		if opener[o.b[k]] != 0 {
			o.nearest = k
			return k
		}
	}
	o.nearest = len(o.b)
	for k := range o.places {
		if o.places[k] < i {
			n := bytes.IndexByte(o.b[min(i, len(o.b)):], openerBytes[k])
			if n < 0 {
				n = len(o.b)
			}
			o.places[k] = i + n
		}
		o.nearest = min(o.nearest, o.places[k])
	}
	return o.nearest
}
