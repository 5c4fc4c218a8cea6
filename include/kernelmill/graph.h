/* Graphs: work that is built once and launched many times. graph_nodes.h has the calls for each
 * kind of node; docs/guide/graphs.md is the guide.
 *
 * Example:
 *   km_graph graph;
 *   km_graph_exec exec;
 *   KM_CHECK(km_stream_begin_capture(stream));
 *   KM_CHECK(km_slice_fill_u32(stream, x, 0, 1, 256));
 *   KM_CHECK(km_stream_end_capture(stream, &graph));
 *   KM_CHECK(km_graph_exec_create(graph, &exec));
 *   for (int round = 0; round < 3; ++round) KM_CHECK(km_graph_exec_launch(exec, stream));
 *   KM_CHECK(km_stream_synchronize(stream));
 *   KM_CHECK(km_graph_exec_destroy(exec));
 *   KM_CHECK(km_graph_destroy(graph));
 */
#ifndef KERNELMILL_GRAPH_H
#define KERNELMILL_GRAPH_H

#include "base.h"
#include "copy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_graph_node_kind;
enum {
  KM_GRAPH_NODE_INVALID = 0,
  KM_GRAPH_NODE_KERNEL = 1,
  KM_GRAPH_NODE_COPY = 2, /* within the device */
  KM_GRAPH_NODE_UPLOAD = 3,
  KM_GRAPH_NODE_DOWNLOAD = 4,
  KM_GRAPH_NODE_FILL = 5,
  KM_GRAPH_NODE_HOST = 6, /* a call of a host function */
  KM_GRAPH_NODE_EMPTY = 7,
  KM_GRAPH_NODE_CHILD = 8, /* a whole graph */
  KM_GRAPH_NODE_COPY_3D = 9,
  KM_GRAPH_NODE_UPLOAD_3D = 10,
  KM_GRAPH_NODE_DOWNLOAD_3D = 11,
  KM_GRAPH_NODE_FILL_2D = 12,
  KM_GRAPH_NODE_COPY_PEER = 13, /* between contexts */
  KM_GRAPH_NODE_BLAS = 14,
  KM_GRAPH_NODE_LIBRARY = 15,   /* a call of km_fft, km_sparse, km_solve or km_comm */
  KM_GRAPH_NODE_MEMORY_OPS = 64 /* a number that is written or waited for */
};

typedef int32_t km_graph_difference;
enum {
  KM_GRAPH_DIFFERENCE_INVALID = 0,
  KM_GRAPH_DIFFERENCE_NONE = 1, /* no difference, or only in parameters */
  KM_GRAPH_DIFFERENCE_NODE_COUNT = 2,
  KM_GRAPH_DIFFERENCE_NODE_KIND = 3,
  KM_GRAPH_DIFFERENCE_DEPENDENCIES = 4,
  KM_GRAPH_DIFFERENCE_CHILD = 5 /* inside a child graph */
};

/* Parameters of a node; fields that its kind does not use are 0. */
typedef struct km_graph_node_info {
  uint32_t struct_size;
  km_graph_node_kind kind;
  uint64_t dependency_count, dependent_count;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes;
  uint64_t arguments_size_bytes;
  uint64_t destination, source; /* device addresses or host pointers */
  uint64_t size_bytes;          /* bytes of a copy or fill */
  uint32_t value, value_size_bytes;
  uint64_t callback, user_data; /* host pointers, as numbers */
} km_graph_node_info;
KM_CHECK_SIZE(km_graph_node_info, 112);

/** A new graph without nodes. Nodes are numbered from 1; a clone keeps the numbers, and the number
 * of a removed node is not used again. The handle is the caller's, to be given to km_graph_destroy.
 * CUDA: cuGraphCreate. */
KM_API km_status km_graph_create(km_context context, km_graph* out_graph) KM_NOEXCEPT;

/** Drops the caller's handle. Executable graphs made from it stay. Null is fine. */
KM_API km_status km_graph_destroy(km_graph graph) KM_NOEXCEPT;

/** A copy of a graph, with the same numbers of nodes; the caller's to destroy. CUDA: cuGraphClone.
 */
KM_API km_status km_graph_clone(km_graph graph, km_graph* out_graph) KM_NOEXCEPT;

/** Removes a node with all its dependencies. Executable graphs made before stay unchanged. CUDA:
 * cuGraphDestroyNode.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a node of the graph.
 */
KM_API km_status km_graph_remove_node(km_graph graph, uint64_t node) KM_NOEXCEPT;

/** Makes node `to` run after node `from`. CUDA: cuGraphAddDependencies.
 * Status: KM_ERROR_INVALID_ARGUMENT when `from` or `to` is not a node of the graph, the dependency
 *   exists already, or it would close a cycle.
 */
KM_API km_status km_graph_add_dependency(km_graph graph, uint64_t from, uint64_t to) KM_NOEXCEPT;

/** Removes the dependency of node `to` on node `from`. CUDA: cuGraphRemoveDependencies.
 * Status: KM_ERROR_INVALID_ARGUMENT when `from` or `to` is not a node of the graph;
 *   KM_ERROR_NOT_FOUND when there is no such dependency.
 */
KM_API km_status km_graph_remove_dependency(km_graph graph, uint64_t from, uint64_t to) KM_NOEXCEPT;

/** The numbers of all nodes, in the order of their creation. Null and capacity 0 ask for the count.
 * CUDA: cuGraphGetNodes.
 * Status: KM_ERROR_BUFFER_TOO_SMALL when there are more than `capacity`; KM_ERROR_INVALID_ARGUMENT
 *   when `nodes` is null and `capacity` is not 0, or `nodes` and `out_count` are both null.
 */
KM_API km_status km_graph_nodes(km_graph graph, uint64_t* nodes, uint64_t capacity,
                                uint64_t* out_count) KM_NOEXCEPT;

/** The nodes that a node depends on. Null and capacity 0 ask for the count. CUDA:
 * cuGraphNodeGetDependencies.
 * Status: KM_ERROR_BUFFER_TOO_SMALL when there are more than `capacity`; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is not a node of the graph, `nodes` is null and `capacity` is not 0, or `nodes` and
 *   `out_count` are both null.
 */
KM_API km_status km_graph_node_dependencies(km_graph graph, uint64_t node, uint64_t* nodes,
                                            uint64_t capacity, uint64_t* out_count) KM_NOEXCEPT;

/** The nodes that depend on a node. Null and capacity 0 ask for the count. CUDA:
 * cuGraphNodeGetDependentNodes.
 * Status: KM_ERROR_BUFFER_TOO_SMALL when there are more than `capacity`; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is not a node of the graph, `nodes` is null and `capacity` is not 0, or `nodes` and
 *   `out_count` are both null.
 */
KM_API km_status km_graph_node_dependents(km_graph graph, uint64_t node, uint64_t* nodes,
                                          uint64_t capacity, uint64_t* out_count) KM_NOEXCEPT;

/** Kind and parameters of a node. Set `out_info->struct_size` first. CUDA: cuGraphNodeGetType,
 * cuGraphKernelNodeGetParams and similar calls.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a node of the graph.
 */
KM_API km_status km_graph_node_info_get(km_graph graph, uint64_t node,
                                        km_graph_node_info* out_info) KM_NOEXCEPT;

/** The arguments of a kernel's node, laid out as km_function_param says, with the addresses of
 * slices in place. Null and capacity 0 ask for the size.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a kernel node of the graph;
 *   KM_ERROR_BUFFER_TOO_SMALL when they are more than `capacity_bytes`.
 */
KM_API km_status km_graph_node_arguments(km_graph graph, uint64_t node, void* buffer,
                                         uint64_t capacity_bytes,
                                         uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The function of a kernel's node, as a new handle that is the caller's to destroy.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a kernel node of the graph.
 */
KM_API km_status km_graph_node_function(km_graph graph, uint64_t node,
                                        km_function* out_function) KM_NOEXCEPT;

/** A copy of a child node's graph, which is the caller's to destroy. CUDA:
 * cuGraphChildGraphNodeGetGraph.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a child graph node of the graph.
 */
KM_API km_status km_graph_node_child(km_graph graph, uint64_t node,
                                     km_graph* out_graph) KM_NOEXCEPT;

/** The rows of a node that is a copy or fill of rows. Its offsets are 0: destination and source, of
 * km_graph_node_info_get, are those of the first row. A fill has no source. CUDA:
 * cuGraphMemcpyNodeGetParams, cuGraphMemsetNodeGetParams.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a node of such a kind in the graph.
 */
KM_API km_status km_graph_node_rows(km_graph graph, uint64_t node,
                                    km_copy_3d* out_copy) KM_NOEXCEPT;

/** The graph in the DOT language of Graphviz, child graphs as clusters. CUDA: cuGraphDebugDotPrint.
 */
KM_API km_status km_graph_dot(km_graph graph, char* buffer, uint64_t capacity_bytes,
                              uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Makes an executable graph of the graph's present state: kernels are compiled, arguments laid
 * out. It keeps all memory, functions and modules that it uses until it is destroyed and its last
 * launch is done. The handle is the caller's, to be given to km_graph_exec_destroy. CUDA:
 * cuGraphInstantiate.
 * Blocking: yes, while kernels are compiled.
 * Status: KM_ERROR_INVALID_LAUNCH when a kernel cannot be launched with these parameters, as the
 *   message says; KM_ERROR_UNSUPPORTED_PTX when the device cannot run a kernel in its shape;
 *   KM_ERROR_COMPILER when the code generator failed; KM_ERROR_NOT_SUPPORTED when the backend has
 *   no graphs; the sticky error.
 */
KM_API km_status km_graph_exec_create(km_graph graph, km_graph_exec* out_exec) KM_NOEXCEPT;

/** Drops the caller's handle. Launches under way still complete. Null is fine. */
KM_API km_status km_graph_exec_destroy(km_graph_exec exec) KM_NOEXCEPT;

/** Queues one run of the graph in a stream. Launches of one graph exec run one after the other,
 * also in different streams. In a stream that is being captured it becomes a child node. CUDA:
 * cuGraphLaunch.
 * Status: the sticky error.
 */
KM_API km_status km_graph_exec_launch(km_graph_exec exec, km_stream stream) KM_NOEXCEPT;

/** Takes over a node's present parameters from `graph`, which is the instantiated graph or a clone.
 * Only later launches use them. CUDA: cuGraphExecKernelNodeSetParams and similar calls.
 * Blocking: yes, while a kernel is compiled.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a node of the graph; KM_ERROR_GRAPH_MISMATCH
 *   when `exec` has no node of this number, or one of another kind or other dependencies;
 *   KM_ERROR_INVALID_LAUNCH when a kernel cannot be launched with these parameters, as the message
 *   says; the sticky error.
 */
KM_API km_status km_graph_exec_update_node(km_graph_exec exec, km_graph graph,
                                           uint64_t node) KM_NOEXCEPT;

/** Takes over the parameters of all nodes of a graph of the same topology, matching nodes by their
 * order. Nothing is changed when it fails. CUDA: cuGraphExecUpdate.
 * Blocking: yes, while kernels are compiled.
 * Status: KM_ERROR_GRAPH_MISMATCH when the topology differs, with the node; km_graph_exec_compare
 *   tells it too; KM_ERROR_INVALID_LAUNCH when a kernel cannot be launched with these parameters,
 *   as the message says; the sticky error.
 */
KM_API km_status km_graph_exec_update(km_graph_exec exec, km_graph graph) KM_NOEXCEPT;

/** Tells whether km_graph_exec_update can take a graph over, and which node of `graph` is the first
 * that prevents it; 0 if none does.
 * Status: never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_graph_exec_compare(km_graph_exec exec, km_graph graph,
                                       km_graph_difference* out_difference,
                                       uint64_t* out_node) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
