package claude

// Bounds of what is kept and reported, in bytes.
const (
	maxText = 16 << 10
	maxName = 256 // of a tool, a call, a session
)
