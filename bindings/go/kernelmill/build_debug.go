//go:build !release

package kernelmill

const isRelease = false
