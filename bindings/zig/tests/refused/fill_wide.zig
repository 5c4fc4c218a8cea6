//! Devices do not fill with 8 bytes.
const km = @import("kernelmill");

export fn wrong(slice: *const km.Slice(u64), stream: *const km.Stream) void {
    slice.fill(stream.*, 1) catch {};
}
