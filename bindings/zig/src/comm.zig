//! Communicators: operations among ranks, in the order of streams. docs/guide/comm.md.
const c = @import("c");
const errors = @import("errors.zig");
const types = @import("blas/types.zig");
const asArray = @import("fft.zig").asArray;
const check = errors.check;
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Stream = @import("stream.zig").Stream;

/// A number of 8 bits with 3 bits of mantissa (OCP e4m3), by its bits.
pub const F8E4m3 = packed struct(u8) { bits: u8 };
/// A number of 8 bits with 2 bits of mantissa (OCP e5m2), by its bits.
pub const F8E5m2 = packed struct(u8) { bits: u8 };

fn elementType(comptime T: type) c.km_element_type {
    return switch (T) {
        i8 => c.KM_ELEMENT_TYPE_I8,
        u8 => c.KM_ELEMENT_TYPE_U8,
        i32 => c.KM_ELEMENT_TYPE_I32,
        u32 => c.KM_ELEMENT_TYPE_U32,
        i64 => c.KM_ELEMENT_TYPE_I64,
        u64 => c.KM_ELEMENT_TYPE_U64,
        f16 => c.KM_ELEMENT_TYPE_F16,
        types.Bf16 => c.KM_ELEMENT_TYPE_BF16,
        f32 => c.KM_ELEMENT_TYPE_F32,
        f64 => c.KM_ELEMENT_TYPE_F64,
        F8E4m3 => c.KM_ELEMENT_TYPE_F8_E4M3,
        F8E5m2 => c.KM_ELEMENT_TYPE_F8_E5M2,
        else => @compileError("communicators have integers of 8, 32 and 64 bits, f16, km.Bf16, " ++
            "f32, f64, km.F8E4m3 and km.F8E5m2, not " ++ @typeName(T)),
    };
}

/// Reductions combine elements of ranks, rank by rank.
pub fn CommReduction(comptime T: type) type {
    return union(enum) {
        sum,
        product,
        max,
        min,
        average,
        /// The sum, after each rank's elements were multiplied by the factor that it gives.
        scaled_sum: T,

        fn raw(reduction: @This()) c.km_comm_reduction {
            return switch (reduction) {
                .sum => c.KM_COMM_REDUCTION_SUM,
                .product => c.KM_COMM_REDUCTION_PRODUCT,
                .max => c.KM_COMM_REDUCTION_MAX,
                .min => c.KM_COMM_REDUCTION_MIN,
                .average => c.KM_COMM_REDUCTION_AVERAGE,
                .scaled_sum => c.KM_COMM_REDUCTION_SCALED_SUM,
            };
        }
        fn scale(reduction: *const @This()) ?*const T {
            return switch (reduction.*) {
                .scaled_sum => |*factor| factor,
                else => null,
            };
        }
    };
}

/// Engines carry out the operations of a communicator.
pub const CommEngine = enum(c.km_comm_engine) {
    threads = c.KM_COMM_ENGINE_THREADS,
    shared_memory = c.KM_COMM_ENGINE_SHARED_MEMORY,
    nccl = c.KM_COMM_ENGINE_NCCL,
    mpi = c.KM_COMM_ENGINE_MPI,
    _,
};

/// The name of a communicator: bytes that one rank passes to the others.
pub const CommId = struct {
    raw: c.km_comm_id,

    /// A new name, for devices like the context's. The process has to run until all ranks have
    /// joined. C: km_comm_id_create.
    pub fn init(context: Context) Error!CommId {
        var id: CommId = undefined;
        try check(c.km_comm_id_create(context.handle, &id.raw), context.diagnostics);
        return id;
    }
};

/// A rank's place in its communicator.
pub const CommInfo = struct {
    rank: u32,
    rank_count: u32,
    engine: CommEngine,
    raw: c.km_comm_info,

    /// Why it is this engine.
    pub fn reason(info: *const CommInfo) []const u8 {
        return errors.arrayText(&info.raw.reason);
    }
};

/// Operations that go on together: messages that ranks exchange, and operations of several ranks on
/// one thread, need that. It belongs to the thread that begins it.
pub const CommGroup = struct {
    diagnostics: ?*Diagnostics,

    /// Keeps the operations of this thread from now on. C: km_comm_group_begin.
    pub fn begin(diagnostics: ?*Diagnostics) Error!CommGroup {
        try check(c.km_comm_group_begin(), diagnostics);
        return .{ .diagnostics = diagnostics };
    }

    /// Queues the operations. C: km_comm_group_end.
    pub fn end(group: CommGroup) Error!void {
        try check(c.km_comm_group_end(), group.diagnostics);
    }

    /// Ends the group without its operations.
    pub fn cancel(_: CommGroup) void {
        // A call that fails drops the whole group.
        _ = c.km_comm_send(null, null, null, 0, c.KM_ELEMENT_TYPE_UNKNOWN, 0);
        _ = c.km_comm_group_end();
    }
};

/// A rank of a communicator. All ranks call the same operations in the same order. An operation
/// joins its stream and returns at once; arrays are a `Slice` or an `Array` of T, and `count` is
/// the elements of a block: of the whole array, or of one rank's part.
pub const Comm = struct {
    handle: c.km_comm,
    diagnostics: ?*Diagnostics = null,

    /// Joins as a rank, and waits for the others. C: km_comm_create.
    pub fn init(context: Context, id: CommId, rank_count: u32, rank: u32) Error!Comm {
        var handle: c.km_comm = undefined;
        const got = c.km_comm_create(context.handle, &id.raw, rank_count, rank, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Makes a communicator whose ranks are all in this process: rank i has the device of
    /// contexts[i] and becomes comms[i]. C: km_comm_create_all.
    pub fn initAll(comptime count: usize, contexts: [count]Context) Error![count]Comm {
        var handles: [count]c.km_context = undefined;
        for (&handles, contexts) |*handle, context| handle.* = context.handle;
        var made: [count]c.km_comm = undefined;
        const got = c.km_comm_create_all(&handles, count, &made);
        try check(got, contexts[0].diagnostics);
        var comms: [count]Comm = undefined;
        for (&comms, made, contexts) |*comm, handle, context| {
            comm.* = .{ .handle = handle, .diagnostics = context.diagnostics };
        }
        return comms;
    }

    /// Joins the communicator of the ranks that give the same color, in the order of their keys;
    /// null for a negative color. It waits for all ranks. C: km_comm_split.
    pub fn split(comm: Comm, color: i32, key: i32) Error!?Comm {
        var handle: c.km_comm = null;
        try check(c.km_comm_split(comm.handle, color, key, &handle), comm.diagnostics);
        if (handle == null) return null;
        return .{ .handle = handle, .diagnostics = comm.diagnostics };
    }

    /// Drops the handle; queued operations go on. C: km_comm_destroy.
    pub fn deinit(comm: Comm) void {
        _ = c.km_comm_destroy(comm.handle);
    }

    /// The rank's number, how many there are, and what carries the operations out.
    /// C: km_comm_info_get.
    pub fn info(comm: Comm) Error!CommInfo {
        var raw = errors.sized(c.km_comm_info);
        try check(c.km_comm_info_get(comm.handle, &raw), comm.diagnostics);
        return .{
            .rank = raw.rank,
            .rank_count = raw.rank_count,
            .engine = @enumFromInt(raw.engine),
            .raw = raw,
        };
    }

    /// Fails, with the reason, if the communicator has failed. C: km_comm_status.
    pub fn status(comm: Comm) Error!void {
        try check(c.km_comm_status(comm.handle), comm.diagnostics);
    }

    /// Ends the operations of all ranks, which fail. C: km_comm_abort.
    pub fn abort(comm: Comm) Error!void {
        try check(c.km_comm_abort(comm.handle), comm.diagnostics);
    }

    /// receive = the reduction of all ranks' `send`, on all ranks. C: km_comm_all_reduce.
    pub fn allReduce(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
        reduction: CommReduction(T),
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const kind = elementType(T);
        const got = c.km_comm_all_reduce(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            kind,
            reduction.raw(),
            reduction.scale(),
        );
        try check(got, comm.diagnostics);
    }

    /// receive of rank `root` = the reduction of all ranks' `send`. C: km_comm_reduce.
    pub fn reduce(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
        reduction: CommReduction(T),
        root: u32,
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const kind = elementType(T);
        const got = c.km_comm_reduce(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            kind,
            reduction.raw(),
            reduction.scale(),
            root,
        );
        try check(got, comm.diagnostics);
    }

    /// receive = the rank's block of the reduction of all ranks' `send`. C: km_comm_reduce_scatter.
    pub fn reduceScatter(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
        reduction: CommReduction(T),
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const kind = elementType(T);
        const got = c.km_comm_reduce_scatter(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            kind,
            reduction.raw(),
            reduction.scale(),
        );
        try check(got, comm.diagnostics);
    }

    /// receive = `send` of rank `root`, on all ranks. C: km_comm_broadcast.
    pub fn broadcast(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
        root: u32,
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const got = c.km_comm_broadcast(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            elementType(T),
            root,
        );
        try check(got, comm.diagnostics);
    }

    /// receive = the blocks `send` of all ranks, on all ranks. C: km_comm_all_gather.
    pub fn allGather(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const got = c.km_comm_all_gather(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            elementType(T),
        );
        try check(got, comm.diagnostics);
    }

    /// Block j of `send` of rank i becomes block i of `receive` of rank j. C: km_comm_all_to_all.
    pub fn allToAll(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const got = c.km_comm_all_to_all(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            elementType(T),
        );
        try check(got, comm.diagnostics);
    }

    /// receive of rank `root` = the blocks `send` of all ranks. C: km_comm_gather.
    pub fn gather(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
        root: u32,
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const got = c.km_comm_gather(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            elementType(T),
            root,
        );
        try check(got, comm.diagnostics);
    }

    /// receive = the rank's block of `send` of rank `root`. C: km_comm_scatter.
    pub fn scatter(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        receive_to: anytype,
        count: u64,
        root: u32,
    ) Error!void {
        const from = asArray(T, send_from);
        const to = asArray(T, receive_to);
        const got = c.km_comm_scatter(
            comm.handle,
            stream.handle,
            &from.raw,
            &to.raw,
            count,
            elementType(T),
            root,
        );
        try check(got, comm.diagnostics);
    }

    /// Sends a message to rank `peer`, which receives as many elements. C: km_comm_send.
    pub fn send(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        send_from: anytype,
        count: u64,
        peer: u32,
    ) Error!void {
        const from = asArray(T, send_from);
        const got = c.km_comm_send(
            comm.handle,
            stream.handle,
            &from.raw,
            count,
            elementType(T),
            peer,
        );
        try check(got, comm.diagnostics);
    }

    /// Receives a message of rank `peer`. C: km_comm_receive.
    pub fn receive(
        comm: Comm,
        stream: Stream,
        comptime T: type,
        receive_to: anytype,
        count: u64,
        peer: u32,
    ) Error!void {
        const to = asArray(T, receive_to);
        const got = c.km_comm_receive(
            comm.handle,
            stream.handle,
            &to.raw,
            count,
            elementType(T),
            peer,
        );
        try check(got, comm.diagnostics);
    }
};
