//! The checker of a context. Methods of `Context`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const Context = @import("context.zig").Context;

/// A defect that the checker has found; texts by `km.text`.
pub const Finding = c.km_finding;

/// The checker's tools.
pub const Check = packed struct(u32) {
    memory: bool = false,
    init: bool = false,
    race: bool = false,
    sync: bool = false,
    streams: bool = false,
    leak: bool = false,
    _6: u2 = 0,
    /// Races whose writes store one value are findings, too.
    same_value: bool = false,
    _9: u23 = 0,

    pub const off: Check = .{};
    /// All tools, also those of later versions.
    pub const all: Check = @bitCast(@as(u32, c.KM_CHECK_ALL));
};

/// Selects the tools for later launches, and calls `callback(data, finding)` with at most `limit`
/// findings (0: all), on any thread, one call at a time. `data` has to stay until another one is set
/// or the context is gone. The callback may not make calls that wait. C: km_context_set_check.
pub fn setCheck(
    context: Context,
    tools: Check,
    limit: u64,
    comptime Data: type,
    data: *Data,
    comptime callback: fn (data: *Data, finding: *const Finding) void,
) errors.Error!void {
    const wrapper = struct {
        fn call(user_data: ?*anyopaque, finding: [*c]const Finding) callconv(.c) void {
            callback(@ptrCast(@alignCast(user_data.?)), finding);
        }
    };
    const flags: u32 = @bitCast(tools);
    const got = c.km_context_set_check(context.handle, flags, limit, wrapper.call, data);
    try errors.check(got, context.diagnostics);
}

/// Selects the tools, whose findings are printed on standard error. C: km_context_set_check.
pub fn setCheckPrinted(context: Context, tools: Check) errors.Error!void {
    const got = c.km_context_set_check(context.handle, @bitCast(tools), 0, null, null);
    try errors.check(got, context.diagnostics);
}
