//go:build !cgo

package library

// A build without cgo stops here, with the name that is not defined: without a C compiler in PATH Go
// turns cgo off by itself.
var _ = kernelmill_needs_cgo_install_a_C_compiler_and_leave_CGO_ENABLED_at_1
