//go:build !race

package guda_test

const (
	cycles        = 10_000
	rounds        = 5_000
	residentLimit = 16 << 20
)
