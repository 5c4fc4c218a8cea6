//go:build race

package guda_test

// The race detector makes calls slow.
const cycles = 10_000
