//! The failures of the calls of a context: the latest, and how many there were. Methods of
//! `Context`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const Context = @import("context.zig").Context;

/// Failures of one call for one reason; texts by `km.text`.
pub const ErrorRecord = c.km_error_record;

/// The number of times that a status occurred.
pub const ErrorCount = c.km_error_count;

/// The latest failures, at most 64, the newest first; the caller's to free. A reset keeps them. C:
/// km_context_error_history.
pub fn errorHistory(
    context: Context,
    allocator: std.mem.Allocator,
) errors.AllocatingError![]ErrorRecord {
    const call = c.km_context_error_history;
    return errors.copyItems(ErrorRecord, allocator, context.diagnostics, call, context.handle);
}

/// The number of failures of each status that occurred, in the order of their values; the caller's
/// to free. C: km_context_error_counts.
pub fn errorCounts(
    context: Context,
    allocator: std.mem.Allocator,
) errors.AllocatingError![]ErrorCount {
    const call = c.km_context_error_counts;
    return errors.copyItems(ErrorCount, allocator, context.diagnostics, call, context.handle);
}

/// Forgets history and counts; the error of `Context.status` stays. C:
/// km_context_clear_error_history.
pub fn clearErrorHistory(context: Context) errors.Error!void {
    try errors.check(c.km_context_clear_error_history(context.handle), context.diagnostics);
}
