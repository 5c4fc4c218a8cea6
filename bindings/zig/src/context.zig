//! Contexts: devices that are open for work.
const std = @import("std");
const c = @import("c");
const device_file = @import("device.zig");
const error_history = @import("error_history.zig");
const errors = @import("errors.zig");
const memory_file = @import("memory.zig");
const memory_profile = @import("memory_profile.zig");
const check_file = @import("check.zig");
const output = @import("output.zig");
const profiler_file = @import("profiler.zig");
const tracking = @import("tracking.zig");
const check = errors.check;
const AllocatingError = errors.AllocatingError;
const Device = device_file.Device;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Slice = memory_file.Slice;
const Status = errors.Status;

/// A limit of a context. CUDA's CUlimit has the same numbers, less one.
pub const ContextLimit = enum(i32) {
    /// Stack of a thread.
    stack_bytes = c.KM_CONTEXT_LIMIT_STACK_BYTES,
    /// Device printf, from one wait to the next.
    printf_bytes = c.KM_CONTEXT_LIMIT_PRINTF_BYTES,
    /// malloc in kernels.
    heap_bytes = c.KM_CONTEXT_LIMIT_HEAP_BYTES,
    sync_depth = c.KM_CONTEXT_LIMIT_SYNC_DEPTH,
    pending_launches = c.KM_CONTEXT_LIMIT_PENDING_LAUNCHES,
    l2_fetch_bytes = c.KM_CONTEXT_LIMIT_L2_FETCH_BYTES,
    persisting_l2_bytes = c.KM_CONTEXT_LIMIT_PERSISTING_L2_BYTES,
    _,
};

/// A device opened for work. Also the home of the sticky error of a kernel that failed.
pub const Context = struct {
    handle: c.km_context,
    diagnostics: ?*Diagnostics = null,

    pub const setTracking = tracking.setTracking;
    pub const allocations = tracking.allocations;
    pub const allocationStack = tracking.allocationStack;
    pub const startMemoryProfile = memory_profile.startMemoryProfile;
    pub const stopMemoryProfile = memory_profile.stopMemoryProfile;
    pub const memoryProfile = memory_profile.memoryProfile;
    pub const memorySamples = memory_profile.memorySamples;
    pub const errorHistory = error_history.errorHistory;
    pub const errorCounts = error_history.errorCounts;
    pub const clearErrorHistory = error_history.clearErrorHistory;
    pub const setCheck = check_file.setCheck;
    pub const setCheckPrinted = check_file.setCheckPrinted;
    pub const setOutput = output.setOutput;
    pub const setOutputSink = output.setOutputSink;
    pub const resetOutput = output.resetOutput;
    pub const profiler = profiler_file.profiler;

    /// Opens the device of that URI, too.
    pub fn open(uri: [:0]const u8, diagnostics: ?*Diagnostics) Error!Context {
        const device = try Device.open(uri, diagnostics);
        defer device.deinit();
        return init(device);
    }

    /// True in builds with safety checks, Debug and ReleaseSafe: contexts test each access of their
    /// kernels there.
    pub const checks_by_default = std.debug.runtime_safety;

    /// Uses of its slices on different streams are ordered: each waits for the earlier ones on
    /// other streams that it conflicts with. docs/guide/ordering.md has the rules. Builds with
    /// safety checks test each access of its kernels, see initChecked. C:
    /// km_context_create_with_flags.
    pub fn init(device: Device) Error!Context {
        return initChecked(device, checks_by_default);
    }

    /// As init, with or without the test of each access of its kernels against the context's
    /// memory, whatever the build: the first wrong one stops the kernel with IllegalAddress. CPU
    /// devices can do that; KM_CPU_MEMORY of the environment has the last word, and isChecked
    /// tells. C: km_context_create_with_flags.
    pub fn initChecked(device: Device, checked: bool) Error!Context {
        return initFlags(device, c.KM_CONTEXT_ORDERED, checked);
    }

    /// Its streams know nothing of each other: work on different streams that uses the same
    /// elements, if only one writes them, is to be ordered by events. Builds with safety checks
    /// test each access of its kernels. C: km_context_create_with_flags.
    pub fn initUnordered(device: Device) Error!Context {
        return initFlags(device, c.KM_CONTEXT_DEFAULT, checks_by_default);
    }

    fn initFlags(device: Device, ordering: c.km_context_flags, checked: bool) Error!Context {
        var handle: c.km_context = undefined;
        const create = c.km_context_create_with_flags;
        const checking: c.km_context_flags = if (checked) c.KM_CONTEXT_CHECKED else 0;
        try check(create(device.handle, ordering | checking, &handle), device.diagnostics);
        return .{ .handle = handle, .diagnostics = device.diagnostics };
    }

    /// Tells whether uses of its slices on different streams are ordered. C: km_context_flags_get.
    pub fn isOrdered(context: Context) Error!bool {
        return context.hasFlag(c.KM_CONTEXT_ORDERED);
    }

    /// Tells whether each access of its kernels is tested. C: km_context_flags_get.
    pub fn isChecked(context: Context) Error!bool {
        return context.hasFlag(c.KM_CONTEXT_CHECKED);
    }

    fn hasFlag(context: Context, flag: c.km_context_flags) Error!bool {
        var flags: c.km_context_flags = undefined;
        try check(c.km_context_flags_get(context.handle, &flags), context.diagnostics);
        return flags & flag != 0;
    }

    /// Drops the handle. Children keep what they need: the order of deinit does not matter. C:
    /// km_context_destroy.
    pub fn deinit(context: Context) void {
        _ = c.km_context_destroy(context.handle);
    }

    /// This context, with another place for failures.
    pub fn reporting(context: Context, diagnostics: ?*Diagnostics) Context {
        return .{ .handle = context.handle, .diagnostics = diagnostics };
    }

    /// Its device, as a new object. C: km_context_device.
    pub fn getDevice(context: Context) Error!Device {
        var handle: c.km_device = undefined;
        try check(c.km_context_device(context.handle, &handle), context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Waits for the work of all streams, and writes what kernels printed. C:
    /// km_context_synchronize.
    pub fn synchronize(context: Context) Error!void {
        try check(c.km_context_synchronize(context.handle), context.diagnostics);
    }

    /// Clears the sticky error. Everything made from the context before is lost and gives
    /// error.ContextLost. Waits until running kernels have stopped. C: km_context_reset.
    pub fn reset(context: Context) Error!void {
        try check(c.km_context_reset(context.handle), context.diagnostics);
    }

    /// The error that sticks, else the last one, else `.success`. C: km_context_error.
    pub fn status(context: Context) Error!Status {
        var found: c.km_status = undefined;
        try check(c.km_context_error(context.handle, &found), context.diagnostics);
        return @enumFromInt(found);
    }

    /// Like `status`, and forgets the error unless it sticks. C: km_context_take_error.
    pub fn takeStatus(context: Context) Error!Status {
        var found: c.km_status = undefined;
        try check(c.km_context_take_error(context.handle, &found), context.diagnostics);
        return @enumFromInt(found);
    }

    /// The text of the error that `status` gives; the caller's to free. C:
    /// km_context_error_message.
    pub fn statusText(context: Context, allocator: std.mem.Allocator) AllocatingError![:0]u8 {
        return errors.copyText(
            allocator,
            context.diagnostics,
            c.km_context_error_message,
            .{context.handle},
        );
    }

    /// The backend's own code of that error, or 0. C: km_context_error_native_code.
    pub fn statusNativeCode(context: Context) Error!i64 {
        var code: i64 = undefined;
        const got = c.km_context_error_native_code(context.handle, &code);
        try check(got, context.diagnostics);
        return code;
    }

    /// The figures of a device's memory.
    pub const Memory = struct { free_bytes: u64, total_bytes: u64 };

    /// The device's memory: what can still be allocated now, and all of it. C:
    /// km_context_memory_info.
    pub fn memory(context: Context) Error!Memory {
        var found: Memory = undefined;
        const got = c.km_context_memory_info(context.handle, &found.free_bytes, &found.total_bytes);
        try check(got, context.diagnostics);
        return found;
    }

    /// A limit; error.NotSupported when the device has no such one. C: km_context_limit_get.
    pub fn limit(context: Context, which: ContextLimit) Error!u64 {
        var value: u64 = undefined;
        const got = c.km_context_limit_get(context.handle, @intFromEnum(which), &value);
        try check(got, context.diagnostics);
        return value;
    }

    /// Sets a limit for work that is queued afterwards; `limit` tells what the device made of it.
    /// It stays when the context is reset. C: km_context_limit_set.
    pub fn setLimit(context: Context, which: ContextLimit, value: u64) Error!void {
        const got = c.km_context_limit_set(context.handle, @intFromEnum(which), value);
        try check(got, context.diagnostics);
    }

    /// A slice over the allocation that holds an address, and how far into it the address lies.
    pub const Found = struct { slice: Slice(u8), offset_bytes: u64 };

    /// The live allocation of this context that holds a device address, as a new slice;
    /// error.NotFound when there is none. C: km_context_find_slice.
    pub fn findSlice(context: Context, address: u64) Error!Found {
        var handle: c.km_slice = undefined;
        var offset: u64 = undefined;
        const got = c.km_context_find_slice(context.handle, address, &handle, &offset);
        try check(got, context.diagnostics);
        errdefer _ = c.km_slice_destroy(handle);
        return .{
            .slice = try memory_file.sliceOfBytes(handle, context.diagnostics),
            .offset_bytes = offset,
        };
    }

    /// Lets kernels of this context use slices of `peer`, in this direction, until it is disabled.
    /// C: km_context_enable_peer_access.
    pub fn enablePeerAccess(context: Context, peer: Context) Error!void {
        const got = c.km_context_enable_peer_access(context.handle, peer.handle);
        try check(got, context.diagnostics);
    }

    /// Ends what `enablePeerAccess` began, for later launches. C: km_context_disable_peer_access.
    pub fn disablePeerAccess(context: Context, peer: Context) Error!void {
        const got = c.km_context_disable_peer_access(context.handle, peer.handle);
        try check(got, context.diagnostics);
    }
};

test Context {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const memory = try context.memory();
    try std.testing.expect(memory.free_bytes <= memory.total_bytes);
    try context.synchronize();
}
