//! Kernels of an embedded text: read at compile time, launched with checked arguments.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expectEqual = support.expectEqual;
const expectEqualSlices = std.testing.expectEqualSlices;
const expectEqualStrings = std.testing.expectEqualStrings;

const Kernels = km.embedKernels(support.ptx);

test "an embedded kernel is launched" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const kernels = try Kernels.load(f.context);
    const fill = try kernels.get("fill_index");
    defer fill.deinit();
    const noop = try kernels.get("noop");
    defer noop.deinit();
    kernels.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 6);
    defer out.deinit();
    const config: km.LaunchConfig = .{ .block = .{ 4, 1, 1 } };
    try fill.launch(f.stream, config, .{ out, @as(u32, 10), @as(u32, 4) });
    const part = km.part(out, 4, 1, .read_write);
    try fill.launch(f.stream, config, .{ part, @as(i32, -1), @as(u32, 1) });
    const address: km.DeviceAddress = .{ .value = try out.address() + 20 };
    try fill.launch(f.stream, config, .{ address, @as(u32, 77), @as(u32, 1) });
    try fill.launch(f.stream, config, .{ km.readOnly(out), @as(u32, 1), @as(u32, 0) });
    try noop.launch(f.stream, config, .{});
    try f.stream.synchronize();
    const expected = [_]u32{ 10, 11, 12, 13, 0xffff_ffff, 77 };
    try expectEqualSlices(u32, &expected, try out.hostElements());
    const lost: km.Slice(u32) = .{ .handle = null, .len = 1 };
    const arguments = .{ lost, @as(u32, 1), @as(u32, 1) };
    try support.expectError(error.InvalidHandle, fill.launch(f.stream, config, arguments));
}

test "an embedded kernel becomes a node of a graph" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const kernels = try Kernels.load(f.context);
    defer kernels.deinit();
    const fill = try kernels.get("fill_index");
    defer fill.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 2);
    defer out.deinit();
    const graph = try km.Graph.init(f.context);
    defer graph.deinit();
    const config: km.LaunchConfig = .{ .block = .{ 2, 1, 1 } };
    const first = try fill.addNode(graph, &.{}, config, .{ out, @as(u32, 5), @as(u32, 2) });
    const tail = km.part(out, 1, 1, .read_write);
    _ = try fill.addNode(graph, &.{first}, config, .{ tail, @as(u32, 9), @as(u32, 1) });
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.launch(f.stream);
    try f.stream.synchronize();
    try expectEqualSlices(u32, &.{ 5, 9 }, try out.hostElements());
}

const odd = km.embedKernels(
    \\.version 8.0 // .entry in_a_comment(.param .u32 x)
    \\.target sm_80
    \\/* .entry in_another() */
    \\.file 1 ".entry in_a_name()"
    \\.visible .entry mixed(
    \\  .param .u8 flag, .param .align 16 .b8 shape[20],
    \\  .param .u64 .ptr .global .align 16 data, .param .f64 factor,
    \\  .param .b16 half, .param .u64 any
    \\)
    \\.maxntid 64
    \\{ ret; }
    \\.entry bare
    \\{ ret; }
);

test "entry points are read as PTX declares them" {
    const entries = odd.entries;
    try expectEqual(2, entries.len);
    try expectEqualStrings("mixed", entries[0].name);
    try expectEqualStrings("bare", entries[1].name);
    try expectEqual(0, entries[1].params.len);
    const places = [_][3]usize{
        .{ 1, 1, 0 }, .{ 20, 16, 16 }, .{ 8, 8, 40 }, .{ 8, 8, 48 }, .{ 2, 2, 56 }, .{ 8, 8, 64 },
    };
    const kinds = [_][]const u8{ "integer", "bytes", "pointer", "float", "bits", "integer" };
    inline for (entries[0].params, places, kinds) |param, place, kind| {
        try expectEqual(place[0], param.size_bytes);
        try expectEqual(place[1], param.align_bytes);
        try expectEqual(place[2], param.offset_bytes);
        try expectEqualStrings(kind, @tagName(param.kind));
    }
    try expectEqual(72, comptime entries[0].argumentsSize());
}

test "the library lays parameters out in the same way" {
    const ptx =
        \\.version 7.0
        \\.target sm_70
        \\.address_size 64
        \\.visible .entry mixed(.param .u8 flag, .param .align 16 .b8 shape[20],
        \\  .param .u64 .ptr .global .align 16 data, .param .f64 factor, .param .b16 half,
        \\  .param .u64 any)
        \\{ ret; }
    ;
    const Mixed = km.embedKernels(ptx);
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const kernels = try Mixed.load(f.context);
    defer kernels.deinit();
    const mixed = try kernels.get("mixed");
    defer mixed.deinit();
    inline for (@TypeOf(mixed).params, 0..) |param, index| {
        const found = try mixed.function.param(index);
        try expectEqual(param.size_bytes, found.size_bytes);
        try expectEqual(param.align_bytes, found.align_bytes);
        try expectEqual(param.offset_bytes, found.offset_bytes);
    }
    const Shape = extern struct { sizes: [5]u32 };
    const data = try km.Slice(f64).initZeroed(f.context, 1);
    defer data.deinit();
    const shape: Shape = .{ .sizes = @splat(1) };
    const half: f16 = 0.5;
    try mixed.launch(f.stream, .{}, .{ true, shape, data, @as(f64, 1), half, @as(u64, 5) });
    try f.stream.synchronize();
}
