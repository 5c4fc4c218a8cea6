//! Nodes that copy and fill rows. Methods of `Graph`. Memory of the host has to stay as for
//! `Graph.addUpload`, and is checked to reach.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Error = errors.Error;
const Graph = @import("graph.zig").Graph;
const memory = @import("memory.zig");
const Node = @import("graph.zig").Node;
const numbersOf = @import("graph_nodes.zig").numbersOf;
const RowCopy = @import("rows.zig").RowCopy;
const Slice = memory.Slice;

/// A copy of rows between slices. C: km_graph_add_copy_3d.
pub fn addCopyRows(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    destination: Slice(T),
    source: Slice(T),
    copy: RowCopy,
) Error!Node {
    const raw = copy.raw();
    var node: u64 = undefined;
    const add = c.km_graph_add_copy_3d;
    const before = numbersOf(after);
    const to = destination.handle;
    const got = add(graph.handle, before, after.len, to, source.handle, &raw, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Other parameters for a node that is a copy of rows. C: km_graph_set_copy_3d.
pub fn setCopyRows(
    graph: Graph,
    node: Node,
    comptime T: type,
    destination: Slice(T),
    source: Slice(T),
    copy: RowCopy,
) Error!void {
    const raw = copy.raw();
    const set = c.km_graph_set_copy_3d;
    const number = @intFromEnum(node);
    const got = set(graph.handle, number, destination.handle, source.handle, &raw);
    try check(got, graph.diagnostics);
}

/// A copy of rows from the host. C: km_graph_add_upload_3d.
pub fn addUploadRows(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    destination: Slice(T),
    source: []const T,
    copy: RowCopy,
) Error!Node {
    const bytes = std.mem.sliceAsBytes(source);
    try copy.requireSource(bytes.len, graph.diagnostics);
    const raw = copy.raw();
    var node: u64 = undefined;
    const add = c.km_graph_add_upload_3d;
    const before = numbersOf(after);
    const to = destination.handle;
    const got = add(graph.handle, before, after.len, to, bytes.ptr, &raw, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Other parameters for a node that is an upload of rows. C: km_graph_set_upload_3d.
pub fn setUploadRows(
    graph: Graph,
    node: Node,
    comptime T: type,
    destination: Slice(T),
    source: []const T,
    copy: RowCopy,
) Error!void {
    const bytes = std.mem.sliceAsBytes(source);
    try copy.requireSource(bytes.len, graph.diagnostics);
    const raw = copy.raw();
    const set = c.km_graph_set_upload_3d;
    const got = set(graph.handle, @intFromEnum(node), destination.handle, bytes.ptr, &raw);
    try check(got, graph.diagnostics);
}

/// A copy of rows to the host. C: km_graph_add_download_3d.
pub fn addDownloadRows(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    source: Slice(T),
    destination: []T,
    copy: RowCopy,
) Error!Node {
    const bytes = std.mem.sliceAsBytes(destination);
    try copy.requireDestination(bytes.len, graph.diagnostics);
    const raw = copy.raw();
    var node: u64 = undefined;
    const add = c.km_graph_add_download_3d;
    const before = numbersOf(after);
    const from = source.handle;
    const got = add(graph.handle, before, after.len, from, bytes.ptr, &raw, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Other parameters for a node that is a download of rows. C: km_graph_set_download_3d.
pub fn setDownloadRows(
    graph: Graph,
    node: Node,
    comptime T: type,
    source: Slice(T),
    destination: []T,
    copy: RowCopy,
) Error!void {
    const bytes = std.mem.sliceAsBytes(destination);
    try copy.requireDestination(bytes.len, graph.diagnostics);
    const raw = copy.raw();
    const set = c.km_graph_set_download_3d;
    const got = set(graph.handle, @intFromEnum(node), source.handle, bytes.ptr, &raw);
    try check(got, graph.diagnostics);
}

/// The rows of a fill: `width` elements in each of `height` rows that begin `pitch_bytes` apart
/// (0: no gap), from element `first` on.
pub const FillShape = struct { first: u64 = 0, pitch_bytes: u64 = 0, width: u64, height: u64 };

/// A fill of rows. C: km_graph_add_fill_2d.
pub fn addFillRows(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    slice: Slice(T),
    shape: FillShape,
    value: T,
) Error!Node {
    var node: u64 = undefined;
    try check(c.km_graph_add_fill_2d(
        graph.handle,
        numbersOf(after),
        after.len,
        slice.handle,
        shape.first *| @sizeOf(T),
        shape.pitch_bytes,
        std.mem.bytesToValue(memory.FillBits(T), std.mem.asBytes(&value)),
        @sizeOf(T),
        shape.width,
        shape.height,
        &node,
    ), graph.diagnostics);
    return @enumFromInt(node);
}

/// Other parameters for a node that is a fill of rows. C: km_graph_set_fill_2d.
pub fn setFillRows(
    graph: Graph,
    node: Node,
    comptime T: type,
    slice: Slice(T),
    shape: FillShape,
    value: T,
) Error!void {
    try check(c.km_graph_set_fill_2d(
        graph.handle,
        @intFromEnum(node),
        slice.handle,
        shape.first *| @sizeOf(T),
        shape.pitch_bytes,
        std.mem.bytesToValue(memory.FillBits(T), std.mem.asBytes(&value)),
        @sizeOf(T),
        shape.width,
        shape.height,
    ), graph.diagnostics);
}
