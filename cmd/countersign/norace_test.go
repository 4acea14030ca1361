//go:build !race

package main

// memoryFactor is 1: there is no race detector that takes memory too.
const memoryFactor = 1
