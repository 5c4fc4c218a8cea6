/* The nodes of graphs: km_graph_add_... adds one, km_graph_set_... replaces its parameters.
 *
 * Example:
 *   km_graph graph;
 *   uint64_t fill, download;
 *   static float first;
 *   KM_CHECK(km_graph_create(context, &graph));
 *   KM_CHECK(km_graph_add_fill(graph, NULL, 0, x, 0, 0, 4, 256, &fill));
 *   KM_CHECK(km_graph_add_download(graph, &fill, 1, x, 0, &first, sizeof first, &download));
 *   KM_CHECK(km_graph_set_fill(graph, fill, x, 0, 1, 4, 256));
 *   KM_CHECK(km_graph_destroy(graph));
 */
#ifndef KERNELMILL_GRAPH_NODES_H
#define KERNELMILL_GRAPH_NODES_H

#include "base.h"
#include "copy.h"
#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds a kernel, which runs after the nodes that it depends on. The arguments are those of
 * km_launch_kernel, and are copied. The graph keeps the function, the memory of the slices, and
 * each allocation whose address is the value of an argument of 8 bytes. CUDA: cuGraphAddKernelNode.
 * Status: KM_ERROR_INVALID_HANDLE when an entry of `slices` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `config` is null, `arguments` or `slices` is null and its size
 *   is not 0, or a `reserved` is not 0; KM_ERROR_OUT_OF_BOUNDS when the offset of an entry is
 *   beyond the end of its slice; KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or
 *   arguments do not fit the kernel or the device, as the message says.
 */
KM_API km_status km_graph_add_kernel(km_graph graph, const uint64_t* dependencies,
                                     uint64_t dependency_count, km_function function,
                                     const km_launch_config* config, const void* arguments,
                                     uint64_t arguments_size_bytes, const km_launch_slice* slices,
                                     uint64_t slice_count, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy between slices. CUDA: cuGraphAddMemcpyNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the same.
 */
KM_API km_status km_graph_add_copy(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_slice destination,
                                   uint64_t destination_offset_bytes, km_slice source,
                                   uint64_t source_offset_bytes, uint64_t size_bytes,
                                   uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy from the host, which reads `source` each time the graph runs. Page-locked memory of
 * this library (km_host_memory_*) is kept; any other has to stay valid while the graph and the
 * executable graphs made from it exist. CUDA: cuGraphAddMemcpyNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `source` is null and `size_bytes` is not 0.
 */
KM_API km_status km_graph_add_upload(km_graph graph, const uint64_t* dependencies,
                                     uint64_t dependency_count, km_slice destination,
                                     uint64_t offset_bytes, const void* source, uint64_t size_bytes,
                                     uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy to the host, which writes `destination` each time the graph runs. Page-locked memory
 * of this library (km_host_memory_*) is kept; any other has to stay valid while the graph and the
 * executable graphs made from it exist. CUDA: cuGraphAddMemcpyNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `destination` is null and `size_bytes` is not 0.
 */
KM_API km_status km_graph_add_download(km_graph graph, const uint64_t* dependencies,
                                       uint64_t dependency_count, km_slice source,
                                       uint64_t offset_bytes, void* destination,
                                       uint64_t size_bytes, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a fill: a value of 1, 2 or 4 bytes, `count` times. CUDA: cuGraphAddMemsetNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is not 1, 2 or 4, the first address is not a
 *   multiple of it.
 */
KM_API km_status km_graph_add_fill(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_slice slice, uint64_t offset_bytes,
                                   uint32_t value, uint32_t value_size_bytes, uint64_t count,
                                   uint64_t* out_node) KM_NOEXCEPT;

/** Adds a call of a host function, under the rules of km_stream_add_callback: it runs exactly once
 * for each launch of the graph, after errors too, and may not make calls that wait. `user_data` has
 * to stay valid while the graph and the executable graphs made from it exist. CUDA:
 * cuGraphAddHostNode.
 * Status: KM_ERROR_INVALID_ARGUMENT when `callback` is null.
 */
KM_API km_status km_graph_add_host(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_host_callback callback,
                                   void* user_data, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a node without work, which only joins and forks dependencies. CUDA: cuGraphAddEmptyNode. */
KM_API km_status km_graph_add_empty(km_graph graph, const uint64_t* dependencies,
                                    uint64_t dependency_count, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy of a whole graph as one node: later changes of `child` have no effect on it. CUDA:
 * cuGraphAddChildGraphNode.
 * Status: KM_ERROR_INVALID_ARGUMENT when `child` is `graph`.
 */
KM_API km_status km_graph_add_child(km_graph graph, const uint64_t* dependencies,
                                    uint64_t dependency_count, km_graph child,
                                    uint64_t* out_node) KM_NOEXCEPT;

/** Replaces the function, shape and arguments of a node that is a kernel. Executable graphs stay
 * unchanged: see km_graph_exec_update_node. CUDA: cuGraphKernelNodeSetParams.
 * Status: KM_ERROR_INVALID_HANDLE when an entry of `slices` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the offset of an entry is beyond the end of its slice;
 *   KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not fit the kernel or
 *   the device, as the message says; KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this
 *   kind in the graph, `config` is null, `arguments` or `slices` is null and its size is not 0, or
 *   a `reserved` is not 0.
 */
KM_API km_status km_graph_set_kernel(km_graph graph, uint64_t node, km_function function,
                                     const km_launch_config* config, const void* arguments,
                                     uint64_t arguments_size_bytes, const km_launch_slice* slices,
                                     uint64_t slice_count) KM_NOEXCEPT;

/** Replaces the source, destination and size of a node that is a copy. Executable graphs stay
 * unchanged: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or source and
 *   destination overlap without being the same.
 */
KM_API km_status km_graph_set_copy(km_graph graph, uint64_t node, km_slice destination,
                                   uint64_t destination_offset_bytes, km_slice source,
                                   uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;

/** Replaces the source, destination and size of a node that is an upload. Executable graphs stay
 * unchanged: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or `source` is
 *   null and `size_bytes` is not 0.
 */
KM_API km_status km_graph_set_upload(km_graph graph, uint64_t node, km_slice destination,
                                     uint64_t offset_bytes, const void* source,
                                     uint64_t size_bytes) KM_NOEXCEPT;

/** Replaces the source, destination and size of a node that is a download. Executable graphs stay
 * unchanged: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or `destination`
 *   is null and `size_bytes` is not 0.
 */
KM_API km_status km_graph_set_download(km_graph graph, uint64_t node, km_slice source,
                                       uint64_t offset_bytes, void* destination,
                                       uint64_t size_bytes) KM_NOEXCEPT;

/** Replaces the destination and value of a node that is a fill. Executable graphs stay unchanged:
 * see km_graph_exec_update_node. CUDA: cuGraphMemsetNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph,
 *   `value_size_bytes` is not 1, 2 or 4, or the first address is not a multiple of it.
 */
KM_API km_status km_graph_set_fill(km_graph graph, uint64_t node, km_slice slice,
                                   uint64_t offset_bytes, uint32_t value, uint32_t value_size_bytes,
                                   uint64_t count) KM_NOEXCEPT;

/** Replaces the host function of a node that calls one. Executable graphs stay unchanged: see
 * km_graph_exec_update_node. CUDA: cuGraphHostNodeSetParams.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or
 *   `callback` is null.
 */
KM_API km_status km_graph_set_host(km_graph graph, uint64_t node, km_host_callback callback,
                                   void* user_data) KM_NOEXCEPT;

/** Replaces the graph of a node that is a child graph. Executable graphs stay unchanged: see
 * km_graph_exec_update_node. CUDA: cuGraphExecChildGraphNodeSetParams.
 * Status: KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or `child`
 *   is `graph`.
 */
KM_API km_status km_graph_set_child(km_graph graph, uint64_t node, km_graph child) KM_NOEXCEPT;

/** Adds a copy of rows between slices, like km_slice_copy_3d. CUDA: cuGraphAddMemcpyNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside its slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` is null, a pitch is less than `width_bytes` or a distance
 *   of layers less than `height`, or a row of the source overlaps one of the destination.
 */
KM_API km_status km_graph_add_copy_3d(km_graph graph, const uint64_t* dependencies,
                                      uint64_t dependency_count, km_slice destination,
                                      km_slice source, const km_copy_3d* copy,
                                      uint64_t* out_node) KM_NOEXCEPT;

/** Replaces the parameters of a node that is a copy of rows. Executable graphs stay unchanged: see
 * km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside its slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or `copy` is
 *   null, a pitch is less than `width_bytes` or a distance of layers less than `height`, or a row
 *   of the source overlaps one of the destination.
 */
KM_API km_status km_graph_set_copy_3d(km_graph graph, uint64_t node, km_slice destination,
                                      km_slice source, const km_copy_3d* copy) KM_NOEXCEPT;

/** Adds a copy of rows from the host, like km_slice_upload_3d, which reads `source` each time the
 * graph runs. Host memory has to stay valid as for km_graph_add_upload. CUDA: cuGraphAddMemcpyNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `source` is null, or a pitch is less than
 *   `width_bytes` or a distance of layers less than `height`.
 */
KM_API km_status km_graph_add_upload_3d(km_graph graph, const uint64_t* dependencies,
                                        uint64_t dependency_count, km_slice destination,
                                        const void* source, const km_copy_3d* copy,
                                        uint64_t* out_node) KM_NOEXCEPT;

/** Replaces the parameters of a node that is an upload of rows. Executable graphs stay unchanged:
 * see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or `copy` or
 *   `source` is null, a pitch is less than `width_bytes` or a distance of layers less than
 *   `height`.
 */
KM_API km_status km_graph_set_upload_3d(km_graph graph, uint64_t node, km_slice destination,
                                        const void* source, const km_copy_3d* copy) KM_NOEXCEPT;

/** Adds a copy of rows to the host, like km_slice_download_3d, which writes `destination` each time
 * the graph runs. Host memory has to stay valid as for km_graph_add_download. CUDA:
 * cuGraphAddMemcpyNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `destination` is null, or a pitch is less than
 *   `width_bytes` or a distance of layers less than `height`.
 */
KM_API km_status km_graph_add_download_3d(km_graph graph, const uint64_t* dependencies,
                                          uint64_t dependency_count, km_slice source,
                                          void* destination, const km_copy_3d* copy,
                                          uint64_t* out_node) KM_NOEXCEPT;

/** Replaces the parameters of a node that is a download of rows. Executable graphs stay unchanged:
 * see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or `copy` or
 *   `destination` is null, a pitch is less than `width_bytes` or a distance of layers less than
 *   `height`.
 */
KM_API km_status km_graph_set_download_3d(km_graph graph, uint64_t node, km_slice source,
                                          void* destination, const km_copy_3d* copy) KM_NOEXCEPT;

/** Adds a fill of rows, like km_slice_fill_2d. CUDA: cuGraphAddMemsetNode.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is not 1, 2 or 4, the first address is not a
 *   multiple of it, the pitch is less than a row or not a multiple of it.
 */
KM_API km_status km_graph_add_fill_2d(km_graph graph, const uint64_t* dependencies,
                                      uint64_t dependency_count, km_slice slice,
                                      uint64_t offset_bytes, uint64_t pitch_bytes, uint32_t value,
                                      uint32_t value_size_bytes, uint64_t width_count,
                                      uint64_t height, uint64_t* out_node) KM_NOEXCEPT;

/** Replaces the parameters of a node that is a fill of rows. Executable graphs stay unchanged: see
 * km_graph_exec_update_node. CUDA: cuGraphMemsetNodeSetParams.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is not a node of this kind in the graph, or
 *   `value_size_bytes` is not 1, 2 or 4, the first address is not a multiple of it, or the pitch is
 *   less than a row or not a multiple of it.
 */
KM_API km_status km_graph_set_fill_2d(km_graph graph, uint64_t node, km_slice slice,
                                      uint64_t offset_bytes, uint64_t pitch_bytes, uint32_t value,
                                      uint32_t value_size_bytes, uint64_t width_count,
                                      uint64_t height) KM_NOEXCEPT;

/** Adds a copy between slices that may belong to different contexts and devices of one backend,
 * like km_slice_copy_peer. CUDA: cuGraphAddMemcpyNode.
 * Status: KM_ERROR_NOT_SUPPORTED when the contexts are of different backends;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices; KM_ERROR_INVALID_ARGUMENT
 *   when source and destination overlap without being the same; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_graph_add_copy_peer(km_graph graph, const uint64_t* dependencies,
                                        uint64_t dependency_count, km_slice destination,
                                        uint64_t destination_offset_bytes, km_slice source,
                                        uint64_t source_offset_bytes, uint64_t size_bytes,
                                        uint64_t* out_node) KM_NOEXCEPT;

/** Replaces the parameters of a node that is a copy between contexts. Executable graphs stay
 * unchanged: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Status: KM_ERROR_NOT_SUPPORTED when the contexts are of different backends;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is not a node of this kind in the graph, or source and destination overlap without
 *   being the same; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_graph_set_copy_peer(km_graph graph, uint64_t node, km_slice destination,
                                        uint64_t destination_offset_bytes, km_slice source,
                                        uint64_t source_offset_bytes,
                                        uint64_t size_bytes) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
