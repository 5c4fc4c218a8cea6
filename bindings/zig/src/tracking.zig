//! Tracking of allocations. Methods of `Context`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const Context = @import("context.zig").Context;

/// The amount of tracking.
pub const Tracking = enum(u32) {
    off = c.KM_TRACKING_OFF,
    /// Size, time and tag of each allocation.
    on = c.KM_TRACKING_ON,
    /// The place in the program, too.
    stacks = c.KM_TRACKING_ON | c.KM_TRACKING_STACKS,
};

/// An allocation that is alive; `kind` is an `AllocationKind` by number, texts by `km.text`.
pub const Allocation = c.km_allocation_info;

/// The call that made an allocation.
pub const AllocationKind = enum(i32) {
    unknown = c.KM_ALLOCATION_UNKNOWN,
    device = c.KM_ALLOCATION_DEVICE,
    pool = c.KM_ALLOCATION_POOL,
    host = c.KM_ALLOCATION_HOST,
    foreign = c.KM_ALLOCATION_FOREIGN,
    file = c.KM_ALLOCATION_FILE,
    _,
};

/// Tracks allocations from now on; those before are not. Allocations that are alive when the last
/// handle of the context goes are logged as a warning. C: km_context_set_tracking.
pub fn setTracking(context: Context, tracking: Tracking) errors.Error!void {
    const got = c.km_context_set_tracking(context.handle, @intFromEnum(tracking));
    try errors.check(got, context.diagnostics);
}

/// The tracked allocations that are alive, in the order in which they were made; the caller's to
/// free. C: km_context_allocations.
pub fn allocations(
    context: Context,
    allocator: std.mem.Allocator,
) errors.AllocatingError![]Allocation {
    const call = c.km_context_allocations;
    return errors.copyItems(Allocation, allocator, context.diagnostics, call, context.handle);
}

/// The place where an allocation was made, one line per frame, the innermost first; empty without
/// `.stacks`. The caller's to free. error.NotFound when no live allocation has this id. C:
/// km_context_allocation_stack.
pub fn allocationStack(
    context: Context,
    allocator: std.mem.Allocator,
    allocation_id: u64,
) errors.AllocatingError![:0]u8 {
    const arguments = .{ context.handle, allocation_id };
    const call = c.km_context_allocation_stack;
    return errors.copyText(allocator, context.diagnostics, call, arguments);
}
