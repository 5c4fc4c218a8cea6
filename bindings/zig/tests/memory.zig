//! Slices, views, host memory.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

test "round trip" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var words: [5000]u32 = undefined;
    for (&words, 0..) |*word, i| word.* = @intCast(i * 3);
    const slice = try km.Slice(u32).initCopy(f.context, f.stream, &words);
    defer slice.deinit();
    try expectEqual(5000, slice.len);
    var back: [5000]u32 = undefined;
    try slice.download(f.stream, &back);
    try expectEqualSlices(u32, &words, &back);
}

test "views of slices and of views share the memory and keep it" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const slice = try km.Slice(u16).initZeroed(f.context, 10);
    const view = try slice.view(2, 6);
    defer view.deinit();
    const inner: km.View(u16) = try view.view(1, 2);
    defer inner.deinit();
    try expectEqual(try slice.address() + 6, try inner.address());
    slice.deinit();
    try inner.fill(f.stream, 7);
    try view.upload(f.stream, &.{9});
    var back: [6]u16 = undefined;
    try view.download(f.stream, &back);
    try expectEqualSlices(u16, &.{ 9, 7, 7, 0, 0, 0 }, &back);
}

test "out of bounds is refused" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const huge = std.math.maxInt(usize);
    const slice = try km.Slice(u32).init(f.context, 10);
    defer slice.deinit();
    var words: [11]u32 = @splat(0);
    try expectError(error.OutOfBounds, slice.upload(f.stream, &words));
    try expectError(error.OutOfBounds, slice.download(f.stream, &words));
    try expectError(error.OutOfBounds, slice.uploadAt(f.stream, 9, words[0..2]));
    // Offsets whose size in bytes does not fit 64 bits must not come round to small ones.
    try expectError(error.OutOfBounds, slice.uploadAt(f.stream, huge / 4 + 1, words[0..2]));
    try expectError(error.OutOfBounds, slice.view(5, 6));
    try expectError(error.OutOfBounds, slice.view(huge, 2));
    try expectError(error.InvalidArgument, km.Slice(u32).init(f.context, huge));
    try f.expectMessage("km_slice_create");
}

test "no elements are fine" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const none = try km.Slice(f64).init(f.context, 0);
    defer none.deinit();
    try expectEqual(0, try none.address());
    try expectEqual(0, (try none.hostElements()).len);
    try none.upload(f.stream, &.{});
}

test "fills, copies, host memory" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const floats = try km.Slice(f32).initOnStream(f.stream, 3);
    try floats.fill(f.stream, 1.5);
    const wide = try km.Slice(f32).initZeroed(f.context, 5);
    defer wide.deinit();
    try wide.copyFrom(f.stream, 2, floats);
    try expectError(error.OutOfBounds, wide.copyFrom(f.stream, 3, floats));
    try floats.deinitOnStream(f.stream);
    try expectError(error.InvalidHandle, floats.fill(f.stream, 0));
    const host = try km.HostMemory(f32).init(f.context, 5);
    defer host.deinit();
    try wide.download(f.stream, host.items);
    try f.stream.synchronize();
    try expectEqualSlices(f32, &.{ 0, 0, 1.5, 1.5, 1.5 }, host.items);
    try expectError(error.InvalidArgument, km.HostMemory(f32).init(f.context, 0));
}

test "structures and the caller's own memory" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const Point = extern struct { x: f32, y: f32 };
    var points = [_]Point{ .{ .x = 1, .y = 2 }, .{ .x = 3, .y = 4 } };
    const slice = try km.Slice(Point).fromHost(f.context, &points);
    defer slice.deinit();
    try expectEqual(&points[0], &(try slice.hostElements())[0]);
    try slice.uploadAt(f.stream, 1, &.{.{ .x = 5, .y = 6 }});
    try f.stream.synchronize();
    try expectEqual(6, points[1].y);
}

test "memory that is not aligned for its elements is refused" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const bytes = try km.Slice(u8).initZeroed(f.context, 64);
    defer bytes.deinit();
    const odd = try bytes.view(1, 32);
    const words = try km.Slice(u32).fromHandle(odd.handle, &f.diagnostics);
    defer words.deinit();
    try expectEqual(8, words.len);
    try expectError(error.InvalidArgument, words.hostElements());
    try f.expectMessage("not aligned for u32");
    try expectError(error.InvalidArgument, words.fill(f.stream, 1));
}

test "variables of a module" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const counters = try f.module.global(u32, "counters");
    defer counters.deinit();
    const middle = try counters.view(1, 2);
    defer middle.deinit();
    try middle.fill(f.stream, 8);
    var back: [4]u32 = undefined;
    try counters.download(f.stream, &back);
    try expectEqualSlices(u32, &.{ 0, 8, 8, 0 }, &back);
    try expectError(error.InvalidArgument, f.module.global([3]u64, "counters"));
    try f.expectMessage("16 bytes in elements of");
    try expectEqual(km.Category.usage, f.diagnostics.category);
    try expectError(error.NotFound, f.module.global(u32, "none"));
}
