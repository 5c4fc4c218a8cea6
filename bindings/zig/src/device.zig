//! Devices and contexts.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Status = errors.Status;
const TextError = Error || std.mem.Allocator.Error;

/// A device, by its URI: "cpu", "cpu:1", "auto" ...
pub const Device = struct {
    handle: c.km_device,
    diagnostics: ?*Diagnostics = null,

    pub fn open(uri: [:0]const u8, diagnostics: ?*Diagnostics) Error!Device {
        var handle: c.km_device = undefined;
        try check(c.km_device_open(uri.ptr, &handle), diagnostics);
        return .{ .handle = handle, .diagnostics = diagnostics };
    }

    /// How many devices all usable backends have.
    pub fn count(diagnostics: ?*Diagnostics) Error!u32 {
        var found: u32 = undefined;
        try check(c.km_device_count(null, &found), diagnostics);
        return found;
    }

    pub fn deinit(device: Device) void {
        _ = c.km_device_destroy(device.handle);
    }

    pub fn info(device: Device) Error!c.km_device_info {
        var found: c.km_device_info = std.mem.zeroes(c.km_device_info);
        found.struct_size = @sizeOf(c.km_device_info);
        try check(c.km_device_info_get(device.handle, &found), device.diagnostics);
        return found;
    }
};

/// A device opened for work. Also the home of the sticky error of a kernel that failed.
pub const Context = struct {
    handle: c.km_context,
    diagnostics: ?*Diagnostics = null,

    /// Opens the device of that URI, too.
    pub fn open(uri: [:0]const u8, diagnostics: ?*Diagnostics) Error!Context {
        const device = try Device.open(uri, diagnostics);
        defer device.deinit();
        return init(device);
    }

    /// Uses of its slices on different streams are ordered: each waits for the earlier ones on
    /// other streams that it conflicts with. docs/guide/ordering.md has the rules.
    pub fn init(device: Device) Error!Context {
        return initFlags(device, c.KM_CONTEXT_ORDERED);
    }

    /// Its streams know nothing of each other: work on different streams that uses the same
    /// elements, if only one writes them, is to be ordered by events.
    pub fn initUnordered(device: Device) Error!Context {
        return initFlags(device, c.KM_CONTEXT_DEFAULT);
    }

    fn initFlags(device: Device, flags: c.km_context_flags) Error!Context {
        var handle: c.km_context = undefined;
        const create = c.km_context_create_with_flags;
        try check(create(device.handle, flags, &handle), device.diagnostics);
        return .{ .handle = handle, .diagnostics = device.diagnostics };
    }

    /// Whether uses of its slices on different streams are ordered.
    pub fn isOrdered(context: Context) Error!bool {
        var flags: c.km_context_flags = undefined;
        try check(c.km_context_flags_get(context.handle, &flags), context.diagnostics);
        return flags & c.KM_CONTEXT_ORDERED != 0;
    }

    /// Children keep what they need: the order of deinit does not matter.
    pub fn deinit(context: Context) void {
        _ = c.km_context_destroy(context.handle);
    }

    /// The same context, with failures told elsewhere.
    pub fn reporting(context: Context, diagnostics: ?*Diagnostics) Context {
        return .{ .handle = context.handle, .diagnostics = diagnostics };
    }

    pub fn getDevice(context: Context) Error!Device {
        var handle: c.km_device = undefined;
        try check(c.km_context_device(context.handle, &handle), context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Waits for the work of all streams.
    pub fn synchronize(context: Context) Error!void {
        try check(c.km_context_synchronize(context.handle), context.diagnostics);
    }

    /// Clears the sticky error. Everything made from the context before is lost.
    pub fn reset(context: Context) Error!void {
        try check(c.km_context_reset(context.handle), context.diagnostics);
    }

    /// The error that sticks, else the last one, else `.success`.
    pub fn status(context: Context) Error!Status {
        var found: c.km_status = undefined;
        try check(c.km_context_error(context.handle, &found), context.diagnostics);
        return @enumFromInt(found);
    }

    /// The text of that error; the caller's to free.
    pub fn statusText(context: Context, allocator: std.mem.Allocator) TextError![:0]u8 {
        const arguments = .{context.handle};
        return errors.copyText(
            allocator,
            context.diagnostics,
            c.km_context_error_message,
            arguments,
        );
    }

    pub const Memory = struct { free_bytes: u64, total_bytes: u64 };

    pub fn memory(context: Context) Error!Memory {
        var found: Memory = undefined;
        const got = c.km_context_memory_info(context.handle, &found.free_bytes, &found.total_bytes);
        try check(got, context.diagnostics);
        return found;
    }
};
