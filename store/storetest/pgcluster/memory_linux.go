package pgcluster

import "syscall"

// roomInMemory is what a file system in memory must have free, in bytes, for a
// cluster to be put there: the tests of one package take a tenth of it.
const roomInMemory = 4 << 30

// inMemory is the parent of the folder of a cluster that need not survive:
// a file system in memory where there is a roomy one, since making and
// dropping databases is mostly the making of files.
func inMemory() string {
	const memory = "/dev/shm"
	const tmpfs = 0x01021994
	var s syscall.Statfs_t
	if err := syscall.Statfs(memory, &s); err != nil || s.Type != tmpfs || s.Bavail*uint64(s.Bsize) < roomInMemory {
		return onDisk
	}
	return memory
}
