//! Launches.
const std = @import("std");
const c = @import("c");
const device_type = @import("device_type.zig");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Context = @import("context.zig").Context;
const DeviceAddress = @import("address.zig").DeviceAddress;
const Function = @import("function.zig").Function;
const memory = @import("memory.zig");
const Module = @import("module.zig").Module;
const Stream = @import("stream.zig").Stream;

/// The shape of a launch.
pub const Config = struct {
    /// Blocks along x, y, z.
    grid: [3]u32 = .{ 1, 1, 1 },
    /// Threads of a block along x, y, z.
    block: [3]u32 = .{ 1, 1, 1 },
    /// Dynamic shared memory of a block.
    shared_bytes: u64 = 0,

    /// A thread for each of `count` elements, in blocks of 256.
    pub fn forElements(count: u32) Config {
        const blocks = @max(1, count / 256 + @intFromBool(count % 256 != 0));
        return .{ .grid = .{ blocks, 1, 1 }, .block = .{ 256, 1, 1 } };
    }

    /// The structure of the library.
    pub inline fn raw(config: Config) c.km_launch_config {
        return .{
            .grid = config.grid,
            .block = config.block,
            .shared_bytes = config.shared_bytes,
        };
    }
};

/// A slice as an argument that the kernel only reads, so that the launch need not wait for others
/// that read it on other streams. A kernel that writes it all the same races with them.
pub const ReadOnly = struct { handle: c.km_slice };

/// Says that the kernel only reads a slice that it is given.
pub fn readOnly(slice: anytype) ReadOnly {
    comptime if (!isSlice(@TypeOf(slice))) @compileError("readOnly is for slices and views");
    return .{ .handle = slice.handle };
}

/// A part of a slice as an argument: the kernel gets the address of its first byte, and uses no
/// more than the part.
pub const Part = struct {
    handle: c.km_slice,
    offset_bytes: u64,
    size_bytes: u64,
    access: c.km_access,
};

/// `count` elements of a slice from `first` on (0: all from there on), which the kernel reads, and
/// writes unless `access` is `.read`. A view without a handle.
pub fn part(slice: anytype, first: u64, count: u64, access: enum { read, read_write }) Part {
    comptime if (!isSlice(@TypeOf(slice))) @compileError("part is for slices and views");
    const size = @sizeOf(@TypeOf(slice).Element);
    return .{
        .handle = slice.handle,
        .offset_bytes = first *| size,
        .size_bytes = count *| size,
        .access = if (access == .read) c.KM_ACCESS_READ else c.KM_ACCESS_READ_WRITE,
    };
}

/// A launch that is put together step by step. Arguments are slices, views, `readOnly` or `part` of
/// those, `DeviceAddress`es, and numbers or structures of exactly the parameter's size; each is
/// checked as it is given. A slice or view counts as written unless it is `readOnly`. After
/// `submit` it may be submitted again: as it is, or with all its arguments given again.
pub const Launch = struct {
    handle: c.km_launch,
    diagnostics: ?*Diagnostics = null,

    /// A launch of a kernel in a stream, which both stay with it. C: km_launch_create.
    pub fn init(stream: Stream, function: Function) Error!Launch {
        var handle: c.km_launch = undefined;
        const got = c.km_launch_create(stream.handle, function.handle, &handle);
        try check(got, stream.diagnostics);
        return .{ .handle = handle, .diagnostics = stream.diagnostics };
    }

    /// Drops the handle; submitted launches go on. C: km_launch_destroy.
    pub fn deinit(launch: Launch) void {
        _ = c.km_launch_destroy(launch.handle);
    }

    /// Sets grid, block and dynamic shared memory, which `submit` checks. C: km_launch_set_grid,
    /// km_launch_set_block, km_launch_set_shared_bytes.
    pub fn configure(launch: Launch, config: Config) Error!void {
        const grid = config.grid;
        const block = config.block;
        const told = launch.diagnostics;
        try check(c.km_launch_set_grid(launch.handle, grid[0], grid[1], grid[2]), told);
        try check(c.km_launch_set_block(launch.handle, block[0], block[1], block[2]), told);
        try check(c.km_launch_set_shared_bytes(launch.handle, config.shared_bytes), told);
    }

    /// Blocks of a cluster, which use each other's shared memory; 0, 0, 0: what the kernel was
    /// compiled for, else none. C: km_launch_set_cluster.
    pub fn setCluster(launch: Launch, blocks: [3]u32) Error!void {
        const set = c.km_launch_set_cluster;
        try check(set(launch.handle, blocks[0], blocks[1], blocks[2]), launch.diagnostics);
    }

    /// Lets all blocks of the grid wait for each other (grid.sync()); when they do not fit the
    /// device at once, `submit` fails. C: km_launch_set_cooperative.
    pub fn setCooperative(launch: Launch, is_cooperative: bool) Error!void {
        const got = c.km_launch_set_cooperative(launch.handle, @intFromBool(is_cooperative));
        try check(got, launch.diagnostics);
    }

    /// The next arguments: a tuple.
    pub fn setArguments(launch: Launch, arguments: anytype) Error!void {
        inline for (arguments) |argument| try launch.addArgument(argument);
    }

    /// The next argument.
    pub fn addArgument(launch: Launch, argument: anytype) Error!void {
        const T = @TypeOf(argument);
        if (comptime isSlice(T)) {
            const got = c.km_launch_arg_slice(launch.handle, argument.handle, 0);
            return check(got, launch.diagnostics);
        }
        if (T == ReadOnly) {
            const give = c.km_launch_arg_slice_access;
            const got = give(launch.handle, argument.handle, 0, 0, c.KM_ACCESS_READ);
            return check(got, launch.diagnostics);
        }
        if (T == Part) {
            const give = c.km_launch_arg_slice_access;
            const at = argument.offset_bytes;
            const size = argument.size_bytes;
            const got = give(launch.handle, argument.handle, at, size, argument.access);
            return check(got, launch.diagnostics);
        }
        if (T == DeviceAddress) {
            const got = c.km_launch_arg_address(launch.handle, argument.value);
            return check(got, launch.diagnostics);
        }
        comptime requireArgument(T);
        if (comptime device_type.numberOf(T)) |element| {
            const number = @intFromEnum(element);
            const got = c.km_launch_arg_value(launch.handle, &argument, number, 1);
            return check(got, launch.diagnostics);
        }
        const got = c.km_launch_arg_scalar(launch.handle, &argument, @sizeOf(T));
        return check(got, launch.diagnostics);
    }

    /// Queues the kernel; the first launch of a kernel may compile it. C: km_launch_submit.
    pub inline fn submit(launch: Launch) Error!void {
        return check(c.km_launch_submit(launch.handle), launch.diagnostics);
    }
};

/// Tells whether a type is a `Slice` of some element.
pub fn isSlice(comptime T: type) bool {
    return switch (@typeInfo(T)) {
        .@"struct" => @hasDecl(T, "Element") and T == memory.Slice(T.Element),
        else => false,
    };
}

/// Fails the compilation for what is no argument of kernels.
pub fn requireArgument(comptime T: type) void {
    switch (@typeInfo(T)) {
        .pointer, .optional => @compileError(
            "pointers are no arguments of kernels: give a Slice or a DeviceAddress",
        ),
        .comptime_int, .comptime_float => @compileError(
            "a " ++ @typeName(T) ++ " has no size, and the kernel's parameter has one: " ++
                "give the number a type, as in @as(u32, 1)",
        ),
        else => memory.requirePlain(T),
    }
}

test Launch {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const source = "extern \"C\" __global__ void add(int* data, int n) { atomicAdd(data, n); }";
    const module = try Module.loadSource(context, source, "add.cu");
    defer module.deinit();
    const add = try module.function("add");
    defer add.deinit();
    const sum = try memory.Slice(i32).initZeroed(context, 1);
    defer sum.deinit();
    const launch = try Launch.init(stream, add);
    defer launch.deinit();
    try launch.configure(.forElements(1000));
    try launch.setArguments(.{ sum, @as(i32, 2) });
    for (0..3) |_| try launch.submit();
    try stream.synchronize();
    try std.testing.expectEqual(3 * 4 * 256 * 2, (try sum.hostElements())[0]);
}
