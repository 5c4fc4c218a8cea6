//! Communicators: each operation between two ranks of this process.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

/// Two ranks with two numbers each, 1, 2 and 11, 12, and room for four results.
const Ranks = struct {
    fixtures: [2]support.Fixture,
    comms: [2]km.Comm,
    inputs: [2]km.Slice(f32),
    outputs: [2]km.Slice(f32),

    fn init(ranks: *Ranks) !void {
        for (&ranks.fixtures, 0..) |*f, i| {
            try f.init();
            const first: f32 = if (i == 0) 1 else 11;
            const numbers = [_]f32{ first, first + 1 };
            const none: [4]f32 = @splat(0);
            ranks.inputs[i] = try km.Slice(f32).initCopy(f.context, f.stream, &numbers);
            ranks.outputs[i] = try km.Slice(f32).initCopy(f.context, f.stream, &none);
        }
        const contexts = .{ ranks.fixtures[0].context, ranks.fixtures[1].context };
        ranks.comms = try km.Comm.initAll(2, contexts);
    }

    fn deinit(ranks: *Ranks) void {
        for (ranks.comms) |comm| comm.deinit();
        for (ranks.inputs) |slice| slice.deinit();
        for (ranks.outputs) |slice| slice.deinit();
        for (&ranks.fixtures) |*f| f.deinit();
    }

    /// Calls an operation for both ranks, which have to have these numbers then.
    fn run(ranks: *Ranks, operation: anytype, first: []const f32, second: []const f32) !void {
        {
            const group = try km.CommGroup.begin(null);
            errdefer group.cancel();
            for (0..2) |i| {
                const stream = ranks.fixtures[i].stream;
                try operation(ranks.comms[i], stream, ranks.inputs[i], ranks.outputs[i]);
            }
            try group.end();
        }
        for ([_][]const f32{ first, second }, 0..) |wanted, i| {
            try ranks.fixtures[i].stream.synchronize();
            const found = try ranks.outputs[i].hostElements();
            try std.testing.expectEqualSlices(f32, wanted, found[0..wanted.len]);
        }
    }
};

const operations = struct {
    const Slice = km.Slice(f32);

    fn sum(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.allReduce(stream, f32, x, y, 2, .sum);
    }
    fn scaled(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.allReduce(stream, f32, x, y, 2, .{ .scaled_sum = 0.5 });
    }
    fn largest(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.reduce(stream, f32, x, y, 2, .max, 1);
    }
    fn parts(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.reduceScatter(stream, f32, x, y, 1, .average);
    }
    fn broadcast(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.broadcast(stream, f32, x, y, 2, 1);
    }
    fn allGather(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.allGather(stream, f32, x, y, 2);
    }
    fn allToAll(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.allToAll(stream, f32, x, y, 1);
    }
    fn gather(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.gather(stream, f32, x, y, 2, 0);
    }
    fn scatter(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        try comm.scatter(stream, f32, x, y, 1, 1);
    }
    fn messages(comm: km.Comm, stream: km.Stream, x: Slice, y: Slice) !void {
        const other = 1 - (try comm.info()).rank;
        try comm.send(stream, f32, km.Array(f32).from(x, 1), 1, other);
        try comm.receive(stream, f32, y, 1, other);
    }
};

test "operations of two ranks" {
    var ranks: Ranks = undefined;
    try ranks.init();
    defer ranks.deinit();
    try ranks.run(operations.sum, &.{ 12, 14 }, &.{ 12, 14 });
    try ranks.run(operations.scaled, &.{ 6, 7 }, &.{ 6, 7 });
    try ranks.run(operations.largest, &.{ 6, 7 }, &.{ 11, 12 });
    try ranks.run(operations.parts, &.{6}, &.{7});
    try ranks.run(operations.broadcast, &.{ 11, 12 }, &.{ 11, 12 });
    try ranks.run(operations.allGather, &.{ 1, 2, 11, 12 }, &.{ 1, 2, 11, 12 });
    try ranks.run(operations.allToAll, &.{ 1, 11 }, &.{ 2, 12 });
    try ranks.run(operations.gather, &.{ 1, 2, 11, 12 }, &.{ 2, 12, 11, 12 });
    try ranks.run(operations.scatter, &.{11}, &.{12});
    try ranks.run(operations.messages, &.{12}, &.{2});
}

test "what communicators say, and how they fail" {
    var ranks: Ranks = undefined;
    try ranks.init();
    defer ranks.deinit();
    const info = try ranks.comms[1].info();
    try expectEqual(1, info.rank);
    try expectEqual(2, info.rank_count);
    try expectEqual(km.CommEngine.threads, info.engine);
    try expect(std.mem.indexOf(u8, info.reason(), "in this process") != null);
    const f = &ranks.fixtures[0];
    const alone = try km.Comm.init(f.context, try km.CommId.init(f.context), 1, 0);
    defer alone.deinit();
    try expect(try alone.split(-1, 0) == null);
    (try alone.split(3, 0)).?.deinit();
    const x = ranks.inputs[0];
    try expectError(error.InvalidArgument, ranks.comms[0].send(f.stream, f32, x, 1, 7));
    try f.expectMessage("peer is 7");
    try ranks.comms[0].status();
    try ranks.comms[0].abort();
    try expectError(error.InputOutput, ranks.comms[1].status());
    try ranks.fixtures[1].expectMessage("rank 0 has aborted the communicator");
}
