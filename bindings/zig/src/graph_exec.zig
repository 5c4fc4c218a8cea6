//! Graphs that are ready to run.
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Graph = @import("graph.zig").Graph;
const Node = @import("graph.zig").Node;
const Stream = @import("stream.zig").Stream;

/// The first thing in which two graphs differ.
pub const GraphDifference = enum(i32) {
    /// Parameters at most.
    none = c.KM_GRAPH_DIFFERENCE_NONE,
    node_count = c.KM_GRAPH_DIFFERENCE_NODE_COUNT,
    node_kind = c.KM_GRAPH_DIFFERENCE_NODE_KIND,
    dependencies = c.KM_GRAPH_DIFFERENCE_DEPENDENCIES,
    /// Inside a child graph.
    child = c.KM_GRAPH_DIFFERENCE_CHILD,
    _,
};

/// A graph that was instantiated. It keeps all memory, functions and modules that it uses.
pub const GraphExec = struct {
    handle: c.km_graph_exec,
    diagnostics: ?*Diagnostics = null,

    /// Drops the handle; launches under way go on. C: km_graph_exec_destroy.
    pub fn deinit(exec: GraphExec) void {
        _ = c.km_graph_exec_destroy(exec.handle);
    }

    /// Queues one run in a stream. C: km_graph_exec_launch.
    pub inline fn launch(exec: GraphExec, stream: Stream) Error!void {
        return check(c.km_graph_exec_launch(exec.handle, stream.handle), exec.diagnostics);
    }

    /// Takes over the parameters that a node has now in `graph`, for launches from now on. C:
    /// km_graph_exec_update_node.
    pub fn updateNode(exec: GraphExec, graph: Graph, node: Node) Error!void {
        const update_node = c.km_graph_exec_update_node;
        const got = update_node(exec.handle, graph.handle, @intFromEnum(node));
        try check(got, exec.diagnostics);
    }

    /// Takes over the parameters of all nodes of a graph of the same topology;
    /// error.GraphMismatch when it differs, and nothing is changed. C: km_graph_exec_update.
    pub fn update(exec: GraphExec, graph: Graph) Error!void {
        try check(c.km_graph_exec_update(exec.handle, graph.handle), exec.diagnostics);
    }

    /// A difference, and the first node of the graph that has it; null when there is none.
    pub const Comparison = struct { difference: GraphDifference, node: ?Node };

    /// Tells whether `update` can take a graph over. C: km_graph_exec_compare.
    pub fn compare(exec: GraphExec, graph: Graph) Error!Comparison {
        var difference: c.km_graph_difference = undefined;
        var node: u64 = undefined;
        const got = c.km_graph_exec_compare(exec.handle, graph.handle, &difference, &node);
        try check(got, exec.diagnostics);
        return .{
            .difference = @enumFromInt(difference),
            .node = if (node == 0) null else @enumFromInt(node),
        };
    }
};
