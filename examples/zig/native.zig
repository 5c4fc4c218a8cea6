//! A kernel on memory of the device, by the names of a Zig GPU driver: prints what it computed.
const std = @import("std");
const gpu = @import("gpu");
const cuda_native = @import("backends/cuda_native.zig");

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

    // Allocate device memory
    const d_input = try cuda_native.allocateDeviceMemory(1024);
    defer cuda_native.freeDeviceMemory(d_input);

    // Copy data to device
    const h_input = [_]f32{ 1.0, 2.0, 3.0, 4.0 };
    try cuda_native.memcpyHostToDevice(d_input, &h_input[0], 16);

    // Launch kernel
    const config: cuda_native.KernelConfig = .{ .block_dim = .{ 4, 1, 1 } };
    const args = .{ d_input, @as(f32, 10), @as(i32, 4) };
    const kernel = try gpu.compileKernel(allocator, source);
    defer gpu.destroyKernel(allocator, kernel);
    try cuda_native.launchKernel(allocator, kernel, config, args);

    var h_output: [4]f32 = undefined;
    try cuda_native.memcpyDeviceToHost(&h_output, d_input, 16);
    var buffer: [256]u8 = undefined;
    var writer: std.Io.File.Writer = .initStreaming(.stdout(), start.io, &buffer);
    try writer.interface.print("{any}\n", .{h_output});
    try writer.interface.flush();
}
