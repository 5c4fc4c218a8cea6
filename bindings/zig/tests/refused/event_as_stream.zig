//! An event is no stream.
const km = @import("kernelmill");

export fn wrong(slice: *const km.Slice(f32), event: *const km.Event) void {
    slice.fill(event.*, 1) catch {};
}
