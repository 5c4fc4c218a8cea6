//! Streams, events and pools of streams of the device that `cuda_native` has open, by the names of
//! a Zig GPU driver.
const std = @import("std");
const km = @import("kernelmill");
const cuda_native = @import("cuda_native");

/// The failures of this part.
pub const Error = cuda_native.Error || error{PoolExhausted};

/// A queue of work.
pub const CudaStream = struct {
    stream: km.Stream,

    /// A new stream.
    pub fn init() Error!CudaStream {
        return .{ .stream = try cuda_native.createStream() };
    }

    /// A new stream; lower numbers go first.
    pub fn initWithPriority(priority: i32) Error!CudaStream {
        const context = try cuda_native.getContext();
        return .{ .stream = try km.Stream.initWithPriority(context, priority) };
    }

    /// Drops the stream; its work goes on to its end.
    pub fn deinit(self: CudaStream) void {
        self.stream.deinit();
    }

    /// Blocks until the stream's work is done.
    pub fn synchronize(self: CudaStream) Error!void {
        return self.stream.synchronize();
    }

    /// Tells whether its work is done.
    pub fn query(self: CudaStream) Error!bool {
        return self.stream.query();
    }

    /// Marks the end of the work queued so far.
    pub fn recordEvent(self: CudaStream, event: CudaEvent) Error!void {
        return event.event.record(self.stream);
    }

    /// Work queued from now on waits for what the event marks.
    pub fn waitEvent(self: CudaStream, event: CudaEvent) Error!void {
        return self.stream.wait(event.event);
    }
};

/// A point in a stream.
pub const CudaEvent = struct {
    event: km.Event,

    /// An event that takes times.
    pub fn init() Error!CudaEvent {
        return .{ .event = try km.Event.init(try cuda_native.getContext()) };
    }

    /// Drops the event.
    pub fn deinit(self: CudaEvent) void {
        self.event.deinit();
    }

    /// Marks the end of the work queued in a stream so far.
    pub fn record(self: CudaEvent, stream: CudaStream) Error!void {
        return self.event.record(stream.stream);
    }

    /// Tells whether the work that the event marks is done.
    pub fn query(self: CudaEvent) Error!bool {
        return self.event.query();
    }

    /// Blocks until the work that the event marks is done.
    pub fn synchronize(self: CudaEvent) Error!void {
        return self.event.synchronize();
    }

    /// Milliseconds between two events, never negative: see `elapsed`.
    pub fn elapsedTime(self: CudaEvent, other: CudaEvent) Error!f64 {
        return elapsed(self, other);
    }
};

/// Milliseconds between two events, whichever came first, to the nanosecond. error.NotReady while
/// one has not been reached.
pub fn elapsed(start: CudaEvent, end: CudaEvent) Error!f64 {
    const between_ns = @abs(try end.event.elapsedSince(start.event));
    return @as(f64, @floatFromInt(between_ns)) / std.time.ns_per_ms;
}

/// Streams that are lent and given back; for any number of threads.
pub const StreamPool = struct {
    allocator: std.mem.Allocator,
    mutex: std.atomic.Mutex = .unlocked,
    slots: []Slot,

    const Slot = struct { stream: CudaStream, is_lent: bool = false };

    /// A pool of `count` streams.
    pub fn init(allocator: std.mem.Allocator, count: usize) Error!StreamPool {
        const slots = try allocator.alloc(Slot, count);
        errdefer allocator.free(slots);
        var made: usize = 0;
        errdefer for (slots[0..made]) |slot| slot.stream.deinit();
        while (made < count) : (made += 1) slots[made] = .{ .stream = try CudaStream.init() };
        return .{ .allocator = allocator, .slots = slots };
    }

    /// Drops all streams, those that are lent included; their work goes on to its end.
    pub fn deinit(pool: *StreamPool) void {
        for (pool.slots) |slot| slot.stream.deinit();
        pool.allocator.free(pool.slots);
        pool.slots = &.{};
    }

    fn lock(pool: *StreamPool) void {
        while (!pool.mutex.tryLock()) std.Thread.yield() catch std.atomic.spinLoopHint();
    }

    /// A stream that nobody has; error.PoolExhausted when all are lent.
    pub fn acquire(pool: *StreamPool) Error!CudaStream {
        pool.lock();
        defer pool.mutex.unlock();
        for (pool.slots) |*slot| {
            if (slot.is_lent) continue;
            slot.is_lent = true;
            return slot.stream;
        }
        return error.PoolExhausted;
    }

    /// Gives a stream back; its work goes on. error.InvalidArgument for one that is not lent.
    pub fn release(pool: *StreamPool, stream: CudaStream) Error!void {
        pool.lock();
        defer pool.mutex.unlock();
        for (pool.slots) |*slot| {
            if (slot.stream.stream.handle != stream.stream.handle or !slot.is_lent) continue;
            slot.is_lent = false;
            return;
        }
        return error.InvalidArgument;
    }

    /// The number of streams that nobody has.
    pub fn available(pool: *StreamPool) usize {
        pool.lock();
        defer pool.mutex.unlock();
        var count: usize = 0;
        for (pool.slots) |slot| count += @intFromBool(!slot.is_lent);
        return count;
    }

    /// Blocks until the work of all streams is done.
    pub fn synchronizeAll(pool: *StreamPool) Error!void {
        for (pool.slots) |slot| try slot.stream.synchronize();
    }
};
