//! Times, throughput and occupancy of the device that `cuda_native` has open, by the names of a Zig
//! GPU driver. Times are those between events of the device; without a device that is open they are
//! the host's.
const std = @import("std");
const km = @import("kernelmill");
const cuda_native = @import("cuda_native");
const Allocator = std.mem.Allocator;

/// The failures of this part; `NoTiming` when nothing was started that could end.
pub const Error = cuda_native.Error || error{NoTiming};

/// The time of one run.
pub const TimingInfo = struct {
    /// Owned by the profiler.
    name: []const u8,
    elapsed_ns: u64,

    /// The time in milliseconds.
    pub fn elapsedMs(timing: TimingInfo) f64 {
        return @as(f64, @floatFromInt(timing.elapsed_ns)) / std.time.ns_per_ms;
    }
};

/// Bytes in a time.
pub const MemoryThroughput = struct {
    bytes: u64 = 0,
    elapsed_ns: u64 = 0,

    /// Millions of bytes in a second; 0 when no time has passed.
    pub fn megabytesPerSecond(throughput: MemoryThroughput) f64 {
        return throughput.gigabytesPerSecond() * 1000;
    }

    /// Thousands of millions of bytes in a second: bytes a nanosecond.
    pub fn gigabytesPerSecond(throughput: MemoryThroughput) f64 {
        if (throughput.elapsed_ns == 0) return 0;
        const bytes: f64 = @floatFromInt(throughput.bytes);
        return bytes / @as(f64, @floatFromInt(throughput.elapsed_ns));
    }
};

/// The blocks of a kernel that a multiprocessor holds.
pub const OccupancyInfo = struct {
    active_blocks: u32,
    active_warps: u32,
    max_warps: u32,
    /// Active warps by the most that there can be, 0 to 1.
    occupancy: f64,
    /// The resource that allows no more blocks.
    limiting_factor: km.OccupancyLimit,
    registers_per_block: u32,
    shared_bytes_per_block: u64,
    /// The block size that keeps the most threads busy, and the grid that fills the device with
    /// such blocks.
    optimal_block_size: u32,
    optimal_grid_size: u32,

    /// Active warps in percent.
    pub fn percent(info: OccupancyInfo) f64 {
        return info.occupancy * 100;
    }
};

/// The occupancy of a kernel by blocks of `block_threads` threads with `shared_bytes` of dynamic
/// shared memory each: by its registers, its shared memory and the limits of the device. Blocks
/// that do not fit have an occupancy of 0; none at all is error.InvalidArgument.
pub fn calculateOccupancy(
    kernel: cuda_native.Kernel,
    block_threads: u32,
    shared_bytes: u64,
) Error!OccupancyInfo {
    const found = try kernel.function.occupancy(block_threads, shared_bytes);
    const best = try kernel.function.bestBlock(shared_bytes, 0);
    const active: f64 = @floatFromInt(found.active_warps);
    const most: f64 = @floatFromInt(@max(found.max_warps, 1));
    return .{
        .active_blocks = found.active_blocks,
        .active_warps = found.active_warps,
        .max_warps = found.max_warps,
        .occupancy = active / most,
        .limiting_factor = @enumFromInt(found.limit),
        .registers_per_block = found.registers_per_block,
        .shared_bytes_per_block = found.shared_bytes_per_block,
        .optimal_block_size = best.block_threads,
        .optimal_grid_size = best.grid_blocks,
    };
}

/// All runs of one name.
pub const KernelStatistics = struct {
    count: u64 = 0,
    total_ns: u64 = 0,
    min_ns: u64 = std.math.maxInt(u64),
    max_ns: u64 = 0,
    /// Bytes, for transfers.
    bytes: u64 = 0,

    /// The mean in nanoseconds; 0 when there is no run.
    pub fn averageNs(statistics: KernelStatistics) u64 {
        return if (statistics.count == 0) 0 else statistics.total_ns / statistics.count;
    }

    fn add(statistics: *KernelStatistics, elapsed_ns: u64, bytes: u64) void {
        statistics.count += 1;
        statistics.total_ns +|= elapsed_ns;
        statistics.min_ns = @min(statistics.min_ns, elapsed_ns);
        statistics.max_ns = @max(statistics.max_ns, elapsed_ns);
        statistics.bytes +|= bytes;
    }
};

/// Totals over all names.
pub const Summary = struct {
    kernel_count: u64 = 0,
    total_kernel_ns: u64 = 0,
    average_kernel_ns: u64 = 0,
    min_kernel_ns: u64 = 0,
    max_kernel_ns: u64 = 0,
    transfer_count: u64 = 0,
    throughput: MemoryThroughput = .{},
};

/// Times operations by name. For one thread at a time; off until `enable`, and then free of cost.
pub const Profiler = struct {
    is_enabled: bool = false,
    kernels: Names = .empty,
    transfers: Names = .empty,
    open: std.ArrayList(Timing) = .empty,

    const Names = std.StringArrayHashMapUnmanaged(KernelStatistics);

    const Timing = struct {
        name: []u8,
        /// Null for a kernel.
        bytes: ?u64,
        clock: Clock,

        fn deinit(timing: Timing, allocator: Allocator) void {
            timing.clock.deinit();
            allocator.free(timing.name);
        }
    };

    /// Where a timing has its times from.
    const Clock = union(enum) {
        device: Events,
        /// Nanoseconds of the host's clock at the start.
        host: u64,

        const Events = struct { start: km.Event, end: km.Event, stream: km.Stream };

        /// Without a device that is open there is no stream but the default one, whose work is the
        /// host's.
        fn begin(stream: u64) Error!Clock {
            const context = cuda_native.getContext() catch |failure| {
                if (stream != 0 or failure != error.NotInitialized) return failure;
                return .{ .host = hostNs() };
            };
            const on = try streamOf(stream);
            const first = try km.Event.init(context);
            errdefer first.deinit();
            const last = try km.Event.init(context);
            errdefer last.deinit();
            try first.record(on);
            return .{ .device = .{ .start = first, .end = last, .stream = on } };
        }

        fn elapsedNs(clock: Clock) Error!u64 {
            switch (clock) {
                .host => |begun| return hostNs() -| begun,
                .device => |events| {
                    try events.end.record(events.stream);
                    try events.end.synchronize();
                    return @intCast(@max(try events.end.elapsedSince(events.start), 0));
                },
            }
        }

        fn deinit(clock: Clock) void {
            switch (clock) {
                .host => {},
                .device => |events| {
                    events.start.deinit();
                    events.end.deinit();
                },
            }
        }
    };

    /// A profiler that is off and has recorded nothing.
    pub fn init(allocator: Allocator) Profiler {
        _ = allocator; // the calls that allocate take it
        return .{};
    }

    /// Frees all; `allocator` is the one that the other calls were given.
    pub fn deinit(profiler: *Profiler, allocator: Allocator) void {
        profiler.reset(allocator);
        profiler.kernels.deinit(allocator);
        profiler.transfers.deinit(allocator);
        profiler.open.deinit(allocator);
    }

    /// Records from now on.
    pub fn enable(profiler: *Profiler) void {
        profiler.is_enabled = true;
    }

    /// Starts nothing more; timings that are open can end.
    pub fn disable(profiler: *Profiler) void {
        profiler.is_enabled = false;
    }

    /// Forgets everything, timings that are open included.
    pub fn reset(profiler: *Profiler, allocator: Allocator) void {
        for (profiler.open.items) |timing| timing.deinit(allocator);
        profiler.open.clearRetainingCapacity();
        for ([_]*Names{ &profiler.kernels, &profiler.transfers }) |names| {
            for (names.keys()) |key| allocator.free(key);
            names.clearRetainingCapacity();
        }
    }

    /// Begins to time the work that is queued in a stream from now on, up to `endTiming`; timings
    /// nest. `stream` is 0 for the default stream, else `streamId` of one. Before `cuda_native.init`
    /// the host's time is taken, for 0 alone. Does nothing while the profiler is off.
    pub fn startTiming(
        profiler: *Profiler,
        name: []const u8,
        allocator: Allocator,
        stream: u64,
    ) Error!void {
        return profiler.start(name, allocator, stream, null);
    }

    /// Like `startTiming` for a transfer of `bytes` bytes.
    pub fn startTransfer(
        profiler: *Profiler,
        name: []const u8,
        allocator: Allocator,
        stream: u64,
        bytes: u64,
    ) Error!void {
        return profiler.start(name, allocator, stream, bytes);
    }

    fn start(
        profiler: *Profiler,
        name: []const u8,
        allocator: Allocator,
        stream: u64,
        bytes: ?u64,
    ) Error!void {
        if (!profiler.is_enabled) return;
        try profiler.open.ensureUnusedCapacity(allocator, 1);
        const copy = try allocator.dupe(u8, name);
        errdefer allocator.free(copy);
        const clock = try Clock.begin(stream);
        profiler.open.appendAssumeCapacity(.{ .name = copy, .bytes = bytes, .clock = clock });
    }

    /// Ends the timing that began last, of either kind, and waits for the work that it timed.
    /// error.NoTiming when none is open and the profiler is on; off, it does nothing then. The
    /// error of a kernel that failed comes from here, and nothing is recorded.
    pub fn endTiming(profiler: *Profiler, allocator: Allocator) Error!void {
        const timing = profiler.open.pop() orelse
            return if (profiler.is_enabled) error.NoTiming else {};
        defer timing.deinit(allocator);
        const elapsed_ns = try timing.clock.elapsedNs();
        const names = if (timing.bytes == null) &profiler.kernels else &profiler.transfers;
        return record(names, allocator, timing.name, elapsed_ns, timing.bytes orelse 0);
    }

    /// Records a time that was measured elsewhere.
    pub fn recordKernel(
        profiler: *Profiler,
        allocator: Allocator,
        timing: TimingInfo,
    ) Error!void {
        if (!profiler.is_enabled) return;
        return record(&profiler.kernels, allocator, timing.name, timing.elapsed_ns, 0);
    }

    /// Records a transfer that was measured elsewhere.
    pub fn recordTransfer(
        profiler: *Profiler,
        allocator: Allocator,
        name: []const u8,
        transfer: MemoryThroughput,
    ) Error!void {
        if (!profiler.is_enabled) return;
        const bytes = transfer.bytes;
        return record(&profiler.transfers, allocator, name, transfer.elapsed_ns, bytes);
    }

    fn record(
        names: *Names,
        allocator: Allocator,
        name: []const u8,
        elapsed_ns: u64,
        bytes: u64,
    ) Error!void {
        if (names.getPtr(name)) |known| return known.add(elapsed_ns, bytes);
        const key = try allocator.dupe(u8, name);
        errdefer allocator.free(key);
        var made: KernelStatistics = .{};
        made.add(elapsed_ns, bytes);
        try names.put(allocator, key, made);
    }

    /// The runs of a kernel; null when there was none.
    pub fn getKernel(profiler: *const Profiler, name: []const u8) ?KernelStatistics {
        return profiler.kernels.get(name);
    }

    /// Totals over everything that was recorded.
    pub fn getSummary(profiler: *const Profiler) Summary {
        var summary: Summary = .{};
        var min_ns: u64 = std.math.maxInt(u64);
        for (profiler.kernels.values()) |each| {
            summary.kernel_count += each.count;
            summary.total_kernel_ns +|= each.total_ns;
            summary.max_kernel_ns = @max(summary.max_kernel_ns, each.max_ns);
            min_ns = @min(min_ns, each.min_ns);
        }
        if (summary.kernel_count > 0) {
            summary.min_kernel_ns = min_ns;
            summary.average_kernel_ns = summary.total_kernel_ns / summary.kernel_count;
        }
        for (profiler.transfers.values()) |each| {
            summary.transfer_count += each.count;
            summary.throughput.bytes +|= each.bytes;
            summary.throughput.elapsed_ns +|= each.total_ns;
        }
        return summary;
    }
};

/// The number of a stream for `Profiler.startTiming`.
pub fn streamId(stream: km.Stream) u64 {
    return @intFromPtr(stream.handle);
}

/// Nanoseconds of a clock that never goes back.
fn hostNs() u64 {
    var now: std.os.linux.timespec = undefined;
    if (std.os.linux.clock_gettime(.MONOTONIC, &now) != 0) return 0;
    const seconds: u64 = @intCast(now.sec);
    return seconds * std.time.ns_per_s + @as(u64, @intCast(now.nsec));
}

fn streamOf(id: u64) Error!km.Stream {
    if (id == 0) return cuda_native.getDefaultStream();
    return .{ .handle = @ptrFromInt(id) };
}

/// Prints a table of kernels and transfers with their times, and flushes the writer.
pub fn formatSummary(
    profiler: *const Profiler,
    writer: *std.Io.Writer,
) std.Io.Writer.Error!void {
    const summary = profiler.getSummary();
    try writer.print("Kernels: {d} runs, {d:.3} ms in all\n", .{
        summary.kernel_count, milliseconds(summary.total_kernel_ns),
    });
    for (profiler.kernels.keys(), profiler.kernels.values()) |name, each| {
        try writer.print("  {s}: {d} runs, average {d:.3} ms, min {d:.3} ms, max {d:.3} ms\n", .{
            name,
            each.count,
            milliseconds(each.averageNs()),
            milliseconds(each.min_ns),
            milliseconds(each.max_ns),
        });
    }
    try writer.print("Transfers: {d}, {d} bytes, {d:.2} MB/s\n", .{
        summary.transfer_count,
        summary.throughput.bytes,
        summary.throughput.megabytesPerSecond(),
    });
    for (profiler.transfers.keys(), profiler.transfers.values()) |name, each| {
        const rate: MemoryThroughput = .{ .bytes = each.bytes, .elapsed_ns = each.total_ns };
        try writer.print("  {s}: {d} transfers, {d} bytes, {d:.2} GB/s\n", .{
            name, each.count, each.bytes, rate.gigabytesPerSecond(),
        });
    }
    try writer.flush();
}

fn milliseconds(elapsed_ns: u64) f64 {
    return @as(f64, @floatFromInt(elapsed_ns)) / std.time.ns_per_ms;
}
