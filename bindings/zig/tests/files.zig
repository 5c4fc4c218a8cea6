//! Mapped files and files of compiled code.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.testing.allocator;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "files are mapped as slices, read-only and private" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var folder: support.Folder = undefined;
    try folder.init();
    defer folder.deinit();
    const words = [_]u32{ 10, 11, 12, 13 };
    const path = try folder.write("words", std.mem.asBytes(&words));
    const mapped = try km.Slice(u32).mapFile(f.context, path, 4, null, .read_only);
    defer mapped.deinit();
    try expectEqual(3, mapped.len);
    var back: [3]u32 = undefined;
    try mapped.download(f.stream, &back);
    try std.testing.expectEqualSlices(u32, words[1..], &back);
    try expectError(error.NotPermitted, mapped.fill(f.stream, 0));
    const private = try km.Slice(u32).mapFile(f.context, path, 0, 2, .private);
    defer private.deinit();
    try private.fill(f.stream, 5);
    try f.stream.synchronize();
    try mapped.download(f.stream, &back);
    try std.testing.expectEqualSlices(u32, words[1..], &back);
    const open = km.Slice(u32).mapFile;
    try expectError(error.OutOfBounds, open(f.context, path, 0, 5, .read_only));
    try expectError(error.NotFound, open(f.context, "no/such", 0, null, .read_only));
}

test "files are mapped as host memory" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var folder: support.Folder = undefined;
    try folder.init();
    defer folder.deinit();
    const path = try folder.write("bytes", &.{ 1, 0, 2, 0, 3, 0, 9 });
    const Words = km.MappedFile(u16);
    const mapped = try Words.open(f.context, path, 0, 3);
    defer mapped.deinit();
    try std.testing.expectEqualSlices(u16, &.{ 1, 2, 3 }, mapped.items);
    // Seven bytes are no whole number of elements.
    try expectError(error.InvalidArgument, Words.open(f.context, path, 0, null));
    try f.expectMessage("7 bytes");
}

test "compiled modules are saved and loaded" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var folder: support.Folder = undefined;
    try folder.init();
    defer folder.deinit();
    const path = try folder.path("test.kmo");
    try f.module.saveObject(path, &.{.{ 4, 1, 1 }});
    const object = try folder.read(allocator, "test.kmo");
    defer allocator.free(object);
    const module = try km.Module.fromObject(f.context, object, "test.kmo");
    defer module.deinit();
    const fill = try module.function("fill_index");
    defer fill.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 4);
    defer out.deinit();
    const arguments = .{ out, @as(u32, 10), @as(u32, 4) };
    try f.stream.launch(fill, .{ .block = .{ 4, 1, 1 } }, arguments);
    try f.stream.synchronize();
    try expectEqual(13, (try out.hostElements())[3]);
    const broken = object[0 .. object.len / 2];
    try expectError(error.InvalidArgument, km.Module.fromObject(f.context, broken, "x"));
    try expectError(error.InvalidArgument, km.Module.fromObject(f.context, "", "x"));
}
