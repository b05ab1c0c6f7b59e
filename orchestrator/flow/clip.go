package flow

import (
	"fmt"
	"strings"
)

// maxMessage bounds the part of a message that is journaled, in bytes. A message is a summary: the
// work log is in the task file.
const maxMessage = 32 << 10

// Clip is the part of an agent's message that is journaled.
func Clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(message[:maxMessage], ""), len(message))
}
