//go:build !race

package kernelmill_test

import "os"

const (
	cycles         = 100_000
	cancelledWaits = 10_000
	residentLimit  = 8 << 20
)

// serviceCycles is how often each service is used.
var serviceCycles = long(2_000, 100_000)

// long is the larger number with KM_TEST_LONG=1, which make stress-go sets.
func long(usual, larger int) int {
	if os.Getenv("KM_TEST_LONG") != "" {
		return larger
	}
	return usual
}
