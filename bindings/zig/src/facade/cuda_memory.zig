//! Memory of the device that `cuda_native` has open, by the names of a Zig GPU driver.
const std = @import("std");
const km = @import("kernelmill");
const cuda_native = @import("cuda_native");
const CudaStream = @import("cuda_stream").CudaStream;

/// The failures of this part.
pub const Error = cuda_native.Error;

/// An allocation of the device. `ptr` is an argument of kernels.
pub const DeviceMemory = struct {
    ptr: cuda_native.DevicePtr,
    size: usize,

    /// Memory for `size` bytes.
    pub fn init(size: usize) Error!DeviceMemory {
        return .{ .ptr = try cuda_native.allocateDeviceMemory(size), .size = size };
    }

    /// Frees it when the work that uses it is done.
    pub fn deinit(memory: DeviceMemory) void {
        cuda_native.freeDeviceMemory(memory.ptr);
    }

    /// The device address of the first byte.
    pub fn address(memory: DeviceMemory) Error!u64 {
        return memory.ptr.address();
    }
};

/// Page-locked memory of the host, from and to which copies are asynchronous.
pub const PinnedMemory = struct {
    memory: km.HostMemory(u8),
    bytes: []u8,

    /// Memory for `size` bytes.
    pub fn init(size: usize) Error!PinnedMemory {
        const memory = try km.HostMemory(u8).init(try cuda_native.getContext(), size);
        return .{ .memory = memory, .bytes = memory.items };
    }

    /// Frees it when the copies that use it are done.
    pub fn deinit(pinned: PinnedMemory) void {
        pinned.memory.deinit();
    }

    /// The bytes as elements; error.InvalidArgument when they are no whole number of those.
    pub fn as(pinned: PinnedMemory, comptime T: type) Error![]T {
        if (pinned.bytes.len % @sizeOf(T) != 0) return error.InvalidArgument;
        const first: [*]T = @ptrCast(@alignCast(pinned.bytes.ptr));
        return first[0 .. pinned.bytes.len / @sizeOf(T)];
    }
};

/// The figures of a pool.
pub const MemoryStats = struct {
    /// Bytes of blocks in use, now and at most.
    used_bytes: u64,
    peak_bytes: u64,
    /// Bytes that the pool has taken from the device.
    reserved_bytes: u64,
    /// 0: no limit.
    max_size: u64,
    /// Blocks in use.
    allocation_count: u64,
    /// Allocations since the pool was made, and those of them that took a block that was there.
    total_allocations: u64,
    reuse_count: u64,
    /// Used bytes by the limit, or by the reserved ones when there is no limit; 0 to 1.
    usage_ratio: f64,
};

/// Blocks of device memory that are freed are kept and given out again.
pub const MemoryPool = struct {
    pool: km.Pool,

    /// A pool that takes at most `max_size` bytes from the device; 0: as much as there is.
    pub fn init(max_size: u64) Error!MemoryPool {
        return .{ .pool = try km.Pool.init(try cuda_native.getContext(), max_size) };
    }

    /// Drops the pool; memory in use stays until it is freed.
    pub fn deinit(pool: MemoryPool) void {
        pool.pool.deinit();
    }

    /// Memory for `size` bytes; error.OutOfDeviceMemory when limit or device do not allow it.
    pub fn allocate(pool: MemoryPool, size: usize) Error!DeviceMemory {
        if (size == 0) return error.InvalidArgument;
        return .{ .ptr = try pool.pool.allocate(u8, size), .size = size };
    }

    /// Gives memory back; error.InvalidHandle for memory that was freed already.
    pub fn free(pool: MemoryPool, memory: DeviceMemory) Error!void {
        _ = pool;
        _ = try memory.ptr.info();
        memory.ptr.deinit();
    }

    /// Gives blocks that are free back to the device.
    pub fn trim(pool: MemoryPool) Error!void {
        return pool.pool.trim(0);
    }

    /// The figures now.
    pub fn getStats(pool: MemoryPool) Error!MemoryStats {
        const info = try pool.pool.info();
        const whole = if (info.limit_bytes != 0) info.limit_bytes else info.reserved_bytes;
        const used: f64 = @floatFromInt(info.used_bytes);
        return .{
            .used_bytes = info.used_bytes,
            .peak_bytes = info.used_high_bytes,
            .reserved_bytes = info.reserved_bytes,
            .max_size = info.limit_bytes,
            .allocation_count = info.used_block_count,
            .total_allocations = info.allocation_count,
            .reuse_count = info.reuse_count,
            .usage_ratio = if (whole == 0) 0 else used / @as(f64, @floatFromInt(whole)),
        };
    }
};

fn streamOf(stream: ?CudaStream) Error!km.Stream {
    return if (stream) |given| given.stream else cuda_native.getDefaultStream();
}

/// Copies bytes to the device in the order of a stream (null: the default one). Page-locked memory
/// has to stay as it is until the stream gets there; any other has been read when the call returns.
pub fn memcpyHostToDevice(
    destination: DeviceMemory,
    source: []const u8,
    stream: ?CudaStream,
) Error!void {
    return destination.ptr.upload(try streamOf(stream), source);
}

/// Copies bytes to the host in the order of a stream (null: the default one). Page-locked memory is
/// written when the stream gets there; any other has been written when the call returns.
pub fn memcpyDeviceToHost(
    destination: []u8,
    source: DeviceMemory,
    stream: ?CudaStream,
) Error!void {
    return source.ptr.download(try streamOf(stream), destination);
}

/// Copies `size` bytes in the order of a stream. The direction follows from the types of
/// `destination` and `source`, of which at least one is `DeviceMemory`; the host's is `[]u8`,
/// `[]const u8` or `PinnedMemory`. Asynchronous between devices and page-locked memory.
pub fn memcpyAsync(
    destination: anytype,
    source: anytype,
    size: usize,
    stream: ?CudaStream,
) Error!void {
    const to_device = @TypeOf(destination) == DeviceMemory;
    const from_device = @TypeOf(source) == DeviceMemory;
    if (to_device and from_device) {
        const given = try streamOf(stream);
        return cuda_native.memcpyDeviceToDevice(destination.ptr, source.ptr, size, given);
    }
    if (to_device) {
        return memcpyHostToDevice(destination, try prefix(hostOf(source), size), stream);
    }
    if (from_device) {
        return memcpyDeviceToHost(try prefix(hostOf(destination), size), source, stream);
    }
    @compileError("memcpyAsync copies from or to DeviceMemory");
}

fn HostOf(comptime T: type) type {
    return switch (T) {
        PinnedMemory, []u8 => []u8,
        []const u8 => []const u8,
        else => @compileError("the host's memory is []u8, []const u8 or PinnedMemory, not " ++
            @typeName(T)),
    };
}

fn hostOf(memory: anytype) HostOf(@TypeOf(memory)) {
    return if (@TypeOf(memory) == PinnedMemory) memory.bytes else memory;
}

fn prefix(bytes: anytype, size: usize) Error!@TypeOf(bytes) {
    if (size > bytes.len) return error.OutOfBounds;
    return bytes[0..size];
}
