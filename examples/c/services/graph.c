/* A graph: work captured once, launched often, and changed in between. */
#include <stdio.h>

#include "session.h"

enum { kCount = 1000 };

/* The first node that is a kernel. */
static uint64_t kernel_node(km_graph graph) {
  uint64_t nodes[16], count = 0;
  check(km_graph_nodes(graph, nodes, 16, &count));
  for (uint64_t i = 0; i < count; ++i) {
    km_graph_node_info info = {.struct_size = sizeof info};
    check(km_graph_node_info_get(graph, nodes[i], &info));
    if (info.kind == KM_GRAPH_NODE_KERNEL) return nodes[i];
  }
  require(0, "the graph has a kernel");
  return 0;
}

int main(void) {
  session s = open_session();
  km_slice slice;
  km_graph graph;
  km_graph_exec exec;
  static float values[kCount];
  for (int i = 0; i < kCount; ++i) values[i] = 1;
  check(km_slice_create(s.context, kCount, sizeof(float), KM_SLICE_DEFAULT, &slice));
  check(km_slice_upload(s.stream, slice, 0, values, sizeof values));

  check(km_stream_begin_capture(s.stream)); /* from here on nothing runs */
  queue_scale(&s, slice, 2, kCount);
  check(km_slice_fill_u32(s.stream, slice, 0, 0, 1)); /* the first value becomes 0 */
  check(km_stream_end_capture(s.stream, &graph));
  check(km_graph_exec_create(graph, &exec));
  for (int i = 0; i < 3; ++i) check(km_graph_exec_launch(exec, s.stream));

  /* The same with another factor. */
  const uint64_t node = kernel_node(graph);
  const km_launch_config config = {{4, 1, 1}, {256, 1, 1}, 0};
  const km_launch_slice data = {0, 0, (uint64_t)slice, 0};
  const scale_arguments arguments = {0, 10, kCount};
  check(km_graph_set_kernel(graph, node, s.scale, &config, &arguments, sizeof arguments, &data, 1));
  check(km_graph_exec_update_node(exec, graph, node));
  check(km_graph_exec_launch(exec, s.stream));

  check(km_slice_download(s.stream, slice, 0, values, sizeof values));
  printf("%g, %g, %g ...\n", values[0], values[1], values[2]);
  require(values[0] == 0 && values[1] == 80 && values[kCount - 1] == 80, "2 * 2 * 2 * 10");
  check(km_graph_exec_destroy(exec));
  check(km_graph_destroy(graph));
  check(km_slice_destroy(slice));
  close_session(&s);
  return 0;
}
