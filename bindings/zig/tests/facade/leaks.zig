//! 10^5 cycles of the types of the GPU driver leave nothing behind.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.heap.c_allocator;
const cuda_memory = km.cuda_memory;
const cuda_native = km.cuda_native;
const cuda_stream = km.cuda_stream;

const cycles = 100_000;
const warm_up = 2_000;

fn oneOfEach(pool: cuda_memory.MemoryPool) !void {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const memory = try cuda_memory.DeviceMemory.init(64);
    defer memory.deinit();
    const pinned = try cuda_memory.PinnedMemory.init(64);
    defer pinned.deinit();
    const block = try pool.allocate(64);
    try cuda_memory.memcpyAsync(block, memory, 64, null);
    try pool.free(block);
    const own = try cuda_memory.MemoryPool.init(0);
    defer own.deinit();
    var streams = try cuda_stream.StreamPool.init(allocator, 1);
    defer streams.deinit();
    const stream = try streams.acquire();
    const event = try cuda_stream.CudaEvent.init();
    defer event.deinit();
    try stream.recordEvent(event);
    try streams.release(stream);
    var errors = km.error_handling.ErrorContext.init(allocator);
    defer errors.deinit();
    try errors.record(error.NotInitialized, "cycle");
}

fn oneKernel() !void {
    const source: cuda_native.KernelSource = .{ .code = support.ptx, .entry_point = "noop" };
    const kernel = try cuda_native.compileKernel(allocator, source);
    defer cuda_native.destroyKernel(allocator, kernel);
    var profiler = km.profiling.Profiler.init(allocator);
    defer profiler.deinit(allocator);
    profiler.enable();
    try profiler.startTiming("noop", allocator, 0);
    try profiler.endTiming(allocator);
}

const Usage = extern struct { times: [4]c_long, max_rss_kib: c_long, rest: [13]c_long };
extern "c" fn getrusage(who: c_int, usage: *Usage) c_int;

/// The most memory that was ever resident.
fn peakKib() !c_long {
    var usage: Usage = undefined;
    if (getrusage(0, &usage) != 0) return error.Unexpected;
    return usage.max_rss_kib;
}

test "nothing is left after many cycles" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const pool = try cuda_memory.MemoryPool.init(1 << 20);
    defer pool.deinit();
    for (0..warm_up) |_| try oneOfEach(pool);
    for (0..warm_up) |_| try oneKernel();
    const before = try peakKib();
    for (warm_up..cycles) |_| try oneOfEach(pool);
    for (warm_up..10_000) |_| try oneKernel();
    // 16 bytes lost in each cycle would be 1.5 MB.
    try support.expect(try peakKib() - before < 1024);
}
