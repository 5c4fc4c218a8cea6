//! A number without a type has no size.
const km = @import("kernelmill");

export fn wrong(launch: *const km.Launch) void {
    launch.addArgument(1) catch {};
}
