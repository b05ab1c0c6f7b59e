package claude

// The bounds of kept and reported texts, in bytes.
const (
	maxText = 16 << 10
	maxName = 256 // of a tool, a call, a session
)
