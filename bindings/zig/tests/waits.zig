//! Waits by std.Io, and numbers that streams wait for.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.heap.smp_allocator;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

const Gate = struct {
    open: std.atomic.Value(bool) = .init(false),

    fn pass(gate: *Gate, status: km.Status) void {
        _ = status;
        while (!gate.open.load(.acquire)) std.atomic.spinLoopHint();
    }
};

test "tasks wait for streams and events" {
    const io = std.testing.io;
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var gate: Gate = .{};
    const event = try km.Event.init(f.context);
    defer event.deinit();
    try f.stream.addCallback(Gate, &gate, Gate.pass);
    try event.record(f.stream);
    const context = try event.getContext();
    defer context.deinit();
    const quiet = f.stream.reporting(null);
    var of_stream = try io.concurrent(km.Stream.awaitDone, .{ quiet, io, allocator });
    var of_event = try io.concurrent(km.Event.awaitDone, .{ event.reporting(null), io, allocator });
    try expect(!try f.stream.query());
    gate.open.store(true, .release);
    try of_stream.await(io);
    try of_event.await(io);
    try expect(try f.stream.query());
    try f.stream.awaitDone(io, allocator);
}

test "a cancelled wait ends before the work does" {
    const io = std.testing.io;
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var gate: Gate = .{};
    try f.stream.addCallback(Gate, &gate, Gate.pass);
    const quiet = f.stream.reporting(null);
    var wait = try io.concurrent(km.Stream.awaitDone, .{ quiet, io, allocator });
    try expectError(error.Canceled, wait.cancel(io));
    try expect(!try f.stream.query());
    gate.open.store(true, .release);
    try f.stream.synchronize();
}

test "waits tell the error of a kernel" {
    const io = std.testing.io;
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const trap = try f.module.function("trap");
    defer trap.deinit();
    try f.stream.launch(trap, .{}, .{});
    try expectError(error.Trap, f.stream.awaitDone(io, allocator));
    try f.expectMessage("trap");
}

test "waits of captured streams are refused" {
    const io = std.testing.io;
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    try f.stream.beginCapture();
    try expectError(error.CaptureUnsupported, f.stream.awaitDone(io, allocator));
    try expectError(error.CaptureInvalidated, f.stream.endCapture());
}

test "many waits on one stream" {
    const io = std.testing.io;
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const noop = try f.module.function("noop");
    defer noop.deinit();
    for (0..1000) |_| {
        try f.stream.launch(noop, .{}, .{});
        try f.stream.awaitDone(io, allocator);
    }
}

test "streams wait for numbers" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const other = try km.Stream.init(f.context);
    defer other.deinit();
    const flags = try km.Slice(u32).initZeroed(f.context, 2);
    defer flags.deinit();
    try other.waitValue(u32, flags, 1, .greater_equal, 3);
    try expect(!try other.query());
    try f.stream.writeValue(u32, flags, 1, 3);
    try other.synchronize();
    const wide = try km.Slice(i64).initZeroed(f.context, 1);
    defer wide.deinit();
    try f.stream.writeValue(i64, wide, 0, -5);
    try other.waitValue(i64, wide, 0, .equal, -5);
    try other.synchronize();
    try expectError(error.OutOfBounds, f.stream.writeValue(u32, flags, 2, 1));
    const huge = std.math.maxInt(u64);
    try expectError(error.OutOfBounds, f.stream.writeValue(u32, flags, huge, 1));
}
