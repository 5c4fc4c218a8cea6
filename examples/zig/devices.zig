//! Lists all devices with their capabilities, by the names of a Zig GPU driver.
const std = @import("std");
const cuda_query = @import("backends/cuda_device_query.zig");

pub fn main(start: std.process.Init) !void {
    const allocator = start.gpa;

    try cuda_query.init();
    defer cuda_query.deinit();

    const count = try cuda_query.getDeviceCount();
    const devices = try cuda_query.listDevices(allocator);
    defer allocator.free(devices);
    if (devices.len != count) return error.DeviceCountChanged;

    for (devices) |device| {
        var io_backend = std.Io.Threaded.init(allocator, .{});
        defer io_backend.deinit();
        var stdout_buffer: [1024]u8 = undefined;
        var stdout_writer = std.Io.File.stdout().writer(io_backend.io(), &stdout_buffer);
        const stdout = &stdout_writer.interface;
        try cuda_query.formatDeviceInfo(device, stdout);
    }
}
