//! A parameter that is an address takes no number.
const km = @import("kernelmill");
const Kernels = @import("embedded.zig").Kernels;

export fn wrong(kernels: *const Kernels, stream: *const km.Stream) void {
    const scale = kernels.get("scale") catch return;
    scale.launch(stream.*, .{}, .{ @as(u64, 4096), @as(f32, 1) }) catch {};
}
