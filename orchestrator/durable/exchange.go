package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/failpoint"
)

// ErrChanged is the error for a file that does not hold the expected bytes.
var ErrChanged = errors.New("file was changed by another program")

// ReplaceFile is like WriteFile, but for a file that other programs write, too. It replaces the
// file only if the file still holds the bytes of the parameter "was". If the system can exchange
// two names, a write that another program makes before the exchange is never lost. Errors: those of
// WriteFile, [ErrChanged], fs.ErrNotExist.
func ReplaceFile(path string, was, data []byte) error {
	target, err := followLinks(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	sys := disk{}
	old, err := writable(sys, target)
	if err == nil && old == nil {
		err = fs.ErrNotExist
	}
	var temp string
	if err == nil {
		temp, err = stage(sys, target, data, 0, old)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := replaceIf(temp, target, was); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), sys.remove(temp))
	}
	failpoint.At("renamed")
	if err := errors.Join(removeOld(temp), sys.syncDir(filepath.Dir(target)), verify(sys, target, data)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// replaceIf moves the file temp to target if the file at target still holds the bytes of the
// parameter "was". Afterwards the old file has the name temp, or is removed if the system cannot
// exchange two names.
func replaceIf(temp, target string, was []byte) error {
	if now, err := os.ReadFile(target); err != nil || !bytes.Equal(now, was) {
		return errors.Join(err, ErrChanged)
	}
	if err := exchange(temp, target); errors.Is(err, errors.ErrUnsupported) {
		return os.Rename(temp, target)
	} else if err != nil {
		return err
	}
	// Another program may have written between the first check and the exchange.
	if now, err := os.ReadFile(temp); err != nil || !bytes.Equal(now, was) {
		return errors.Join(err, exchange(temp, target), ErrChanged)
	}
	return nil
}

func removeOld(temp string) error {
	if err := os.Remove(temp); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
