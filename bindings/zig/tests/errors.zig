//! What a failure tells.
const std = @import("std");
const c = @import("c");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "diagnostics have all that the library says" {
    var diagnostics: km.Diagnostics = .{};
    try expectError(error.InvalidArgument, km.Device.open("gpu:0:1", &diagnostics));
    try expectEqual(km.Status.error_invalid_argument, diagnostics.status);
    try expectEqual(km.Category.usage, diagnostics.category);
    try expect(diagnostics.suggestion.len > 0);
    try expect(std.mem.indexOf(u8, diagnostics.message(), "km_device_open") != null);
    try expect(std.mem.indexOf(u8, diagnostics.message(), "gpu:0:1") != null);
    try expectEqual(0, diagnostics.native_code);
}

test "native codes" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    try expectError(error.NotFound, km.Module.loadFile(f.context, "no/such/file.ptx"));
    try expectEqual(2, f.diagnostics.native_code); // ENOENT
    try f.expectMessage("no/such/file.ptx");
}

test "an empty slice of a text is empty" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const load = km.Module.loadPtx;
    try expectError(error.InvalidPtx, load(f.context, support.ptx[0..0], "empty.ptx"));
}

test "no diagnostics are fine" {
    try expectError(error.NoDevice, km.Device.open("cpu:999", null));
    try expect(try km.Device.count(null) >= 1);
}

test "reporting tells failures elsewhere" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var other: km.Diagnostics = .{};
    const lost: km.Slice(u8) = .{ .handle = null, .len = 0, .diagnostics = &other };
    try expectError(error.InvalidHandle, lost.reporting(&other).address());
    try expect(other.message().len > 0);
    try expectEqual(0, f.diagnostics.message().len);
}

test "every status of the library has a name here, and an error" {
    var number: i32 = 0;
    var known: usize = 0;
    while (number < 1000) : (number += 1) {
        var name: [*c]const u8 = null;
        const is_status = c.km_status_name(number, &name) == c.KM_SUCCESS;
        const tag = std.enums.tagName(km.Status, @enumFromInt(number));
        try expectEqual(is_status, tag != null);
        if (tag) |given| {
            known += 1;
            const expected = std.mem.span(name)["KM_".len..];
            try expect(std.ascii.eqlIgnoreCase(expected, given));
        }
    }
    try expect(known > 30);
    const newer: km.Status = @enumFromInt(999);
    try expectEqual(@as(?km.Error, error.Unknown), newer.toError());
    try expectEqual(@as(?km.Error, null), km.Status.timeout.toError());
}
