//! Errors with their context, history and statistics, by the names of a Zig GPU driver.
const std = @import("std");
const km = @import("kernelmill");

/// The subject of an error.
pub const ErrorCategory = enum {
    initialization,
    device,
    memory,
    compilation,
    launch,
    kernel,
    stream,
    usage,
    internal,
};

/// The subject that a status belongs to.
pub fn categorize(code: km.Status) ErrorCategory {
    return switch (code) {
        .error_backend_unavailable,
        .error_unsupported_backend,
        .error_build_mismatch,
        .error_nvrtc_unavailable,
        .error_blas_unavailable,
        .error_forked,
        => .initialization,
        .error_no_device, .error_not_supported, .error_context_lost, .error_process_lost => .device,
        .error_out_of_host_memory,
        .error_out_of_device_memory,
        .error_out_of_bounds,
        => .memory,
        .error_invalid_ptx,
        .error_unsupported_ptx,
        .error_compilation_failed,
        .error_compiler,
        .error_result_mismatch,
        => .compilation,
        .error_invalid_launch, .error_graph_mismatch => .launch,
        .error_illegal_address,
        .error_misaligned_address,
        .error_trap,
        .error_assert,
        .error_stack_overflow,
        .error_illegal_instruction,
        .error_launch_timeout,
        .error_launch_failed,
        => .kernel,
        .not_ready,
        .timeout,
        .error_capture_unsupported,
        .error_capture_invalidated,
        .error_capture_unjoined,
        => .stream,
        .error_internal => .internal,
        else => .usage,
    };
}

/// Turns a result of the CUDA driver (CUresult) into an error; 0 is none. error.Unknown for numbers
/// that CUDA does not have.
pub fn mapCudaResult(result: i32) km.Error!void {
    if (result == 0) return;
    const status = km.Status.fromCuda(result) orelse return error.Unknown;
    return status.toError() orelse error.NotReady;
}

/// One sentence on what to do about an error of this package or a `km.Status`. Static.
pub fn getRecoverySuggestion(failure: anytype) [:0]const u8 {
    const status: km.Status = if (@TypeOf(failure) == km.Status)
        failure
    else
        statusOf(failure);
    return status.suggestion() orelse "Report it with the message of the library.";
}

/// The status behind an error; `.error_internal` for errors of other origin.
fn statusOf(failure: anyerror) km.Status {
    inline for (comptime std.enums.values(km.Status)) |status| {
        if (comptime status.toError()) |known| if (known == failure) return status;
    }
    return switch (failure) {
        error.NotInitialized, error.AlreadyInitialized => .error_not_permitted,
        error.OutOfMemory => .error_out_of_host_memory,
        error.NotReady => .not_ready,
        else => .error_internal,
    };
}

/// An error with all that is known about it.
pub const GpuError = struct {
    code: km.Status,
    failure: anyerror,
    category: ErrorCategory,
    /// The CUresult that stands for it in CUDA; null when there is none.
    cuda_result: ?i32,
    /// The backend's own code (CUresult, errno), or 0.
    native_code: i64,
    /// Nanoseconds since the Unix epoch.
    timestamp_ns: i64,
    /// The operation that failed; owned by the context that recorded it.
    operation: []const u8,
    message_buffer: [512]u8,
    message_length: usize,

    /// The library's text, cut after 512 bytes.
    pub fn message(gpu_error: *const GpuError) []const u8 {
        return gpu_error.message_buffer[0..gpu_error.message_length];
    }

    /// One sentence on what to do. Static.
    pub fn suggestion(gpu_error: *const GpuError) [:0]const u8 {
        return getRecoverySuggestion(gpu_error.code);
    }

    /// Prints it on one line: `{f}`.
    pub fn format(
        gpu_error: *const GpuError,
        writer: *std.Io.Writer,
    ) std.Io.Writer.Error!void {
        try writer.print("[{t}] {s}: {t}", .{
            gpu_error.category, gpu_error.operation, gpu_error.failure,
        });
        if (gpu_error.message_length > 0) try writer.print(": {s}", .{gpu_error.message()});
        try writer.print(" ({s})", .{gpu_error.suggestion()});
    }
};

/// The number of errors of each category and status.
pub const ErrorStatistics = struct {
    total: u64 = 0,
    by_category: std.EnumArray(ErrorCategory, u64) = .initFill(0),
    /// The category that occurred most, when there was any error.
    most_frequent: ?ErrorCategory = null,
    first_timestamp_ns: i64 = 0,
    last_timestamp_ns: i64 = 0,

    /// The number of errors of a category.
    pub fn count(statistics: *const ErrorStatistics, category: ErrorCategory) u64 {
        return statistics.by_category.get(category);
    }

    fn add(statistics: *ErrorStatistics, category: ErrorCategory, timestamp_ns: i64) void {
        if (statistics.total == 0) statistics.first_timestamp_ns = timestamp_ns;
        statistics.last_timestamp_ns = timestamp_ns;
        statistics.total += 1;
        statistics.by_category.getPtr(category).* += 1;
        const most = statistics.most_frequent orelse category;
        const is_more = statistics.count(category) > statistics.count(most);
        statistics.most_frequent = if (is_more) category else most;
    }

    /// Prints a line for the total and one for each category that occurred: `{f}`.
    pub fn format(
        statistics: *const ErrorStatistics,
        writer: *std.Io.Writer,
    ) std.Io.Writer.Error!void {
        try writer.print("{d} errors\n", .{statistics.total});
        for (std.enums.values(ErrorCategory)) |category| {
            const found = statistics.count(category);
            if (found > 0) try writer.print("  {t}: {d}\n", .{ category, found });
        }
    }
};

/// Tracks errors over time: the latest ones, and the count of all. For one thread at a time.
pub const ErrorContext = struct {
    allocator: std.mem.Allocator,
    capacity: usize,
    records: std.ArrayList(GpuError) = .empty,
    statistics: ErrorStatistics = .{},

    /// A context that keeps the latest 64 errors.
    pub fn init(allocator: std.mem.Allocator) ErrorContext {
        return initCapacity(allocator, 64);
    }

    /// A context that keeps the latest `capacity` errors, of at least one.
    pub fn initCapacity(allocator: std.mem.Allocator, capacity: usize) ErrorContext {
        return .{ .allocator = allocator, .capacity = @max(capacity, 1) };
    }

    /// Frees the history.
    pub fn deinit(context: *ErrorContext) void {
        context.clearHistory();
        context.records.deinit(context.allocator);
    }

    /// Records an error of an operation right after it happened, on the same thread: the text of
    /// the library's last failure is taken along when it is of the same status.
    pub fn record(
        context: *ErrorContext,
        failure: anyerror,
        operation: []const u8,
    ) std.mem.Allocator.Error!void {
        const code = statusOf(failure);
        var made: GpuError = .{
            .code = code,
            .failure = failure,
            .category = categorize(code),
            .cuda_result = code.toCuda(),
            .native_code = 0,
            .timestamp_ns = nowNs(),
            .operation = undefined,
            .message_buffer = undefined,
            .message_length = 0,
        };
        const last = km.Diagnostics.ofLastError();
        if (last.status == code) {
            made.native_code = last.native_code;
            made.message_length = @min(last.message().len, made.message_buffer.len);
            const kept = last.message()[0..made.message_length];
            @memcpy(made.message_buffer[0..made.message_length], kept);
        }
        try context.records.ensureUnusedCapacity(context.allocator, 1);
        made.operation = try context.allocator.dupe(u8, operation);
        if (context.records.items.len == context.capacity) {
            context.allocator.free(context.records.orderedRemove(0).operation);
        }
        context.records.appendAssumeCapacity(made);
        context.statistics.add(made.category, made.timestamp_ns);
    }

    /// The latest errors, the oldest first; valid until the next call on the context.
    pub fn history(context: *const ErrorContext) []const GpuError {
        return context.records.items;
    }

    /// The latest error.
    pub fn getLastError(context: *const ErrorContext) ?GpuError {
        return context.records.getLastOrNull();
    }

    /// The counts of all errors, those that the history has forgotten included.
    pub fn getStatistics(context: *const ErrorContext) ErrorStatistics {
        return context.statistics;
    }

    /// Forgets the history; the counts stay.
    pub fn clearHistory(context: *ErrorContext) void {
        for (context.records.items) |each| context.allocator.free(each.operation);
        context.records.clearRetainingCapacity();
    }

    /// Prints the history, an error a line, and flushes the writer.
    pub fn formatHistory(
        context: *const ErrorContext,
        writer: *std.Io.Writer,
    ) std.Io.Writer.Error!void {
        for (context.records.items) |*each| try writer.print("{f}\n", .{each});
        try writer.flush();
    }
};

fn nowNs() i64 {
    var now: std.c.timespec = undefined;
    _ = std.c.clock_gettime(.REALTIME, &now);
    return @as(i64, now.sec) * std.time.ns_per_s + now.nsec;
}
