//! A parameter of 4 bytes takes no number of 8.
const km = @import("kernelmill");
const Kernels = @import("embedded.zig").Kernels;

export fn wrong(kernels: *const Kernels, stream: *const km.Stream, out: *const km.Slice(u32)) void {
    const fill = kernels.get("fill_index") catch return;
    fill.launch(stream.*, .{}, .{ out.*, @as(u64, 1), @as(u32, 1) }) catch {};
}
