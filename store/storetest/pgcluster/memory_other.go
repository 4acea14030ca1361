//go:build !linux

package pgcluster

// inMemory is the parent of the folder of a cluster that need not survive.
func inMemory() string { return onDisk }
