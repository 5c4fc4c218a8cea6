//! A slice of floats takes floats.
const km = @import("kernelmill");

export fn wrong(slice: *const km.Slice(f32), stream: *const km.Stream) void {
    slice.upload(stream.*, &[_]u32{1}) catch {};
}
