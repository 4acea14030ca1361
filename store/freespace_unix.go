//go:build linux || darwin

package store

import (
	"fmt"
	"path/filepath"
	"syscall"
)

// freeSpace is what this account may still write on the disk of a file, in
// bytes; known is false where that can't be asked.
func freeSpace(path string) (n uint64, known bool, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &s); err != nil {
		return 0, false, fmt.Errorf("ask for the free space: %w", err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true, nil
}
