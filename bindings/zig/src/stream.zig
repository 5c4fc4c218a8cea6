//! Streams and events.
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const checkUnless = errors.checkUnless;
const capture = @import("capture.zig");
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Direct = @import("arguments.zig").Direct;
const Error = errors.Error;
const Function = @import("function.zig").Function;
const Status = errors.Status;
const launch_file = @import("launch.zig");
const value_file = @import("value.zig");
const wait_file = @import("wait.zig");

/// An ordered queue of work.
pub const Stream = struct {
    handle: c.km_stream,
    diagnostics: ?*Diagnostics = null,

    pub const beginCapture = capture.beginCapture;
    pub const endCapture = capture.endCapture;
    pub const captureStatus = capture.captureStatus;
    pub const writeValue = value_file.writeValue;
    pub const waitValue = value_file.waitValue;
    pub const awaitDone = wait_file.OfStream.awaitDone;

    /// A new stream of priority 0.
    pub fn init(context: Context) Error!Stream {
        return initWithPriority(context, 0);
    }

    /// A new stream; lower numbers go first, within the range that the device's attributes
    /// `stream_priority_greatest` and `stream_priority_least` give. C: km_stream_create.
    pub fn initWithPriority(context: Context, stream_priority: i32) Error!Stream {
        var handle: c.km_stream = undefined;
        const flags: c.km_stream_flags = c.KM_STREAM_DEFAULT;
        const got = c.km_stream_create(context.handle, flags, stream_priority, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// The one that a context has from the start.
    pub fn defaultOf(context: Context) Error!Stream {
        var handle: c.km_stream = undefined;
        try check(c.km_context_default_stream(context.handle, &handle), context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Queued work goes on to its end.
    pub fn deinit(stream: Stream) void {
        _ = c.km_stream_destroy(stream.handle);
    }

    /// This stream, with another place for failures.
    pub fn reporting(stream: Stream, diagnostics: ?*Diagnostics) Stream {
        return .{ .handle = stream.handle, .diagnostics = diagnostics };
    }

    /// The context of the stream, as a new object. C: km_stream_context.
    pub fn getContext(stream: Stream) Error!Context {
        var handle: c.km_context = undefined;
        try check(c.km_stream_context(stream.handle, &handle), stream.diagnostics);
        return .{ .handle = handle, .diagnostics = stream.diagnostics };
    }

    /// The priority that it was made with. C: km_stream_priority.
    pub fn priority(stream: Stream) Error!i32 {
        var found: i32 = undefined;
        try check(c.km_stream_priority(stream.handle, &found), stream.diagnostics);
        return found;
    }

    /// Waits until the work queued so far is done; the error of a kernel that failed comes from
    /// here. C: km_stream_synchronize.
    pub fn synchronize(stream: Stream) Error!void {
        try check(c.km_stream_synchronize(stream.handle), stream.diagnostics);
    }

    /// Waits, but no longer than that; whether the work is done.
    pub fn synchronizeTimeout(stream: Stream, timeout_ns: u64) Error!bool {
        const got = c.km_stream_synchronize_timeout(stream.handle, timeout_ns);
        return checkUnless(c.KM_TIMEOUT, got, stream.diagnostics);
    }

    /// Tells whether the work queued so far is done. C: km_stream_query.
    pub fn query(stream: Stream) Error!bool {
        return checkUnless(c.KM_NOT_READY, c.km_stream_query(stream.handle), stream.diagnostics);
    }

    /// Work queued from now on waits for what the event marks.
    pub fn wait(stream: Stream, event: Event) Error!void {
        try check(c.km_stream_wait_event(stream.handle, event.handle), stream.diagnostics);
    }

    /// Queues a kernel: `stream.launch(function, .{ .grid = .{ 8, 1, 1 }, .block = .{ 256, 1, 1 }
    /// }, .{ x, y, @as(f32, 2) })`. See `Launch` for what arguments may be.
    /// Kernels of up to 24 parameters are queued by one call of the library. C:
    /// km_launch_kernel_operands.
    pub inline fn launch(
        stream: Stream,
        function: Function,
        config: launch_file.Config,
        arguments: anytype,
    ) Error!void {
        const direct = Direct(@TypeOf(arguments));
        if (!direct.fits(&function)) return stream.launchByParts(function, config, arguments);
        const got = direct.submit(stream.handle, &function, config, arguments);
        return check(got, stream.diagnostics);
    }

    /// Any kernel, and a message that says which argument does not fit.
    fn launchByParts(
        stream: Stream,
        function: Function,
        config: launch_file.Config,
        arguments: anytype,
    ) Error!void {
        @branchHint(.unlikely);
        const prepared = try launch_file.Launch.init(stream, function);
        defer prepared.deinit();
        try prepared.configure(config);
        try prepared.setArguments(arguments);
        try prepared.submit();
    }

    /// Calls `callback(data, status)` once, when the work queued so far is done, on a thread
    /// of the library; it may not make calls that wait. `data` must stay until then.
    pub fn addCallback(
        stream: Stream,
        comptime Data: type,
        data: *Data,
        comptime callback: fn (data: *Data, status: Status) void,
    ) Error!void {
        const wrapper = struct {
            fn call(user_data: ?*anyopaque, status: c.km_status) callconv(.c) void {
                callback(@ptrCast(@alignCast(user_data.?)), @enumFromInt(status));
            }
        };
        try check(c.km_stream_add_callback(stream.handle, wrapper.call, data), stream.diagnostics);
    }
};

/// A point in a stream: to wait for, or to take times at.
pub const Event = struct {
    handle: c.km_event,
    diagnostics: ?*Diagnostics = null,

    pub const awaitDone = wait_file.OfEvent.awaitDone;

    /// An event that takes the time of its mark.
    pub fn init(context: Context) Error!Event {
        return initFlags(context, c.KM_EVENT_DEFAULT);
    }

    /// An event that takes no times, which costs less.
    pub fn initUntimed(context: Context) Error!Event {
        return initFlags(context, c.KM_EVENT_DISABLE_TIMING);
    }

    fn initFlags(context: Context, flags: c.km_event_flags) Error!Event {
        var handle: c.km_event = undefined;
        try check(c.km_event_create(context.handle, flags, &handle), context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Drops the handle; streams that wait for it keep doing so. C: km_event_destroy.
    pub fn deinit(event: Event) void {
        _ = c.km_event_destroy(event.handle);
    }

    /// This event, with another place for failures.
    pub fn reporting(event: Event, diagnostics: ?*Diagnostics) Event {
        return .{ .handle = event.handle, .diagnostics = diagnostics };
    }

    /// The context of the event, as a new object. C: km_event_context.
    pub fn getContext(event: Event) Error!Context {
        var handle: c.km_context = undefined;
        try check(c.km_event_context(event.handle, &handle), event.diagnostics);
        return .{ .handle = handle, .diagnostics = event.diagnostics };
    }

    /// Marks the end of the work queued in the stream so far. C: km_event_record.
    pub fn record(event: Event, stream: Stream) Error!void {
        try check(c.km_event_record(event.handle, stream.handle), event.diagnostics);
    }

    /// Tells whether the work that the event marks is done. C: km_event_query.
    pub fn query(event: Event) Error!bool {
        return checkUnless(c.KM_NOT_READY, c.km_event_query(event.handle), event.diagnostics);
    }

    /// Waits until the work that the event marks is done. C: km_event_synchronize.
    pub fn synchronize(event: Event) Error!void {
        try check(c.km_event_synchronize(event.handle), event.diagnostics);
    }

    /// Waits, but no longer than that; whether the work is done.
    pub fn synchronizeTimeout(event: Event, timeout_ns: u64) Error!bool {
        const got = c.km_event_synchronize_timeout(event.handle, timeout_ns);
        return checkUnless(c.KM_TIMEOUT, got, event.diagnostics);
    }

    /// Nanoseconds since `start`; error.NotReady while one of them has not been reached.
    pub fn elapsedSince(event: Event, start: Event) Error!i64 {
        var elapsed_ns: i64 = undefined;
        const got = c.km_event_elapsed_ns(start.handle, event.handle, &elapsed_ns);
        try check(got, event.diagnostics);
        return elapsed_ns;
    }
};

test Stream {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const first = try Stream.init(context);
    defer first.deinit();
    const second = try Stream.init(context);
    defer second.deinit();
    const event = try Event.init(context);
    defer event.deinit();
    try event.record(first);
    try second.wait(event);
    try second.synchronize();
}

test Event {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.defaultOf(context);
    defer stream.deinit();
    const start = try Event.init(context);
    defer start.deinit();
    const end = try Event.init(context);
    defer end.deinit();
    try start.record(stream);
    try end.record(stream);
    try end.synchronize();
    try @import("std").testing.expect(try end.elapsedSince(start) >= 0);
}
