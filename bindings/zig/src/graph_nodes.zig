//! Adds nodes to graphs, and gives them other parameters. Methods of `Graph`; a graph that was
//! instantiated takes new parameters over by `GraphExec.updateNode`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Error = errors.Error;
const Function = @import("function.zig").Function;
const Graph = @import("graph.zig").Graph;
const launch = @import("launch.zig");
const memory = @import("memory.zig");
const Node = @import("graph.zig").Node;
const Packed = @import("arguments.zig").Packed;
const Slice = memory.Slice;
const Status = errors.Status;

/// The numbers of nodes, as the library takes them.
pub fn numbersOf(nodes: []const Node) [*c]const u64 {
    return if (nodes.len == 0) null else @ptrCast(nodes.ptr);
}

/// A kernel; arguments as for `Launch`, copied. The graph keeps function and slices.
/// C: km_graph_add_kernel.
pub fn addKernel(
    graph: Graph,
    after: []const Node,
    function: Function,
    config: launch.Config,
    arguments: anytype,
) Error!Node {
    const given = try Packed(@TypeOf(arguments)).init(function, arguments);
    const raw = config.raw();
    var node: u64 = undefined;
    try check(c.km_graph_add_kernel(
        graph.handle,
        numbersOf(after),
        after.len,
        function.handle,
        &raw,
        &given.bytes,
        given.size_bytes,
        &given.slices,
        given.slice_count,
        &node,
    ), graph.diagnostics);
    return @enumFromInt(node);
}

/// Another function, shape and arguments for a node that is a kernel. C: km_graph_set_kernel.
pub fn setKernel(
    graph: Graph,
    node: Node,
    function: Function,
    config: launch.Config,
    arguments: anytype,
) Error!void {
    const given = try Packed(@TypeOf(arguments)).init(function, arguments);
    const raw = config.raw();
    try check(c.km_graph_set_kernel(
        graph.handle,
        @intFromEnum(node),
        function.handle,
        &raw,
        &given.bytes,
        given.size_bytes,
        &given.slices,
        given.slice_count,
    ), graph.diagnostics);
}

/// A copy of all of `source` to the elements of `destination` from `first` on. C:
/// km_graph_add_copy.
pub fn addCopy(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    destination: Slice(T),
    first: u64,
    source: Slice(T),
) Error!Node {
    var node: u64 = undefined;
    const add = c.km_graph_add_copy;
    const before = numbersOf(after);
    const to = destination.handle;
    const offset = first *| @sizeOf(T);
    const size = source.len *| @sizeOf(T);
    const got = add(graph.handle, before, after.len, to, offset, source.handle, 0, size, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another source and destination for a node that is a copy. C: km_graph_set_copy.
pub fn setCopy(
    graph: Graph,
    node: Node,
    comptime T: type,
    destination: Slice(T),
    first: u64,
    source: Slice(T),
) Error!void {
    const set = c.km_graph_set_copy;
    const number = @intFromEnum(node);
    const offset = first *| @sizeOf(T);
    const size = source.len *| @sizeOf(T);
    const to = destination.handle;
    const got = set(graph.handle, number, to, offset, source.handle, 0, size);
    try check(got, graph.diagnostics);
}

/// A copy between slices of different contexts of one backend. C: km_graph_add_copy_peer.
pub fn addCopyPeer(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    destination: Slice(T),
    first: u64,
    source: Slice(T),
) Error!Node {
    var node: u64 = undefined;
    const add = c.km_graph_add_copy_peer;
    const before = numbersOf(after);
    const to = destination.handle;
    const offset = first *| @sizeOf(T);
    const size = source.len *| @sizeOf(T);
    const got = add(graph.handle, before, after.len, to, offset, source.handle, 0, size, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another source and destination for a node that is a copy between contexts. C:
/// km_graph_set_copy_peer.
pub fn setCopyPeer(
    graph: Graph,
    node: Node,
    comptime T: type,
    destination: Slice(T),
    first: u64,
    source: Slice(T),
) Error!void {
    const set = c.km_graph_set_copy_peer;
    const number = @intFromEnum(node);
    const offset = first *| @sizeOf(T);
    const size = source.len *| @sizeOf(T);
    const to = destination.handle;
    const got = set(graph.handle, number, to, offset, source.handle, 0, size);
    try check(got, graph.diagnostics);
}

/// A copy from the host, which reads `source` each time the graph runs: memory that is not a
/// `HostMemory` has to stay while the graph and what is instantiated from it live. C:
/// km_graph_add_upload.
pub fn addUpload(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    destination: Slice(T),
    first: u64,
    source: []const T,
) Error!Node {
    var node: u64 = undefined;
    const add = c.km_graph_add_upload;
    const before = numbersOf(after);
    const to = destination.handle;
    const offset = first *| @sizeOf(T);
    const size: u64 = source.len * @sizeOf(T);
    const got = add(graph.handle, before, after.len, to, offset, source.ptr, size, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another source and destination for a node that is an upload. C: km_graph_set_upload.
pub fn setUpload(
    graph: Graph,
    node: Node,
    comptime T: type,
    destination: Slice(T),
    first: u64,
    source: []const T,
) Error!void {
    const set = c.km_graph_set_upload;
    const number = @intFromEnum(node);
    const offset = first *| @sizeOf(T);
    const size: u64 = source.len * @sizeOf(T);
    const got = set(graph.handle, number, destination.handle, offset, source.ptr, size);
    try check(got, graph.diagnostics);
}

/// A copy to the host, which writes `destination` each time the graph runs; it has to stay like the
/// source of `addUpload`. C: km_graph_add_download.
pub fn addDownload(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    source: Slice(T),
    first: u64,
    destination: []T,
) Error!Node {
    var node: u64 = undefined;
    const add = c.km_graph_add_download;
    const before = numbersOf(after);
    const from = source.handle;
    const offset = first *| @sizeOf(T);
    const size: u64 = destination.len * @sizeOf(T);
    const got = add(graph.handle, before, after.len, from, offset, destination.ptr, size, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another source and destination for a node that is a download. C: km_graph_set_download.
pub fn setDownload(
    graph: Graph,
    node: Node,
    comptime T: type,
    source: Slice(T),
    first: u64,
    destination: []T,
) Error!void {
    const set = c.km_graph_set_download;
    const number = @intFromEnum(node);
    const offset = first *| @sizeOf(T);
    const size: u64 = destination.len * @sizeOf(T);
    const got = set(graph.handle, number, source.handle, offset, destination.ptr, size);
    try check(got, graph.diagnostics);
}

/// A fill of `count` elements from `first` on, of 1, 2 or 4 bytes each. C: km_graph_add_fill.
pub fn addFill(
    graph: Graph,
    after: []const Node,
    comptime T: type,
    slice: Slice(T),
    first: u64,
    count: u64,
    value: T,
) Error!Node {
    const bits: u32 = std.mem.bytesToValue(memory.FillBits(T), std.mem.asBytes(&value));
    var node: u64 = undefined;
    const add = c.km_graph_add_fill;
    const before = numbersOf(after);
    const place = slice.handle;
    const offset = first *| @sizeOf(T);
    const size = @sizeOf(T);
    const got = add(graph.handle, before, after.len, place, offset, bits, size, count, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another place and value for a node that is a fill. C: km_graph_set_fill.
pub fn setFill(
    graph: Graph,
    node: Node,
    comptime T: type,
    slice: Slice(T),
    first: u64,
    count: u64,
    value: T,
) Error!void {
    const bits: u32 = std.mem.bytesToValue(memory.FillBits(T), std.mem.asBytes(&value));
    const set = c.km_graph_set_fill;
    const number = @intFromEnum(node);
    const offset = first *| @sizeOf(T);
    const got = set(graph.handle, number, slice.handle, offset, bits, @sizeOf(T), count);
    try check(got, graph.diagnostics);
}

fn HostCall(comptime Data: type, comptime callback: fn (data: *Data, status: Status) void) type {
    return struct {
        fn call(user_data: ?*anyopaque, status: c.km_status) callconv(.c) void {
            callback(@ptrCast(@alignCast(user_data.?)), @enumFromInt(status));
        }
    };
}

/// A call of `callback(data, status)`, once for each launch, after errors too, under the rules of
/// `Stream.addCallback`. `data` has to stay while the graph and what is instantiated from it live.
/// C: km_graph_add_host.
pub fn addHost(
    graph: Graph,
    after: []const Node,
    comptime Data: type,
    data: *Data,
    comptime callback: fn (data: *Data, status: Status) void,
) Error!Node {
    var node: u64 = undefined;
    const call = HostCall(Data, callback).call;
    const add = c.km_graph_add_host;
    const got = add(graph.handle, numbersOf(after), after.len, call, data, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another function for a node that is a call of the host. C: km_graph_set_host.
pub fn setHost(
    graph: Graph,
    node: Node,
    comptime Data: type,
    data: *Data,
    comptime callback: fn (data: *Data, status: Status) void,
) Error!void {
    const call = HostCall(Data, callback).call;
    const got = c.km_graph_set_host(graph.handle, @intFromEnum(node), call, data);
    try check(got, graph.diagnostics);
}

/// A node that only joins and forks. C: km_graph_add_empty.
pub fn addEmpty(graph: Graph, after: []const Node) Error!Node {
    var node: u64 = undefined;
    const got = c.km_graph_add_empty(graph.handle, numbersOf(after), after.len, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// A whole graph as it is now. C: km_graph_add_child.
pub fn addChild(graph: Graph, after: []const Node, child: Graph) Error!Node {
    var node: u64 = undefined;
    const add = c.km_graph_add_child;
    const got = add(graph.handle, numbersOf(after), after.len, child.handle, &node);
    try check(got, graph.diagnostics);
    return @enumFromInt(node);
}

/// Another graph for a node that is a child graph. C: km_graph_set_child.
pub fn setChild(graph: Graph, node: Node, child: Graph) Error!void {
    const got = c.km_graph_set_child(graph.handle, @intFromEnum(node), child.handle);
    try check(got, graph.diagnostics);
}
