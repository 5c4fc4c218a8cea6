//! Statuses as errors, and the library's texts about a failure.
const std = @import("std");
const c = @import("c");
const own_names = @import("own_names.zig");

/// A status of the library. Newer libraries may have others than those with names.
pub const Status = enum(i32) {
    success = c.KM_SUCCESS,
    not_ready = c.KM_NOT_READY,
    timeout = c.KM_TIMEOUT,
    error_internal = c.KM_ERROR_INTERNAL,
    error_invalid_argument = c.KM_ERROR_INVALID_ARGUMENT,
    error_invalid_handle = c.KM_ERROR_INVALID_HANDLE,
    error_out_of_host_memory = c.KM_ERROR_OUT_OF_HOST_MEMORY,
    error_out_of_device_memory = c.KM_ERROR_OUT_OF_DEVICE_MEMORY,
    error_out_of_bounds = c.KM_ERROR_OUT_OF_BOUNDS,
    error_not_found = c.KM_ERROR_NOT_FOUND,
    error_not_supported = c.KM_ERROR_NOT_SUPPORTED,
    error_not_permitted = c.KM_ERROR_NOT_PERMITTED,
    error_buffer_too_small = c.KM_ERROR_BUFFER_TOO_SMALL,
    error_io = c.KM_ERROR_IO,
    error_context_mismatch = c.KM_ERROR_CONTEXT_MISMATCH,
    error_context_lost = c.KM_ERROR_CONTEXT_LOST,
    error_process_lost = c.KM_ERROR_PROCESS_LOST,
    error_forked = c.KM_ERROR_FORKED,
    error_capture_unsupported = c.KM_ERROR_CAPTURE_UNSUPPORTED,
    error_capture_invalidated = c.KM_ERROR_CAPTURE_INVALIDATED,
    error_capture_unjoined = c.KM_ERROR_CAPTURE_UNJOINED,
    error_graph_mismatch = c.KM_ERROR_GRAPH_MISMATCH,
    error_result_mismatch = c.KM_ERROR_RESULT_MISMATCH,
    error_backend_unavailable = c.KM_ERROR_BACKEND_UNAVAILABLE,
    error_unsupported_backend = c.KM_ERROR_UNSUPPORTED_BACKEND,
    error_no_device = c.KM_ERROR_NO_DEVICE,
    error_build_mismatch = c.KM_ERROR_BUILD_MISMATCH,
    error_nvrtc_unavailable = c.KM_ERROR_NVRTC_UNAVAILABLE,
    error_blas_unavailable = c.KM_ERROR_BLAS_UNAVAILABLE,
    error_invalid_ptx = c.KM_ERROR_INVALID_PTX,
    error_unsupported_ptx = c.KM_ERROR_UNSUPPORTED_PTX,
    error_compilation_failed = c.KM_ERROR_COMPILATION_FAILED,
    error_compiler = c.KM_ERROR_COMPILER,
    error_invalid_launch = c.KM_ERROR_INVALID_LAUNCH,
    error_illegal_address = c.KM_ERROR_ILLEGAL_ADDRESS,
    error_misaligned_address = c.KM_ERROR_MISALIGNED_ADDRESS,
    error_trap = c.KM_ERROR_TRAP,
    error_assert = c.KM_ERROR_ASSERT,
    error_stack_overflow = c.KM_ERROR_STACK_OVERFLOW,
    error_illegal_instruction = c.KM_ERROR_ILLEGAL_INSTRUCTION,
    error_launch_timeout = c.KM_ERROR_LAUNCH_TIMEOUT,
    error_launch_failed = c.KM_ERROR_LAUNCH_FAILED,
    _,

    /// The name as c_api.h spells it, "KM_ERROR_NOT_FOUND"; null for one that the library in use
    /// does not know. Static, like the other texts here. C: km_status_name.
    pub fn name(status: Status) ?[:0]const u8 {
        return status.text(c.km_status_name);
    }

    /// One sentence on its meaning. C: km_status_description.
    pub fn description(status: Status) ?[:0]const u8 {
        return status.text(c.km_status_description);
    }

    /// One sentence on the remedy. C: km_status_recovery.
    pub fn suggestion(status: Status) ?[:0]const u8 {
        return own_names.recoveryOf(@intFromEnum(status)) orelse status.text(c.km_status_recovery);
    }

    fn text(status: Status, function: anytype) ?[:0]const u8 {
        var found: [*c]const u8 = null;
        if (function(@intFromEnum(status), &found) != c.KM_SUCCESS) return null;
        return std.mem.span(found);
    }

    /// The kind of failure. C: km_status_category.
    pub fn category(status: Status) Category {
        var found: c.km_error_category = c.KM_ERROR_CATEGORY_NONE;
        _ = c.km_status_category(@intFromEnum(status), &found);
        return @enumFromInt(found);
    }

    /// The status for a CUresult; null where CUDA has no such result. C: km_status_from_cuda.
    pub fn fromCuda(cuda_result: i32) ?Status {
        var found: c.km_status = undefined;
        if (c.km_status_from_cuda(cuda_result, &found) != c.KM_SUCCESS) return null;
        return @enumFromInt(found);
    }

    /// The CUresult that CUDA gives where the library gives this status; null for a status that
    /// the library in use does not know. C: km_status_to_cuda.
    pub fn toCuda(status: Status) ?i32 {
        var found: i32 = undefined;
        if (c.km_status_to_cuda(@intFromEnum(status), &found) != c.KM_SUCCESS) return null;
        return found;
    }

    /// The status behind an error that this package gave; `.error_internal` for
    /// `error.Unknown`, whose status the error does not carry.
    pub fn fromError(failure: Error) Status {
        inline for (comptime std.enums.values(Status)) |status| {
            if (comptime status.toError()) |known| if (known == failure) return status;
        }
        return if (failure == error.NotReady) .not_ready else .error_internal;
    }

    /// Null for what is no failure.
    pub fn toError(status: Status) ?Error {
        return switch (status) {
            .success, .not_ready, .timeout => null,
            .error_internal => error.Internal,
            .error_invalid_argument => error.InvalidArgument,
            .error_invalid_handle => error.InvalidHandle,
            .error_out_of_host_memory => error.OutOfHostMemory,
            .error_out_of_device_memory => error.OutOfDeviceMemory,
            .error_out_of_bounds => error.OutOfBounds,
            .error_not_found => error.NotFound,
            .error_not_supported => error.NotSupported,
            .error_not_permitted => error.NotPermitted,
            .error_buffer_too_small => error.BufferTooSmall,
            .error_io => error.InputOutput,
            .error_context_mismatch => error.ContextMismatch,
            .error_context_lost => error.ContextLost,
            .error_process_lost => error.ProcessLost,
            .error_forked => error.Forked,
            .error_capture_unsupported => error.CaptureUnsupported,
            .error_capture_invalidated => error.CaptureInvalidated,
            .error_capture_unjoined => error.CaptureUnjoined,
            .error_graph_mismatch => error.GraphMismatch,
            .error_result_mismatch => error.ResultMismatch,
            .error_backend_unavailable => error.BackendUnavailable,
            .error_unsupported_backend => error.UnsupportedBackend,
            .error_no_device => error.NoDevice,
            .error_build_mismatch => error.BuildMismatch,
            .error_nvrtc_unavailable => error.NvrtcUnavailable,
            .error_blas_unavailable => error.BlasUnavailable,
            .error_invalid_ptx => error.InvalidPtx,
            .error_unsupported_ptx => error.UnsupportedPtx,
            .error_compilation_failed => error.CompilationFailed,
            .error_compiler => error.Compiler,
            .error_invalid_launch => error.InvalidLaunch,
            .error_illegal_address => error.IllegalAddress,
            .error_misaligned_address => error.MisalignedAddress,
            .error_trap => error.Trap,
            .error_assert => error.Assert,
            .error_stack_overflow => error.StackOverflow,
            .error_illegal_instruction => error.IllegalInstruction,
            .error_launch_timeout => error.LaunchTimeout,
            .error_launch_failed => error.LaunchFailed,
            _ => error.Unknown,
        };
    }
};

/// The caller gave what the call cannot use.
pub const UsageError = error{
    InvalidArgument,
    InvalidHandle,
    OutOfBounds,
    NotFound,
    NotPermitted,
    BufferTooSmall,
    ContextMismatch,
    ContextLost,
    Forked,
    CaptureUnsupported,
    CaptureInvalidated,
    CaptureUnjoined,
    GraphMismatch,
    InvalidLaunch,
};

/// Host or device ran out of memory; the same call may succeed later.
pub const ResourceError = error{ OutOfHostMemory, OutOfDeviceMemory };

/// The machine or the installation lacks something.
pub const EnvironmentError = error{
    NotSupported,
    InputOutput,
    BackendUnavailable,
    UnsupportedBackend,
    NoDevice,
    BuildMismatch,
    NvrtcUnavailable,
    BlasUnavailable,
};

/// The text of a kernel is at fault.
pub const ProgramError = error{
    InvalidPtx,
    UnsupportedPtx,
    CompilationFailed,
    ResultMismatch,
};

/// A kernel failed while it ran. The error sticks to its context until `Context.reset`.
pub const KernelFault = error{
    IllegalAddress,
    MisalignedAddress,
    Trap,
    Assert,
    StackOverflow,
    IllegalInstruction,
    LaunchTimeout,
    LaunchFailed,
    ProcessLost,
};

/// Every reason for which a call fails. c_api.h lists under each function which of them it gives;
/// `Unknown` is a status of a newer library.
pub const Error = UsageError || ResourceError || EnvironmentError || ProgramError || KernelFault ||
    error{ Internal, Compiler, NotReady, Unknown };

/// Calls that allocate on the host, too.
pub const AllocatingError = Error || std.mem.Allocator.Error;

/// The kind of failure that a status is.
pub const Category = enum(i32) {
    none = c.KM_ERROR_CATEGORY_NONE,
    usage = c.KM_ERROR_CATEGORY_USAGE,
    resource = c.KM_ERROR_CATEGORY_RESOURCE,
    environment = c.KM_ERROR_CATEGORY_ENVIRONMENT,
    program = c.KM_ERROR_CATEGORY_PROGRAM,
    kernel_fault = c.KM_ERROR_CATEGORY_KERNEL_FAULT,
    internal = c.KM_ERROR_CATEGORY_INTERNAL,
    _,
};

/// Collects the library's words about the last failure; Zig's errors carry no text. Objects
/// report to the one that they were opened with, and pass it on to what is made from them. For one
/// thread at a time: give objects that other threads use diagnostics of their own by
/// `object.reporting(&other)`.
pub const Diagnostics = struct {
    status: Status = .success,
    category: Category = .none,
    /// The backend's own code (CUresult, errno ...), or 0.
    native_code: i64 = 0,
    /// One sentence on the remedy.
    suggestion: [:0]const u8 = "",
    text: [4608]u8 = undefined,
    text_length: usize = 0,

    /// The library's text: the fault, with the values.
    pub fn message(diagnostics: *const Diagnostics) []const u8 {
        return diagnostics.text[0..diagnostics.text_length];
    }

    /// The calling thread's last failure, for code that has no diagnostics to collect it. C:
    /// km_last_error_message, km_last_error_native_code.
    pub fn ofLastError() Diagnostics {
        var found: Diagnostics = .{};
        found.collect(lastStatus());
        return found;
    }

    /// Prints suggestion and message: `std.log.err("{f}", .{&diagnostics})`.
    pub fn format(
        diagnostics: *const Diagnostics,
        writer: *std.Io.Writer,
    ) std.Io.Writer.Error!void {
        try writer.print("{s}: {s}", .{ @tagName(diagnostics.category), diagnostics.message() });
        if (diagnostics.suggestion.len > 0) try writer.print(" ({s})", .{diagnostics.suggestion});
    }

    fn describe(diagnostics: *Diagnostics, status: Status) void {
        diagnostics.status = status;
        diagnostics.category = status.category();
        diagnostics.suggestion = status.suggestion() orelse "";
        diagnostics.native_code = 0;
        diagnostics.text_length = 0;
    }

    /// Sets status and text of a failure that the library has no part in.
    pub fn explain(
        diagnostics: *Diagnostics,
        status: Status,
        comptime format_text: []const u8,
        arguments: anytype,
    ) void {
        diagnostics.describe(status);
        const text = std.fmt.bufPrint(&diagnostics.text, format_text, arguments) catch
            diagnostics.text[0..];
        diagnostics.text_length = text.len;
    }

    fn collect(diagnostics: *Diagnostics, status: Status) void {
        diagnostics.describe(status);
        var size: u64 = 0;
        if (status.toError() == null) return; // no error: the texts are of an earlier one
        _ = c.km_last_error_native_code(&diagnostics.native_code);
        const got = c.km_last_error_message(&diagnostics.text, diagnostics.text.len, &size);
        if (got != c.KM_SUCCESS or size == 0) return;
        diagnostics.text_length = own_names.put(&diagnostics.text, @intCast(size - 1));
    }
};

/// A failure that the library has no part in.
pub fn refuse(
    diagnostics: ?*Diagnostics,
    comptime format: []const u8,
    arguments: anytype,
) error{InvalidArgument} {
    if (diagnostics) |wanted| wanted.explain(.error_invalid_argument, format, arguments);
    return error.InvalidArgument;
}

/// A failure as an error, with its text in `diagnostics`.
pub inline fn check(status: c.km_status, diagnostics: ?*Diagnostics) Error!void {
    if (status != c.KM_SUCCESS) return fail(status, diagnostics);
}

/// For calls with one answer beside success that is no failure: false is that answer.
pub inline fn checkUnless(
    other: c.km_status,
    status: c.km_status,
    diagnostics: ?*Diagnostics,
) Error!bool {
    if (status == c.KM_SUCCESS) return true;
    if (status == other) return false;
    return fail(status, diagnostics);
}

fn fail(number: c.km_status, diagnostics: ?*Diagnostics) Error {
    @branchHint(.cold);
    const status: Status = @enumFromInt(number);
    if (diagnostics) |wanted| wanted.collect(status);
    return status.toError() orelse error.NotReady;
}

/// The text behind a call that copies it out, without its closing zero; the caller's to free.
pub fn copyText(
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
    function: anytype,
    arguments: anytype,
) AllocatingError![:0]u8 {
    while (true) {
        var size: u64 = 0;
        const none: [*c]u8 = null;
        try check(@call(.auto, function, arguments ++ .{ none, @as(u64, 0), &size }), diagnostics);
        const text = try allocator.allocSentinel(u8, @intCast(@max(size, 1) - 1), 0);
        errdefer allocator.free(text);
        const room: [*c]u8 = text.ptr;
        const status = @call(.auto, function, arguments ++ .{ room, size, &size });
        if (status == c.KM_SUCCESS and size == text.len + 1) return text;
        // It changed in between: once more.
        if (status != c.KM_SUCCESS and status != c.KM_ERROR_BUFFER_TOO_SMALL) {
            return fail(status, diagnostics);
        }
        allocator.free(text);
    }
}

/// The list behind a call of the form (object, capacity, items, count), which gives the items that
/// there is room for and how many there are; the caller's to free.
pub fn copyItems(
    comptime T: type,
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
    function: anytype,
    object: anytype,
) AllocatingError![]T {
    var count: u64 = 0;
    try check(function(object, 0, null, &count), diagnostics);
    while (true) {
        const capacity = count;
        const items = try allocator.alloc(T, @intCast(@max(capacity, 1)));
        errdefer allocator.free(items);
        if (@hasField(T, "struct_size")) items[0].struct_size = @sizeOf(T);
        try check(function(object, items.len, items.ptr, &count), diagnostics);
        if (count <= items.len) return shrink(T, allocator, items, @intCast(count));
        allocator.free(items);
    }
}

/// The list behind a call of the form (..., items, capacity, count), which refuses a capacity that
/// is too small; the caller's to free.
pub fn copyAll(
    comptime T: type,
    allocator: std.mem.Allocator,
    diagnostics: ?*Diagnostics,
    function: anytype,
    arguments: anytype,
) AllocatingError![]T {
    var count: u64 = 0;
    const none: ?[*]T = null;
    try check(@call(.auto, function, arguments ++ .{ none, @as(u64, 0), &count }), diagnostics);
    while (true) {
        const items = try allocator.alloc(T, @intCast(@max(count, 1)));
        errdefer allocator.free(items);
        const room: ?[*]T = items.ptr;
        const status = @call(.auto, function, arguments ++ .{ room, items.len, &count });
        if (status == c.KM_SUCCESS) return shrink(T, allocator, items, @intCast(count));
        if (status != c.KM_ERROR_BUFFER_TOO_SMALL) return fail(status, diagnostics);
        allocator.free(items);
    }
}

fn shrink(
    comptime T: type,
    allocator: std.mem.Allocator,
    items: []T,
    count: usize,
) AllocatingError![]T {
    if (count == items.len) return items;
    const kept = try allocator.alloc(T, count);
    @memcpy(kept, items[0..count]);
    allocator.free(items);
    return kept;
}

/// A structure of the library that says its size and is zero otherwise.
pub fn sized(comptime T: type) T {
    var made = std.mem.zeroes(T);
    made.struct_size = @sizeOf(T);
    return made;
}

/// The text in an array of characters of a structure, which it points into: `km.text(&info.name)`.
pub fn arrayText(characters: anytype) []const u8 {
    const bytes: []const u8 = characters;
    return std.mem.sliceTo(bytes, 0);
}

/// The name of a CUresult, "CUDA_ERROR_INVALID_VALUE"; null where CUDA has none of this number.
/// Static. C: km_cuda_result_name.
pub fn cudaResultName(cuda_result: i32) ?[:0]const u8 {
    var found: [*c]const u8 = null;
    if (c.km_cuda_result_name(cuda_result, &found) != c.KM_SUCCESS) return null;
    return std.mem.span(found);
}

/// The status of the calling thread's last call that failed, else `.success`. C:
/// km_last_error_status.
pub fn lastStatus() Status {
    var found: c.km_status = c.KM_SUCCESS;
    _ = c.km_last_error_status(&found);
    return @enumFromInt(found);
}

/// Like `lastStatus`, and forgets it. C: km_last_error_take.
pub fn takeLastStatus() Status {
    var found: c.km_status = c.KM_SUCCESS;
    _ = c.km_last_error_take(&found);
    return @enumFromInt(found);
}
