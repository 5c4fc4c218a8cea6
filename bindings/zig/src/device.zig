//! Devices and their attributes.
const std = @import("std");
const c = @import("c");
const backend = @import("backend.zig");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;

/// The name and limits of a device; texts by `km.text`.
pub const DeviceInfo = c.km_device_info;

/// A property of a device. `DeviceAttribute.cuda` gives CUDA's own.
pub const DeviceAttribute = enum(i32) {
    warp_size = c.KM_DEVICE_ATTRIBUTE_WARP_SIZE,
    max_threads_per_block = c.KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    max_block_dim_x = c.KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    max_block_dim_y = c.KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    max_block_dim_z = c.KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    max_grid_dim_x = c.KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    max_grid_dim_y = c.KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
    max_grid_dim_z = c.KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    shared_bytes_per_block = c.KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK,
    shared_bytes_per_block_max = c.KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK_MAX,
    multiprocessor_count = c.KM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    compute_capability_major = c.KM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    compute_capability_minor = c.KM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    clock_rate_khz = c.KM_DEVICE_ATTRIBUTE_CLOCK_RATE_KHZ,
    memory_bus_width_bits = c.KM_DEVICE_ATTRIBUTE_MEMORY_BUS_WIDTH_BITS,
    unified_memory = c.KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY,
    stream_priority_least = c.KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST,
    stream_priority_greatest = c.KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST,
    cooperative_launch = c.KM_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
    max_threads_per_multiprocessor = c.KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
    max_registers_per_block = c.KM_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
    total_constant_bytes = c.KM_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_BYTES,
    l2_cache_bytes = c.KM_DEVICE_ATTRIBUTE_L2_CACHE_BYTES,
    _,

    /// The attribute that CUDA knows by this number (CUdevice_attribute), in CUDA's unit.
    pub fn cuda(number: u16) DeviceAttribute {
        return @enumFromInt(c.KM_DEVICE_ATTRIBUTE_CUDA + @as(i32, number));
    }
};

/// A row of the table of attributes: number, name and unit; texts by `km.text`.
pub const DeviceAttributeInfo = c.km_device_attribute_info;

/// All attributes with name and unit: those of the library, then CUDA's by their number. The list
/// is the caller's to free. C: km_device_attribute_count, km_device_attribute_info_get.
pub fn deviceAttributes(
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
) errors.AllocatingError![]DeviceAttributeInfo {
    const count = c.km_device_attribute_count;
    const get = c.km_device_attribute_info_get;
    return backend.all(DeviceAttributeInfo, allocator, diagnostics, count, get);
}

/// A device, by its URI: "cpu", "cpu:1", "auto" ...
pub const Device = struct {
    handle: c.km_device,
    diagnostics: ?*Diagnostics = null,

    /// The device of this URI. "auto": the one that KM_DEVICE names, else the first CUDA device
    /// that works, else the CPU. error.UnsupportedBackend for a backend that no build has,
    /// error.BackendUnavailable for one that does not work here, error.NoDevice when it has no
    /// device of this number. C: km_device_open.
    pub fn open(uri: [:0]const u8, diagnostics: ?*Diagnostics) Error!Device {
        var handle: c.km_device = undefined;
        try check(c.km_device_open(uri.ptr, &handle), diagnostics);
        return .{ .handle = handle, .diagnostics = diagnostics };
    }

    /// The number of devices that all usable backends have. C: km_device_count.
    pub fn count(diagnostics: ?*Diagnostics) Error!u32 {
        var found: u32 = undefined;
        try check(c.km_device_count(null, &found), diagnostics);
        return found;
    }

    /// The number of devices of one backend, by its name. C: km_device_count.
    pub fn countOf(backend_name: [:0]const u8, diagnostics: ?*Diagnostics) Error!u32 {
        var found: u32 = undefined;
        try check(c.km_device_count(backend_name.ptr, &found), diagnostics);
        return found;
    }

    /// Drops the handle; contexts keep the device open. C: km_device_destroy.
    pub fn deinit(device: Device) void {
        _ = c.km_device_destroy(device.handle);
    }

    /// Name and limits. C: km_device_info_get.
    pub fn info(device: Device) Error!DeviceInfo {
        var found = errors.sized(DeviceInfo);
        try check(c.km_device_info_get(device.handle, &found), device.diagnostics);
        return found;
    }

    /// One property; error.NotSupported when the device cannot tell. C: km_device_attribute_get.
    pub fn attribute(device: Device, which: DeviceAttribute) Error!i64 {
        var value: i64 = undefined;
        const got = c.km_device_attribute_get(device.handle, @intFromEnum(which), &value);
        try check(got, device.diagnostics);
        return value;
    }

    /// Tells whether kernels of this device can be given memory of `peer`, once
    /// `Context.enablePeerAccess` allows it. C: km_device_can_access_peer.
    pub fn canAccessPeer(device: Device, peer: Device) Error!bool {
        var found: u32 = undefined;
        const got = c.km_device_can_access_peer(device.handle, peer.handle, &found);
        try check(got, device.diagnostics);
        return found != 0;
    }
};

test Device {
    const device = try Device.open("cpu", null);
    defer device.deinit();
    const info = try device.info();
    try std.testing.expectEqualStrings("cpu", errors.arrayText(&info.backend));
    try std.testing.expectEqual(info.warp_size, try device.attribute(.warp_size));
}
