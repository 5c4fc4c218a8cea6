//! Devices of all backends with their capabilities, by the names of a Zig GPU driver. Figures that
//! a device does not tell are null. Calls before `init` give error.NotInitialized.
const std = @import("std");
const km = @import("kernelmill");

/// The failures of this part.
pub const Error = km.Error || std.mem.Allocator.Error || error{NotInitialized};

/// A generation of devices, 9.0 for sm_90. A CPU has that of the features that it runs.
pub const ComputeCapability = struct { major: u32, minor: u32 };

/// A device.
pub const DeviceInfo = struct {
    /// Its number among all devices, from 0.
    device_id: u32,
    uri_buffer: [32]u8,
    backend_buffer: [32]u8,
    name_buffer: [128]u8,
    compute_capability: ComputeCapability,
    total_memory: u64,
    shared_memory_per_block: u64,
    registers_per_block: ?u32,
    warp_size: u32,
    max_threads_per_block: u32,
    max_block_dim: [3]u32,
    max_grid_dim: [3]u32,
    /// The clock of a multiprocessor or core.
    clock_rate_khz: ?u64,
    memory_clock_rate_khz: ?u64,
    memory_bus_width_bits: ?u32,
    multiprocessor_count: u32,
    l2_cache_size: ?u64,
    ecc_enabled: ?bool,
    /// The device shares the memory of the host.
    integrated: ?bool,
    unified_addressing: ?bool,
    concurrent_kernels: ?bool,
    cooperative_launch: ?bool,
    /// Units that multiply matrices: on GPUs from compute capability 7.0 on.
    has_tensor_cores: bool,

    /// The name of the device; points into this structure, like the other texts.
    pub fn name(info: *const DeviceInfo) []const u8 {
        return km.text(&info.name_buffer);
    }

    /// "cuda:0", for `cuda_native.initDevice`.
    pub fn uri(info: *const DeviceInfo) [:0]const u8 {
        const found = km.text(&info.uri_buffer);
        return info.uri_buffer[0..found.len :0];
    }

    /// "cuda" or "cpu".
    pub fn backend(info: *const DeviceInfo) []const u8 {
        return km.text(&info.backend_buffer);
    }
};

var users: std.atomic.Value(usize) = .init(0);

/// Looks for backends; a second call only counts. Finds devices of any backend, and the CPU where
/// there is no other.
pub fn init() Error!void {
    _ = try km.Device.count(null);
    _ = users.fetchAdd(1, .acq_rel);
}

/// Ends what one `init` began; fine when nothing is open.
pub fn deinit() void {
    var found = users.load(.acquire);
    while (found > 0) {
        found = users.cmpxchgWeak(found, found - 1, .acq_rel, .acquire) orelse return;
    }
}

fn requireInit() Error!void {
    if (users.load(.acquire) == 0) return error.NotInitialized;
}

/// The number of devices of all backends that work here.
pub fn getDeviceCount() Error!u32 {
    try requireInit();
    return km.Device.count(null);
}

/// The device of a number below `getDeviceCount`; error.NoDevice beyond.
pub fn getDeviceInfo(device_id: u32) Error!DeviceInfo {
    // Devices that only their name gives, as those of Vulkan, have no number.
    if (device_id >= try getDeviceCount()) return error.NoDevice;
    var room: [32 << 10]u8 align(8) = undefined;
    var fixed: std.heap.FixedBufferAllocator = .init(&room);
    var first: u32 = 0;
    for (try km.backends(fixed.allocator(), null)) |*backend| {
        if (backend.status != @intFromEnum(km.Status.success)) continue;
        const count = backend.device_count;
        if (device_id < first + count) {
            return query(km.text(&backend.name), device_id - first, device_id);
        }
        first += count;
    }
    return error.NoDevice;
}

/// All devices; the list is the caller's to free, and nothing else.
pub fn listDevices(allocator: std.mem.Allocator) Error![]DeviceInfo {
    const count = try getDeviceCount();
    const list = try allocator.alloc(DeviceInfo, count);
    errdefer allocator.free(list);
    for (list, 0..) |*info, id| info.* = try getDeviceInfo(@intCast(id));
    return list;
}

/// Attributes of CUDA, by their numbers.
const Cuda = enum(u16) {
    integrated = 18,
    concurrent_kernels = 31,
    ecc_enabled = 32,
    unified_addressing = 41,
};

fn query(backend: []const u8, ordinal: u32, device_id: u32) Error!DeviceInfo {
    var buffer: [48]u8 = undefined;
    const uri = std.fmt.bufPrintSentinel(&buffer, "{s}:{d}", .{ backend, ordinal }, 0) catch
        unreachable;
    const device = try km.Device.open(uri, null);
    defer device.deinit();
    const info = try device.info();
    const is_gpu = std.mem.eql(u8, backend, "cuda");
    return .{
        .device_id = device_id,
        .uri_buffer = info.uri,
        .backend_buffer = info.backend,
        .name_buffer = info.name,
        .compute_capability = .{
            .major = info.compute_capability_major,
            .minor = info.compute_capability_minor,
        },
        .total_memory = info.total_memory_bytes,
        .shared_memory_per_block = info.shared_bytes_per_block,
        .registers_per_block = number(u32, device, .max_registers_per_block),
        .warp_size = info.warp_size,
        .max_threads_per_block = info.max_threads_per_block,
        .max_block_dim = info.max_block_dim,
        .max_grid_dim = info.max_grid_dim,
        .clock_rate_khz = known(u64, info.clock_rate_khz),
        .memory_clock_rate_khz = known(u64, info.memory_clock_rate_khz),
        .memory_bus_width_bits = known(u32, info.memory_bus_width_bits),
        .multiprocessor_count = info.multiprocessor_count,
        .l2_cache_size = number(u64, device, .l2_cache_bytes),
        .ecc_enabled = flag(device, .ecc_enabled),
        .integrated = flag(device, .integrated),
        .unified_addressing = flag(device, .unified_addressing),
        .concurrent_kernels = flag(device, .concurrent_kernels),
        .cooperative_launch = if (number(u32, device, .cooperative_launch)) |is| is != 0 else null,
        .has_tensor_cores = is_gpu and info.compute_capability_major >= 7,
    };
}

fn known(comptime T: type, value: T) ?T {
    return if (value == 0) null else value;
}

fn number(comptime T: type, device: km.Device, which: km.DeviceAttribute) ?T {
    const value = device.attribute(which) catch return null;
    return std.math.cast(T, value);
}

fn flag(device: km.Device, which: Cuda) ?bool {
    const value = device.attribute(.cuda(@intFromEnum(which))) catch return null;
    return value != 0;
}

/// Prints a device in lines of the form "name: value", and flushes the writer.
pub fn formatDeviceInfo(device: DeviceInfo, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    try writer.print("Device {d}: {s} ({s})\n", .{
        device.device_id, device.name(), device.uri(),
    });
    const capability = device.compute_capability;
    try line(writer, "Compute capability", "{d}.{d}", .{ capability.major, capability.minor });
    const mebibyte = 1 << 20;
    try line(writer, "Total memory", "{d} MiB", .{device.total_memory / mebibyte});
    try line(writer, "Shared memory per block", "{d} bytes", .{device.shared_memory_per_block});
    try optional(writer, "Registers per block", "", device.registers_per_block);
    try line(writer, "Warp size", "{d}", .{device.warp_size});
    try line(writer, "Max threads per block", "{d}", .{device.max_threads_per_block});
    try dimensions(writer, "Max block dimensions", device.max_block_dim);
    try dimensions(writer, "Max grid dimensions", device.max_grid_dim);
    try optional(writer, "Clock rate", " kHz", device.clock_rate_khz);
    try optional(writer, "Memory clock rate", " kHz", device.memory_clock_rate_khz);
    try optional(writer, "Memory bus width", " bits", device.memory_bus_width_bits);
    try line(writer, "Multiprocessors", "{d}", .{device.multiprocessor_count});
    try optional(writer, "L2 cache", " bytes", device.l2_cache_size);
    try yesNo(writer, "ECC enabled", device.ecc_enabled);
    try yesNo(writer, "Integrated", device.integrated);
    try yesNo(writer, "Unified addressing", device.unified_addressing);
    try yesNo(writer, "Concurrent kernels", device.concurrent_kernels);
    try yesNo(writer, "Cooperative launch", device.cooperative_launch);
    try yesNo(writer, "Tensor cores", device.has_tensor_cores);
    try writer.flush();
}

fn line(
    writer: *std.Io.Writer,
    title: []const u8,
    comptime format: []const u8,
    arguments: anytype,
) std.Io.Writer.Error!void {
    try writer.print("  {s}: ", .{title});
    try writer.print(format ++ "\n", arguments);
}

fn dimensions(
    writer: *std.Io.Writer,
    title: []const u8,
    sizes: [3]u32,
) std.Io.Writer.Error!void {
    try line(writer, title, "{d} x {d} x {d}", .{ sizes[0], sizes[1], sizes[2] });
}

fn optional(
    writer: *std.Io.Writer,
    title: []const u8,
    unit: []const u8,
    value: anytype,
) std.Io.Writer.Error!void {
    if (value) |found| return line(writer, title, "{d}{s}", .{ found, unit });
    try line(writer, title, "unknown", .{});
}

fn yesNo(writer: *std.Io.Writer, title: []const u8, value: ?bool) std.Io.Writer.Error!void {
    const text = if (value) |is| (if (is) "yes" else "no") else "unknown";
    try line(writer, title, "{s}", .{text});
}
