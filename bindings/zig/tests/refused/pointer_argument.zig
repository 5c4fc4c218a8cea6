//! A host pointer is no argument of a kernel.
const km = @import("kernelmill");

export fn wrong(launch: *const km.Launch, host: *f32) void {
    launch.addArgument(host) catch {};
}
