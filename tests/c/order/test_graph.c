/* Graphs of explicit nodes: what they hold, what they do, how they are changed. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { COUNT = 256 };

static km_slice new_slice(const fixture* f) {
  km_slice slice;
  OK(km_slice_create(f->context, COUNT, 4, KM_SLICE_ZEROED, &slice));
  return slice;
}

static void read_all(const fixture* f, km_slice slice, uint32_t* values) {
  OK(km_slice_download(f->stream, slice, 0, values, COUNT * 4));
}

static const km_launch_config config = {{1, 1, 1}, {COUNT, 1, 1}, 0};

/* out[i] = base + i */
static uint64_t add_fill_index(km_graph graph, const uint64_t* after, uint64_t count,
                               km_function function, km_slice out, uint32_t base) {
  const fill_index_arguments arguments = {0, base, COUNT};
  const km_launch_slice slice = {0, 0, (uint64_t)(uintptr_t)out, 0};
  uint64_t node = 0;
  OK(km_graph_add_kernel(graph, after, count, function, &config, &arguments, sizeof arguments,
                         &slice, 1, &node));
  return node;
}

static void count_call(void* user_data, km_status status) {
  atomic_int* calls = user_data;
  *calls += status == KM_SUCCESS ? 1 : 1000;
}

/* Fill, kernel, copy, upload, download, host function, empty node: each does its work each time. */
static void every_kind_of_node_runs(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index");
  km_slice a = new_slice(f), b = new_slice(f), c = new_slice(f);
  km_graph graph;
  km_graph_exec exec;
  uint32_t in[COUNT], out[COUNT], values[COUNT];
  atomic_int calls = 0;
  uint64_t fill, kernel, copy, upload, download, host, empty;
  for (uint32_t i = 0; i < COUNT; ++i) in[i] = 5000 + i;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_fill(graph, NULL, 0, a, 0, 7, 4, COUNT, &fill));
  OK(km_graph_add_upload(graph, NULL, 0, c, 0, in, sizeof in, &upload));
  OK(km_graph_add_empty(graph, (uint64_t[]){fill, upload}, 2, &empty));
  kernel = add_fill_index(graph, &empty, 1, fill_index, b, 100);
  OK(km_graph_add_copy(graph, &kernel, 1, a, 0, b, 0, COUNT * 2, &copy)); /* the first half */
  OK(km_graph_add_host(graph, &copy, 1, count_call, &calls, &host));
  OK(km_graph_add_download(graph, &host, 1, a, 0, out, sizeof out, &download));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(calls, 0); /* nothing has run yet: there is no warm-up */
  read_all(f, b, values);
  assert_int_equal(values[3], 0);
  for (int round = 1; round <= 3; ++round) {
    in[5] = 9000 + (uint32_t)round; /* read at each launch */
    memset(out, 0, sizeof out);
    OK(km_graph_exec_launch(exec, f->stream));
    OK(km_stream_synchronize(f->stream));
    assert_int_equal(calls, round);
    for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(out[i], i < COUNT / 2 ? 100 + i : 7);
    read_all(f, c, values);
    assert_int_equal(values[5], 9000 + round);
    assert_int_equal(values[6], 5006);
  }
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
  OK(km_slice_destroy(c));
  OK(km_function_destroy(fill_index));
}

static void nodes_and_dependencies_can_be_read(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index"), same;
  km_slice a = new_slice(f);
  km_graph graph;
  uint64_t nodes[4], count = 0, address = 0;
  fill_index_arguments arguments;
  char name[64];
  km_graph_node_info info = {.struct_size = sizeof info};
  OK(km_slice_address(a, &address));
  OK(km_graph_create(f->context, &graph));
  const uint64_t kernel = add_fill_index(graph, NULL, 0, fill_index, a, 42);
  uint64_t fill, join;
  OK(km_graph_add_fill(graph, NULL, 0, a, 16, 0xABCD, 2, 10, &fill));
  OK(km_graph_add_empty(graph, (uint64_t[]){kernel, fill}, 2, &join));
  assert_int_equal(kernel, 1);
  assert_int_equal(join, 3);
  OK(km_graph_nodes(graph, NULL, 0, &count));
  assert_int_equal(count, 3);
  EXPECT(KM_ERROR_BUFFER_TOO_SMALL, km_graph_nodes(graph, nodes, 2, &count));
  OK(km_graph_nodes(graph, nodes, 4, &count));
  assert_int_equal(nodes[0], kernel);
  assert_int_equal(nodes[2], join);
  OK(km_graph_node_dependencies(graph, join, nodes, 4, &count));
  assert_int_equal(count, 2);
  OK(km_graph_node_dependents(graph, fill, nodes, 4, &count));
  assert_int_equal(count, 1);
  assert_int_equal(nodes[0], join);
  OK(km_graph_node_info_get(graph, kernel, &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_KERNEL);
  assert_int_equal(info.block[0], COUNT);
  assert_int_equal(info.arguments_size_bytes, sizeof arguments);
  assert_int_equal(info.dependent_count, 1);
  OK(km_graph_node_arguments(graph, kernel, &arguments, sizeof arguments, &count));
  assert_int_equal(arguments.out, address);
  assert_int_equal(arguments.base, 42);
  EXPECT(KM_ERROR_BUFFER_TOO_SMALL, km_graph_node_arguments(graph, kernel, &arguments, 4, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_node_arguments(graph, fill, &arguments, 16, NULL));
  OK(km_graph_node_function(graph, kernel, &same));
  OK(km_function_name(same, name, sizeof name, NULL));
  assert_string_equal(name, "fill_index");
  OK(km_graph_node_info_get(graph, fill, &info));
  assert_int_equal(info.destination, address + 16);
  assert_int_equal(info.size_bytes, 20);
  assert_int_equal(info.value, 0xABCD);
  assert_int_equal(info.value_size_bytes, 2);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_node_info_get(graph, 4, &info));
  expect_message("not a node of the graph");
  OK(km_function_destroy(same));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_function_destroy(fill_index));
}

static void counts_beyond_the_graph_are_not_read(void** state) {
  fixture* f = *state;
  const uint64_t twice[] = {1, 1}, none = 7;
  km_graph graph;
  uint64_t node = 0;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_empty(graph, NULL, 0, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_empty(graph, twice, UINT64_MAX, &node));
  expect_message("dependencies name node 1 twice");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_empty(graph, &none, UINT64_MAX, &node));
  expect_message("a dependency is 7");
  assert_int_equal(node, 1);
  OK(km_graph_destroy(graph));
}

static void dependencies_can_be_changed(void** state) {
  fixture* f = *state;
  km_graph graph;
  uint64_t a, b, c, count;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_empty(graph, NULL, 0, &a));
  OK(km_graph_add_empty(graph, NULL, 0, &b));
  OK(km_graph_add_empty(graph, &b, 1, &c));
  OK(km_graph_add_dependency(graph, c, a)); /* also against the order of making */
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_dependency(graph, a, b));
  expect_message("which runs after it");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_dependency(graph, a, a));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_dependency(graph, c, a));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_dependency(graph, c, 99));
  OK(km_graph_remove_dependency(graph, c, a));
  EXPECT(KM_ERROR_NOT_FOUND, km_graph_remove_dependency(graph, c, a));
  OK(km_graph_add_dependency(graph, a, b));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_empty(graph, (uint64_t[]){a, a}, 2, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_empty(graph, NULL, 1, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_empty(graph, NULL, 0, NULL));
  OK(km_graph_remove_node(graph, b));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_remove_node(graph, b));
  OK(km_graph_node_dependencies(graph, c, NULL, 0, &count));
  assert_int_equal(count, 0);
  OK(km_graph_add_empty(graph, NULL, 0, &b));
  assert_int_equal(b, 4); /* numbers are not used again */
  OK(km_graph_destroy(graph));
}

/* Later nodes see what earlier ones did, whatever the order of their making. */
static void dependencies_decide_the_order(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f);
  km_graph graph;
  km_graph_exec exec;
  uint32_t values[COUNT];
  uint64_t last, first;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_fill(graph, NULL, 0, a, 0, 2, 4, COUNT, &last));
  OK(km_graph_add_fill(graph, NULL, 0, a, 0, 1, 4, COUNT, &first));
  OK(km_graph_add_dependency(graph, first, last));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[9], 2);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_remove_dependency(graph, first, last));
  OK(km_graph_add_dependency(graph, last, first));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[9], 1);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
}

static void children_are_copies(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f);
  km_graph inner, outer, read_back;
  km_graph_exec exec;
  uint32_t values[COUNT];
  uint64_t fill, before, child, after, count;
  km_graph_node_info info = {.struct_size = sizeof info};
  OK(km_graph_create(f->context, &inner));
  OK(km_graph_create(f->context, &outer));
  OK(km_graph_add_fill(inner, NULL, 0, a, 0, 10, 4, COUNT, &fill));
  OK(km_graph_add_fill(outer, NULL, 0, a, 0, 1, 4, COUNT, &before));
  OK(km_graph_add_child(outer, &before, 1, inner, &child));
  OK(km_graph_add_fill(outer, &child, 1, a, 0, 20, 4, COUNT / 2, &after));
  OK(km_graph_set_fill(inner, fill, a, 0, 11, 4, COUNT)); /* not seen by the child */
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_child(outer, NULL, 0, outer, &count));
  OK(km_graph_exec_create(outer, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[0], 20);
  assert_int_equal(values[COUNT - 1], 10);
  OK(km_graph_node_child(outer, child, &read_back));
  OK(km_graph_node_info_get(read_back, fill, &info));
  assert_int_equal(info.value, 10);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_node_child(outer, after, &read_back));
  OK(km_graph_set_child(outer, child, inner));
  OK(km_graph_exec_update_node(exec, outer, child));
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[COUNT - 1], 11);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(read_back));
  OK(km_graph_destroy(inner));
  OK(km_graph_destroy(outer));
  OK(km_slice_destroy(a));
}

static void clones_go_their_own_way(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f);
  km_graph graph, clone;
  uint64_t fill, extra, count;
  km_graph_node_info info = {.struct_size = sizeof info};
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_fill(graph, NULL, 0, a, 0, 1, 4, COUNT, &fill));
  OK(km_graph_clone(graph, &clone));
  OK(km_graph_set_fill(clone, fill, a, 4, 2, 1, 8));
  OK(km_graph_add_empty(clone, &fill, 1, &extra));
  OK(km_graph_node_info_get(graph, fill, &info));
  assert_int_equal(info.value, 1);
  OK(km_graph_nodes(graph, NULL, 0, &count));
  assert_int_equal(count, 1);
  OK(km_graph_node_info_get(clone, fill, &info));
  assert_int_equal(info.size_bytes, 8);
  OK(km_graph_destroy(graph));
  OK(km_graph_destroy(clone));
  OK(km_slice_destroy(a));
}

static void parameters_of_one_node_are_updated(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index"), noop = load_kernel(f, "noop");
  km_slice a = new_slice(f), b = new_slice(f);
  km_graph graph;
  km_graph_exec exec;
  uint32_t values[COUNT];
  uint64_t fill;
  atomic_int calls = 0, other_calls = 0;
  uint64_t host;
  OK(km_graph_create(f->context, &graph));
  const uint64_t kernel = add_fill_index(graph, NULL, 0, fill_index, a, 100);
  OK(km_graph_add_fill(graph, &kernel, 1, b, 0, 3, 4, COUNT, &fill));
  OK(km_graph_add_host(graph, &fill, 1, count_call, &calls, &host));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  fill_index_arguments arguments = {0, 200, COUNT};
  const km_launch_slice slice = {0, 0, (uint64_t)(uintptr_t)b, 0};
  OK(km_graph_set_kernel(graph, kernel, fill_index, &config, &arguments, sizeof arguments, &slice,
                         1));
  OK(km_graph_set_fill(graph, fill, a, 0, 4, 4, COUNT));
  OK(km_graph_set_host(graph, host, count_call, &other_calls));
  OK(km_graph_exec_launch(exec, f->stream)); /* as it was */
  read_all(f, a, values);
  assert_int_equal(values[1], 101);
  OK(km_graph_exec_update_node(exec, graph, kernel));
  OK(km_graph_exec_update_node(exec, graph, fill));
  OK(km_graph_exec_update_node(exec, graph, host));
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[1], 4);
  read_all(f, b, values);
  assert_int_equal(values[1], 201);
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(calls, 2);
  assert_int_equal(other_calls, 1);
  /* Another kernel altogether. */
  OK(km_graph_set_kernel(graph, kernel, noop, &config, NULL, 0, NULL, 0));
  OK(km_graph_exec_update_node(exec, graph, kernel));
  OK(km_graph_exec_launch(exec, f->stream));
  /* What does not fit changes nothing. */
  const km_launch_config bad = {{1, 1, 1}, {100000, 1, 1}, 0};
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_graph_set_kernel(graph, kernel, fill_index, &bad, &arguments,
                                                      sizeof arguments, NULL, 0));
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_graph_set_kernel(graph, kernel, fill_index, &config, &arguments, 4, NULL, 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_fill(graph, kernel, a, 0, 4, 4, COUNT));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_fill(graph, fill, a, 0, 4, 3, COUNT));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_fill(graph, fill, a, 1, 4, 2, 2));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_graph_set_fill(graph, fill, a, 4, 4, 4, COUNT));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_set_host(graph, host, NULL, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_exec_update_node(exec, graph, 77));
  OK(km_graph_add_dependency(graph, kernel, host));
  EXPECT(KM_ERROR_GRAPH_MISMATCH, km_graph_exec_update_node(exec, graph, host));
  expect_message("node 3 has other dependencies");
  OK(km_stream_synchronize(f->stream));
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
  OK(km_function_destroy(fill_index));
  OK(km_function_destroy(noop));
}

static km_graph two_fills(const fixture* f, km_slice slice, uint32_t first, uint32_t second) {
  km_graph graph;
  uint64_t a, b;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_fill(graph, NULL, 0, slice, 0, first, 4, COUNT, &a));
  OK(km_graph_add_fill(graph, &a, 1, slice, 0, second, 4, COUNT / 2, &b));
  return graph;
}

static void expect_difference(km_graph_exec exec, km_graph graph, km_graph_difference difference,
                              uint64_t node) {
  km_graph_difference found = 0;
  uint64_t found_node = 99;
  OK(km_graph_exec_compare(exec, graph, &found, &found_node));
  assert_int_equal(found, difference);
  assert_int_equal(found_node, node);
  if (difference == KM_GRAPH_DIFFERENCE_NONE) return;
  EXPECT(KM_ERROR_GRAPH_MISMATCH, km_graph_exec_update(exec, graph));
}

static void whole_graphs_are_updated(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f);
  km_graph graph = two_fills(f, a, 1, 2), other = two_fills(f, a, 3, 4);
  km_graph_exec exec;
  uint32_t values[COUNT];
  uint64_t node;
  OK(km_graph_exec_create(graph, &exec));
  expect_difference(exec, other, KM_GRAPH_DIFFERENCE_NONE, 0);
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_graph_exec_update(exec, other));
  read_all(f, a, values);
  assert_int_equal(values[0], 2); /* what was launched before keeps its parameters */
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[0], 4);
  assert_int_equal(values[COUNT - 1], 3);

  OK(km_graph_add_empty(other, NULL, 0, &node));
  expect_difference(exec, other, KM_GRAPH_DIFFERENCE_NODE_COUNT, 3);
  OK(km_graph_remove_node(other, 3));
  OK(km_graph_remove_dependency(other, 1, 2));
  expect_difference(exec, other, KM_GRAPH_DIFFERENCE_DEPENDENCIES, 2);
  expect_message("node 2 has other dependencies");
  OK(km_graph_remove_node(other, 2));
  OK(km_graph_add_empty(other, (uint64_t[]){1}, 1, &node));
  expect_difference(exec, other, KM_GRAPH_DIFFERENCE_NODE_KIND, node);
  OK(km_graph_exec_launch(exec, f->stream));
  read_all(f, a, values);
  assert_int_equal(values[0], 4);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_graph_destroy(other));
  OK(km_slice_destroy(a));
}

static void differences_inside_children_are_found(void** state) {
  fixture* f = *state;
  km_slice a = new_slice(f);
  km_graph inner = two_fills(f, a, 1, 2), outer;
  km_graph_exec exec;
  uint64_t child;
  OK(km_graph_create(f->context, &outer));
  OK(km_graph_add_child(outer, NULL, 0, inner, &child));
  OK(km_graph_exec_create(outer, &exec));
  OK(km_graph_remove_dependency(inner, 1, 2));
  OK(km_graph_set_child(outer, child, inner));
  expect_difference(exec, outer, KM_GRAPH_DIFFERENCE_CHILD, child);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(inner));
  OK(km_graph_destroy(outer));
  OK(km_slice_destroy(a));
}

/* The graph alone keeps what it uses: slices, function, module. */
static void a_graph_keeps_what_it_uses(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index");
  km_slice a = new_slice(f), found = NULL;
  km_graph graph;
  km_graph_exec exec;
  uint64_t address = 0, offset = 0;
  uint32_t values[COUNT];
  OK(km_slice_address(a, &address));
  OK(km_graph_create(f->context, &graph));
  add_fill_index(graph, NULL, 0, fill_index, a, 5);
  OK(km_slice_destroy(a));
  OK(km_function_destroy(fill_index));
  for (int i = 0; i < 50; ++i) { /* nothing else gets that memory */
    km_slice other = new_slice(f);
    uint64_t taken = 0;
    OK(km_slice_address(other, &taken));
    assert_true(taken + COUNT * 4 <= address || taken >= address + COUNT * 4);
    OK(km_slice_destroy(other));
  }
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_destroy(graph));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_context_find_slice(f->context, address, &found, &offset));
  read_all(f, found, values);
  assert_int_equal(values[10], 15);
  OK(km_slice_destroy(found));
  for (int i = 0; i < 10; ++i) OK(km_graph_exec_launch(exec, f->stream));
  OK(km_graph_exec_destroy(exec)); /* under way */
  OK(km_stream_synchronize(f->stream));
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, address, &found, &offset));
}

/* Addresses among the arguments count as well. */
static void raw_addresses_are_kept_too(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index");
  km_slice a = new_slice(f), found = NULL;
  km_graph graph;
  fill_index_arguments arguments = {0, 1, COUNT};
  uint64_t node, offset;
  OK(km_slice_address(a, &arguments.out));
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_kernel(graph, NULL, 0, fill_index, &config, &arguments, sizeof arguments, NULL, 0,
                         &node));
  OK(km_slice_destroy(a));
  OK(km_context_find_slice(f->context, arguments.out, &found, &offset));
  OK(km_slice_destroy(found));
  OK(km_graph_destroy(graph));
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, arguments.out, &found, &offset));
  OK(km_function_destroy(fill_index));
}

static void launches_of_one_graph_do_not_overlap(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index");
  km_slice a = new_slice(f), b = new_slice(f);
  km_stream other;
  km_graph graph;
  km_graph_exec exec;
  uint64_t copy;
  uint32_t values[COUNT];
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_graph_create(f->context, &graph));
  const uint64_t kernel = add_fill_index(graph, NULL, 0, fill_index, a, 1);
  OK(km_graph_add_copy(graph, &kernel, 1, b, 0, a, 0, COUNT * 4, &copy));
  OK(km_graph_exec_create(graph, &exec));
  for (int i = 0; i < 200; ++i) OK(km_graph_exec_launch(exec, i % 3 == 0 ? other : f->stream));
  OK(km_stream_synchronize(other));
  OK(km_stream_synchronize(f->stream));
  read_all(f, b, values);
  assert_int_equal(values[7], 8);
  OK(km_graph_exec_launch(exec, other));
  OK(km_stream_destroy(other)); /* the graph exec still knows the stream */
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
  OK(km_function_destroy(fill_index));
}

static void faults_stick_and_host_nodes_hear_of_them(void** state) {
  fixture* f = *state;
  km_function crash = load_kernel(f, "crash");
  km_graph graph;
  km_graph_exec exec;
  uint64_t kernel, host;
  atomic_int calls = 0;
  const km_launch_config one = {{1, 1, 1}, {1, 1, 1}, 0};
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_kernel(graph, NULL, 0, crash, &one, NULL, 0, NULL, 0, &kernel));
  OK(km_graph_add_host(graph, &kernel, 1, count_call, &calls, &host));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  EXPECT_TRAP(f, km_graph_exec_launch(exec, f->stream));
  const int comes_back = comes_back_after_fault(f);
  for (int i = 0; i < 20000 && atomic_load(&calls) == 0; ++i) usleep(100);
  assert_int_equal(calls, 1000); /* once, with the error */
  if (!comes_back) return;
  EXPECT(KM_ERROR_CONTEXT_LOST, km_graph_exec_launch(exec, f->stream));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_graph_clone(graph, &graph));
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_function_destroy(crash));
}

static void wrong_operands_are_refused(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index");
  km_context other;
  km_slice a = new_slice(f), theirs;
  km_graph graph, their_graph;
  uint64_t node = 77;
  const fill_index_arguments arguments = {0, 0, 0};
  OK(km_context_create(f->device, &other));
  OK(km_slice_create(other, COUNT, 4, 0, &theirs));
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_create(other, &their_graph));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH,
         km_graph_add_fill(graph, NULL, 0, theirs, 0, 0, 4, COUNT, &node));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH,
         km_graph_add_kernel(their_graph, NULL, 0, fill_index, &config, &arguments,
                             sizeof arguments, NULL, 0, &node));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_graph_add_child(graph, NULL, 0, their_graph, &node));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_graph_add_download(graph, NULL, 0, a, 4, &node, COUNT * 4, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_upload(graph, NULL, 0, a, 0, NULL, 4, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_copy(graph, NULL, 0, a, 0, a, 4, 8, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_graph_add_host(graph, NULL, 0, NULL, NULL, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_graph_add_kernel(graph, NULL, 0, fill_index, NULL, &arguments, 16, NULL, 0, &node));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_graph_add_fill(graph, (uint64_t[]){5}, 1, a, 0, 0, 4, COUNT, &node));
  expect_message("a dependency is 5");
  assert_int_equal(node, 77);
  OK(km_graph_destroy(graph));
  OK(km_graph_destroy(their_graph));
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(theirs));
  OK(km_context_destroy(other));
  OK(km_function_destroy(fill_index));
}

static void dot_text_names_nodes_and_edges(void** state) {
  fixture* f = *state;
  km_function fill_index = load_kernel(f, "fill_index");
  km_slice a = new_slice(f);
  km_graph graph, inner = two_fills(f, a, 1, 2);
  uint64_t child, size = 0;
  char text[4096];
  OK(km_graph_create(f->context, &graph));
  const uint64_t kernel = add_fill_index(graph, NULL, 0, fill_index, a, 1);
  OK(km_graph_add_child(graph, &kernel, 1, inner, &child));
  OK(km_graph_dot(graph, NULL, 0, &size));
  OK(km_graph_dot(graph, text, sizeof text, NULL));
  assert_int_equal(size, strlen(text) + 1);
  assert_non_null(strstr(text, "digraph"));
  assert_non_null(strstr(text, "1: kernel fill_index\\n")); /* a break as Graphviz writes it */
  assert_null(strstr(text, "\\\\n"));
  assert_non_null(strstr(text, "n1 -> n2;"));
  assert_non_null(strstr(text, "subgraph cluster_n2_"));
  assert_non_null(strstr(text, "n2_1 -> n2_2;"));
  EXPECT(KM_ERROR_BUFFER_TOO_SMALL, km_graph_dot(graph, text, 10, NULL));
  OK(km_graph_destroy(graph));
  OK(km_graph_destroy(inner));
  OK(km_slice_destroy(a));
  OK(km_function_destroy(fill_index));
}

static void an_empty_graph_runs(void** state) {
  fixture* f = *state;
  km_graph graph;
  km_graph_exec exec;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_node_runs),
      cmocka_unit_test(nodes_and_dependencies_can_be_read),
      cmocka_unit_test(counts_beyond_the_graph_are_not_read),
      cmocka_unit_test(dependencies_can_be_changed),
      cmocka_unit_test(dependencies_decide_the_order),
      cmocka_unit_test(children_are_copies),
      cmocka_unit_test(clones_go_their_own_way),
      cmocka_unit_test(parameters_of_one_node_are_updated),
      cmocka_unit_test(whole_graphs_are_updated),
      cmocka_unit_test(differences_inside_children_are_found),
      cmocka_unit_test(a_graph_keeps_what_it_uses),
      cmocka_unit_test(raw_addresses_are_kept_too),
      cmocka_unit_test(launches_of_one_graph_do_not_overlap),
      FAULTING_TEST(faults_stick_and_host_nodes_hear_of_them),
      cmocka_unit_test(wrong_operands_are_refused),
      cmocka_unit_test(dot_text_names_nodes_and_edges),
      cmocka_unit_test(an_empty_graph_runs),
  };
  return RUN_ON_DEVICES("graph", tests);
}
