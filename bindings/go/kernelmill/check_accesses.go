package kernelmill

// CheckAccesses is whether contexts that are opened from now on have each access of their kernels
// tested against their memory, so that the first wrong one stops the kernel with
// [ErrIllegalAddress]. It is true at first, but for programs that are built with -tags release. CPU
// devices can do that; KM_CPU_MEMORY of the environment has the last word, and [Context.IsChecked]
// tells. It is to be set before goroutines open contexts.
var CheckAccesses = !isRelease
