//! Work on different streams that uses the same memory: ordered, without an event.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const allocator = std.testing.allocator;

const tries = 199;
const count = 1 << 20;

fn expectAll(words: []const u32, value: u32) !void {
    for (words) |word| try expectEqual(value, word);
}

test "contexts are ordered unless the caller takes that over" {
    const device = try km.Device.open("cpu", null);
    defer device.deinit();
    const ordered = try km.Context.init(device);
    defer ordered.deinit();
    try expect(try ordered.isOrdered());
    const unordered = try km.Context.initUnordered(device);
    defer unordered.deinit();
    try expect(!try unordered.isOrdered());
}

test "a fill is seen on another stream" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const other = try km.Stream.init(f.context);
    defer other.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, count);
    defer data.deinit();
    const seen = try allocator.alloc(u32, count);
    defer allocator.free(seen);
    for (1..tries + 1) |value| {
        try data.fill(f.stream, @intCast(value));
        try data.download(other, seen);
        try expectAll(seen, @intCast(value));
    }
}

test "a write waits for reads" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const other = try km.Stream.init(f.context);
    defer other.deinit();
    const source = try km.Slice(u32).initZeroed(f.context, count);
    defer source.deinit();
    const copied = try km.Slice(u32).initZeroed(f.context, count);
    defer copied.deinit();
    const seen = try allocator.alloc(u32, count);
    defer allocator.free(seen);
    for (1..tries + 1) |value| {
        try source.fill(f.stream, @intCast(value));
        try copied.copyFrom(f.stream, 0, source);
        try source.fill(other, 0);
        try copied.download(other, seen);
        try expectAll(seen, @intCast(value));
    }
}

test "kernels wait for their arguments" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const other = try km.Stream.init(f.context);
    defer other.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, count);
    defer data.deinit();
    const seen = try allocator.alloc(u32, count);
    defer allocator.free(seen);
    const config: km.LaunchConfig = .{ .grid = .{ count / 256, 1, 1 }, .block = .{ 256, 1, 1 } };
    for (1..tries + 1) |try_number| {
        const base: u32 = @intCast(try_number);
        try data.fill(f.stream, 0);
        try other.launch(fill, config, .{ data, base, @as(u32, count) });
        try data.download(f.stream, seen);
        for (seen, 0..) |word, i| try expectEqual(base + @as(u32, @intCast(i)), word);
    }
    // A slice that is said to be read is given like any other.
    try other.launch(fill, .{}, .{ km.readOnly(data), @as(u32, 77), @as(u32, 1) });
    try other.synchronize();
    try data.download(f.stream, seen[0..1]);
    try expectEqual(@as(u32, 77), seen[0]);
}
