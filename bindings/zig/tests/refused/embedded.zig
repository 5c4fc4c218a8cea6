//! The kernels of the embedded_... files.
const km = @import("kernelmill");

pub const Kernels = km.embedKernels(
    \\.version 7.0
    \\.target sm_70
    \\.address_size 64
    \\.visible .entry fill_index(.param .u64 out, .param .u32 base, .param .u32 n)
    \\{ ret; }
    \\.visible .entry scale(.param .u64 .ptr .global .align 4 data, .param .f32 factor)
    \\{ ret; }
);
