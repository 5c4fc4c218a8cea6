//! `error_handling`.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.testing.allocator;
const handling = km.error_handling;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "results of CUDA become errors" {
    try handling.mapCudaResult(0);
    try expectError(error.InvalidArgument, handling.mapCudaResult(1));
    try expectError(error.OutOfDeviceMemory, handling.mapCudaResult(2));
    try expectError(error.NotReady, handling.mapCudaResult(600));
    try expectError(error.IllegalAddress, handling.mapCudaResult(700));
    try expectError(error.LaunchTimeout, handling.mapCudaResult(702));
    try expectError(error.Unknown, handling.mapCudaResult(-7));
}

test "every error has a category and a suggestion" {
    inline for (comptime std.enums.values(km.Status)) |status| {
        try expect(handling.getRecoverySuggestion(status).len > 0);
        if (status.toError()) |failure| {
            try expect(handling.getRecoverySuggestion(failure).len > 0);
        }
        _ = handling.categorize(status);
    }
    try expectEqual(handling.ErrorCategory.memory, handling.categorize(.error_out_of_host_memory));
    try expectEqual(handling.ErrorCategory.kernel, handling.categorize(.error_trap));
    try expect(std.mem.indexOf(
        u8,
        handling.getRecoverySuggestion(error.OutOfDeviceMemory),
        "Free slices",
    ) != null);
    try expect(handling.getRecoverySuggestion(error.SomethingElse).len > 0);
}

test "errors are kept with their context, and counted" {
    var context = handling.ErrorContext.initCapacity(allocator, 2);
    defer context.deinit();
    try expectEqual(@as(?handling.GpuError, null), context.getLastError());
    try context.record(error.NotInitialized, "first");
    try expectError(error.NoDevice, km.Device.open("cpu:4000", null));
    try context.record(error.NoDevice, "open");
    try context.record(error.OutOfMemory, "third");
    const history = context.history();
    try expectEqual(2, history.len);
    try std.testing.expectEqualStrings("open", history[0].operation);
    try expectEqual(km.Status.error_no_device, history[0].code);
    try expectEqual(handling.ErrorCategory.device, history[0].category);
    try expectEqual(@as(?i32, 101), history[0].cuda_result);
    try expect(std.mem.indexOf(u8, history[0].message(), "cpu:4000") != null);
    try expect(history[0].suggestion().len > 0);
    try expectEqual(0, history[1].message().len);
    try expect(history[1].timestamp_ns >= history[0].timestamp_ns);
    const statistics = context.getStatistics();
    try expectEqual(3, statistics.total);
    try expectEqual(1, statistics.count(.device));
    try expectEqual(1, statistics.count(.memory));
    try expect(statistics.most_frequent != null);

    var buffer: [4096]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    try context.formatHistory(&writer);
    try expect(std.mem.indexOf(u8, writer.buffered(), "[device] open: NoDevice: ") != null);
    writer = .fixed(&buffer);
    try writer.print("{f}", .{&statistics});
    try expect(std.mem.startsWith(u8, writer.buffered(), "3 errors\n"));
    try expect(std.mem.indexOf(u8, writer.buffered(), "  device: 1\n") != null);
    context.clearHistory();
    try expectEqual(0, context.history().len);
    try expectEqual(3, context.getStatistics().total);
}

test "an allocation that fails loses nothing" {
    var failing: std.testing.FailingAllocator = .init(allocator, .{ .fail_index = 1 });
    var context = handling.ErrorContext.init(failing.allocator());
    defer context.deinit();
    try expectError(error.OutOfMemory, context.record(error.Trap, "run"));
    try expectEqual(0, context.history().len);
    try expectEqual(0, context.getStatistics().total);
}
