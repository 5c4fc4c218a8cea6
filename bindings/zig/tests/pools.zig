//! Pools, and slices of all origins.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "pools give blocks again, up to their limit" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const pool = try km.Pool.init(f.context, 1 << 20);
    defer pool.deinit();
    const first = try pool.allocate(u32, 1000);
    const address = try first.address();
    first.deinit();
    const second = try pool.allocateZeroed(u32, 1000);
    defer second.deinit();
    try expectEqual(address, try second.address());
    try expectEqual(0, (try second.hostElements())[999]);
    const info = try pool.info();
    try expectEqual(1 << 20, info.limit_bytes);
    try expectEqual(2, info.allocation_count);
    try expectEqual(1, info.reuse_count);
    try expectEqual(1, info.used_block_count);
    try expectError(error.OutOfDeviceMemory, pool.allocate(u8, 1 << 20));
    try f.expectMessage("km_pool_allocate");
}

test "pools in stream order, trimmed" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const pool = try km.Pool.init(f.context, 0);
    defer pool.deinit();
    try pool.setReleaseThreshold(1 << 30);
    const slice = try pool.allocateOnStream(u32, f.stream, 100);
    try slice.fill(f.stream, 3);
    try slice.deinitOnStream(f.stream);
    try f.stream.synchronize();
    try expect((try pool.info()).reserved_bytes > 0);
    try pool.trim(0);
    try pool.resetHighWater();
    const info = try pool.info();
    try expectEqual(0, info.reserved_bytes);
    try expectEqual(0, info.reserved_high_bytes);
}

test "managed and aligned slices" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const managed = try km.Slice(u32).initManaged(f.context, 4);
    defer managed.deinit();
    (try managed.hostElements())[2] = 9;
    var back: [4]u32 = undefined;
    try managed.download(f.stream, &back);
    try expectEqual(9, back[2]);
    const aligned = try km.Slice(u8).initAligned(f.context, 10, 1 << 16);
    defer aligned.deinit();
    try expectEqual(0, try aligned.address() % (1 << 16));
    try expectError(error.InvalidArgument, km.Slice(u8).initAligned(f.context, 10, 12));
    const info = try aligned.info();
    try expectEqual(10, info.size_bytes);
    try expectEqual(0, info.is_view);
}

const Owner = struct {
    released: std.atomic.Value(u32) = .init(0),

    fn release(owner: *Owner) void {
        _ = owner.released.fetchAdd(1, .acq_rel);
    }

    /// It may be called on a thread of the library, a moment later.
    fn expectReleased(owner: *Owner) !void {
        for (0..10_000) |_| {
            if (owner.released.load(.acquire) != 0) break;
            try std.testing.io.sleep(.fromMilliseconds(1), .awake);
        }
        try expectEqual(1, owner.released.load(.acquire));
    }
};

test "memory of the host is released once, when nothing uses it" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var words: [4]u32 = @splat(1);
    var owner: Owner = .{};
    const wrap = km.Slice(u32).fromHostWithRelease;
    const slice = try wrap(f.context, &words, Owner, &owner, Owner.release);
    const view = try slice.view(1, 2);
    slice.deinit();
    try expectEqual(0, owner.released.load(.acquire));
    try view.fill(f.stream, 8);
    try f.stream.synchronize();
    view.deinit();
    try f.stream.synchronize();
    try owner.expectReleased();
    try std.testing.expectEqualSlices(u32, &.{ 1, 8, 8, 1 }, &words);
}

test "registered host memory" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var words: [16]u32 = @splat(4);
    const host = try km.HostMemory(u32).register(f.context, &words);
    defer host.deinit();
    const slice = try km.Slice(u32).init(f.context, 16);
    defer slice.deinit();
    try slice.upload(f.stream, host.items);
    try f.stream.synchronize();
    try expectEqual(4, (try slice.hostElements())[15]);
}
