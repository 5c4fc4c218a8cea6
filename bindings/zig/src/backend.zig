//! Backends, and the choice that "auto" makes between them.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const AllocatingError = errors.AllocatingError;
const Diagnostics = errors.Diagnostics;
const Status = errors.Status;

/// A backend of this build: its name, its number of devices, and the reason when it is not usable
/// here. Texts by `km.text`.
pub const Backend = c.km_backend_info;

/// The backends of this build, usable here or not; the caller's to free. Loads them, which takes
/// milliseconds. C: km_backend_count, km_backend_info_get.
pub fn backends(
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
) AllocatingError![]Backend {
    return all(Backend, allocator, diagnostics, c.km_backend_count, c.km_backend_info_get);
}

/// A candidate of "auto": its URI, its outcome, and the reason for that. Texts by `km.text`.
pub const AutoCandidate = c.km_auto_candidate;

/// The fate of a candidate, as `AutoCandidate.outcome` has it.
pub const AutoOutcome = enum(i32) {
    invalid = c.KM_AUTO_INVALID,
    chosen = c.KM_AUTO_CHOSEN,
    /// It does not work here.
    refused = c.KM_AUTO_REFUSED,
    /// Another one was chosen before, or KM_DEVICE names another.
    not_tried = c.KM_AUTO_NOT_TRIED,
    _,

    /// The outcome of a candidate.
    pub fn of(candidate: AutoCandidate) AutoOutcome {
        return @enumFromInt(candidate.outcome);
    }
};

/// The choice that "auto" makes here and now, candidate by candidate in the order in which they are
/// tried; nothing stays open. The list is the caller's to free. C: km_auto_candidate_count,
/// km_auto_candidate_get.
pub fn autoCandidates(
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
) AllocatingError![]AutoCandidate {
    const count = c.km_auto_candidate_count;
    return all(AutoCandidate, allocator, diagnostics, count, c.km_auto_candidate_get);
}

/// The list behind a pair of calls, one that counts and one that gives a row.
pub fn all(
    comptime T: type,
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
    count: anytype,
    get: anytype,
) AllocatingError![]T {
    var found: u32 = 0;
    try check(count(&found), diagnostics);
    const rows = try allocator.alloc(T, found);
    errdefer allocator.free(rows);
    for (rows, 0..) |*row, index| {
        row.* = errors.sized(T);
        try check(get(@as(u32, @intCast(index)), row), diagnostics);
    }
    return rows;
}
