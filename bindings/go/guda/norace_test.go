//go:build !race

package guda_test

const (
	cycles        = 100_000
	residentLimit = 8 << 20
)
