//! A kernel that the text does not have.
const Kernels = @import("embedded.zig").Kernels;

export fn wrong(kernels: *const Kernels) void {
    _ = kernels.get("fill_indx") catch {};
}
