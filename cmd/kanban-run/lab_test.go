package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// labCommand is the first argument of this test binary when it is to be the MCP server "lab".
const labCommand = "mcp-lab"

// playLab is a server with one tool, which writes its text into a file. Source:
// modelcontextprotocol.io, "Transports", stdio.
func playLab(stdin io.Reader, stdout io.Writer, file string) int {
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string `json:"protocolVersion"`
				Arguments struct {
					Text string `json:"text"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &q) != nil || q.ID == nil {
			continue
		}
		var result any = map[string]any{}
		switch q.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": q.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "lab", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "note", "description": "Notes a text.",
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}, "required": []string{"text"}}}}}
		case "tools/call":
			if q.Params.Arguments.Text == "hang" {
				time.Sleep(time.Hour)
			}
			if err := os.WriteFile(file, []byte(q.Params.Arguments.Text), 0o644); err != nil {
				return 1
			}
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "noted"}}}
		}
		answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result})
		if err != nil {
			return 1
		}
		fmt.Fprintf(stdout, "%s\n", answer)
	}
	return 0
}
