//! A launch by module `kernelmill` against the same by the wrapper of `kernelmill wrap`, batch by
//! batch in turn in one process.
const std = @import("std");
const km = @import("kernelmill");
const wrapped = @import("generated/wrapped.zig");

const batches = 200;
const launches = 2560;
const launches_per_wait = 256;

const Subject = struct {
    stream: km.Stream,
    x: km.Slice(f32),
    y: km.Slice(f32),
    nothing: km.Function,
    kernels: wrapped.Kernels,

    fn byHand(subject: Subject, n: i32) !void {
        const arguments = .{ km.readOnly(subject.x), subject.y, @as(f32, 2), n };
        try subject.stream.launch(subject.nothing, .{}, arguments);
    }

    fn byWrapper(subject: Subject, n: i32) !void {
        try subject.kernels.launchNothing(subject.stream, .{}, subject.x, subject.y, 2, n);
    }

    fn batchNs(subject: Subject, comptime launch: anytype) !f64 {
        const start = nowNs();
        for (1..launches + 1) |i| {
            try launch(subject, @intCast(i));
            if (i % launches_per_wait == 0) try subject.stream.synchronize();
        }
        return (nowNs() - start) / launches;
    }
};

fn nowNs() f64 {
    var now: std.c.timespec = undefined;
    _ = std.c.clock_gettime(.MONOTONIC, &now);
    return @as(f64, @floatFromInt(now.sec)) * 1e9 + @as(f64, @floatFromInt(now.nsec));
}

fn median(values: []f64) f64 {
    std.mem.sort(f64, values, {}, std.sort.asc(f64));
    return values[values.len / 2];
}

pub fn main(init: std.process.Init) !void {
    errdefer std.log.err("{f}", .{&km.Diagnostics.ofLastError()});
    const context = try km.Context.open("cpu:0", null);
    const module = try km.Module.loadPtx(context, wrapped.ptx, "wrapped");
    const subject: Subject = .{
        .stream = try km.Stream.init(context),
        .x = try km.Slice(f32).initZeroed(context, 16),
        .y = try km.Slice(f32).initZeroed(context, 16),
        .nothing = try module.function("nothing"),
        .kernels = try wrapped.Kernels.load(context),
    };
    var hand: [batches]f64 = undefined;
    var wrapper: [batches]f64 = undefined;
    var over: [batches]f64 = undefined;
    _ = try subject.batchNs(Subject.byHand);
    for (&hand, &wrapper, &over, 0..) |*first, *second, *difference, batch| {
        if (batch % 2 == 0) first.* = try subject.batchNs(Subject.byHand);
        second.* = try subject.batchNs(Subject.byWrapper);
        if (batch % 2 != 0) first.* = try subject.batchNs(Subject.byHand);
        difference.* = second.* - first.*;
    }
    var buffer: [256]u8 = undefined;
    var writer: std.Io.File.Writer = .initStreaming(.stdout(), init.io, &buffer);
    try writer.interface.print("{{\"metric\": \"launch_zig\", \"unit\": \"ns\", \"hand\": {d:.1}, " ++
        "\"wrapper\": {d:.1}, \"wrapper_adds\": {d:.1}}}\n", .{
        median(&hand), median(&wrapper), median(&over),
    });
    try writer.interface.flush();
}
