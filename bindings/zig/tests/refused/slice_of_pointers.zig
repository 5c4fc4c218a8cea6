//! Pointers of the host mean nothing on a device.
const km = @import("kernelmill");

export fn wrong(context: *const km.Context) void {
    _ = km.Slice(*u32).init(context.*, 1) catch {};
}
