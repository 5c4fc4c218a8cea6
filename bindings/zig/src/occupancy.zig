//! Occupancy: how many blocks of a kernel fit. Methods of `Function`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Error = errors.Error;
const Function = @import("function.zig").Function;

/// The blocks that a multiprocessor holds at a time, and the limit that allows no more; `limit` is
/// an `OccupancyLimit` by number.
pub const Occupancy = c.km_occupancy;

/// The resource that allows the fewest blocks.
pub const OccupancyLimit = enum(i32) {
    invalid = c.KM_OCCUPANCY_LIMIT_INVALID,
    warps = c.KM_OCCUPANCY_LIMIT_WARPS,
    registers = c.KM_OCCUPANCY_LIMIT_REGISTERS,
    shared_memory = c.KM_OCCUPANCY_LIMIT_SHARED_MEMORY,
    blocks = c.KM_OCCUPANCY_LIMIT_BLOCKS,
    _,
};

/// The occupancy by blocks of `block_threads` threads with `shared_bytes` of dynamic shared memory;
/// `active_blocks` is 0 when a block does not fit. C: km_function_occupancy.
pub fn occupancy(function: Function, block_threads: u32, shared_bytes: u64) Error!Occupancy {
    var found = errors.sized(Occupancy);
    const got = c.km_function_occupancy(function.handle, block_threads, shared_bytes, &found);
    try check(got, function.diagnostics);
    return found;
}

/// A block size, and the smallest grid that fills the device with such blocks.
pub const BestBlock = struct { block_threads: u32, grid_blocks: u32 };

/// The block size that keeps the most threads of a multiprocessor busy when each block has
/// `shared_bytes` of dynamic shared memory; at most `max_block_threads` (0: as many as the kernel
/// can have). error.InvalidLaunch when blocks of no size fit. C: km_function_best_block.
pub fn bestBlock(
    function: Function,
    shared_bytes: u64,
    max_block_threads: u32,
) Error!BestBlock {
    return best(function, shared_bytes, null, null, max_block_threads);
}

/// Like `bestBlock`, with `sharedBytesOf(data, block_threads)` of dynamic shared memory, which is
/// called on the thread of the call.
pub fn bestBlockWith(
    function: Function,
    comptime Data: type,
    data: *Data,
    comptime sharedBytesOf: fn (data: *Data, block_threads: u32) u64,
    max_block_threads: u32,
) Error!BestBlock {
    const wrapper = struct {
        fn call(user_data: ?*anyopaque, block_threads: u32) callconv(.c) u64 {
            return sharedBytesOf(@ptrCast(@alignCast(user_data.?)), block_threads);
        }
    };
    return best(function, 0, wrapper.call, data, max_block_threads);
}

fn best(
    function: Function,
    shared_bytes: u64,
    shared_of: c.km_shared_bytes_callback,
    user_data: ?*anyopaque,
    max_block_threads: u32,
) Error!BestBlock {
    var found: BestBlock = undefined;
    try check(c.km_function_best_block(
        function.handle,
        shared_bytes,
        shared_of,
        user_data,
        max_block_threads,
        &found.block_threads,
        &found.grid_blocks,
    ), function.diagnostics);
    return found;
}

/// The most dynamic shared memory that a block can have while `block_count` blocks of
/// `block_threads` threads fit on a multiprocessor. C: km_function_available_shared_bytes.
pub fn availableSharedBytes(
    function: Function,
    block_count: u32,
    block_threads: u32,
) Error!u64 {
    var found: u64 = undefined;
    const call = c.km_function_available_shared_bytes;
    const got = call(function.handle, block_count, block_threads, &found);
    try check(got, function.diagnostics);
    return found;
}

/// The number of clusters of `cluster_blocks` blocks that the device holds at a time. C:
/// km_function_max_active_clusters.
pub fn maxActiveClusters(
    function: Function,
    block_threads: u32,
    shared_bytes: u64,
    cluster_blocks: u32,
) Error!u32 {
    var found: u32 = undefined;
    const call = c.km_function_max_active_clusters;
    const got = call(function.handle, block_threads, shared_bytes, cluster_blocks, &found);
    try check(got, function.diagnostics);
    return found;
}
