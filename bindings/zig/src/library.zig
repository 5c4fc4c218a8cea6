//! The library itself: its version, its build, and where it takes host memory from.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;

/// Version, build id and compiler of a library; texts by `km.text`.
pub const BuildInfo = c.km_build_info;

/// The version of the library in use, which may be newer than the header that this package was
/// built with. C: km_version.
pub fn version() Error!std.SemanticVersion {
    var major: u32 = 0;
    var minor: u32 = 0;
    var patch: u32 = 0;
    try check(c.km_version(&major, &minor, &patch), null);
    return .{ .major = major, .minor = minor, .patch = patch };
}

/// Version, build id and compiler of the library in use. C: km_build_info_get.
pub fn buildInfo() Error!BuildInfo {
    var info = errors.sized(BuildInfo);
    try check(c.km_build_info_get(&info), null);
    return info;
}

/// The library takes its own host memory (objects, queues, texts; neither device memory nor stacks)
/// from `allocator` from now on, which any thread may use and which has to work until the process
/// ends; null: from malloc again. Memory that was allocated before goes back to where it came from.
/// The allocator may make no call of this library. error.NotSupported when the library was built
/// with a sanitizer. C: km_set_allocator.
pub fn setAllocator(allocator: ?*const std.mem.Allocator, diagnostics: ?*Diagnostics) Error!void {
    const given = allocator orelse
        return check(c.km_set_allocator(null, null, null), diagnostics);
    const user_data: *anyopaque = @ptrCast(@constCast(given));
    try check(c.km_set_allocator(allocate, release, user_data), diagnostics);
}

const alignment: std.mem.Alignment = .@"16";

/// The size of a block stands before it, because the library frees without giving it.
const Header = extern struct { size_bytes: u64 align(16) };

fn allocate(
    user_data: ?*anyopaque,
    size_bytes: u64,
    flags: c.km_host_allocation_flags,
) callconv(.c) ?*anyopaque {
    _ = flags;
    const allocator: *const std.mem.Allocator = @ptrCast(@alignCast(user_data.?));
    const total = std.math.add(usize, @intCast(size_bytes), @sizeOf(Header)) catch return null;
    const block = allocator.rawAlloc(total, alignment, @returnAddress()) orelse return null;
    const header: *Header = @ptrCast(@alignCast(block));
    header.size_bytes = total;
    return block + @sizeOf(Header);
}

fn release(user_data: ?*anyopaque, pointer: ?*anyopaque) callconv(.c) void {
    const allocator: *const std.mem.Allocator = @ptrCast(@alignCast(user_data.?));
    const first: [*]u8 = @ptrCast(pointer orelse return);
    const block = first - @sizeOf(Header);
    const header: *const Header = @ptrCast(@alignCast(block));
    allocator.rawFree(block[0..@intCast(header.size_bytes)], alignment, @returnAddress());
}
