//! The library itself: versions, statuses, host memory.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;

test "version and build" {
    const version = try km.version();
    try expect(version.major >= 1);
    const info = try km.buildInfo();
    try expectEqual(version.major, info.version_major);
    try expect(km.text(&info.build_id).len > 0);
    try expect(km.text(&info.compiler).len > 0);
}

test "statuses have names, descriptions, suggestions, and CUDA's results" {
    const status: km.Status = .error_out_of_device_memory;
    try std.testing.expectEqualStrings("KM_ERROR_OUT_OF_DEVICE_MEMORY", status.name().?);
    try expect(status.description().?.len > 0);
    try expect(status.suggestion().?.len > 0);
    try expectEqual(km.Category.resource, status.category());
    try expectEqual(@as(?i32, 2), status.toCuda());
    try expectEqual(@as(?km.Status, status), km.Status.fromCuda(2));
    try expectEqual(@as(?km.Status, null), km.Status.fromCuda(-5));
    try std.testing.expectEqualStrings("CUDA_ERROR_OUT_OF_MEMORY", km.cudaResultName(2).?);
    try expectEqual(@as(?[:0]const u8, null), km.cudaResultName(12345));
    try expectEqual(status, km.Status.fromError(error.OutOfDeviceMemory));
    try expectEqual(km.Status.not_ready, km.Status.fromError(error.NotReady));
    const newer: km.Status = @enumFromInt(9999);
    try expectEqual(@as(?[:0]const u8, null), newer.name());
}

test "the last error of a thread is peeked and taken" {
    _ = km.takeLastStatus();
    try expectEqual(km.Status.success, km.lastStatus());
    try support.expectError(error.InvalidArgument, km.Device.open("cpu:x", null));
    try expectEqual(km.Status.error_invalid_argument, km.lastStatus());
    try expectEqual(km.Status.error_invalid_argument, km.takeLastStatus());
    try expectEqual(km.Status.success, km.lastStatus());
}

test "diagnostics print themselves" {
    var diagnostics: km.Diagnostics = .{};
    try support.expectError(error.InvalidArgument, km.Device.open("cpu:x", &diagnostics));
    var buffer: [4096]u8 = undefined;
    const printed = try std.fmt.bufPrint(&buffer, "{f}", .{&diagnostics});
    try expect(std.mem.startsWith(u8, printed, "usage: "));
    try expect(std.mem.indexOf(u8, printed, "cpu:x") != null);
}

const Counting = struct {
    inner: std.mem.Allocator,
    live_bytes: std.atomic.Value(usize) = .init(0),
    calls: std.atomic.Value(usize) = .init(0),

    fn allocate(context: *anyopaque, n: usize, a: std.mem.Alignment, from: usize) ?[*]u8 {
        const self: *Counting = @ptrCast(@alignCast(context));
        _ = self.calls.fetchAdd(1, .acq_rel);
        _ = self.live_bytes.fetchAdd(n, .acq_rel);
        return self.inner.rawAlloc(n, a, from);
    }

    fn free(context: *anyopaque, memory: []u8, a: std.mem.Alignment, from: usize) void {
        const self: *Counting = @ptrCast(@alignCast(context));
        _ = self.live_bytes.fetchSub(memory.len, .acq_rel);
        self.inner.rawFree(memory, a, from);
    }

    const vtable: std.mem.Allocator.VTable = .{
        .alloc = allocate,
        .resize = std.mem.Allocator.noResize,
        .remap = std.mem.Allocator.noRemap,
        .free = free,
    };
};

var counting: Counting = .{ .inner = std.heap.c_allocator };
var counting_allocator: std.mem.Allocator = .{ .ptr = &counting, .vtable = &Counting.vtable };

test "the library takes its host memory from an allocator of the program" {
    try km.setAllocator(&counting_allocator, null);
    defer km.setAllocator(null, null) catch unreachable;
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    try expect(counting.calls.load(.acquire) > 0);
    try expect(counting.live_bytes.load(.acquire) > 0);
    const slice = try km.Slice(u32).initZeroed(f.context, 4);
    slice.deinit();
}
