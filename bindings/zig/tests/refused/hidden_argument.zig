//! Pointers of the host are no arguments, also inside structures.
const km = @import("kernelmill");

const Node = extern struct { next: ?*u32, value: u64 };

export fn wrong(stream: *const km.Stream, function: *const km.Function) void {
    stream.launch(function.*, .{}, .{Node{ .next = null, .value = 0 }}) catch {};
}
