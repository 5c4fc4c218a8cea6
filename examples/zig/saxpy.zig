//! The ten-line program: y += a x on a GPU where there is one, else on the CPU. saxpy KERNEL.cu
const std = @import("std");
const km = @import("kernelmill");

fn run(kernel_file: [:0]const u8, diagnostics: *km.Diagnostics) km.Error!void {
    const ones: [1000]f32 = @splat(1);
    var result: [1000]f32 = undefined;

    // docs/bindings.md shows what follows.
    const context = try km.Context.open("auto", diagnostics);
    const stream = try km.Stream.init(context);
    const module = try km.Module.loadFile(context, kernel_file);
    const saxpy = try module.function("saxpy");
    const x = try km.Slice(f32).initCopy(context, stream, &ones);
    const y = try km.Slice(f32).initZeroed(context, 1000);
    const shape: km.LaunchConfig = .{ .grid = .{ 4, 1, 1 }, .block = .{ 256, 1, 1 } };
    try stream.launch(saxpy, shape, .{ x, y, @as(f32, 2), @as(i32, 1000) });
    try y.download(stream, &result);
    std.debug.print("y[999] = {d}\n", .{result[999]});
    // docs/bindings.md shows no more.
}

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    if (arguments.len != 2) return error.UsageIsSaxpyKernelCu;
    var diagnostics: km.Diagnostics = .{};
    errdefer std.log.err("{s}", .{diagnostics.message()});
    try run(arguments[1], &diagnostics);
}
