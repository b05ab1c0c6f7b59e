package rundir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/durable"
)

// inputs is the folder of stored texts, each under the SHA-256 of its bytes.
func (d Dir) inputs() string { return filepath.Join(d.Path, "inputs") }

// Store durably stores a text that is too long for the journal, and returns its SHA-256 in hex. A
// text that is stored already is not written again.
func (d Dir) Store(text []byte) (sha string, err error) {
	sum := sha256.Sum256(text)
	sha = hex.EncodeToString(sum[:])
	path := filepath.Join(d.inputs(), sha)
	if old, err := d.read(sha); err == nil && bytes.Equal(old, text) {
		return sha, nil
	}
	err = durable.MkdirAll(d.inputs(), 0o700)
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
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("%w: %s holds other bytes", ErrNotStored, filepath.Join(d.inputs(), sha))
	}
	return text, nil
}

// read checks the kind of file before it opens it: an agent could have put a FIFO there.
func (d Dir) read(sha string) ([]byte, error) {
	path := filepath.Join(d.inputs(), sha)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s", ErrNotStored, path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// ErrNotStored is matched by the error of [Dir.Stored] for a text that is not there as it was
// stored.
var ErrNotStored = errors.New("a stored input is missing")

// SweepStored removes all stored texts but one; "" keeps none.
func (d Dir) SweepStored(keep string) error {
	entries, err := os.ReadDir(d.inputs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != keep {
			errs = append(errs, os.RemoveAll(filepath.Join(d.inputs(), e.Name())))
		}
	}
	return errors.Join(errs...)
}
