//! Pointers of the host mean nothing on a device, also inside structures and arrays of those.
const km = @import("kernelmill");

const Inner = extern struct { next: *u32 };
const Node = extern struct { value: u32, inners: [2]Inner };

export fn wrong(context: *const km.Context) void {
    _ = km.Slice(Node).init(context.*, 1) catch {};
}
