//! 10^5 cycles of creating and destroying every kind of object leave nothing behind.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");

const cycles = 100_000;
const warm_up = 2_000;

fn oneOfEach(f: *support.Fixture, device: km.Device) !void {
    const context = try km.Context.init(device);
    defer context.deinit();
    const event = try km.Event.init(f.context);
    defer event.deinit();
    const stream = try km.Stream.init(f.context);
    defer stream.deinit();
    const slice = try km.Slice(u32).init(f.context, 64);
    defer slice.deinit();
    const view = try slice.view(8, 8);
    defer view.deinit();
    const host = try km.HostMemory(u32).init(f.context, 64);
    defer host.deinit();
    const function = try f.module.function("fill_index");
    defer function.deinit();
    const launch = try km.Launch.init(stream, function);
    defer launch.deinit();
    try launch.setArguments(.{ view, @as(u32, 1), @as(u32, 8) });
    try support.expectError(error.InvalidLaunch, launch.addArgument(@as(u32, 1)));
    const pool = try km.Pool.init(f.context, 0);
    defer pool.deinit();
    const block = try pool.allocate(u32, 16);
    defer block.deinit();
    const graph = try km.Graph.init(f.context);
    defer graph.deinit();
    _ = try graph.addFill(&.{}, u32, block, 0, 16, 1);
    const exec = try graph.instantiate();
    defer exec.deinit();
    const blas = try km.Blas.init(stream, .rows);
    defer blas.deinit();
    const program = try km.Program.init("", "empty.cu", null);
    defer program.deinit();
    const tune = try km.Tune.init(device, "", "none");
    defer tune.deinit();
}

const Usage = extern struct { times: [4]c_long, max_rss_kib: c_long, rest: [13]c_long };
extern "c" fn getrusage(who: c_int, usage: *Usage) c_int;

/// The most memory that was ever resident.
fn peakKib() !c_long {
    var usage: Usage = undefined;
    if (getrusage(0, &usage) != 0) return error.Unexpected;
    return usage.max_rss_kib;
}

test "nothing is left after many cycles" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const device = try f.context.getDevice();
    defer device.deinit();
    for (0..warm_up) |_| try oneOfEach(&f, device);
    const before = try peakKib();
    for (warm_up..cycles) |_| try oneOfEach(&f, device);
    // 16 bytes lost in each cycle would be 1.5 MB.
    try support.expect(try peakKib() - before < 1024);
}
