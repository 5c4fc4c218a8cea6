//! Copies and fills of rows.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

test "pictures go up, around and down" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const picture = [_]u8{ 1, 2, 3, 4, 5, 6 };
    const wide = try km.Slice(u8).initZeroed(f.context, 16);
    defer wide.deinit();
    const up: km.RowCopy = .{ .width_bytes = 3, .height = 2, .destination_pitch_bytes = 8 };
    try wide.uploadRows(f.stream, &picture, up);
    const across: km.RowCopy = .{
        .width_bytes = 3,
        .height = 2,
        .source_pitch_bytes = 8,
        .destination_pitch_bytes = 8,
        .destination_offset_bytes = 4,
    };
    try wide.copyRowsFrom(f.stream, wide, across);
    try wide.fillRows(f.stream, 7, 8, 9, 1, 2);
    var back: [16]u8 = undefined;
    try wide.download(f.stream, &back);
    const expected = [_]u8{ 1, 2, 3, 0, 1, 2, 3, 9, 4, 5, 6, 0, 4, 5, 6, 9 };
    try expectEqualSlices(u8, &expected, &back);
    var small: [4]u8 = undefined;
    const down: km.RowCopy = .{ .width_bytes = 2, .height = 2, .source_pitch_bytes = 8 };
    try wide.downloadRows(f.stream, &small, down);
    try expectEqualSlices(u8, &.{ 1, 2, 4, 5 }, &small);
}

test "rows beyond the host's memory or the slice are refused" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const slice = try km.Slice(u8).initZeroed(f.context, 16);
    defer slice.deinit();
    var small: [4]u8 = @splat(0);
    const tall: km.RowCopy = .{ .width_bytes = 2, .height = 3 };
    try expectError(error.OutOfBounds, slice.uploadRows(f.stream, &small, tall));
    try f.expectMessage("reach to byte 6 of the source, which has 4");
    try expectError(error.OutOfBounds, slice.downloadRows(f.stream, &small, tall));
    const huge: km.RowCopy = .{ .width_bytes = 2, .height = 1 << 63, .source_pitch_bytes = 8 };
    try expectError(error.OutOfBounds, slice.uploadRows(f.stream, &small, huge));
    var big: [64]u8 = @splat(0);
    const wide: km.RowCopy = .{ .width_bytes = 8, .height = 3 };
    try expectError(error.OutOfBounds, slice.uploadRows(f.stream, &big, wide));
}

test "pitched memory and raw addresses" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const pitched = try km.Pitched.init(f.context, 5, 3);
    defer pitched.deinit();
    try expectEqual(0, pitched.pitch_bytes % 256);
    const first: km.DeviceAddress = .{ .value = try pitched.slice.address() };
    try first.fillRows(f.stream, pitched.pitch_bytes, u8, 6, 5, 3);
    const rows = [_]u8{ 1, 2, 3, 4 };
    const up: km.RowCopy = .{
        .width_bytes = 2,
        .height = 2,
        .destination_pitch_bytes = pitched.pitch_bytes,
    };
    try first.uploadRows(f.stream, &rows, up);
    const shift: km.RowCopy = .{
        .width_bytes = 1,
        .height = 3,
        .source_pitch_bytes = pitched.pitch_bytes,
        .destination_pitch_bytes = pitched.pitch_bytes,
        .destination_offset_bytes = 4,
    };
    try first.copyRowsFrom(f.stream, first, shift);
    var back: [15]u8 = undefined;
    const down: km.RowCopy = .{
        .width_bytes = 5,
        .height = 3,
        .source_pitch_bytes = pitched.pitch_bytes,
    };
    try first.downloadRows(f.stream, &back, down);
    const expected = [_]u8{ 1, 2, 6, 6, 1, 3, 4, 6, 6, 3, 6, 6, 6, 6, 6 };
    try expectEqualSlices(u8, &expected, &back);
}

test "volumes" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var volume: [24]u16 = undefined;
    for (&volume, 0..) |*voxel, i| voxel.* = @intCast(i);
    const slice = try km.Slice(u16).initCopy(f.context, f.stream, &volume);
    defer slice.deinit();
    var part: [4]u16 = undefined;
    // Two voxels of a row of four, the last of three rows, of both layers.
    const copy: km.RowCopy = .{
        .width_bytes = 4,
        .height = 1,
        .depth = 2,
        .source_offset_bytes = (2 * 4 + 1) * 2,
        .source_pitch_bytes = 8,
        .source_layer_rows = 3,
    };
    try slice.downloadRows(f.stream, &part, copy);
    try expectEqualSlices(u16, &.{ 9, 10, 21, 22 }, &part);
}
