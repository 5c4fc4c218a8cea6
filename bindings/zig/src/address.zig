//! Raw device addresses: copies and fills without a slice.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Error = errors.Error;
const FillBits = @import("memory.zig").FillBits;
const Slice = @import("memory.zig").Slice;
const RowCopy = @import("rows.zig").RowCopy;
const Stream = @import("stream.zig").Stream;

/// A device address: an argument of kernels, and the beginning of copies and fills, which are
/// checked against the allocation that holds it. Keeping that memory is the caller's business.
/// Failures are reported to the diagnostics of the stream.
pub const DeviceAddress = struct {
    value: u64,

    /// The address `size_bytes` further.
    pub fn offset(address: DeviceAddress, size_bytes: u64) DeviceAddress {
        return .{ .value = address.value +% size_bytes };
    }

    /// From the host; blocks as `Slice.upload` does. C: km_memory_upload.
    pub fn upload(address: DeviceAddress, stream: Stream, source: []const u8) Error!void {
        const got = c.km_memory_upload(stream.handle, address.value, source.ptr, source.len);
        try check(got, stream.diagnostics);
    }

    /// To the host; blocks as `Slice.download` does. C: km_memory_download.
    pub fn download(address: DeviceAddress, stream: Stream, destination: []u8) Error!void {
        const to = destination.ptr;
        const got = c.km_memory_download(stream.handle, address.value, to, destination.len);
        try check(got, stream.diagnostics);
    }

    /// From another address of the context. C: km_memory_copy.
    pub fn copyFrom(
        address: DeviceAddress,
        stream: Stream,
        source: DeviceAddress,
        size_bytes: u64,
    ) Error!void {
        const got = c.km_memory_copy(stream.handle, address.value, source.value, size_bytes);
        try check(got, stream.diagnostics);
    }

    /// From an address of context `source_context` to this one, of `context`. C:
    /// km_memory_copy_peer.
    pub fn copyFromPeer(
        address: DeviceAddress,
        stream: Stream,
        context: Context,
        source_context: Context,
        source: DeviceAddress,
        size_bytes: u64,
    ) Error!void {
        const to = context.handle;
        const from = source_context.handle;
        const copy = c.km_memory_copy_peer;
        const got = copy(stream.handle, to, address.value, from, source.value, size_bytes);
        try check(got, stream.diagnostics);
    }

    /// Writes a value of 1, 2 or 4 bytes `count` times. C: km_memory_fill_u8, km_memory_fill_u16,
    /// km_memory_fill_u32.
    pub fn fill(
        address: DeviceAddress,
        stream: Stream,
        comptime T: type,
        value: T,
        count: u64,
    ) Error!void {
        const Bits = FillBits(T);
        const call = switch (Bits) {
            u8 => c.km_memory_fill_u8,
            u16 => c.km_memory_fill_u16,
            else => c.km_memory_fill_u32,
        };
        const bits = std.mem.bytesToValue(Bits, std.mem.asBytes(&value));
        try check(call(stream.handle, address.value, bits, count), stream.diagnostics);
    }

    /// Rows from the host, of which `source` is the first byte: all that the copy reads has to be
    /// there. C: km_memory_upload_3d.
    pub fn uploadRows(
        address: DeviceAddress,
        stream: Stream,
        source: [*]const u8,
        copy: RowCopy,
    ) Error!void {
        const raw = copy.raw();
        const got = c.km_memory_upload_3d(stream.handle, address.value, source, &raw);
        try check(got, stream.diagnostics);
    }

    /// Rows to the host, of which `destination` is the first byte: all that the copy writes has to
    /// be there. C: km_memory_download_3d.
    pub fn downloadRows(
        address: DeviceAddress,
        stream: Stream,
        destination: [*]u8,
        copy: RowCopy,
    ) Error!void {
        const raw = copy.raw();
        const got = c.km_memory_download_3d(stream.handle, address.value, destination, &raw);
        try check(got, stream.diagnostics);
    }

    /// Rows from another address of the context. C: km_memory_copy_3d.
    pub fn copyRowsFrom(
        address: DeviceAddress,
        stream: Stream,
        source: DeviceAddress,
        copy: RowCopy,
    ) Error!void {
        const raw = copy.raw();
        const got = c.km_memory_copy_3d(stream.handle, address.value, source.value, &raw);
        try check(got, stream.diagnostics);
    }

    /// Writes `value` to `width` elements of each of `height` rows that begin `pitch_bytes` apart
    /// (0: no gap). C: km_memory_fill_2d.
    pub fn fillRows(
        address: DeviceAddress,
        stream: Stream,
        pitch_bytes: u64,
        comptime T: type,
        value: T,
        width: u64,
        height: u64,
    ) Error!void {
        const bits: u32 = std.mem.bytesToValue(FillBits(T), std.mem.asBytes(&value));
        const call = c.km_memory_fill_2d;
        const place = address.value;
        const size = @sizeOf(T);
        const got = call(stream.handle, place, pitch_bytes, bits, size, width, height);
        try check(got, stream.diagnostics);
    }
};

test DeviceAddress {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const slice = try Slice(u8).initZeroed(context, 8);
    defer slice.deinit();
    const address: DeviceAddress = .{ .value = try slice.address() };
    try address.offset(4).fill(stream, u8, 1, 4);
    var back: [8]u8 = undefined;
    try address.download(stream, &back);
    try std.testing.expectEqualSlices(u8, &.{ 0, 0, 0, 0, 1, 1, 1, 1 }, &back);
}
