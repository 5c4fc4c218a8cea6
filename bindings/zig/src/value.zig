//! Numbers in memory that streams write and wait for. Methods of `Stream`.
const c = @import("c");
const errors = @import("errors.zig");
const Slice = @import("memory.zig").Slice;
const Stream = @import("stream.zig").Stream;

/// The condition that a stream waits for.
pub const WaitCondition = enum(i32) {
    /// Round: the difference, as a signed number, is 0 or more.
    greater_equal = c.KM_WAIT_CONDITION_GREATER_EQUAL,
    equal = c.KM_WAIT_CONDITION_EQUAL,
    /// A bit is 1 in both.
    bit_and = c.KM_WAIT_CONDITION_AND,
    /// A bit is 0 in both.
    bit_nor = c.KM_WAIT_CONDITION_NOR,
    _,
};

fn bitsOf(comptime T: type, value: T) u64 {
    return switch (T) {
        u32, u64 => value,
        i32 => @as(u32, @bitCast(value)),
        i64 => @bitCast(value),
        else => @compileError("streams write and wait for u32, i32, u64 and i64, not " ++
            @typeName(T)),
    };
}

/// Writes `value` to the element of this index, once all work queued before is done. C:
/// km_stream_write_value.
pub fn writeValue(
    stream: Stream,
    comptime T: type,
    slice: Slice(T),
    index: u64,
    value: T,
) errors.Error!void {
    const offset = index *| @sizeOf(T);
    const bits = bitsOf(T, value);
    const call = c.km_stream_write_value;
    const got = call(stream.handle, slice.handle, offset, bits, @sizeOf(T));
    try errors.check(got, stream.diagnostics);
}

/// Work queued from now on waits until the element of this index meets the condition with `value`:
/// until the host, another stream or a kernel has written it. A wait that nobody ends keeps the
/// stream for ever. C: km_stream_wait_value.
pub fn waitValue(
    stream: Stream,
    comptime T: type,
    slice: Slice(T),
    index: u64,
    condition: WaitCondition,
    value: T,
) errors.Error!void {
    const offset = index *| @sizeOf(T);
    const bits = bitsOf(T, value);
    const call = c.km_stream_wait_value;
    const kind: c.km_wait_condition = @intFromEnum(condition);
    const got = call(stream.handle, slice.handle, offset, kind, bits, @sizeOf(T));
    try errors.check(got, stream.diagnostics);
}
