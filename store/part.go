package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// partFile is a file that is being written beside the one it is to become. It
// gets the name when it is whole, so that whoever looks finds the old file or
// the new one and never a piece. A program that is killed leaves the piece
// behind; the next one that writes the same file removes it after a day.
type partFile struct{ path string }

const partEnd = ".part"

// ends are what SQLite and the store put beside a database file.
var ends = []string{"", "-wal", "-shm", "-journal", ".migrating"}

// newPart makes an empty file, for its owner only, in the folder of path.
func newPart(path string) (*partFile, error) {
	if err := removeLeftParts(path); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+partEnd)
	if err != nil {
		return nil, fmt.Errorf("make a file beside %s: %w", path, err)
	}
	return &partFile{f.Name()}, f.Close()
}

// removeLeftParts removes what a killed program left.
func removeLeftParts(path string) error {
	left, err := filepath.Glob(globQuote(path) + ".*" + partEnd)
	if err != nil {
		return err
	}
	for _, name := range left {
		info, err := os.Stat(name)
		if err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			err = (&partFile{name}).remove()
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// globQuote takes the meaning from what filepath.Glob would expand.
func globQuote(path string) string {
	quoted := make([]rune, 0, len(path))
	for _, r := range path {
		switch r {
		case '*', '?', '[':
			quoted = append(quoted, '[', r, ']')
		default:
			quoted = append(quoted, r)
		}
	}
	return string(quoted)
}

// sync makes the whole file durable.
func (p *partFile) sync() error {
	if info, err := os.Stat(p.path + "-wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s is still open elsewhere", p.path)
	}
	return syncFile(p.path)
}

// rename gives the file its name, in place of a file that may be there.
func (p *partFile) rename(path string) error {
	if err := os.Rename(p.path, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// remove removes the file and what SQLite put beside it, if it is there.
func (p *partFile) remove() error {
	var faults error
	for _, end := range ends {
		if err := os.Remove(p.path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			faults = errors.Join(faults, err)
		}
	}
	return faults
}

// syncFile waits until a file, or the names in a folder, are on the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
