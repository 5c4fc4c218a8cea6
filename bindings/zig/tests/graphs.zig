//! Graphs: nodes, captures, updates.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.testing.allocator;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

const Counter = struct {
    calls: u32 = 0,

    fn count(counter: *Counter, status: km.Status) void {
        counter.calls += if (status == .success) 1 else 100;
    }

    fn countTwice(counter: *Counter, status: km.Status) void {
        counter.calls += if (status == .success) 2 else 100;
    }
};

test "nodes run after those that they depend on, as many times as the graph is launched" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, 4);
    defer data.deinit();
    const copy = try km.Slice(u32).initZeroed(f.context, 6);
    defer copy.deinit();
    const source = try km.HostMemory(u32).init(f.context, 2);
    defer source.deinit();
    @memcpy(source.items, &[_]u32{ 70, 71 });
    const back = try km.HostMemory(u32).init(f.context, 6);
    defer back.deinit();
    var counter: Counter = .{};

    const graph = try km.Graph.init(f.context);
    defer graph.deinit();
    const kernel = try graph.addKernel(&.{}, fill, .{ .block = .{ 4, 1, 1 } }, .{
        data, @as(u32, 10), @as(u32, 4),
    });
    const filled = try graph.addFill(&.{}, u32, copy, 0, 6, 1);
    const both = try graph.addEmpty(&.{ kernel, filled });
    const copied = try graph.addCopy(&.{both}, u32, copy, 2, data);
    const uploaded = try graph.addUpload(&.{both}, u32, copy, 0, source.items);
    const down = try graph.addDownload(&.{ copied, uploaded }, u32, copy, 0, back.items);
    const host = try graph.addHost(&.{down}, Counter, &counter, Counter.count);

    const exec = try graph.instantiate();
    defer exec.deinit();
    for (0..3) |_| try exec.launch(f.stream);
    try f.stream.synchronize();
    try expectEqualSlices(u32, &.{ 70, 71, 10, 11, 12, 13 }, back.items);
    try expectEqual(3, counter.calls);

    try graph.setKernel(kernel, fill, .{ .block = .{ 4, 1, 1 } }, .{
        data, @as(u32, 20), @as(u32, 4),
    });
    try graph.setHost(host, Counter, &counter, Counter.countTwice);
    try graph.setFill(filled, u32, copy, 0, 6, 2);
    try graph.setUpload(uploaded, u32, copy, 1, source.items[0..1]);
    try graph.setCopy(copied, u32, copy, 2, data);
    try graph.setDownload(down, u32, copy, 0, back.items[0..5]);
    for ([_]km.Node{ kernel, host, filled, uploaded, down }) |node| {
        try exec.updateNode(graph, node);
    }
    try exec.launch(f.stream);
    try f.stream.synchronize();
    try expectEqualSlices(u32, &.{ 2, 70, 20, 21, 22, 13 }, back.items);
    try expectEqual(5, counter.calls);
}

test "graphs can be read, cloned and compared" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, 4);
    defer data.deinit();
    const graph = try km.Graph.init(f.context);
    defer graph.deinit();
    const none = try graph.nodes(allocator);
    defer allocator.free(none);
    try expectEqual(0, none.len);
    const first = try graph.addEmpty(&.{});
    const kernel = try graph.addKernel(&.{first}, fill, .{}, .{ data, @as(u32, 3), @as(u32, 1) });

    const nodes = try graph.nodes(allocator);
    defer allocator.free(nodes);
    try expectEqualSlices(km.Node, &.{ first, kernel }, nodes);
    const before = try graph.dependencies(allocator, kernel);
    defer allocator.free(before);
    try expectEqualSlices(km.Node, &.{first}, before);
    const after = try graph.dependents(allocator, first);
    defer allocator.free(after);
    try expectEqualSlices(km.Node, &.{kernel}, after);
    const info = try graph.nodeInfo(kernel);
    try expectEqual(@intFromEnum(km.NodeKind.kernel), info.kind);
    const bytes = try graph.nodeArguments(allocator, kernel);
    defer allocator.free(bytes);
    try expectEqual(16, bytes.len);
    try expectEqual(3, std.mem.bytesToValue(u32, bytes[8..12]));
    const function = try graph.nodeFunction(kernel);
    defer function.deinit();
    const name = try function.name(allocator);
    defer allocator.free(name);
    try std.testing.expectEqualStrings("fill_index", name);
    const dot = try graph.dot(allocator);
    defer allocator.free(dot);
    try expect(std.mem.indexOf(u8, dot, "digraph") != null);

    const clone = try graph.clone();
    defer clone.deinit();
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.update(clone);
    try clone.removeDependency(first, kernel);
    const difference = try exec.compare(clone);
    try expectEqual(km.GraphDifference.dependencies, difference.difference);
    try expectEqual(@as(?km.Node, kernel), difference.node);
    try expectError(error.GraphMismatch, exec.update(clone));
    try clone.addDependency(first, kernel);
    try expectEqual(km.GraphDifference.none, (try exec.compare(clone)).difference);
    try clone.remove(first);
    try expectError(error.InvalidArgument, clone.nodeInfo(first));
    try expectError(error.InvalidArgument, graph.addDependency(kernel, first));
}

test "arguments of nodes are checked" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, 4);
    defer data.deinit();
    const graph = try km.Graph.init(f.context);
    defer graph.deinit();
    const add = km.Graph.addKernel;
    const n: u32 = 1;
    try expectError(error.InvalidLaunch, add(graph, &.{}, fill, .{}, .{ data, n }));
    try f.expectMessage("kernel 'fill_index' has 3 parameters and was given 2");
    const wide: u64 = 1;
    try expectError(error.InvalidLaunch, add(graph, &.{}, fill, .{}, .{ data, wide, n }));
    try f.expectMessage("parameter 1 'base' of kernel 'fill_index' is ");
    const unknown: km.Node = @enumFromInt(99);
    try expectError(error.InvalidArgument, graph.addEmpty(&.{unknown}));
    try expectError(error.InvalidArgument, graph.addChild(&.{}, graph));
}

test "rows, children and copies between contexts in graphs" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const other = try km.Context.open("cpu", &f.diagnostics);
    defer other.deinit();
    const far = try km.Slice(u8).initZeroed(other, 8);
    defer far.deinit();
    const near = try km.Slice(u8).initZeroed(f.context, 8);
    defer near.deinit();
    var source = [_]u8{ 1, 2, 3, 4 };
    var back: [4]u8 = @splat(0);
    const child = try km.Graph.init(f.context);
    defer child.deinit();
    const up = try child.addUploadRows(&.{}, u8, near, &source, .{
        .width_bytes = 2,
        .height = 2,
        .destination_pitch_bytes = 4,
    });
    const fill = try child.addFillRows(&.{up}, u8, near, .{
        .first = 2,
        .pitch_bytes = 4,
        .width = 1,
        .height = 2,
    }, 9);
    const across = try child.addCopyRows(&.{fill}, u8, near, near, .{
        .width_bytes = 1,
        .height = 2,
        .source_offset_bytes = 1,
        .source_pitch_bytes = 4,
        .destination_offset_bytes = 3,
        .destination_pitch_bytes = 4,
    });
    const down = try child.addDownloadRows(&.{across}, u8, near, &back, .{
        .width_bytes = 2,
        .height = 2,
        .source_offset_bytes = 2,
        .source_pitch_bytes = 4,
    });
    try expectEqual(2, (try child.nodeRows(up)).height);
    const graph = try km.Graph.init(f.context);
    defer graph.deinit();
    const inner = try graph.addChild(&.{}, child);
    const peer = try graph.addCopyPeer(&.{inner}, u8, far, 0, near);
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.launch(f.stream);
    try f.stream.synchronize();
    const expected = [_]u8{ 1, 2, 9, 2, 3, 4, 9, 4 };
    try expectEqualSlices(u8, &expected, try far.hostElements());
    try expectEqualSlices(u8, &.{ 9, 2, 9, 4 }, &back);

    // Every kind of node takes other parameters.
    const rows: km.RowCopy = .{ .width_bytes = 4, .height = 1 };
    try child.setUploadRows(up, u8, near, &source, rows);
    try child.setFillRows(fill, u8, near, .{ .first = 4, .width = 4, .height = 1 }, 7);
    try child.setCopyRows(across, u8, near, near, .{ .width_bytes = 1 });
    try child.setDownloadRows(down, u8, near, &back, .{ .width_bytes = 4 });
    const tall: km.RowCopy = .{ .width_bytes = 4, .height = 2 };
    try expectError(error.OutOfBounds, child.setDownloadRows(down, u8, near, &back, tall));
    try graph.setChild(inner, child);
    try graph.setCopyPeer(peer, u8, far, 0, near);
    try exec.update(graph);
    try exec.launch(f.stream);
    try f.stream.synchronize();
    try expectEqualSlices(u8, &.{ 1, 2, 3, 4, 7, 7, 7, 7 }, try far.hostElements());
    const copy = try graph.nodeChild(inner);
    defer copy.deinit();
    const nodes = try copy.nodes(allocator);
    defer allocator.free(nodes);
    try expectEqual(4, nodes.len);
}

test "streams are captured" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, 4);
    defer data.deinit();
    try expectEqual(km.CaptureStatus.none, try f.stream.captureStatus());
    try f.stream.beginCapture();
    try expectEqual(km.CaptureStatus.active, try f.stream.captureStatus());
    try data.fill(f.stream, 5);
    try f.stream.launch(fill, .{}, .{ data, @as(u32, 8), @as(u32, 1) });
    const graph = try f.stream.endCapture();
    defer graph.deinit();
    try expectEqual(0, (try data.hostElements())[0]);
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.launch(f.stream);
    try f.stream.synchronize();
    try expectEqualSlices(u32, &.{ 8, 5, 5, 5 }, try data.hostElements());
    try expectError(error.NotPermitted, f.stream.endCapture());
    try f.stream.beginCapture();
    try expectError(error.CaptureUnsupported, f.stream.synchronize());
    try expectEqual(km.CaptureStatus.invalidated, try f.stream.captureStatus());
    try expectError(error.CaptureInvalidated, f.stream.endCapture());
}
