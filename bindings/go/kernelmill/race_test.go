//go:build race

package kernelmill_test

// The race detector makes calls slow and keeps memory of its own.
const (
	cycles         = 10_000
	cancelledWaits = 1_000
	residentLimit  = 64 << 20
	serviceCycles  = 200
)
