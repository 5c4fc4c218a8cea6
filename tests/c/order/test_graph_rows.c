/* Graphs that copy and fill rows, and copy between contexts: made of nodes and captured, against
 * the calls that do it at once. */
#include <string.h>

#include "support/testing.h"

enum { kPitch = 32, kRows = 6, kBytes = kPitch * kRows };

/* Three rows of ten bytes, from the second row of one to the third of the other. */
static const km_copy_3d kShape = {10, 3, 1, 2 * kPitch + 4, kPitch, 0, kPitch + 1, kPitch, 0};

static km_slice new_slice(km_context context) {
  km_slice slice;
  OK(km_slice_create(context, kBytes, 1, KM_SLICE_ZEROED, &slice));
  return slice;
}

static void expect_bytes(const fixture* f, km_slice slice, const uint8_t* expected) {
  uint8_t given[kBytes];
  memset(given, 0, sizeof given);
  OK(km_slice_download(f->stream, slice, 0, given, kBytes));
  assert_memory_equal(given, expected, kBytes);
}

static void run_graph(const fixture* f, km_graph graph) {
  km_graph_exec exec;
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  OK(km_graph_exec_destroy(exec));
}

static void fill_pattern(uint8_t* bytes) {
  for (int i = 0; i < kBytes; ++i) bytes[i] = (uint8_t)(i * 7 + 3);
}

/* What the shape moves, by hand. */
static void move_rows(uint8_t* to, const uint8_t* from, const km_copy_3d* shape) {
  for (uint64_t row = 0; row < shape->height; ++row) {
    memcpy(to + shape->destination_offset_bytes + row * shape->destination_pitch_bytes,
           from + shape->source_offset_bytes + row * shape->source_pitch_bytes, shape->width_bytes);
  }
}

static void nodes_copy_and_fill_rows(void** state) {
  fixture* f = *state;
  uint8_t host[kBytes], back[kBytes], expected[kBytes];
  uint64_t up = 0, copy = 0, fill = 0, down = 0, count = 0;
  km_slice a = new_slice(f->context), b = new_slice(f->context);
  km_graph graph;
  fill_pattern(host);
  memset(back, 0, sizeof back);
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_upload_3d(graph, NULL, 0, a, host, &kShape, &up));
  OK(km_graph_add_copy_3d(graph, &up, 1, b, a, &(km_copy_3d){10, 3, 1, 0, 16, 0, 68, kPitch, 0},
                          &copy));
  OK(km_graph_add_fill_2d(graph, &copy, 1, b, 100, 20, 0xABCD, 2, 3, 4, &fill));
  OK(km_graph_add_download_3d(graph, &fill, 1, b, back,
                              &(km_copy_3d){10, 3, 1, 8, kPitch, 0, 0, 16, 0}, &down));
  OK(km_graph_nodes(graph, NULL, 0, &count));
  assert_int_equal(count, 4);
  for (size_t i = 0; i < kBytes; ++i) assert_int_equal(back[i], 0); /* nothing has run */
  run_graph(f, graph);
  memset(expected, 0, sizeof expected);
  move_rows(expected, host, &kShape);
  expect_bytes(f, a, expected);
  for (int row = 0; row < 3; ++row) {
    assert_memory_equal(back + 8 + row * kPitch, host + kPitch + 1 + row * kPitch, 10);
    assert_int_equal(back[8 + row * kPitch + 10], 0);
  }
  memset(expected, 0, sizeof expected);
  for (int row = 0; row < 3; ++row) memcpy(expected + row * 16, host + kPitch * (row + 1) + 1, 10);
  for (int row = 0; row < 4; ++row) {
    for (int i = 0; i < 3; ++i) memcpy(expected + 100 + row * 20 + i * 2, "\xCD\xAB", 2);
  }
  expect_bytes(f, b, expected);
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
}

static void rows_are_captured(void** state) {
  fixture* f = *state;
  uint8_t expected[kBytes], zero[kBytes];
  km_slice a = new_slice(f->context), b = new_slice(f->context);
  km_host_memory memory;
  void* host = NULL;
  km_graph graph;
  uint64_t nodes[8], count = 0;
  km_graph_node_kind kinds[] = {KM_GRAPH_NODE_UPLOAD_3D, KM_GRAPH_NODE_COPY_3D,
                                KM_GRAPH_NODE_FILL_2D, KM_GRAPH_NODE_DOWNLOAD_3D};
  memset(zero, 0, sizeof zero);
  OK(km_host_memory_create(f->context, kBytes, 0, &memory));
  OK(km_host_memory_pointer(memory, &host));
  fill_pattern(host);
  memset(expected, 0, sizeof expected);
  move_rows(expected, host, &kShape);
  OK(km_stream_begin_capture(f->stream));
  OK(km_slice_upload_3d(f->stream, a, host, &kShape));
  OK(km_slice_copy_3d(f->stream, b, a, &(km_copy_3d){10, 3, 1, 68, kPitch, 0, 68, kPitch, 0}));
  OK(km_slice_fill_2d(f->stream, a, 68, kPitch, 0, 1, 10, 3));
  OK(km_slice_download_3d(f->stream, a, host, &(km_copy_3d){8, 2, 1, 0, 16, 0, 68, kPitch, 0}));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_nodes(graph, nodes, 8, &count));
  assert_int_equal(count, 4);
  for (uint64_t i = 0; i < count; ++i) {
    km_graph_node_info info = {.struct_size = sizeof info};
    OK(km_graph_node_info_get(graph, nodes[i], &info));
    assert_int_equal(info.kind, kinds[i]);
    assert_int_equal(info.dependency_count, i == 0 ? 0 : 1);
  }
  OK(km_host_memory_destroy(memory)); /* the graph keeps it */
  run_graph(f, graph);
  expect_bytes(f, a, zero);
  expect_bytes(f, b, expected);
  assert_memory_equal(host, zero, 8);
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
}

static void rows_of_nodes_are_read_and_set(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f->context), b = new_slice(f->context);
  km_graph graph;
  uint64_t copy = 0, fill = 0, empty = 0, address = 0, size = 0;
  km_copy_3d rows, untouched;
  km_graph_node_info info = {.struct_size = sizeof info};
  char text[2000];
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_copy_3d(graph, NULL, 0, b, a, &kShape, &copy));
  OK(km_graph_add_fill_2d(graph, NULL, 0, a, 8, 0, 5, 4, 2, 3, &fill));
  OK(km_graph_add_empty(graph, NULL, 0, &empty));
  OK(km_graph_node_rows(graph, copy, &rows));
  assert_int_equal(rows.width_bytes, 10);
  assert_int_equal(rows.height, 3);
  assert_int_equal(rows.depth, 1);
  assert_int_equal(rows.destination_offset_bytes, 0);
  assert_int_equal(rows.destination_pitch_bytes, kPitch);
  assert_int_equal(rows.source_layer_rows, 3);
  OK(km_graph_node_info_get(graph, copy, &info));
  OK(km_slice_address(a, &address));
  assert_int_equal(info.source, address + kPitch + 1);
  assert_int_equal(info.size_bytes, 30);
  OK(km_graph_node_rows(graph, fill, &rows));
  assert_int_equal(rows.width_bytes, 8);
  assert_int_equal(rows.destination_pitch_bytes, 8); /* without a gap */
  memset(&untouched, 0x5A, sizeof untouched);
  rows = untouched;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_node_rows(graph, empty, &rows));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_node_rows(graph, copy, NULL));
  assert_memory_equal(&rows, &untouched, sizeof rows);
  OK(km_graph_set_copy_3d(graph, copy, a, b, &(km_copy_3d){1, 1, 1, 0, 0, 0, 0, 0, 0}));
  OK(km_graph_node_rows(graph, copy, &rows));
  assert_int_equal(rows.width_bytes, 1);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_copy_3d(graph, fill, a, b, &kShape));
  expect_message("is of kind fill of rows, not copy of rows");
  OK(km_graph_set_fill_2d(graph, fill, a, 0, 16, 5, 4, 2, 3));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_upload_3d(graph, copy, a, text, &kShape));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_download_3d(graph, copy, a, text, &kShape));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_copy_peer(graph, copy, a, 0, b, 0, 8));
  OK(km_graph_dot(graph, text, sizeof text, &size));
  assert_non_null(strstr(text, "fill of rows of 24 bytes"));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
}

static void wrong_rows_are_refused(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f->context), b = new_slice(f->context);
  km_graph graph;
  uint64_t node = 77, count = 77;
  uint8_t bytes[kBytes];
  const km_copy_3d beyond = {10, 7, 1, 0, kPitch, 0, 0, kPitch, 0};
  const km_copy_3d narrow = {10, 3, 1, 0, 9, 0, 0, kPitch, 0};
  const km_copy_3d same = {10, 3, 1, 0, kPitch, 0, 5, kPitch, 0};
  OK(km_graph_create(f->context, &graph));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_graph_add_copy_3d(graph, NULL, 0, b, a, &beyond, &node));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_graph_add_upload_3d(graph, NULL, 0, b, bytes, &beyond, &node));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_graph_add_download_3d(graph, NULL, 0, b, bytes, &beyond, &node));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_graph_add_fill_2d(graph, NULL, 0, a, 0, kPitch, 0, 1, 10, 7, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy_3d(graph, NULL, 0, b, a, &narrow, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy_3d(graph, NULL, 0, a, a, &same, &node));
  expect_message("overlap");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy_3d(graph, NULL, 0, b, a, NULL, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy_3d(graph, NULL, 0, b, a, &kShape, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy_3d(graph, NULL, 1, b, a, &kShape, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_graph_add_upload_3d(graph, NULL, 0, b, NULL, &kShape, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_graph_add_download_3d(graph, NULL, 0, b, NULL, &kShape, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_graph_add_fill_2d(graph, NULL, 0, a, 0, kPitch, 0, 3, 1, 1, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_graph_add_fill_2d(graph, NULL, 0, a, 1, kPitch, 0, 4, 1, 2, &node));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_graph_add_copy_peer(graph, NULL, 0, b, 0, a, kBytes, 1, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy_peer(graph, NULL, 0, a, 0, a, 1, 8, &node));
  assert_int_equal(node, 77);
  OK(km_graph_nodes(graph, NULL, 0, &count));
  assert_int_equal(count, 0);
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
}

/* Two contexts of one device, or of two where there are. */
static void copies_between_contexts_in_graphs(void** state) {
  fixture* f = *state;
  km_device device;
  km_context other;
  uint8_t bytes[kBytes], zero[kBytes];
  km_graph graph, captured;
  uint64_t node = 0;
  km_graph_node_info info = {.struct_size = sizeof info};
  OK(km_device_open(has_device(other_uri(f)) ? other_uri(f) : f->uri, &device));
  OK(km_context_create(device, &other));
  km_slice here = new_slice(f->context), there = new_slice(other);
  memset(zero, 0, sizeof zero);
  fill_pattern(bytes);
  OK(km_slice_upload(f->stream, here, 0, bytes, kBytes));
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_copy_peer(graph, NULL, 0, there, 0, here, 0, kBytes, &node));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH,
         km_graph_add_copy(graph, NULL, 0, there, 0, here, 0, kBytes, &node));
  OK(km_graph_node_info_get(graph, node, &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_COPY_PEER);
  run_graph(f, graph);
  OK(km_slice_fill_u8(f->stream, here, 0, 0, kBytes));
  expect_bytes(f, here, zero);
  OK(km_stream_begin_capture(f->stream));
  OK(km_slice_copy_peer(f->stream, here, 0, there, 0, kBytes));
  OK(km_stream_end_capture(f->stream, &captured));
  OK(km_slice_destroy(there)); /* the graphs keep it */
  OK(km_context_destroy(other));
  OK(km_device_destroy(device));
  run_graph(f, captured);
  expect_bytes(f, here, bytes);
  OK(km_graph_destroy(captured));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(here));
}

static void updates_take_rows_over(void** state) {
  fixture* f = *state;
  uint8_t expected[kBytes];
  km_slice a = new_slice(f->context);
  km_graph graph;
  km_graph_exec exec;
  uint64_t node = 0;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_fill_2d(graph, NULL, 0, a, 0, kPitch, 1, 1, 4, 2, &node));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_set_fill_2d(graph, node, a, 8, kPitch, 2, 1, 4, 3));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_graph_exec_update_node(exec, graph, node));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_graph_set_fill_2d(graph, node, a, 16, kPitch, 3, 1, 4, 1));
  OK(km_graph_exec_update(exec, graph));
  OK(km_graph_exec_launch(exec, f->stream));
  memset(expected, 0, sizeof expected);
  for (int row = 0; row < 2; ++row) memset(expected + row * kPitch, 1, 4);
  for (int row = 0; row < 3; ++row) memset(expected + 8 + row * kPitch, 2, 4);
  memset(expected + 16, 3, 4);
  expect_bytes(f, a, expected);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_copy_and_fill_rows),          cmocka_unit_test(rows_are_captured),
      cmocka_unit_test(rows_of_nodes_are_read_and_set),    cmocka_unit_test(wrong_rows_are_refused),
      cmocka_unit_test(copies_between_contexts_in_graphs), cmocka_unit_test(updates_take_rows_over),
  };
  return RUN_ON_DEVICES("graph rows", tests);
}
