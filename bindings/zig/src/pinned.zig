//! Host memory that copies are asynchronous from and to.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const memory_file = @import("memory.zig");

/// Page-locked host memory: `items` is what the host works on, valid until deinit. Copies keep the
/// memory until they are done.
pub fn HostMemory(comptime T: type) type {
    memory_file.requirePlain(T);
    return struct {
        handle: c.km_host_memory,
        items: []T,

        const Self = @This();

        /// New memory for `count` elements. C: km_host_memory_create.
        pub fn init(context: Context, count: usize) Error!Self {
            var handle: c.km_host_memory = undefined;
            const size: u64 = count *| @sizeOf(T);
            const flags: c.km_host_memory_flags = c.KM_HOST_MEMORY_DEFAULT;
            const created = c.km_host_memory_create(context.handle, size, flags, &handle);
            try check(created, context.diagnostics);
            return fromHandle(handle, context.diagnostics);
        }

        /// Makes the caller's own memory page-locked; it has to stay mapped until deinit and the
        /// end of the work that uses it. C: km_host_memory_register.
        pub fn register(context: Context, elements: []T) Error!Self {
            var handle: c.km_host_memory = undefined;
            const pointer: *anyopaque = @ptrCast(elements.ptr);
            const size: u64 = elements.len * @sizeOf(T);
            const flags: c.km_host_memory_flags = c.KM_HOST_MEMORY_DEFAULT;
            const call = c.km_host_memory_register;
            try check(call(context.handle, pointer, size, flags, &handle), context.diagnostics);
            return .{ .handle = handle, .items = elements };
        }

        /// A handle from elsewhere, which is taken over, even on failure.
        fn fromHandle(handle: c.km_host_memory, diagnostics: ?*Diagnostics) Error!Self {
            errdefer _ = c.km_host_memory_destroy(handle);
            const bytes = try bytesOf(handle, diagnostics);
            if (bytes.len % @sizeOf(T) != 0 or @intFromPtr(bytes.ptr) % @alignOf(T) != 0) {
                const text = "{d} bytes at 0x{x} are no elements of " ++ @typeName(T);
                return errors.refuse(diagnostics, text, .{ bytes.len, @intFromPtr(bytes.ptr) });
            }
            const first: [*]T = @ptrCast(@alignCast(bytes.ptr));
            return .{ .handle = handle, .items = first[0 .. bytes.len / @sizeOf(T)] };
        }

        /// Drops the memory after its last use, or lets registered memory go. C:
        /// km_host_memory_destroy.
        pub fn deinit(memory: Self) void {
            _ = c.km_host_memory_destroy(memory.handle);
        }
    };
}

/// A part of a file as host memory, for the host to read and as source of copies; not page-locked.
/// The host's own access raises SIGBUS when the file has become shorter.
pub fn MappedFile(comptime T: type) type {
    memory_file.requirePlain(T);
    return struct {
        memory: HostMemory(T),
        items: []const T,

        const Self = @This();

        /// `count` elements from `offset_bytes` on; null: to the end of the file, which has to end
        /// with a whole element. C: km_host_memory_map_file.
        pub fn open(
            context: Context,
            path: [:0]const u8,
            offset_bytes: u64,
            count: ?u64,
        ) Error!Self {
            var handle: c.km_host_memory = undefined;
            const all = std.math.maxInt(u64);
            const size = if (count) |wanted| wanted *| @sizeOf(T) else all;
            const flags: c.km_map_flags = c.KM_MAP_READ_ONLY;
            const map = c.km_host_memory_map_file;
            const got = map(context.handle, path.ptr, offset_bytes, size, flags, &handle);
            try check(got, context.diagnostics);
            const memory = try HostMemory(T).fromHandle(handle, context.diagnostics);
            return .{ .memory = memory, .items = memory.items };
        }

        /// Drops the mapping after its last use.
        pub fn deinit(file: Self) void {
            file.memory.deinit();
        }
    };
}

/// The bytes behind a handle. C: km_host_memory_pointer, km_host_memory_size_bytes.
fn bytesOf(handle: c.km_host_memory, diagnostics: ?*Diagnostics) Error![]u8 {
    var pointer: ?*anyopaque = null;
    var size: u64 = 0;
    try check(c.km_host_memory_pointer(handle, &pointer), diagnostics);
    try check(c.km_host_memory_size_bytes(handle, &size), diagnostics);
    const first: [*]u8 = @ptrCast(pointer orelse return &.{});
    return first[0..@intCast(size)];
}

test HostMemory {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const host = try HostMemory(u32).init(context, 16);
    defer host.deinit();
    @memset(host.items, 5); // a copy from it is asynchronous
}
