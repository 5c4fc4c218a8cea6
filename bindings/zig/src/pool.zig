//! Pools: blocks of device memory that are freed are kept and given out again.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Slice = @import("memory.zig").Slice;
const Stream = @import("stream.zig").Stream;

/// The figures of a pool.
pub const PoolInfo = c.km_pool_info;

/// A pool of device memory. Slices out of it are slices like any other, and outlive it.
pub const Pool = struct {
    handle: c.km_pool,
    diagnostics: ?*Diagnostics = null,

    /// A pool that takes at most `limit_bytes` from the device; 0: as much as there is. C:
    /// km_pool_create.
    pub fn init(context: Context, limit_bytes: u64) Error!Pool {
        var handle: c.km_pool = undefined;
        try check(c.km_pool_create(context.handle, limit_bytes, &handle), context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Drops the handle; blocks in use go back to the device when they are freed. C:
    /// km_pool_destroy.
    pub fn deinit(pool: Pool) void {
        _ = c.km_pool_destroy(pool.handle);
    }

    /// This pool, with another place for failures.
    pub fn reporting(pool: Pool, diagnostics: ?*Diagnostics) Pool {
        return .{ .handle = pool.handle, .diagnostics = diagnostics };
    }

    /// A slice that can be used on every stream at once; its contents are anything.
    /// error.OutOfDeviceMemory when the limit or the device does not allow it. C:
    /// km_pool_allocate.
    pub fn allocate(pool: Pool, comptime T: type, count: usize) Error!Slice(T) {
        return pool.allocateFlags(T, count, c.KM_SLICE_DEFAULT);
    }

    /// Like `allocate`, filled with zeros, for which it may wait.
    pub fn allocateZeroed(pool: Pool, comptime T: type, count: usize) Error!Slice(T) {
        return pool.allocateFlags(T, count, c.KM_SLICE_ZEROED);
    }

    fn allocateFlags(
        pool: Pool,
        comptime T: type,
        count: usize,
        flags: c.km_slice_flags,
    ) Error!Slice(T) {
        var handle: c.km_slice = undefined;
        const call = c.km_pool_allocate;
        try check(call(pool.handle, count, @sizeOf(T), flags, &handle), pool.diagnostics);
        return Slice(T).typed(handle, count, pool.diagnostics);
    }

    /// A slice for work that is queued in the stream afterwards; `Slice.deinitOnStream` gives it
    /// back. C: km_pool_allocate_on_stream.
    pub fn allocateOnStream(
        pool: Pool,
        comptime T: type,
        stream: Stream,
        count: usize,
    ) Error!Slice(T) {
        var handle: c.km_slice = undefined;
        const flags: c.km_slice_flags = c.KM_SLICE_DEFAULT;
        const call = c.km_pool_allocate_on_stream;
        const got = call(pool.handle, stream.handle, count, @sizeOf(T), flags, &handle);
        try check(got, pool.diagnostics);
        return Slice(T).typed(handle, count, pool.diagnostics);
    }

    /// While the pool has more than that, free blocks go back to the device. C:
    /// km_pool_set_release_threshold.
    pub fn setReleaseThreshold(pool: Pool, threshold_bytes: u64) Error!void {
        const got = c.km_pool_set_release_threshold(pool.handle, threshold_bytes);
        try check(got, pool.diagnostics);
    }

    /// Gives free blocks back to the device until the pool has at most `keep_bytes`. C:
    /// km_pool_trim.
    pub fn trim(pool: Pool, keep_bytes: u64) Error!void {
        try check(c.km_pool_trim(pool.handle, keep_bytes), pool.diagnostics);
    }

    /// The figures: limit, memory in use and reserved with their high-water marks, allocations and
    /// reuses. C: km_pool_info_get.
    pub fn info(pool: Pool) Error!PoolInfo {
        var found = errors.sized(PoolInfo);
        try check(c.km_pool_info_get(pool.handle, &found), pool.diagnostics);
        return found;
    }

    /// The high-water marks start again from what is used and reserved now. C:
    /// km_pool_reset_high_water.
    pub fn resetHighWater(pool: Pool) Error!void {
        try check(c.km_pool_reset_high_water(pool.handle), pool.diagnostics);
    }
};

test Pool {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const pool = try Pool.init(context, 64 << 20);
    defer pool.deinit();
    for (0..2) |_| {
        const slice = try pool.allocate(f32, 1000);
        slice.deinit();
    }
    try std.testing.expectEqual(1, (try pool.info()).reuse_count);
}
