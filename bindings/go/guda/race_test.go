//go:build race

package guda_test

// The race detector makes calls slow and keeps memory of its own.
const (
	cycles        = 1_000
	rounds        = 500
	residentLimit = 64 << 20
)
