package claude

// The bounds of kept and reported texts, in bytes.
const (
	maxText = 16 << 10
	maxName = 256 // for the name or ID of a tool, a call or a session
)
