package attempt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/agent"
)

// writeFiles writes the files of an invocation. It does so before each attempt, because the agent
// may have changed the files during the last attempt.
func writeFiles(files []agent.File) error {
	for _, f := range files {
		if err := writeFile(f); err != nil {
			return fmt.Errorf("write a file for the agent: %w", err)
		}
	}
	return nil
}

// writeFile replaces the file. It does not follow a link.
func writeFile(f agent.File) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	w, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(f.Data)
	return errors.Join(err, w.Close())
}
