//! All services from eight threads at a time, and objects that one thread makes and others drop.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.heap.smp_allocator;

const thread_count = 8;
const rounds = 40;

const Shared = struct {
    context: km.Context,
    module: km.Module,
    pool: km.Pool,
    failures: std.atomic.Value(u32) = .init(0),

    fn work(shared: *Shared, first: u32) void {
        for (0..rounds) |round| {
            oneOfEach(shared, first *% 31 +% @as(u32, @intCast(round))) catch |failure| {
                std.debug.print("thread {d}: {t}\n", .{ first, failure });
                _ = shared.failures.fetchAdd(1, .acq_rel);
                return;
            };
        }
    }
};

/// Each service once, on objects that all threads share.
fn oneOfEach(shared: *Shared, number: u32) !void {
    const context = shared.context;
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const fill = try shared.module.function("fill_index");
    defer fill.deinit();
    const data = try shared.pool.allocate(u32, 64);
    defer data.deinit();
    const profiler = context.profiler();
    try profiler.push("round");
    try stream.launch(fill, .forElements(64), .{ data, number, @as(u32, 64) });
    const graph = try km.Graph.init(context);
    defer graph.deinit();
    const copy = try km.Slice(u32).initZeroed(context, 64);
    defer copy.deinit();
    _ = try graph.addCopy(&.{}, u32, copy, 0, data);
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.launch(stream);
    const event = try km.Event.init(context);
    defer event.deinit();
    try event.record(stream);
    const blas = try km.Blas.init(stream, .rows);
    defer blas.deinit();
    const floats = try km.Slice(f32).initCopy(context, stream, &.{ 1, 2 });
    defer floats.deinit();
    try blas.scal(f32, 2, floats);
    try stream.awaitDone(std.testing.io, allocator);
    try event.synchronize();
    try profiler.pop();
    var back: [64]u32 = undefined;
    try copy.download(stream, &back);
    for (back, 0..) |word, i| {
        if (word != number +% @as(u32, @intCast(i))) return error.WrongWord;
    }
    if ((try floats.hostElements())[1] != 4) return error.WrongProduct;
    const alive = try context.allocations(allocator);
    allocator.free(alive);
    const history = try context.errorHistory(allocator);
    allocator.free(history);
    _ = try context.memoryProfile();
    _ = try fill.occupancy(64, 0);
    _ = try shared.pool.info();
}

test "eight threads use all services at once" {
    const context = try km.Context.open("cpu", null);
    defer context.deinit();
    const module = try km.Module.loadPtx(context, support.ptx, "test.ptx");
    defer module.deinit();
    const pool = try km.Pool.init(context, 0);
    defer pool.deinit();
    try context.setTracking(.on);
    try context.profiler().start();
    try context.startMemoryProfile(1_000_000);
    var shared: Shared = .{ .context = context, .module = module, .pool = pool };
    var threads: [thread_count]std.Thread = undefined;
    for (&threads, 0..) |*thread, number| {
        thread.* = try std.Thread.spawn(.{}, Shared.work, .{ &shared, @as(u32, @intCast(number)) });
    }
    for (threads) |thread| thread.join();
    try context.stopMemoryProfile();
    try context.profiler().stop();
    try support.expectEqual(0, shared.failures.load(.acquire));
    const rows = try context.profiler().rows(allocator);
    defer allocator.free(rows);
    try support.expect(rows.len > 0);
}
