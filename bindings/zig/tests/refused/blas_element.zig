//! BLAS has no integers.
const km = @import("kernelmill");

export fn wrong(blas: *const km.Blas, x: *const km.Slice(u32)) void {
    blas.scal(u32, 2, x.*) catch {};
}
