package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// repair copies the torn tail aside, and only when that is durable cuts it off.
func (j *Journal) repair(sys system, from, size int64) error {
	kept, name, err := createKept(sys, j.path)
	if err != nil {
		return fmt.Errorf("keep the torn tail: %w", err)
	}
	err = copyTail(kept, j.file, from, size)
	if err := errors.Join(err, kept.Close()); err != nil {
		return fmt.Errorf("keep the torn tail: %w", err)
	}
	if err := sys.syncDir(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("keep the torn tail: %w", err)
	}
	if err := j.file.Truncate(from); err != nil {
		return fmt.Errorf("cut off the torn tail: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("cut off the torn tail: %w", err)
	}
	j.kept, j.torn = name, size-from
	return nil
}

func copyTail(to, from file, start, size int64) error {
	if _, err := io.Copy(io.NewOffsetWriter(to, 0), io.NewSectionReader(from, start, size-start)); err != nil {
		return err
	}
	return to.Sync()
}

func createKept(sys system, path string) (file, string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.torn-%d", path, n)
		f, err := sys.create(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}
