//go:build race

package main

// memoryFactor is how much more memory the race detector takes at most.
const memoryFactor = 4
