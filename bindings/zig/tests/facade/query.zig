//! `cuda_device_query`.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.testing.allocator;
const query = km.cuda_device_query;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "queries before init say so" {
    query.deinit();
    try expectError(error.NotInitialized, query.getDeviceCount());
    try expectError(error.NotInitialized, query.listDevices(allocator));
    try query.init();
    try query.init();
    query.deinit();
    try expect(try query.getDeviceCount() >= 1);
    query.deinit();
    try expectError(error.NotInitialized, query.getDeviceInfo(0));
}

test "every device has all that the native layer says" {
    try query.init();
    defer query.deinit();
    const devices = try query.listDevices(allocator);
    defer allocator.free(devices);
    try expectEqual(try query.getDeviceCount(), devices.len);
    for (devices, 0..) |*device, id| {
        try expectEqual(id, device.device_id);
        const native = try km.Device.open(device.uri(), null);
        defer native.deinit();
        const info = try native.info();
        try std.testing.expectEqualStrings(km.text(&info.name), device.name());
        try expectEqual(info.total_memory_bytes, device.total_memory);
        try expectEqual(info.warp_size, device.warp_size);
        try expectEqual(info.max_grid_dim, device.max_grid_dim);
        try expectEqual(info.multiprocessor_count, device.multiprocessor_count);
        const registers = try native.attribute(.max_registers_per_block);
        try expectEqual(registers, @as(i64, device.registers_per_block.?));
        const ecc = native.attribute(.cuda(32)) catch null;
        try expectEqual(if (ecc) |is| is != 0 else null, device.ecc_enabled);
        try expect(device.backend().len > 0);
        if (std.mem.eql(u8, device.backend(), "cpu")) try expect(!device.has_tensor_cores);
    }
    const beyond: u32 = @intCast(devices.len);
    try expectError(error.NoDevice, query.getDeviceInfo(beyond));
}

test "a device is printed" {
    try query.init();
    defer query.deinit();
    const device = try query.getDeviceInfo(0);
    var buffer: [4096]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    try query.formatDeviceInfo(device, &writer);
    const text = writer.buffered();
    for ([_][]const u8{
        "Device 0: ",           "Compute capability: ", "Total memory: ", "Warp size: 32",
        "Max grid dimensions",  "L2 cache: ",           "ECC enabled: ",  "Integrated: ",
        "Concurrent kernels: ", "Unified addressing: ", "Clock rate: ",   "Tensor cores: ",
    }) |part| try expect(std.mem.indexOf(u8, text, part) != null);
}
