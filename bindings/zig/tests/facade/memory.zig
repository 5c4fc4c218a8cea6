//! `cuda_memory` and `cuda_stream`.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.testing.allocator;
const cuda_memory = km.cuda_memory;
const cuda_native = km.cuda_native;
const cuda_stream = km.cuda_stream;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

test "memory and streams before init say so" {
    try expectError(error.NotInitialized, cuda_memory.DeviceMemory.init(16));
    try expectError(error.NotInitialized, cuda_memory.PinnedMemory.init(16));
    try expectError(error.NotInitialized, cuda_memory.MemoryPool.init(0));
    try expectError(error.NotInitialized, cuda_stream.CudaStream.init());
    try expectError(error.NotInitialized, cuda_stream.CudaStream.initWithPriority(0));
    try expectError(error.NotInitialized, cuda_stream.CudaEvent.init());
    try expectError(error.NotInitialized, cuda_stream.StreamPool.init(allocator, 2));
    var none = try cuda_stream.StreamPool.init(allocator, 0);
    defer none.deinit();
    try expectError(error.PoolExhausted, none.acquire());
}

test "copies in all directions, also asynchronous" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const stream = try cuda_stream.CudaStream.init();
    defer stream.deinit();
    const a = try cuda_memory.DeviceMemory.init(16);
    defer a.deinit();
    const b = try cuda_memory.DeviceMemory.init(16);
    defer b.deinit();
    const pinned = try cuda_memory.PinnedMemory.init(16);
    defer pinned.deinit();
    const words = try pinned.as(u32);
    for (words, 0..) |*word, i| word.* = @intCast(i + 1);
    try cuda_memory.memcpyAsync(a, pinned, 16, stream);
    try cuda_memory.memcpyAsync(b, a, 16, stream);
    var back: [16]u8 = @splat(0);
    try cuda_memory.memcpyDeviceToHost(&back, b, stream);
    try expectEqualSlices(u8, pinned.bytes, &back);
    try cuda_memory.memcpyHostToDevice(a, &back, null);
    @memset(pinned.bytes, 0);
    try cuda_memory.memcpyAsync(pinned, b, 8, stream);
    try stream.synchronize();
    try expectEqualSlices(u32, &.{ 1, 2, 0, 0 }, words);
    const small: []const u8 = back[0..4];
    try cuda_memory.memcpyAsync(a, small, 4, null);
    try expectError(error.OutOfBounds, cuda_memory.memcpyAsync(a, small, 5, null));
    try expectError(error.OutOfBounds, cuda_memory.memcpyAsync(a, b, 17, null));
    try expectError(error.InvalidArgument, pinned.as([3]u8));
    try expectError(error.InvalidArgument, cuda_memory.DeviceMemory.init(0));
    try expect(try a.address() != 0);
}

test "pools reuse memory, keep their limit and count" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const pool = try cuda_memory.MemoryPool.init(1 << 20);
    defer pool.deinit();
    try expectEqual(0, (try pool.getStats()).usage_ratio);
    const first = try pool.allocate(1 << 18);
    const address = try first.address();
    try pool.free(first);
    try expectError(error.InvalidHandle, pool.free(first));
    const second = try pool.allocate(1 << 18);
    try expectEqual(address, try second.address());
    try expectError(error.OutOfDeviceMemory, pool.allocate(1 << 20));
    const stats = try pool.getStats();
    try expectEqual(1 << 20, stats.max_size);
    try expectEqual(1, stats.allocation_count);
    try expectEqual(2, stats.total_allocations);
    try expectEqual(1, stats.reuse_count);
    try expectEqual(0.25, stats.usage_ratio);
    try expect(stats.peak_bytes >= stats.used_bytes);
    try pool.free(second);
    try pool.trim();
    try expectEqual(0, (try pool.getStats()).reserved_bytes);
    const endless = try cuda_memory.MemoryPool.init(0);
    defer endless.deinit();
    try expectEqual(0, (try endless.getStats()).usage_ratio);
}

test "events order streams and give times that are never negative" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const first = try cuda_stream.CudaStream.init();
    defer first.deinit();
    const second = try cuda_stream.CudaStream.initWithPriority(0);
    defer second.deinit();
    const start = try cuda_stream.CudaEvent.init();
    defer start.deinit();
    const end = try cuda_stream.CudaEvent.init();
    defer end.deinit();
    try first.recordEvent(start);
    const memory = try cuda_memory.DeviceMemory.init(1 << 22);
    defer memory.deinit();
    try memory.ptr.fill(first.stream, 5);
    try end.record(first);
    try second.waitEvent(end);
    try second.synchronize();
    try expect(try end.query());
    try end.synchronize();
    const forth = try cuda_stream.elapsed(start, end);
    try expect(forth > 0);
    try expectEqual(forth, try cuda_stream.elapsed(end, start));
    try expectEqual(forth, try start.elapsedTime(end));
    try expect(try first.query());
}

test "streams are lent and given back" {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    var pool = try cuda_stream.StreamPool.init(allocator, 2);
    defer pool.deinit();
    const first = try pool.acquire();
    const second = try pool.acquire();
    try expect(first.stream.handle != second.stream.handle);
    try expectError(error.PoolExhausted, pool.acquire());
    try pool.release(first);
    try expectError(error.InvalidArgument, pool.release(first));
    try expectEqual(1, pool.available());
    const again = try pool.acquire();
    try expectEqual(first.stream.handle, again.stream.handle);
    try pool.synchronizeAll();
    const foreign = try cuda_stream.CudaStream.init();
    defer foreign.deinit();
    try expectError(error.InvalidArgument, pool.release(foreign));
}
