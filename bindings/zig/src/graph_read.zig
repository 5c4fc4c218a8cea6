//! Reads the nodes of graphs. Methods of `Graph`; lists and texts are the caller's to free.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const AllocatingError = errors.AllocatingError;
const Error = errors.Error;
const Function = @import("function.zig").Function;
const Graph = @import("graph.zig").Graph;
const Node = @import("graph.zig").Node;
const RowCopy = @import("rows.zig").RowCopy;

/// Kind and parameters of a node; `kind` is a `NodeKind` by number.
pub const NodeInfo = c.km_graph_node_info;

/// The kind of a node.
pub const NodeKind = enum(i32) {
    kernel = c.KM_GRAPH_NODE_KERNEL,
    copy = c.KM_GRAPH_NODE_COPY,
    upload = c.KM_GRAPH_NODE_UPLOAD,
    download = c.KM_GRAPH_NODE_DOWNLOAD,
    fill = c.KM_GRAPH_NODE_FILL,
    host = c.KM_GRAPH_NODE_HOST,
    empty = c.KM_GRAPH_NODE_EMPTY,
    child = c.KM_GRAPH_NODE_CHILD,
    copy_3d = c.KM_GRAPH_NODE_COPY_3D,
    upload_3d = c.KM_GRAPH_NODE_UPLOAD_3D,
    download_3d = c.KM_GRAPH_NODE_DOWNLOAD_3D,
    fill_2d = c.KM_GRAPH_NODE_FILL_2D,
    copy_peer = c.KM_GRAPH_NODE_COPY_PEER,
    blas = c.KM_GRAPH_NODE_BLAS,
    /// A call of transforms, sparse matrices or solvers.
    library = c.KM_GRAPH_NODE_LIBRARY,
    /// A number that is written or waited for.
    memory_ops = c.KM_GRAPH_NODE_MEMORY_OPS,
    _,
};

fn asNodes(numbers: []u64) []Node {
    return @ptrCast(numbers);
}

/// All nodes in the order of their making. C: km_graph_nodes.
pub fn nodes(graph: Graph, allocator: std.mem.Allocator) AllocatingError![]Node {
    const arguments = .{graph.handle};
    const call = c.km_graph_nodes;
    return asNodes(try errors.copyAll(u64, allocator, graph.diagnostics, call, arguments));
}

/// The nodes that a node runs after. C: km_graph_node_dependencies.
pub fn dependencies(
    graph: Graph,
    allocator: std.mem.Allocator,
    node: Node,
) AllocatingError![]Node {
    const arguments = .{ graph.handle, @intFromEnum(node) };
    const call = c.km_graph_node_dependencies;
    return asNodes(try errors.copyAll(u64, allocator, graph.diagnostics, call, arguments));
}

/// The nodes that run after a node. C: km_graph_node_dependents.
pub fn dependents(graph: Graph, allocator: std.mem.Allocator, node: Node) AllocatingError![]Node {
    const arguments = .{ graph.handle, @intFromEnum(node) };
    const call = c.km_graph_node_dependents;
    return asNodes(try errors.copyAll(u64, allocator, graph.diagnostics, call, arguments));
}

/// Kind and parameters of a node. C: km_graph_node_info_get.
pub fn nodeInfo(graph: Graph, node: Node) Error!NodeInfo {
    var found = errors.sized(NodeInfo);
    const got = c.km_graph_node_info_get(graph.handle, @intFromEnum(node), &found);
    try check(got, graph.diagnostics);
    return found;
}

/// The arguments of a kernel's node, laid out as `Function.param` says, with the addresses of
/// slices in place. C: km_graph_node_arguments.
pub fn nodeArguments(
    graph: Graph,
    allocator: std.mem.Allocator,
    node: Node,
) AllocatingError![]u8 {
    var size: u64 = 0;
    const call = c.km_graph_node_arguments;
    const number = @intFromEnum(node);
    try check(call(graph.handle, number, null, 0, &size), graph.diagnostics);
    const bytes = try allocator.alloc(u8, @intCast(size));
    errdefer allocator.free(bytes);
    try check(call(graph.handle, number, bytes.ptr, bytes.len, &size), graph.diagnostics);
    return bytes;
}

/// The function of a kernel's node, as a new object. C: km_graph_node_function.
pub fn nodeFunction(graph: Graph, node: Node) Error!Function {
    var handle: c.km_function = undefined;
    const got = c.km_graph_node_function(graph.handle, @intFromEnum(node), &handle);
    try check(got, graph.diagnostics);
    return Function.fromHandle(handle, graph.diagnostics);
}

/// A copy of a child node's graph. C: km_graph_node_child.
pub fn nodeChild(graph: Graph, node: Node) Error!Graph {
    var handle: c.km_graph = undefined;
    const got = c.km_graph_node_child(graph.handle, @intFromEnum(node), &handle);
    try check(got, graph.diagnostics);
    return .{ .handle = handle, .diagnostics = graph.diagnostics };
}

/// The rows of a node that is a copy or fill of rows; their offsets are 0. C: km_graph_node_rows.
pub fn nodeRows(graph: Graph, node: Node) Error!RowCopy {
    var raw: c.km_copy_3d = undefined;
    const got = c.km_graph_node_rows(graph.handle, @intFromEnum(node), &raw);
    try check(got, graph.diagnostics);
    return RowCopy.fromRaw(raw);
}

/// The graph in the DOT language of Graphviz. C: km_graph_dot.
pub fn dot(graph: Graph, allocator: std.mem.Allocator) AllocatingError![:0]u8 {
    return errors.copyText(allocator, graph.diagnostics, c.km_graph_dot, .{graph.handle});
}
