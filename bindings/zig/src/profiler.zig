//! Profiles: what ran when, and for how long. docs/guide/profiling.md.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const AllocatingError = errors.AllocatingError;
const Context = @import("context.zig").Context;
const Error = errors.Error;

/// All work of one kind and name; `kind` is a `ProfileKind` by number, the name by `km.text`.
pub const ProfileRow = c.km_profile_row;

/// The events of one kind in all of a kernel, or at one line of its source; `kind` is a
/// `CounterKind` by number, the source by `km.text`.
pub const ProfileCounter = c.km_profile_counter;

/// The kind of events that a counter counts.
pub const CounterKind = enum(i32) {
    global_load = c.KM_COUNTER_KIND_GLOBAL_LOAD,
    global_store = c.KM_COUNTER_KIND_GLOBAL_STORE,
    global_atomic = c.KM_COUNTER_KIND_GLOBAL_ATOMIC,
    shared_load = c.KM_COUNTER_KIND_SHARED_LOAD,
    shared_store = c.KM_COUNTER_KIND_SHARED_STORE,
    shared_atomic = c.KM_COUNTER_KIND_SHARED_ATOMIC,
    branch = c.KM_COUNTER_KIND_BRANCH,
    instruction = c.KM_COUNTER_KIND_INSTRUCTION,
    _,
};

/// The kind of work of a row.
pub const ProfileKind = enum(i32) {
    kernel = c.KM_PROFILE_KIND_KERNEL,
    copy = c.KM_PROFILE_KIND_COPY,
    upload = c.KM_PROFILE_KIND_UPLOAD,
    download = c.KM_PROFILE_KIND_DOWNLOAD,
    fill = c.KM_PROFILE_KIND_FILL,
    callback = c.KM_PROFILE_KIND_CALLBACK,
    /// A range of the host, like `wait`.
    range = c.KM_PROFILE_KIND_RANGE,
    wait = c.KM_PROFILE_KIND_WAIT,
    _,
};

/// The profiler of a context; it owns nothing and needs no deinit.
pub fn profiler(context: Context) Profiler {
    return .{ .context = context };
}

/// Records what a context does: kernels, copies, fills and callbacks with their times on the
/// device, ranges and waits of the host, and the memory in use.
pub const Profiler = struct {
    context: Context,

    /// Records from now on; starting twice is fine. C: km_profiler_start.
    pub fn start(self: Profiler) Error!void {
        try check(c.km_profiler_start(self.context.handle), self.context.diagnostics);
    }

    /// Stops recording, and keeps what was recorded. C: km_profiler_stop.
    pub fn stop(self: Profiler) Error!void {
        try check(c.km_profiler_stop(self.context.handle), self.context.diagnostics);
    }

    /// Forgets what was recorded. C: km_profiler_clear.
    pub fn clear(self: Profiler) Error!void {
        try check(c.km_profiler_clear(self.context.handle), self.context.diagnostics);
    }

    /// Begins a range of the calling thread, up to `pop`; ranges nest. C: km_profiler_range_push.
    pub fn push(self: Profiler, name: [:0]const u8) Error!void {
        const got = c.km_profiler_range_push(self.context.handle, name.ptr);
        try check(got, self.context.diagnostics);
    }

    /// Ends the range of the calling thread that began last; error.NotFound when there is none. C:
    /// km_profiler_range_pop.
    pub fn pop(self: Profiler) Error!void {
        try check(c.km_profiler_range_pop(self.context.handle), self.context.diagnostics);
    }

    /// A range that any thread may end.
    pub const Range = struct {
        profiler: Profiler,
        number: u64,

        /// Ends it; it counts for the thread that does so. C: km_profiler_range_end.
        pub fn end(range: Range) Error!void {
            const context = range.profiler.context;
            try check(c.km_profiler_range_end(context.handle, range.number), context.diagnostics);
        }
    };

    /// Begins a range that any thread may end. C: km_profiler_range_start.
    pub fn startRange(self: Profiler, name: [:0]const u8) Error!Range {
        var number: u64 = undefined;
        const got = c.km_profiler_range_start(self.context.handle, name.ptr, &number);
        try check(got, self.context.diagnostics);
        return .{ .profiler = self, .number = number };
    }

    /// Sets whether the warps of kernels are counted from the next launch on; at first it is what
    /// the environment variable KM_COUNTERS says. Counted kernels have code of their own, which
    /// takes longer. `error.NotSupported` if they are to be counted on a device without
    /// counters: only CPU devices have them.
    /// C: km_profiler_set_counters.
    pub fn setCounters(self: Profiler, enabled: bool) Error!void {
        const diagnostics = self.context.diagnostics;
        try check(c.km_profiler_set_counters(self.context.handle, @intFromBool(enabled)), diagnostics);
    }

    /// The kinds of work with different names that are over by now: work of the device by falling
    /// total time, then ranges and waits. The list is the caller's to free. Synchronise first to
    /// have all. C: km_profiler_row_count, km_profiler_row_get.
    pub fn rows(self: Profiler, allocator: std.mem.Allocator) AllocatingError![]ProfileRow {
        var count: u32 = 0;
        const diagnostics = self.context.diagnostics;
        try check(c.km_profiler_row_count(self.context.handle, &count), diagnostics);
        const found = try allocator.alloc(ProfileRow, count);
        errdefer allocator.free(found);
        for (found, 0..) |*row, index| {
            row.* = errors.sized(ProfileRow);
            const got = c.km_profiler_row_get(self.context.handle, @intCast(index), row);
            try check(got, diagnostics);
        }
        return found;
    }

    /// The counters of the row of this index in `rows`: the totals of the kernel, one for each kind
    /// that occurs, then those of the lines of its source. The list is the caller's to free. It is
    /// empty if the warps were not counted (`setCounters`). C: km_profiler_counter_count,
    /// km_profiler_counter_get.
    pub fn counters(
        self: Profiler,
        allocator: std.mem.Allocator,
        row: u32,
    ) AllocatingError![]ProfileCounter {
        var count: u32 = 0;
        const diagnostics = self.context.diagnostics;
        try check(c.km_profiler_counter_count(self.context.handle, row, &count), diagnostics);
        const found = try allocator.alloc(ProfileCounter, count);
        errdefer allocator.free(found);
        for (found, 0..) |*counter, index| {
            counter.* = errors.sized(ProfileCounter);
            const handle = self.context.handle;
            const got = c.km_profiler_counter_get(handle, row, @intCast(index), counter);
            try check(got, diagnostics);
        }
        return found;
    }

    /// The rows as a table in text, the caller's to free. C: km_profiler_summary.
    pub fn summary(self: Profiler, allocator: std.mem.Allocator) AllocatingError![:0]u8 {
        const diagnostics = self.context.diagnostics;
        const call = c.km_profiler_summary;
        return errors.copyText(allocator, diagnostics, call, .{self.context.handle});
    }

    /// Writes a trace for ui.perfetto.dev to a file, or a report when the name ends with .html, in
    /// place of what it holds. C: km_profiler_write.
    pub fn write(self: Profiler, path: [:0]const u8) Error!void {
        const got = c.km_profiler_write(self.context.handle, path.ptr);
        try check(got, self.context.diagnostics);
    }
};

test Profiler {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const recorder = context.profiler();
    try recorder.start();
    try recorder.push("phase");
    try recorder.pop();
    const allocator = std.testing.allocator;
    const table = try recorder.summary(allocator);
    defer allocator.free(table);
    try std.testing.expect(std.mem.indexOf(u8, table, "phase") != null);
}
