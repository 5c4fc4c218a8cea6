//! Waits by std.Io: the task sleeps, and a host callback of the stream wakes it, without a thread
//! for each wait. Methods of `Stream` and `Event`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Event = @import("stream.zig").Event;
const Stream = @import("stream.zig").Stream;

/// The failures of a wait; `Canceled` when the task was cancelled, while the work goes on.
pub const WaitError = errors.Error || std.mem.Allocator.Error || std.Io.Cancelable;

/// Shared by the task that waits and the callback that ends the wait; the later one frees it.
const Waiter = struct {
    done: std.Io.Event = .unset,
    io: std.Io,
    allocator: std.mem.Allocator,
    status: c.km_status = c.KM_SUCCESS,
    owners: std.atomic.Value(u8) = .init(2),

    fn drop(waiter: *Waiter) void {
        if (waiter.owners.fetchSub(1, .acq_rel) == 1) waiter.allocator.destroy(waiter);
    }

    fn finish(user_data: ?*anyopaque, status: c.km_status) callconv(.c) void {
        const waiter: *Waiter = @ptrCast(@alignCast(user_data.?));
        waiter.status = status;
        waiter.done.set(waiter.io);
        waiter.drop();
    }
};

/// The methods of `Stream`.
pub const OfStream = struct {
    /// Waits until the work queued in the stream so far is done: the task is suspended by `io`,
    /// whose futex has to be open to other threads, as that of std.Io.Threaded is. `allocator`
    /// gives some bytes until both the wait and the work are over; it has to be safe for threads. A
    /// cancelled wait gives error.Canceled, and the work goes on. Kernels that failed give their
    /// error, as `Stream.synchronize` does.
    pub fn awaitDone(stream: Stream, io: std.Io, allocator: std.mem.Allocator) WaitError!void {
        // A capture would make a node of the callback; asking refuses that as synchronising does.
        if (try stream.query()) return;
        const waiter = try allocator.create(Waiter);
        waiter.* = .{ .io = io, .allocator = allocator };
        const queued = c.km_stream_add_callback(stream.handle, Waiter.finish, waiter);
        if (queued != c.KM_SUCCESS) {
            allocator.destroy(waiter); // the callback is never called
            return check(queued, stream.diagnostics);
        }
        defer waiter.drop();
        try waiter.done.wait(io);
        if (waiter.status == c.KM_SUCCESS) return;
        // The stream tells the error with its text.
        _ = try stream.query();
        return errors.Status.toError(@enumFromInt(waiter.status)) orelse error.Unknown;
    }
};

/// The methods of `Event`.
pub const OfEvent = struct {
    /// Waits until the work that the event marks is done, like `Stream.awaitDone`, on a stream of
    /// its own.
    pub fn awaitDone(event: Event, io: std.Io, allocator: std.mem.Allocator) WaitError!void {
        if (try event.query()) return;
        const context = try event.getContext();
        defer context.deinit();
        const stream = try Stream.init(context);
        defer stream.deinit();
        try stream.wait(event);
        return OfStream.awaitDone(stream, io, allocator);
    }
};
