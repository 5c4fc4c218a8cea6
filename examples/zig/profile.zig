//! Times a kernel and prints a summary, by the names of a Zig GPU driver.
const std = @import("std");
const gpu = @import("gpu");
const cuda_native = @import("backends/cuda_native.zig");
const profiling = @import("profiling.zig");

const source =
    \\extern "C" __global__ void scale(float* data, float factor, int count) {
    \\  int i = blockIdx.x * blockDim.x + threadIdx.x;
    \\  if (i < count) data[i] *= factor;
    \\}
;

pub fn main(start: std.process.Init) !void {
    const allocator = start.gpa;
    errdefer std.log.err("{f}", .{&gpu.Diagnostics.ofLastError()});
    try cuda_native.init();
    defer cuda_native.deinit();
    const kernel = try gpu.compileKernel(allocator, source);
    defer gpu.destroyKernel(allocator, kernel);
    try kernel.function.prepare(.{ 256, 1, 1 }); // else the first launch compiles it
    const data = try cuda_native.allocateDeviceMemory(1 << 20);
    defer cuda_native.freeDeviceMemory(data);

    var profiler = profiling.Profiler.init(allocator);
    defer profiler.deinit(allocator);

    profiler.enable();

    try profiler.startTiming("my_kernel", allocator, 0);
    const config: cuda_native.KernelConfig = .{
        .grid_dim = .{ 1 << 10, 1, 1 },
        .block_dim = .{ 256, 1, 1 },
    };
    const args = .{ data, @as(f32, 2), @as(i32, 1 << 18) };
    try cuda_native.launchKernel(allocator, kernel, config, args);
    try profiler.endTiming(allocator);

    const summary = profiler.getSummary();
    if (summary.kernel_count != 1) return error.NotProfiled;
    var io_backend = std.Io.Threaded.init(allocator, .{});
    defer io_backend.deinit();
    var stdout_buffer: [1024]u8 = undefined;
    var stdout_writer = std.Io.File.stdout().writer(io_backend.io(), &stdout_buffer);
    const stdout = &stdout_writer.interface;
    try profiling.formatSummary(&profiler, stdout);
}
