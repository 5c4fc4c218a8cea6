//! Graphs: work that is put together once and launched many times. docs/guide/graphs.md.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const nodes_file = @import("graph_nodes.zig");
const read = @import("graph_read.zig");
const rows_file = @import("graph_rows.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const GraphExec = @import("graph_exec.zig").GraphExec;
const Slice = @import("memory.zig").Slice;
const Stream = @import("stream.zig").Stream;

/// The number of a node in its graph, from 1 on; a clone keeps it.
pub const Node = enum(u64) { _ };

/// A graph of nodes with dependencies. Its methods that add nodes take the nodes that the new one
/// runs after.
pub const Graph = struct {
    handle: c.km_graph,
    diagnostics: ?*Diagnostics = null,

    pub const addKernel = nodes_file.addKernel;
    pub const addCopy = nodes_file.addCopy;
    pub const addUpload = nodes_file.addUpload;
    pub const addDownload = nodes_file.addDownload;
    pub const addFill = nodes_file.addFill;
    pub const addHost = nodes_file.addHost;
    pub const addEmpty = nodes_file.addEmpty;
    pub const addChild = nodes_file.addChild;
    pub const addCopyPeer = nodes_file.addCopyPeer;
    pub const setKernel = nodes_file.setKernel;
    pub const setCopy = nodes_file.setCopy;
    pub const setUpload = nodes_file.setUpload;
    pub const setDownload = nodes_file.setDownload;
    pub const setFill = nodes_file.setFill;
    pub const setHost = nodes_file.setHost;
    pub const setChild = nodes_file.setChild;
    pub const setCopyPeer = nodes_file.setCopyPeer;
    pub const addCopyRows = rows_file.addCopyRows;
    pub const addUploadRows = rows_file.addUploadRows;
    pub const addDownloadRows = rows_file.addDownloadRows;
    pub const addFillRows = rows_file.addFillRows;
    pub const setCopyRows = rows_file.setCopyRows;
    pub const setUploadRows = rows_file.setUploadRows;
    pub const setDownloadRows = rows_file.setDownloadRows;
    pub const setFillRows = rows_file.setFillRows;
    pub const nodes = read.nodes;
    pub const dependencies = read.dependencies;
    pub const dependents = read.dependents;
    pub const nodeInfo = read.nodeInfo;
    pub const nodeArguments = read.nodeArguments;
    pub const nodeFunction = read.nodeFunction;
    pub const nodeChild = read.nodeChild;
    pub const nodeRows = read.nodeRows;
    pub const dot = read.dot;

    /// A graph without nodes. C: km_graph_create.
    pub fn init(context: Context) Error!Graph {
        var handle: c.km_graph = undefined;
        try check(c.km_graph_create(context.handle, &handle), context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Drops the handle; graphs that were instantiated from it stay. C: km_graph_destroy.
    pub fn deinit(graph: Graph) void {
        _ = c.km_graph_destroy(graph.handle);
    }

    /// A copy with the same numbers of nodes. C: km_graph_clone.
    pub fn clone(graph: Graph) Error!Graph {
        var handle: c.km_graph = undefined;
        try check(c.km_graph_clone(graph.handle, &handle), graph.diagnostics);
        return .{ .handle = handle, .diagnostics = graph.diagnostics };
    }

    /// Makes the graph ready to run as it is now; compiles its kernels. C: km_graph_exec_create.
    pub fn instantiate(graph: Graph) Error!GraphExec {
        var handle: c.km_graph_exec = undefined;
        try check(c.km_graph_exec_create(graph.handle, &handle), graph.diagnostics);
        return .{ .handle = handle, .diagnostics = graph.diagnostics };
    }

    /// Removes a node with all its dependencies. C: km_graph_remove_node.
    pub fn remove(graph: Graph, node: Node) Error!void {
        const got = c.km_graph_remove_node(graph.handle, @intFromEnum(node));
        try check(got, graph.diagnostics);
    }

    /// Makes node `to` run after node `from`. C: km_graph_add_dependency.
    pub fn addDependency(graph: Graph, from: Node, to: Node) Error!void {
        const add = c.km_graph_add_dependency;
        const got = add(graph.handle, @intFromEnum(from), @intFromEnum(to));
        try check(got, graph.diagnostics);
    }

    /// Takes back that node `to` runs after node `from`. C: km_graph_remove_dependency.
    pub fn removeDependency(graph: Graph, from: Node, to: Node) Error!void {
        const take = c.km_graph_remove_dependency;
        const got = take(graph.handle, @intFromEnum(from), @intFromEnum(to));
        try check(got, graph.diagnostics);
    }
};

test Graph {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const data = try Slice(u32).initZeroed(context, 4);
    defer data.deinit();
    const graph = try Graph.init(context);
    defer graph.deinit();
    const first = try graph.addFill(&.{}, u32, data, 0, 4, 1);
    _ = try graph.addFill(&.{first}, u32, data, 2, 2, 9);
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.launch(stream);
    try stream.synchronize();
    try std.testing.expectEqualSlices(u32, &.{ 1, 1, 9, 9 }, try data.hostElements());
}
