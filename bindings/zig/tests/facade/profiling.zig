//! `profiling`.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.testing.allocator;
const cuda_native = km.cuda_native;
const profiling = km.profiling;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

fn fillKernel() !cuda_native.Kernel {
    const source: cuda_native.KernelSource = .{ .code = support.ptx, .entry_point = "fill_index" };
    return cuda_native.compileKernel(allocator, source);
}

test "kernels are timed by name, from events of the device" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const kernel = try fillKernel();
    defer cuda_native.destroyKernel(allocator, kernel);
    const out = try cuda_native.allocateDeviceMemory(4 << 16);
    defer cuda_native.freeDeviceMemory(out);
    var profiler = profiling.Profiler.init(allocator);
    defer profiler.deinit(allocator);
    try profiler.startTiming("off", allocator, 0);
    try profiler.endTiming(allocator);
    profiler.enable();
    try expectError(error.NoTiming, profiler.endTiming(allocator));
    const stream = try cuda_native.createStream();
    defer cuda_native.destroyStream(stream);
    const config: cuda_native.KernelConfig = .{
        .grid_dim = .{ 256, 1, 1 },
        .block_dim = .{ 256, 1, 1 },
        .stream = stream,
    };
    for (0..3) |_| {
        try profiler.startTiming("fill", allocator, profiling.streamId(stream));
        const arguments = .{ out, @as(u32, 0), @as(u32, 1 << 16) };
        try cuda_native.launchKernel(allocator, kernel, config, arguments);
        try profiler.endTiming(allocator);
    }
    var host: [1 << 16]u8 = @splat(0);
    try profiler.startTransfer("down", allocator, 0, host.len);
    try cuda_native.memcpyDeviceToHost(&host, out, host.len);
    try profiler.endTiming(allocator);
    const fill = profiler.getKernel("fill").?;
    try expectEqual(3, fill.count);
    try expect(fill.min_ns > 0 and fill.min_ns <= fill.averageNs());
    try expect(fill.averageNs() <= fill.max_ns);
    try expectEqual(@as(?profiling.KernelStatistics, null), profiler.getKernel("off"));
    const summary = profiler.getSummary();
    try expectEqual(3, summary.kernel_count);
    try expectEqual(fill.total_ns, summary.total_kernel_ns);
    try expectEqual(fill.min_ns, summary.min_kernel_ns);
    try expectEqual(1, summary.transfer_count);
    try expectEqual(host.len, summary.throughput.bytes);
    try expect(summary.throughput.gigabytesPerSecond() > 0);
    var buffer: [4096]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    try profiling.formatSummary(&profiler, &writer);
    try expect(std.mem.indexOf(u8, writer.buffered(), "fill: 3 runs") != null);
    try expect(std.mem.indexOf(u8, writer.buffered(), "down: 1 transfers, 65536 bytes") != null);
    profiler.reset(allocator);
    try expectEqual(0, profiler.getSummary().kernel_count);
}

test "a profiler without a device takes the host's time" {
    var profiler = profiling.Profiler.init(allocator);
    defer profiler.deinit(allocator);
    profiler.enable();
    try profiler.startTiming("my_kernel", allocator, 0);
    const pause: std.os.linux.timespec = .{ .sec = 0, .nsec = 2 * std.time.ns_per_ms };
    _ = std.os.linux.nanosleep(&pause, null);
    try profiler.endTiming(allocator);
    const timed = profiler.getKernel("my_kernel").?;
    try expectEqual(1, timed.count);
    try expect(timed.total_ns >= 2 * std.time.ns_per_ms);
    try expectError(error.NoTiming, profiler.endTiming(allocator));
    try expectError(error.NotInitialized, profiler.startTiming("x", allocator, 1234567));
    profiler.reset(allocator);

    try profiler.recordKernel(allocator, .{ .name = "x", .elapsed_ns = 1_500_000 });
    try profiler.recordTransfer(allocator, "y", .{ .bytes = 3000, .elapsed_ns = 1000 });
    const summary = profiler.getSummary();
    try expectEqual(1_500_000, summary.average_kernel_ns);
    try expectEqual(3000, summary.throughput.megabytesPerSecond());
    try expectEqual(1.5, (profiling.TimingInfo{ .name = "x", .elapsed_ns = 1_500_000 }).elapsedMs());
    try expectEqual(0, (profiling.MemoryThroughput{ .bytes = 5 }).gigabytesPerSecond());
    try profiler.startTiming("begun before", allocator, 0);
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    try profiler.endTiming(allocator);
    try expectEqual(1, profiler.getKernel("begun before").?.count);
    try expectError(error.InvalidHandle, profiler.startTiming("x", allocator, 1234567));
    try profiler.startTiming("left open", allocator, 0);
}

test "occupancy by registers, shared memory and blocks" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const kernel = try fillKernel();
    defer cuda_native.destroyKernel(allocator, kernel);
    const info = try profiling.calculateOccupancy(kernel, 256, 0);
    try expect(info.active_blocks >= 1);
    try expect(info.occupancy > 0 and info.occupancy <= 1);
    try expectEqual(info.occupancy * 100, info.percent());
    try expect(info.optimal_block_size >= 32 and info.optimal_grid_size >= 1);
    try expect(info.limiting_factor != .invalid);
    const none = try profiling.calculateOccupancy(kernel, 1 << 20, 0);
    try expectEqual(0, none.active_blocks);
    try expectEqual(0, none.occupancy);
    try expectError(error.InvalidArgument, profiling.calculateOccupancy(kernel, 0, 0));
    const shared = try profiling.calculateOccupancy(kernel, 32, 40 << 10);
    try expectEqual(.shared_memory, shared.limiting_factor);
}
