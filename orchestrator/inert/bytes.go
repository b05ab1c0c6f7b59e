package inert

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lower
)

// class is a set of bytes.
type class [256]bool

var isAlnum = classOf(alnum)

func classOf(chars string) *class {
	var c class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
}
