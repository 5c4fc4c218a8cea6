//! A text that ends in the middle of a kernel.
const km = @import("kernelmill");

export fn wrong() usize {
    return km.embedKernels(".version 7.0\n.target sm_70\n.entry cut(.param .u32 x,").entries.len;
}
