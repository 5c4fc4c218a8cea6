//! Devices, backends, and the choice between them.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.testing.allocator;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "backends are listed with the reason when they do not work" {
    const backends = try km.backends(allocator, null);
    defer allocator.free(backends);
    var has_cpu = false;
    for (backends) |*backend| {
        const is_usable = backend.status == @intFromEnum(km.Status.success);
        try expect(is_usable or km.text(&backend.reason).len > 0);
        has_cpu = has_cpu or std.mem.eql(u8, km.text(&backend.name), "cpu");
    }
    try expect(has_cpu);
    try expect(try km.Device.countOf("cpu", null) >= 1);
    try expectError(error.BackendUnavailable, km.Device.countOf("nowhere", null));
}

test "the automatic choice can be asked for, and has one outcome" {
    const candidates = try km.autoCandidates(allocator, null);
    defer allocator.free(candidates);
    var chosen: usize = 0;
    for (candidates) |*candidate| {
        try expect(km.text(&candidate.reason).len > 0);
        chosen += @intFromBool(km.AutoOutcome.of(candidate.*) == .chosen);
    }
    try expectEqual(1, chosen);
}

test "backends that no build has are refused by name, with the reason" {
    const names = [_][:0]const u8{
        "metal", "webgpu", "opengles", "webgl2", "metal:0",
    };
    for (names) |name| {
        var diagnostics: km.Diagnostics = .{};
        try expectError(error.UnsupportedBackend, km.Device.open(name, &diagnostics));
        try expectEqual(km.Category.environment, diagnostics.category);
        const backend = std.mem.sliceTo(name, ':');
        try expect(std.mem.indexOf(u8, diagnostics.message(), backend) != null);
    }
    var diagnostics: km.Diagnostics = .{};
    try expectError(error.UnsupportedBackend, km.Device.countOf("webgl2", &diagnostics));
    try expect(std.mem.indexOf(u8, diagnostics.message(), "no compute") != null);
}

test "attributes agree with the info, and have names and units" {
    const device = try km.Device.open("cpu", null);
    defer device.deinit();
    const info = try device.info();
    try expectEqual(@as(i64, info.warp_size), try device.attribute(.warp_size));
    try expectEqual(@as(i64, info.warp_size), try device.attribute(.cuda(10)));
    const wrong: km.DeviceAttribute = @enumFromInt(-3);
    try expectError(error.InvalidArgument, device.attribute(wrong));
    const table = try km.deviceAttributes(allocator, null);
    defer allocator.free(table);
    try expect(table.len > 100);
    try std.testing.expectEqualStrings("WARP_SIZE", km.text(&table[0].name));
    try std.testing.expectEqualStrings("threads", km.text(&table[0].unit));
}

test "a device is no peer of itself" {
    const device = try km.Device.open("cpu", null);
    defer device.deinit();
    try expect(!try device.canAccessPeer(device));
}

test "copies between contexts" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const other = try km.Context.open("cpu", &f.diagnostics);
    defer other.deinit();
    const source = try km.Slice(u32).initCopy(f.context, f.stream, &.{ 1, 2, 3 });
    defer source.deinit();
    const target = try km.Slice(u32).initZeroed(other, 4);
    defer target.deinit();
    try expectError(error.ContextMismatch, target.copyFrom(f.stream, 1, source));
    try target.copyFromPeer(f.stream, 1, source);
    const from: km.DeviceAddress = .{ .value = try source.address() };
    const to: km.DeviceAddress = .{ .value = try target.address() };
    try to.copyFromPeer(f.stream, other, f.context, from, 4);
    try f.stream.synchronize();
    try std.testing.expectEqualSlices(u32, &.{ 1, 1, 2, 3 }, try target.hostElements());
    try expectError(error.InvalidArgument, f.context.enablePeerAccess(f.context));
}
