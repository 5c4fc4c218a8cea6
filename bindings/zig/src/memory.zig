//! Slices: device memory, typed.
const std = @import("std");
const c = @import("c");
const device_type = @import("device_type.zig");
const ElementType = device_type.ElementType;
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const reflect = @import("reflect.zig");
const rows = @import("rows.zig");
const Stream = @import("stream.zig").Stream;

/// The address and sizes of a slice.
pub const SliceInfo = c.km_slice_info;

/// The way in which a file is mapped.
pub const MapMode = enum(u32) {
    /// Calls that would write are refused, and kernels that write fail with error.IllegalAddress.
    read_only = c.KM_MAP_READ_ONLY,
    /// Writable; the file never changes.
    private = c.KM_MAP_PRIVATE,
};

/// Fails the compilation for what means nothing on a device: pointers, and what has no fixed
/// layout.
pub fn requirePlain(comptime T: type) void {
    if (@sizeOf(T) == 0) @compileError(@typeName(T) ++ " has no bytes");
    switch (@typeInfo(T)) {
        .int, .float, .bool, .@"enum" => {},
        .array => |array| requirePlain(array.child),
        .vector => |vector| requirePlain(vector.child),
        .@"struct", .@"union" => {
            if (reflect.layoutOf(T) == .auto) refuse(T);
            for (reflect.fieldTypes(T)) |Field| if (@sizeOf(Field) != 0) requirePlain(Field);
        },
        else => refuse(T),
    }
}

fn refuse(comptime T: type) noreturn {
    @compileError("devices know only plain data (numbers, arrays, extern or packed structs), " ++
        "not " ++ @typeName(T));
}

/// The bits of an element that devices can fill with.
pub fn FillBits(comptime T: type) type {
    return switch (@sizeOf(T)) {
        1 => u8,
        2 => u16,
        4 => u32,
        else => @compileError("devices fill with 1, 2 or 4 bytes, not " ++ @typeName(T) ++
            ": upload the elements"),
    };
}

/// A handle over elements of any size as a slice of bytes, which takes it over.
pub fn sliceOfBytes(handle: c.km_slice, diagnostics: ?*Diagnostics) Error!Slice(u8) {
    var info = errors.sized(SliceInfo);
    try check(c.km_slice_info_get(handle, &info), diagnostics);
    const count: usize = @intCast(info.size_bytes);
    return .{ .handle = handle, .len = count, .diagnostics = diagnostics };
}

/// Part of a slice: memory that it shares and keeps. Has all that a slice has.
pub const View = Slice;

/// Device memory for a number of elements.
pub fn Slice(comptime T: type) type {
    requirePlain(T);
    return struct {
        handle: c.km_slice,
        len: usize,
        diagnostics: ?*Diagnostics = null,

        const Self = @This();
        pub const Element = T;

        const Rows = rows.Methods(Self);
        pub const uploadRows = Rows.uploadRows;
        pub const downloadRows = Rows.downloadRows;
        pub const copyRowsFrom = Rows.copyRowsFrom;
        pub const fillRows = Rows.fillRows;

        /// Holds anything at first, and can be used on every stream at once. C: km_slice_create.
        pub fn init(context: Context, count: usize) Error!Self {
            return initFlags(context, count, c.KM_SLICE_DEFAULT);
        }

        /// Holds zeros.
        pub fn initZeroed(context: Context, count: usize) Error!Self {
            return initFlags(context, count, c.KM_SLICE_ZEROED);
        }

        /// Host and device share the memory, which `hostElements` gives. error.NotSupported when
        /// the device has no such memory.
        pub fn initManaged(context: Context, count: usize) Error!Self {
            return initFlags(context, count, c.KM_SLICE_MANAGED);
        }

        /// The address is a multiple of `alignment_bytes`, a power of two. C:
        /// km_slice_create_aligned.
        pub fn initAligned(context: Context, count: usize, alignment_bytes: u64) Error!Self {
            var handle: c.km_slice = undefined;
            const create = c.km_slice_create_aligned;
            const flags: c.km_slice_flags = c.KM_SLICE_DEFAULT;
            const size = @sizeOf(T);
            const got = create(context.handle, count, size, alignment_bytes, flags, &handle);
            try check(got, context.diagnostics);
            return typed(handle, count, context.diagnostics);
        }

        /// A part of a file, without reading it: pages are read when they are used, so that the
        /// file may be larger than memory. `count` null: all elements from `offset_bytes` on. C:
        /// km_slice_map_file.
        pub fn mapFile(
            context: Context,
            path: [:0]const u8,
            offset_bytes: u64,
            count: ?u64,
            mode: MapMode,
        ) Error!Self {
            var handle: c.km_slice = undefined;
            const map = c.km_slice_map_file;
            const wanted = count orelse std.math.maxInt(u64);
            const flags: c.km_map_flags = @intFromEnum(mode);
            const size = @sizeOf(T);
            const got = map(context.handle, path.ptr, offset_bytes, wanted, size, flags, &handle);
            try check(got, context.diagnostics);
            errdefer _ = c.km_slice_destroy(handle);
            return fromHandle(handle, context.diagnostics);
        }

        fn initFlags(context: Context, count: usize, flags: c.km_slice_flags) Error!Self {
            var handle: c.km_slice = undefined;
            const got = c.km_slice_create(context.handle, count, @sizeOf(T), flags, &handle);
            try check(got, context.diagnostics);
            return typed(handle, count, context.diagnostics);
        }

        /// Can be used by work that is queued in the stream afterwards.
        pub fn initOnStream(stream: Stream, count: usize) Error!Self {
            var handle: c.km_slice = undefined;
            const flags: c.km_slice_flags = c.KM_SLICE_DEFAULT;
            const create = c.km_slice_create_on_stream;
            const got = create(stream.handle, count, @sizeOf(T), flags, &handle);
            try check(got, stream.diagnostics);
            return typed(handle, count, stream.diagnostics);
        }

        /// With a copy of `elements`.
        pub fn initCopy(context: Context, stream: Stream, elements: []const T) Error!Self {
            const slice = try init(context, elements.len);
            errdefer slice.deinit();
            try slice.upload(stream, elements);
            return slice;
        }

        /// The caller's own memory, not copied where the device can reach it; it must stay until
        /// the slice, its views and the work on them are gone.
        pub fn fromHost(context: Context, elements: []T) Error!Self {
            var handle: c.km_slice = undefined;
            const wrap = c.km_slice_from_host;
            const pointer: *anyopaque = @ptrCast(elements.ptr);
            const count: u64 = elements.len;
            const got = wrap(context.handle, pointer, count, @sizeOf(T), null, null, &handle);
            try check(got, context.diagnostics);
            return typed(handle, elements.len, context.diagnostics);
        }

        /// Like `fromHost`; `release(data)` is called once, when neither handles nor work use the
        /// memory any more, perhaps on a thread of the library; not when this call fails.
        pub fn fromHostWithRelease(
            context: Context,
            elements: []T,
            comptime Data: type,
            data: *Data,
            comptime release: fn (data: *Data) void,
        ) Error!Self {
            const wrapper = struct {
                fn call(user_data: ?*anyopaque) callconv(.c) void {
                    release(@ptrCast(@alignCast(user_data.?)));
                }
            };
            var handle: c.km_slice = undefined;
            const wrap = c.km_slice_from_host;
            const pointer: *anyopaque = @ptrCast(elements.ptr);
            const count: u64 = elements.len;
            const size = @sizeOf(T);
            const got = wrap(context.handle, pointer, count, size, wrapper.call, data, &handle);
            try check(got, context.diagnostics);
            return typed(handle, elements.len, context.diagnostics);
        }

        /// A handle from elsewhere, which the slice takes over.
        pub fn fromHandle(handle: c.km_slice, diagnostics: ?*Diagnostics) Error!Self {
            var found = errors.sized(SliceInfo);
            try check(c.km_slice_info_get(handle, &found), diagnostics);
            const has_units = @sizeOf(T) % @max(found.element_size_bytes, 1) == 0;
            if (!has_units or found.size_bytes % @sizeOf(T) != 0) {
                const text = "{d} bytes in elements of {d} are no slice of " ++ @typeName(T);
                const sizes = .{ found.size_bytes, found.element_size_bytes };
                return errors.refuse(diagnostics, text, sizes);
            }
            const count = found.size_bytes / @sizeOf(T);
            return typed(handle, @intCast(count), diagnostics);
        }

        /// A handle of `count` elements of this type, which launches check from now on.
        pub fn typed(handle: c.km_slice, count: usize, diagnostics: ?*Diagnostics) Self {
            device_type.setDeviceType(T, handle);
            return .{ .handle = handle, .len = count, .diagnostics = diagnostics };
        }

        /// Drops the handle; the memory goes when no view is left and its last use is over. C:
        /// km_slice_destroy.
        pub fn deinit(slice: Self) void {
            _ = c.km_slice_destroy(slice.handle);
        }

        /// The memory is freed no sooner than the work queued in the stream so far is done.
        pub fn deinitOnStream(slice: Self, stream: Stream) Error!void {
            const got = c.km_slice_destroy_on_stream(slice.handle, stream.handle);
            try check(got, slice.diagnostics);
        }

        /// This slice, with another place for failures.
        pub fn reporting(slice: Self, diagnostics: ?*Diagnostics) Self {
            return .{ .handle = slice.handle, .len = slice.len, .diagnostics = diagnostics };
        }

        /// A part, to be given to `deinit` as well.
        pub fn view(slice: Self, first: usize, count: usize) Error!View(T) {
            const about = try slice.info();
            // Slices of other origin may have smaller elements; one of bytes, larger ones.
            if (about.element_size_bytes > @sizeOf(T)) {
                const text = "elements of {d} bytes have no views as " ++ @typeName(T);
                return errors.refuse(slice.diagnostics, text, .{about.element_size_bytes});
            }
            const units: u64 = @sizeOf(T) / @max(about.element_size_bytes, 1);
            var handle: c.km_slice = undefined;
            const got = c.km_slice_view(slice.handle, first *| units, count *| units, &handle);
            try check(got, slice.diagnostics);
            return .{ .handle = handle, .len = count, .diagnostics = slice.diagnostics };
        }

        /// Address, size, element size, and whether it is a view. C: km_slice_info_get.
        pub fn info(slice: Self) Error!SliceInfo {
            var found = errors.sized(SliceInfo);
            try check(c.km_slice_info_get(slice.handle, &found), slice.diagnostics);
            return found;
        }

        /// A name for the allocation, for listings and reports; copied. error.NotFound when the
        /// allocation is not tracked. C: km_slice_set_tag.
        pub fn setTag(slice: Self, tag: [:0]const u8) Error!void {
            try check(c.km_slice_set_tag(slice.handle, tag.ptr), slice.diagnostics);
        }

        /// Says of which type of CUDA C++ the elements are, if it is not `deviceTypeOf(T)`.
        /// `lanes` is 2 to 4 for a vector such as float4, else 1; `name` is that of a named type.
        /// `.unknown` with 0 lanes ends the check. C: km_slice_set_element_type.
        pub fn setElementType(
            slice: Self,
            element: ElementType,
            lanes: u32,
            type_name: ?[:0]const u8,
        ) Error!void {
            const text: ?[*:0]const u8 = if (type_name) |given| given.ptr else null;
            const kind: c.km_element_type = @intFromEnum(element);
            const got = c.km_slice_set_element_type(slice.handle, kind, lanes, text);
            try check(got, slice.diagnostics);
        }

        /// The device address of the first element. C: km_slice_address.
        pub fn address(slice: Self) Error!u64 {
            var found: u64 = undefined;
            try check(c.km_slice_address(slice.handle, &found), slice.diagnostics);
            return found;
        }

        /// The memory itself, where device memory is host memory.
        pub fn hostElements(slice: Self) Error![]T {
            var pointer: ?*anyopaque = null;
            try check(c.km_slice_host_pointer(slice.handle, &pointer), slice.diagnostics);
            const first = pointer orelse return &.{};
            if (@intFromPtr(first) % @alignOf(T) != 0) {
                const text = "address 0x{x} is not aligned for " ++ @typeName(T);
                return errors.refuse(slice.diagnostics, text, .{@intFromPtr(first)});
            }
            return @as([*]T, @ptrCast(@alignCast(first)))[0..slice.len];
        }

        /// From the host to the first elements. `HostMemory` must stay unchanged until the stream
        /// got there; any other has been read when the call returns.
        pub fn upload(slice: Self, stream: Stream, source: []const T) Error!void {
            return slice.uploadAt(stream, 0, source);
        }

        /// Like `upload`, to the elements from `first` on. C: km_slice_upload.
        pub fn uploadAt(slice: Self, stream: Stream, first: usize, source: []const T) Error!void {
            const offset: u64 = first *| @sizeOf(T);
            const size: u64 = source.len * @sizeOf(T);
            const got = c.km_slice_upload(stream.handle, slice.handle, offset, source.ptr, size);
            try check(got, slice.diagnostics);
        }

        /// To the host from the first elements. `HostMemory` is written when the stream gets
        /// there; any other has been written when the call returns.
        pub fn download(slice: Self, stream: Stream, destination: []T) Error!void {
            return slice.downloadAt(stream, 0, destination);
        }

        /// Like `download`, from the elements from `first` on. C: km_slice_download.
        pub fn downloadAt(slice: Self, stream: Stream, first: usize, destination: []T) Error!void {
            const offset: u64 = first *| @sizeOf(T);
            const size: u64 = destination.len * @sizeOf(T);
            const to = destination.ptr;
            const got = c.km_slice_download(stream.handle, slice.handle, offset, to, size);
            try check(got, slice.diagnostics);
        }

        /// From `source`, all of it, to the elements from `first` on.
        pub fn copyFrom(slice: Self, stream: Stream, first: usize, source: Self) Error!void {
            const offset: u64 = first *| @sizeOf(T);
            const size: u64 = source.len *| @sizeOf(T);
            const copy = c.km_slice_copy;
            const got = copy(stream.handle, slice.handle, offset, source.handle, 0, size);
            try check(got, slice.diagnostics);
        }

        /// Like `copyFrom`, from a slice that may belong to another context and device of the
        /// backend, with or without peer access. Events order it after other streams. C:
        /// km_slice_copy_peer.
        pub fn copyFromPeer(slice: Self, stream: Stream, first: usize, source: Self) Error!void {
            const offset: u64 = first *| @sizeOf(T);
            const size: u64 = source.len *| @sizeOf(T);
            const copy = c.km_slice_copy_peer;
            const got = copy(stream.handle, slice.handle, offset, source.handle, 0, size);
            try check(got, slice.diagnostics);
        }

        /// Every element the same; elements of 1, 2 or 4 bytes.
        pub fn fill(slice: Self, stream: Stream, value: T) Error!void {
            const Bits = FillBits(T);
            const call = switch (Bits) {
                u8 => c.km_slice_fill_u8,
                u16 => c.km_slice_fill_u16,
                else => c.km_slice_fill_u32,
            };
            const bits = std.mem.bytesToValue(Bits, std.mem.asBytes(&value));
            try check(call(stream.handle, slice.handle, 0, bits, slice.len), slice.diagnostics);
        }
    };
}

test Slice {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const slice = try Slice(f32).initCopy(context, stream, &.{ 1, 2, 3 });
    defer slice.deinit();
    const tail = try slice.view(1, 2);
    defer tail.deinit();
    try tail.fill(stream, 7);
    var back: [3]f32 = undefined;
    try slice.download(stream, &back);
    try std.testing.expectEqualSlices(f32, &.{ 1, 7, 7 }, &back);
}
