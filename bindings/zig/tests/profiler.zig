//! Profiles.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.testing.allocator;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

fn find(rows: []const km.ProfileRow, name: []const u8) ?km.ProfileRow {
    for (rows) |*row| if (std.mem.eql(u8, km.text(&row.name), name)) return row.*;
    return null;
}

test "kernels and ranges are counted and timed" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    try fill.setWork(500, 2000);
    const data = try km.Slice(u32).initZeroed(f.context, 4);
    defer data.deinit();
    const profiler = f.context.profiler();
    try profiler.start();
    try profiler.push("outer");
    const range = try profiler.startRange("other");
    for (0..3) |_| {
        try f.stream.launch(fill, .{}, .{ data, @as(u32, 8), @as(u32, 1) });
    }
    try f.stream.synchronize();
    try range.end();
    try expectError(error.NotFound, range.end());
    try profiler.pop();
    try expectError(error.NotFound, profiler.pop());
    try profiler.stop();
    const rows = try profiler.rows(allocator);
    defer allocator.free(rows);
    const kernel = find(rows, "fill_index").?;
    try expectEqual(3, kernel.count);
    try expectEqual(@intFromEnum(km.ProfileKind.kernel), kernel.kind);
    try expectEqual(1500, kernel.operations);
    try expectEqual(6000, kernel.size_bytes);
    try expect(kernel.min_ns <= kernel.max_ns and kernel.max_ns <= kernel.total_ns);
    try expectEqual(1, find(rows, "outer").?.count);
    try expectEqual(1, find(rows, "other").?.count);
    const summary = try profiler.summary(allocator);
    defer allocator.free(summary);
    try expect(std.mem.indexOf(u8, summary, "fill_index") != null);

    const uncounted = try profiler.counters(allocator, 0);
    defer allocator.free(uncounted);
    try expectEqual(0, uncounted.len);
    try expectError(error.InvalidArgument, profiler.counters(allocator, 1000));
    try profiler.start();
    try profiler.setCounters(true);
    try f.stream.launch(fill, .{ .block = .{ 4, 1, 1 } }, .{ data, @as(u32, 8), @as(u32, 4) });
    try profiler.setCounters(false);
    try f.stream.synchronize();
    try profiler.stop();
    const counters = try profiler.counters(allocator, 0);
    defer allocator.free(counters);
    for (counters) |*each| {
        if (each.is_total == 0 or each.kind != @intFromEnum(km.CounterKind.global_store)) continue;
        try expectEqual(1, each.requests);
        try expectEqual(4, each.threads);
        break;
    } else return error.NoCounter;

    var folder: support.Folder = undefined;
    try folder.init();
    defer folder.deinit();
    try profiler.write(try folder.path("trace.json"));
    const trace = try folder.read(allocator, "trace.json");
    defer allocator.free(trace);
    try expect(std.mem.indexOf(u8, trace, "fill_index") != null);
    try expectError(error.InputOutput, profiler.write("no/such/folder/trace.json"));
    try profiler.clear();
    const none = try profiler.rows(allocator);
    defer allocator.free(none);
    try expectEqual(0, none.len);
}
