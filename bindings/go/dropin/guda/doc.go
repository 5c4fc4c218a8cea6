// Package guda has the functions of the GUDA library as that publishes them, for its programs to run
// with another import path and no other change. It is a facade over package guda of this module
// (bindings/go/guda), whose functions have GUDA's names as its manual gives them: Malloc has one result
// there, and two here.
//
//	a, _ := guda.Malloc(4 * n * n)
//	defer guda.Free(a)
//	err := guda.GEMM(false, false, n, n, n, 1, a, n, b, n, 0, c, n)
//
// docs/guide/guda.md of Kernelmill says what is the same, what differs and what is not there. Programs
// that need streams with copies, events, compiled kernels or more devices take the other package.
package guda
