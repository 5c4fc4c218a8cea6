//go:build !race

package kernelmill_test

const (
	cycles         = 100_000
	cancelledWaits = 10_000
	residentLimit  = 8 << 20
)
