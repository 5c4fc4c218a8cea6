//! Functions: parameters, attributes, occupancy, code made ahead, special launches.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "parameters have size, place and kind" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const out = try fill.param(0);
    try expectEqual(8, out.size_bytes);
    try expectEqual(@intFromEnum(km.ParamKind.pointer), out.kind);
    const n = try fill.param(2);
    try expectEqual(12, n.offset_bytes);
    try expectEqual(@intFromEnum(km.ParamType.integer), n.value_type);
    try expectError(error.InvalidArgument, fill.param(3));
}

test "attributes, and code made ahead" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    try expectEqual(70, try fill.attribute(.ptx_version));
    try expectEqual(70, try fill.attribute(.target));
    try fill.setAttribute(.max_dynamic_shared_bytes, 64 << 10);
    try expectEqual(64 << 10, try fill.attribute(.max_dynamic_shared_bytes));
    try expectError(error.InvalidArgument, fill.setAttribute(.registers, 5));
    try fill.prepare(.{ 32, 1, 1 });
    try expectError(error.InvalidLaunch, fill.prepare(.{ 4096, 1, 1 }));
}

fn sharedOf(factor: *u64, block_threads: u32) u64 {
    return factor.* * block_threads;
}

test "occupancy" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const found = try fill.occupancy(256, 0);
    try expect(found.active_blocks >= 1);
    try expect(found.percent <= 100);
    try expect(found.limit != @intFromEnum(km.OccupancyLimit.invalid));
    const none = try fill.occupancy(1 << 20, 0);
    try expectEqual(0, none.active_blocks);
    try expectError(error.InvalidArgument, fill.occupancy(0, 0));
    const best = try fill.bestBlock(0, 128);
    try expect(best.block_threads <= 128 and best.block_threads > 0);
    try expect(best.grid_blocks > 0);
    var factor: u64 = 16;
    const with = try fill.bestBlockWith(u64, &factor, sharedOf, 0);
    try expect(with.block_threads > 0);
    try expect(try fill.availableSharedBytes(1, 32) > 0);
    try expectError(error.InvalidArgument, fill.availableSharedBytes(0, 32));
    try expectError(error.InvalidArgument, fill.maxActiveClusters(0, 0, 1));
    try fill.setWork(1000, 4000);
}

test "cooperative launches and clusters" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 8);
    defer out.deinit();
    const launch = try km.Launch.init(f.stream, fill);
    defer launch.deinit();
    try launch.configure(.{ .grid = .{ 2, 1, 1 }, .block = .{ 4, 1, 1 } });
    try launch.setCooperative(true);
    try launch.setArguments(.{ out, @as(u32, 0), @as(u32, 8) });
    try launch.submit();
    try f.stream.synchronize();
    try expectEqual(7, (try out.hostElements())[7]);
    const clustered = try km.Launch.init(f.stream, fill);
    defer clustered.deinit();
    try clustered.configure(.{ .grid = .{ 2, 1, 1 }, .block = .{ 4, 1, 1 } });
    try clustered.setCluster(.{ 3, 1, 1 });
    try clustered.setArguments(.{ out, @as(u32, 0), @as(u32, 8) });
    try expectError(error.InvalidLaunch, clustered.submit());
}

test "parts of slices as arguments" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 8);
    defer out.deinit();
    const config: km.LaunchConfig = .forElements(2);
    try expectEqual([3]u32{ 1, 1, 1 }, config.grid);
    const part = km.part(out, 5, 2, .read_write);
    try f.stream.launch(fill, config, .{ part, @as(u32, 40), @as(u32, 2) });
    try f.stream.synchronize();
    const expected = [_]u32{ 0, 0, 0, 0, 0, 40, 41, 0 };
    try std.testing.expectEqualSlices(u32, &expected, try out.hostElements());
    const beyond = km.part(out, 7, 2, .read_write);
    try expectError(error.OutOfBounds, f.stream.launch(fill, config, .{beyond}));
}
