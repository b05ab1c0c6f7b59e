package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// inputs returns the folder of stored texts, each under the SHA-256 of its bytes.
func (d Dir) inputs() string { return filepath.Join(d.Path, "inputs") }

// Store durably stores a text that is too long for the journal, and returns its SHA-256 in hex. If
// the text is stored already, it is not written again.
func (d Dir) Store(text []byte) (sha string, err error) {
	sha = shaOf(text)
	path := filepath.Join(d.inputs(), sha)
	if old, err := d.read(sha); err == nil && bytes.Equal(old, text) {
		return sha, nil
	}
	err = makeFolder(d.inputs())
	if err == nil {
		err = RemoveForeign(path)
	}
	if err == nil {
		err = durable.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("store an input: %w", err)
	}
	return sha, nil
}

// Stored returns the text with the given SHA-256. Errors: [ErrNotStored].
func (d Dir) Stored(sha string) ([]byte, error) {
	text, err := d.read(sha)
	if err != nil {
		return nil, err
	}
	if shaOf(text) != sha {
		return nil, fmt.Errorf("%w: %s holds other bytes", ErrNotStored, filepath.Join(d.inputs(), sha))
	}
	return text, nil
}

// read reads a stored text. It checks the kinds of the folder and the file first: an agent could
// have put a link or a FIFO in their place. Errors: ErrNotStored.
func (d Dir) read(sha string) ([]byte, error) {
	path := filepath.Join(d.inputs(), sha)
	folder, err := os.Lstat(d.inputs())
	if err == nil && folder.IsDir() {
		var text []byte
		if text, err = durable.ReadPlain(path, maxStored); err == nil {
			return text, nil
		}
	}
	var kind *durable.NotPlainError
	if err == nil || errors.As(err, &kind) || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s", ErrNotStored, path)
	}
	return nil, err
}

// ErrNotStored is matched by the error of [Dir.Stored] for a text that is missing or was changed.
var ErrNotStored = errors.New("a stored input is missing")

// maxStored bounds a stored text, in bytes; boards and replies are shorter.
const maxStored = 256 << 20

// isStored reports whether a file name is that of a stored text.
var isStored = regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString

// SweepStored removes all stored texts except the text with the given SHA-256. If that
// SHA-256 is "", it removes all stored texts. A text that cannot be removed does no harm.
func (d Dir) SweepStored(keep string) {
	root, err := plainfile.OpenRoot(d.Path)
	if err != nil {
		return
	}
	defer root.Close()
	folder, err := root.OpenFile("inputs", os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != keep && isStored(e.Name()) {
			_ = root.Remove(filepath.Join("inputs", e.Name()))
		}
	}
}
