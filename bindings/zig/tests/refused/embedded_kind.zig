//! An integer parameter takes no float.
const km = @import("kernelmill");
const Kernels = @import("embedded.zig").Kernels;

export fn wrong(kernels: *const Kernels, stream: *const km.Stream, out: *const km.Slice(u32)) void {
    const fill = kernels.get("fill_index") catch return;
    fill.launch(stream.*, .{}, .{ out.*, @as(u32, 1), @as(f32, 1) }) catch {};
}
