package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"kanban-run/orchestrator/failpoint"
)

// repairTail copies the torn tail into a file of its own, and cuts the tail off after the copy is
// durable. Open syncs the journal later. After a crash before that sync, the next repair may find
// the tail again.
func (j *Journal) repairTail(sys system, from, size int64) error {
	kept, name, err := createTailCopy(sys, j.path)
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
	failpoint.At("repair-copied")
	if err := j.file.Truncate(from); err != nil {
		return fmt.Errorf("cut off the torn tail: %w", err)
	}
	j.kept, j.torn = name, size-from
	return nil
}

// rewriteUnacked writes the unacknowledged records once more. If their writer ended with a failed
// sync, the kernel still shows the records, but considers them written. Only a new write brings
// them to the disk.
func (j *Journal) rewriteUnacked(from, end int64) error {
	if from == end {
		return nil
	}
	_, err := io.Copy(io.NewOffsetWriter(j.file, from), io.NewSectionReader(j.file, from, end-from))
	if err != nil {
		return fmt.Errorf("write the last records again: %w", err)
	}
	return nil
}

func copyTail(to, from file, start, size int64) error {
	if _, err := io.Copy(io.NewOffsetWriter(to, 0), io.NewSectionReader(from, start, size-start)); err != nil {
		return err
	}
	return to.Sync()
}

func createTailCopy(sys system, path string) (file, string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.torn-%d", path, n)
		f, err := sys.create(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}
