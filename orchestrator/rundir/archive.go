package rundir

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// Report returns the path of the report of a teardown.
func (d Dir) Report() string { return filepath.Join(d.Path, "teardown.md") }

// ArchivePath returns the path of the archive of a folder that is deleted at the given time.
func (d Dir) ArchivePath(at time.Time) string {
	return d.Path + "-" + at.UTC().Format(archiveStamp) + archiveEnding
}

const archiveStamp, archiveEnding = "20060102T150405Z", ".tar.gz"

// ArchivesIn returns the paths of the last archives of folders of runs, by the names that these folders
// had in the given folder.
func ArchivesIn(folder string) map[string]string {
	last := map[string]string{}
	entries, _ := os.ReadDir(folder) // an error means none
	for _, e := range entries {      // sorted, so the last archive comes last
		name, isArchive := strings.CutSuffix(e.Name(), archiveEnding)
		at := strings.LastIndexByte(name, '-')
		if !isArchive || at < 0 {
			continue
		}
		if _, err := time.Parse(archiveStamp, name[at+1:]); err == nil {
			last[name[:at]] = filepath.Join(folder, e.Name())
		}
	}
	return last
}

// Archive packs the regular files of the folder into an archive at the given path. A run makes no
// other kinds of files. The archive gets its name only after a sync.
func (d Dir) Archive(name string) error {
	temp := name + ".new"
	f, err := durable.OpenPlain(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(d.pack(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, name); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return durable.SyncDir(filepath.Dir(name))
}

func (d Dir) pack(to io.Writer) error {
	zipped := gzip.NewWriter(to)
	packed := tar.NewWriter(zipped)
	err := filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return d.packFile(packed, path)
	})
	return errors.Join(err, packed.Close(), zipped.Close())
}

func (d Dir) packFile(to *tar.Writer, path string) error {
	f, err := plainfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	name, err := filepath.Rel(filepath.Dir(d.Path), path)
	if err != nil {
		return err
	}
	header.Name = filepath.ToSlash(name)
	if err := to.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.CopyN(to, f, info.Size())
	return err
}

// Remove removes the folder and syncs its parent.
func (d Dir) Remove() error {
	if err := os.RemoveAll(d.Path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(d.Path))
}
