//! `cuda_native`: kernels, memory, copies, streams.
const std = @import("std");
const gpu = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.testing.allocator;
const cuda_native = gpu.cuda_native;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

const scale =
    \\extern "C" __global__ void scale(float* data, float factor, int n) {
    \\  int i = blockIdx.x * blockDim.x + threadIdx.x;
    \\  if (i < n) data[i] *= factor;
    \\}
;

test "calls before init say so" {
    try expect(!cuda_native.isInitialized());
    try expectError(error.NotInitialized, cuda_native.allocateDeviceMemory(16));
    try expectError(error.NotInitialized, cuda_native.createStream());
    try expectError(error.NotInitialized, gpu.compileKernel(allocator, scale));
    try expectError(error.NotInitialized, cuda_native.getContext());
    try expectError(error.NotInitialized, cuda_native.isFallback());
    cuda_native.deinit();
}

test "init and deinit may be called twice, in any order" {
    cuda_native.deinit();
    try cuda_native.init();
    try cuda_native.init();
    cuda_native.deinit();
    const memory = try cuda_native.allocateDeviceMemory(16);
    cuda_native.deinit();
    cuda_native.deinit();
    try expectError(error.NotInitialized, cuda_native.allocateDeviceMemory(16));
    cuda_native.freeDeviceMemory(memory);
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    try cuda_native.initDevice("cpu:0");
    cuda_native.deinit();
    try expectError(error.UnsupportedBackend, cuda_native.initDevice("metal"));
    try expect(try cuda_native.isFallback());
    const info = try cuda_native.getDeviceInfo();
    try std.testing.expectEqualStrings("cpu", gpu.text(&info.backend));
}

test "kernels from CUDA C++ run, and their arguments are checked" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const kernel = try gpu.compileKernel(allocator, scale);
    defer gpu.destroyKernel(allocator, kernel);
    const d_input = try cuda_native.allocateDeviceMemory(1024);
    defer cuda_native.freeDeviceMemory(d_input);
    const h_input = [_]f32{ 1, 2, 3, 4 };
    try cuda_native.memcpyHostToDevice(d_input, &h_input[0], 16);
    const config: cuda_native.KernelConfig = .{ .block_dim = .{ 4, 1, 1 } };
    const launch = cuda_native.launchKernel;
    try launch(allocator, kernel, config, .{ d_input, @as(f32, 10), @as(i32, 4) });
    var back: [4]f32 = undefined;
    try cuda_native.memcpyDeviceToHost(&back, d_input, 16);
    try expectEqualSlices(f32, &.{ 10, 20, 30, 40 }, &back);
    try expectError(error.InvalidLaunch, launch(allocator, kernel, config, .{d_input}));
    const wide = .{ d_input, @as(f64, 1), @as(i32, 1) };
    try expectError(error.InvalidLaunch, launch(allocator, kernel, config, wide));
    try expectError(error.OutOfBounds, cuda_native.memcpyHostToDevice(d_input, &h_input, 1025));
    try expectError(error.InvalidArgument, cuda_native.allocateDeviceMemory(0));
}

test "kernels from PTX and from templates, by name" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const commented = "// a comment\n/* another */ " ++ support.ptx;
    const several: cuda_native.KernelSource = .{ .code = commented, .entry_point = "fill_index" };
    const fill = try cuda_native.compileKernel(allocator, several);
    defer cuda_native.destroyKernel(allocator, fill);
    try expectError(error.InvalidArgument, gpu.compileKernel(allocator, commented));
    try expectError(error.InvalidPtx, gpu.compileKernel(allocator, ".version nonsense"));
    const broken = "__global__ void k() { wrong(); }";
    try expectError(error.CompilationFailed, gpu.compileKernel(allocator, broken));
    const generic = "template <class T> __global__ void put(T* out, T v) { *out = v; }";
    const put = try gpu.compileKernel(allocator, cuda_native.KernelSource{
        .code = generic,
        .entry_point = "put<unsigned>",
    });
    defer gpu.destroyKernel(allocator, put);
    const stream = try cuda_native.createStream();
    defer cuda_native.destroyStream(stream);
    const out = try cuda_native.allocateDeviceMemory(8);
    defer cuda_native.freeDeviceMemory(out);
    const config: cuda_native.KernelConfig = .{ .stream = stream };
    try cuda_native.launchKernel(allocator, put, config, .{ out, @as(u32, 42) });
    try cuda_native.synchronizeStream(stream);
    try cuda_native.memcpyDeviceToDevice(try out.view(4, 4), out, 4, stream);
    var back: [2]u32 = undefined;
    try cuda_native.memcpyDeviceToHost(&back, out, 8);
    try expectEqualSlices(u32, &.{ 42, 42 }, &back);
}

test "a fault of a kernel is an error, and the process lives" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const source: cuda_native.KernelSource = .{ .code = support.ptx, .entry_point = "store_far" };
    const far = try cuda_native.compileKernel(allocator, source);
    defer cuda_native.destroyKernel(allocator, far);
    const memory = try cuda_native.allocateDeviceMemory(16);
    defer cuda_native.freeDeviceMemory(memory);
    try cuda_native.launchKernel(allocator, far, .{}, .{memory});
    const stream = try cuda_native.getDefaultStream();
    try expectError(error.IllegalAddress, cuda_native.synchronizeStream(stream));
    try (try cuda_native.getContext()).reset();
}

const Worker = struct {
    failures: std.atomic.Value(u32) = .init(0),

    fn cycle(worker: *Worker) void {
        for (0..200) |_| tryCycle() catch {
            _ = worker.failures.fetchAdd(1, .acq_rel);
        };
    }

    fn tryCycle() !void {
        try cuda_native.initDevice("cpu");
        defer cuda_native.deinit();
        const memory = try cuda_native.allocateDeviceMemory(64);
        defer cuda_native.freeDeviceMemory(memory);
        const stream = try cuda_native.createStream();
        defer cuda_native.destroyStream(stream);
        try cuda_native.synchronizeStream(stream);
    }
};

test "eight threads open and close it" {
    var worker: Worker = .{};
    var threads: [8]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try std.Thread.spawn(.{}, Worker.cycle, .{&worker});
    for (threads) |thread| thread.join();
    try expectEqual(0, worker.failures.load(.acquire));
    try expect(!cuda_native.isInitialized());
}
