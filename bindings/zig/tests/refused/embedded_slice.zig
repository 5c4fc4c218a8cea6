//! A float takes no slice.
const km = @import("kernelmill");
const Kernels = @import("embedded.zig").Kernels;

export fn wrong(kernels: *const Kernels, stream: *const km.Stream, out: *const km.Slice(u32)) void {
    const scale = kernels.get("scale") catch return;
    scale.launch(stream.*, .{}, .{ out.*, out.* }) catch {};
}
