//go:build !race

package guda_test

import "os"

const residentLimit = 16 << 20

var (
	cycles = long(10_000, 100_000)
	rounds = long(5_000, 100_000)
)

// long is the larger number with KM_TEST_LONG=1, which make stress-go sets.
func long(usual, larger int) int {
	if os.Getenv("KM_TEST_LONG") != "" {
		return larger
	}
	return usual
}
