//! Launches, programs, events, callbacks, and kernels that fail.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;
const allocator = std.testing.allocator;

test "launches with slices, views and addresses" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 4);
    defer out.deinit();
    const launch = try km.Launch.init(f.stream, fill);
    defer launch.deinit();
    try launch.configure(.{ .block = .{ 4, 1, 1 } });
    try launch.setArguments(.{ out, @as(u32, 10), @as(u32, 4) });
    try launch.submit();
    const view = try out.view(2, 2);
    defer view.deinit();
    try launch.setArguments(.{ view, @as(u32, 0), @as(i32, 2) });
    try launch.submit();
    const address: km.DeviceAddress = .{ .value = try out.address() };
    try f.stream.launch(fill, .{}, .{ address, @as(u32, 5), @as(u32, 1) });
    var back: [4]u32 = undefined;
    try out.download(f.stream, &back);
    try expectEqualSlices(u32, &.{ 5, 11, 0, 1 }, &back);
}

test "wrong arguments are refused before anything runs" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 4);
    defer out.deinit();
    const n: u32 = 4;
    try expectError(error.InvalidLaunch, f.stream.launch(fill, .{}, .{}));
    try expectError(error.InvalidLaunch, f.stream.launch(fill, .{}, .{ out, n }));
    try expectError(error.InvalidLaunch, f.stream.launch(fill, .{}, .{ out, @as(u64, 1), n }));
    try expect(f.diagnostics.message().len > 0);
    try expectError(error.InvalidLaunch, f.stream.launch(fill, .{}, .{ out, n, n, n }));
    const wide: km.LaunchConfig = .{ .block = .{ 5000, 1, 1 } };
    try expectError(error.InvalidLaunch, f.stream.launch(fill, wide, .{ out, n, n }));
    const none: km.LaunchConfig = .{ .grid = .{ 0, 1, 1 } };
    try expectError(error.InvalidLaunch, f.stream.launch(fill, none, .{ out, n, n }));
    try f.stream.synchronize();
    const other = try km.Context.open("cpu", null);
    defer other.deinit();
    const foreign = try km.Stream.init(other);
    defer foreign.deinit();
    try expectError(error.ContextMismatch, foreign.launch(fill, .{}, .{ out, n, n }));
}

test "functions say what they are" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const expected = [_][]const u8{ "noop", "fill_index", "store_far", "trap" };
    try expectEqual(expected.len, try f.module.functionCount());
    for (expected, 0..) |name, i| {
        const found = try f.module.functionName(allocator, @intCast(i));
        defer allocator.free(found);
        try std.testing.expectEqualStrings(name, found);
    }
    try expectError(error.InvalidArgument, f.module.functionName(allocator, 4));
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    try expectEqual(3, try fill.paramCount());
    try expectError(error.NotFound, f.module.function("fill_indx"));
    try f.expectMessage("fill_index");
}

test "a fault sticks until reset" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const store_far = try f.module.function("store_far");
    defer store_far.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 4);
    defer out.deinit();
    try f.stream.launch(store_far, .{}, .{out});
    try expectError(error.IllegalAddress, f.stream.synchronize());
    try expectEqual(km.Category.kernel_fault, f.diagnostics.category);
    try f.expectMessage("store_far");
    try expectError(error.IllegalAddress, km.Event.init(f.context));
    try expectEqual(km.Status.error_illegal_address, try f.context.status());
    const text = try f.context.statusText(allocator);
    defer allocator.free(text);
    try expect(std.mem.indexOf(u8, text, "store_far") != null);
    try f.context.reset();
    try expectEqual(km.Status.success, try f.context.status());
    try expectError(error.ContextLost, f.stream.query());
    const fresh = try km.Stream.init(f.context);
    defer fresh.deinit();
    try expect(try fresh.query());
}

test "other contexts go on after a trap" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var unharmed: support.Fixture = undefined;
    try unharmed.init();
    defer unharmed.deinit();
    const trap = try f.module.function("trap");
    defer trap.deinit();
    try f.stream.launch(trap, .{}, .{});
    try expectError(error.Trap, f.stream.synchronize());
    const noop = try unharmed.module.function("noop");
    defer noop.deinit();
    try unharmed.stream.launch(noop, .{}, .{});
    try unharmed.stream.synchronize();
}

const Gate = struct {
    open: std.atomic.Value(bool) = .init(false),
    calls: std.atomic.Value(u32) = .init(0),

    fn pass(gate: *Gate, status: km.Status) void {
        while (!gate.open.load(.acquire)) std.atomic.spinLoopHint();
        _ = gate.calls.fetchAdd(if (status == .success) 1 else 100, .acq_rel);
    }
};

test "callbacks, events and waits with a limit" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var gate: Gate = .{};
    const start = try km.Event.init(f.context);
    defer start.deinit();
    const end = try km.Event.init(f.context);
    defer end.deinit();
    try expect(try start.query());
    try start.record(f.stream);
    try f.stream.addCallback(Gate, &gate, Gate.pass);
    try end.record(f.stream);
    try expect(!try f.stream.query());
    try expect(!try end.query());
    try expect(!try f.stream.synchronizeTimeout(1_000_000));
    try expect(!try end.synchronizeTimeout(0));
    try expectError(error.NotReady, end.elapsedSince(start));
    gate.open.store(true, .release);
    try expect(try f.stream.synchronizeTimeout(60_000_000_000));
    try expectEqual(1, gate.calls.load(.acquire));
    try expect(try end.elapsedSince(start) >= 0);
    const second = try km.Stream.initWithPriority(f.context, 0);
    defer second.deinit();
    try second.wait(end);
    try second.synchronize();
    const untimed = try km.Event.initUntimed(f.context);
    defer untimed.deinit();
    try untimed.record(f.stream);
    try untimed.synchronize();
    try expectError(error.InvalidArgument, untimed.elapsedSince(start));
}

test "one stream serves many threads" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const work = struct {
        fn run(stream: km.Stream, function: km.Function, out: km.Slice(u32)) void {
            var i: u32 = 0;
            while (i < 50) : (i += 1) {
                const arguments = .{ out, i, @as(u32, 64) };
                stream.launch(function, .{ .block = .{ 64, 1, 1 } }, arguments) catch return;
            }
        }
    };
    var slices: [4]km.Slice(u32) = undefined;
    var threads: [4]std.Thread = undefined;
    for (&slices, &threads) |*slice, *thread| {
        slice.* = try km.Slice(u32).init(f.context, 64);
        const arguments = .{ f.stream.reporting(null), fill, slice.* };
        thread.* = try std.Thread.spawn(.{}, work.run, arguments);
    }
    for (slices, threads) |slice, thread| {
        thread.join();
        var back: [64]u32 = undefined;
        try slice.download(f.stream, &back);
        try expectEqual(63 + 49, back[63]);
        slice.deinit();
    }
}

test "source is compiled" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const source = "template <class T> __global__ void put(T* out, T v) { *out = v; }";
    const program = try km.Program.init(source, "put.cu", &f.diagnostics);
    defer program.deinit();
    try program.addNameExpression("put<unsigned>");
    try program.compile();
    const ptx = try program.ptx(allocator);
    defer allocator.free(ptx);
    const lowered = try program.loweredName(allocator, "put<unsigned>");
    defer allocator.free(lowered);
    try expect(std.mem.indexOf(u8, ptx, lowered) != null);
    const module = try km.Module.loadProgram(f.context, program);
    defer module.deinit();
    const put = try module.function("put<unsigned>");
    defer put.deinit();
    const out = try km.Slice(u32).init(f.context, 1);
    defer out.deinit();
    try f.stream.launch(put, .{}, .{ out, @as(u32, 42) });
    var back: [1]u32 = undefined;
    try out.download(f.stream, &back);
    try expectEqual(42, back[0]);
}

test "source with errors gives the log" {
    var diagnostics: km.Diagnostics = .{};
    const source = "__global__ void k() { wrong(); }";
    const program = try km.Program.init(source, "bad.cu", &diagnostics);
    defer program.deinit();
    try program.addOption("-DN=4");
    try program.addHeader("n.h", "");
    try expectError(error.CompilationFailed, program.compile());
    const log = try program.log(allocator);
    defer allocator.free(log);
    try expect(std.mem.indexOf(u8, log, "bad.cu") != null);
    try expectEqual(km.Category.program, diagnostics.category);
    try expectError(error.NotFound, program.ptx(allocator));
}
