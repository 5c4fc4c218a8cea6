//! The Zig contestant: the calls through module `kernelmill`.
const std = @import("std");
const km = @import("kernelmill");

const batches = 200;
const queries = 20000;
const launches = 2560;
const launches_per_wait = 256;

const Subject = struct {
    stream: km.Stream,
    launch: km.Launch,

    fn query(subject: Subject, calls: u32) !void {
        for (0..calls) |_| if (!try subject.stream.query()) return error.Busy;
    }

    fn submit(subject: Subject, calls: u32) !void {
        for (1..calls + 1) |i| {
            try subject.launch.submit();
            if (i % launches_per_wait == 0) try subject.stream.synchronize();
        }
    }
};

fn nowNs() f64 {
    var now: std.c.timespec = undefined;
    _ = std.c.clock_gettime(.MONOTONIC, &now);
    return @as(f64, @floatFromInt(now.sec)) * 1e9 + @as(f64, @floatFromInt(now.nsec));
}

/// Nanoseconds a call.
fn measure(subject: Subject, comptime run: anytype, calls: u32) !f64 {
    var least: f64 = std.math.inf(f64);
    try run(subject, calls);
    for (0..batches) |_| {
        const start = nowNs();
        try run(subject, calls);
        least = @min(least, (nowNs() - start) / @as(f64, @floatFromInt(calls)));
    }
    return least;
}

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    if (arguments.len != 2) return error.UsageIsCallCostEmptyPtx;
    var diagnostics: km.Diagnostics = .{};
    errdefer std.log.err("{s}", .{diagnostics.message()});
    const context = try km.Context.open("cpu:0", &diagnostics);
    defer context.deinit();
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const module = try km.Module.loadFile(context, arguments[1]);
    defer module.deinit();
    const function = try module.function("empty");
    defer function.deinit();
    const launch = try km.Launch.init(stream, function);
    defer launch.deinit();
    try launch.configure(.{});

    const subject: Subject = .{ .stream = stream, .launch = launch };
    var buffer: [256]u8 = undefined;
    var writer: std.Io.File.Writer = .initStreaming(.stdout(), init.io, &buffer);
    const line = "{{\"metric\": \"{s}\", \"unit\": \"ns\", \"value\": {d:.3}}}\n";
    const query_ns = try measure(subject, Subject.query, queries);
    try writer.interface.print(line, .{ "status_query", query_ns });
    const launch_ns = try measure(subject, Subject.submit, launches);
    try writer.interface.print(line, .{ "launch_empty", launch_ns });
    try writer.interface.flush();
}
