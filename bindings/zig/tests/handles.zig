//! Handles that are none, through the raw layer and through the idiomatic one.
const std = @import("std");
const c = @import("c");
const km = @import("kernelmill");
const support = @import("support.zig");
const expectEqual = support.expectEqual;
const expectError = support.expectError;

const random_count = 100_000;

fn Handle(comptime T: type, value: u64) T {
    return @ptrFromInt(value);
}

/// Gives one value to calls of every type of object; each has to refuse it.
fn refuseEverywhere(value: u64) !void {
    var number: u64 = 77;
    var count: u32 = 77;
    var status: c.km_status = 77;
    var pointer: ?*anyopaque = null;
    const slice = Handle(c.km_slice, value);
    const stream = Handle(c.km_stream, value);
    const event = Handle(c.km_event, value);
    const launch = Handle(c.km_launch, value);
    const program = Handle(c.km_program, value);
    const pool = Handle(c.km_pool, value);
    const graph = Handle(c.km_graph, value);
    const exec = Handle(c.km_graph_exec, value);
    const blas = Handle(c.km_blas, value);
    const fft = Handle(c.km_fft, value);
    const comm = Handle(c.km_comm, value);
    const place: c.km_array = .{};
    const tune = Handle(c.km_tune, value);
    const results = [_]c.km_status{
        c.km_device_destroy(Handle(c.km_device, value)),
        c.km_context_destroy(Handle(c.km_context, value)),
        c.km_context_error(Handle(c.km_context, value), &status),
        c.km_context_reset(Handle(c.km_context, value)),
        c.km_stream_destroy(stream),
        c.km_stream_synchronize(stream),
        c.km_stream_wait_event(stream, event),
        c.km_event_destroy(event),
        c.km_event_record(event, stream),
        c.km_host_memory_destroy(Handle(c.km_host_memory, value)),
        c.km_host_memory_pointer(Handle(c.km_host_memory, value), &pointer),
        c.km_slice_destroy(slice),
        c.km_slice_address(slice, &number),
        c.km_slice_upload(stream, slice, 0, &number, 8),
        c.km_slice_copy(stream, slice, 0, slice, 0, 8),
        c.km_module_destroy(Handle(c.km_module, value)),
        c.km_module_function_count(Handle(c.km_module, value), &count),
        c.km_function_destroy(Handle(c.km_function, value)),
        c.km_function_param_count(Handle(c.km_function, value), &count),
        c.km_launch_destroy(launch),
        c.km_launch_arg_slice(launch, slice, 0),
        c.km_launch_submit(launch),
        c.km_program_destroy(program),
        c.km_program_compile(program),
        c.km_pool_destroy(pool),
        c.km_pool_trim(pool, 0),
        c.km_graph_destroy(graph),
        c.km_graph_add_dependency(graph, 1, 2),
        c.km_graph_exec_destroy(exec),
        c.km_graph_exec_launch(exec, stream),
        c.km_blas_destroy(blas),
        c.km_blas_scal(blas, c.KM_DATA_TYPE_F32, 1, &number, &.{ .slice = value }),
        c.km_fft_destroy(fft),
        c.km_fft_execute(fft, c.KM_FFT_DIRECTION_FORWARD, &place, &place),
        c.km_comm_destroy(comm),
        c.km_comm_status(comm),
        c.km_tune_destroy(tune),
        c.km_tune_set_budget(tune, 1, 1),
    };
    for (results, 0..) |result, i| {
        if (result == c.KM_ERROR_INVALID_HANDLE) continue;
        std.debug.print("call {d} took 0x{x}: status {d}\n", .{ i, value, result });
        return error.TestUnexpectedResult;
    }
    try expectEqual(77, number);
    try expectEqual(77, count);
    try expectEqual(77, status);
    try expectEqual(null, pointer);
}

test "random handles through the raw layer" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const out = try km.Slice(u32).initZeroed(f.context, 4);
    defer out.deinit();
    const live = [_]u64{
        @intFromPtr(f.context.handle), @intFromPtr(f.stream.handle),
        @intFromPtr(f.module.handle),  @intFromPtr(out.handle),
    };
    var generator: std.Random.DefaultPrng = .init(20261121);
    const random = generator.random();
    for (0..random_count) |i| {
        const near = live[i % live.len] ^ (@as(u64, 1) << @intCast(i / live.len % 64));
        const value = if (i % 2 == 0) random.int(u64) | 1 else near;
        const is_live = std.mem.indexOfScalar(u64, &live, value) != null;
        if (value != 0 and !is_live) try refuseEverywhere(value);
    }
    // What is alive has stayed so.
    try out.fill(f.stream, 3);
    var back: [4]u32 = undefined;
    try out.download(f.stream, &back);
    try expectEqual(3, back[3]);
}

test "use after deinit, twice deinit, wrong kinds" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const slice = try km.Slice(u32).init(f.context, 4);
    const copy = slice;
    slice.deinit();
    slice.deinit();
    try expectError(error.InvalidHandle, copy.fill(f.stream, 1));
    try f.expectMessage("destroyed already");
    const event = try km.Event.init(f.context);
    event.deinit();
    try expectError(error.InvalidHandle, event.record(f.stream));
    const wrong: km.Stream = .{
        .handle = Handle(c.km_stream, @intFromPtr(f.context.handle)),
        .diagnostics = &f.diagnostics,
    };
    try expectError(error.InvalidHandle, wrong.synchronize());
    try f.expectMessage("expected a km_stream");
    const none: km.Stream = .{ .handle = null };
    try expectError(error.InvalidHandle, none.query());
}

test "parents may go first" {
    var diagnostics: km.Diagnostics = .{};
    const context = try km.Context.open("cpu", &diagnostics);
    const stream = try km.Stream.init(context);
    const slice = try km.Slice(u32).initZeroed(context, 1);
    context.deinit();
    try slice.fill(stream, 5);
    const again = try stream.getContext();
    try again.synchronize();
    const device = try again.getDevice();
    try expectEqual(32, (try device.info()).warp_size);
    const memory = try again.memory();
    try support.expect(memory.total_bytes >= memory.free_bytes);
    device.deinit();
    again.deinit();
    stream.deinit();
    try expectEqual(5, (try slice.hostElements())[0]);
    slice.deinit();
}
