/* Streams that write numbers into memory and wait for them, and memory that host and device share.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

static void refuse(km_status expected, km_status given, const char* part) {
  EXPECT(expected, given);
  expect_message(part);
}

static void values_are_written(void** state) {
  const fixture* f = *state;
  km_slice slice;
  uint32_t seen[6];
  if (is_fake(f) && !is_cuda(f)) skip(); /* it has no such streams */
  OK(km_slice_create(f->context, 6, 4, 0, &slice));
  OK(km_slice_fill_u32(f->stream, slice, 0, 0x55555555, 6));
  OK(km_stream_write_value(f->stream, slice, 4, 0xDEADBEEF, 4));
  OK(km_stream_write_value(f->stream, slice, 16, 0x123456789ABCDEF0, 8));
  OK(km_slice_download(f->stream, slice, 0, seen, sizeof seen));
  const uint32_t expected[] = {0x55555555, 0xDEADBEEF, 0x55555555,
                               0x55555555, 0x9ABCDEF0, 0x12345678};
  assert_memory_equal(seen, expected, sizeof seen);
  OK(km_slice_destroy(slice));
}

typedef struct comparison {
  km_wait_condition condition;
  uint32_t size_bytes;
  uint64_t value, before, after;
} comparison;

static void streams_wait_for_values(void** state) {
  const fixture* f = *state;
  const comparison all[] = {
      {KM_WAIT_CONDITION_GREATER_EQUAL, 4, 5, 4, 5},
      {KM_WAIT_CONDITION_GREATER_EQUAL, 4, 2, UINT32_MAX, 3}, /* round */
      {KM_WAIT_CONDITION_GREATER_EQUAL, 8, 1ULL << 40, (1ULL << 40) - 1, 1ULL << 41},
      {KM_WAIT_CONDITION_EQUAL, 4, 7, 8, 7},
      {KM_WAIT_CONDITION_EQUAL, 8, 1ULL << 33, 0, 1ULL << 33},
      {KM_WAIT_CONDITION_AND, 4, 6, 9, 2},
      {KM_WAIT_CONDITION_AND, 8, 1ULL << 50, 1, 1ULL << 50},
      {KM_WAIT_CONDITION_NOR, 4, 0xFFFFFFF0, 15, 7},
      {KM_WAIT_CONDITION_NOR, 8, ~1ULL, 1, 0},
  };
  km_stream other;
  km_slice slice;
  if (is_fake(f)) skip(); /* it does everything at once */
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_slice_create(f->context, 4, 8, KM_SLICE_ZEROED, &slice));
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    const comparison* c = &all[i];
    uint32_t seen = 0;
    OK(km_stream_write_value(f->stream, slice, 0, c->before, c->size_bytes));
    OK(km_stream_write_value(f->stream, slice, 16, 1, 4));
    OK(km_stream_synchronize(f->stream));
    OK(km_stream_wait_value(other, slice, 0, c->condition, c->value, c->size_bytes));
    OK(km_stream_write_value(other, slice, 16, 2, 4));
    EXPECT(KM_TIMEOUT, km_stream_synchronize_timeout(other, 3000000));
    OK(km_slice_download(f->stream, slice, 16, &seen, 4));
    assert_int_equal(seen, 1); /* streams go on that do not wait */
    OK(km_stream_write_value(f->stream, slice, 0, c->after, c->size_bytes));
    OK(km_stream_synchronize(other));
    OK(km_slice_download(f->stream, slice, 16, &seen, 4));
    assert_int_equal(seen, 2);
    /* What is so already keeps nobody. */
    OK(km_stream_wait_value(other, slice, 0, c->condition, c->value, c->size_bytes));
    OK(km_stream_synchronize(other));
  }
  OK(km_slice_destroy(slice));
  OK(km_stream_destroy(other));
}

static void the_host_ends_a_wait(void** state) {
  const fixture* f = *state;
  static _Alignas(4096) _Atomic uint32_t words[1024];
  km_slice slice;
  if (is_fake(f)) skip();
  atomic_store(&words[3], 0);
  OK(km_slice_from_host(f->context, (void*)words, 1024, 4, NULL, NULL, &slice));
  OK(km_stream_wait_value(f->stream, slice, 12, KM_WAIT_CONDITION_EQUAL, 9, 4));
  OK(km_stream_write_value(f->stream, slice, 16, 10, 4));
  EXPECT(KM_NOT_READY, km_stream_query(f->stream));
  atomic_store(&words[3], 9);
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(atomic_load(&words[4]), 10);
  OK(km_slice_destroy(slice));
}

static void values_that_are_wrong_are_named(void** state) {
  const fixture* f = *state;
  km_slice slice, read_only;
  km_context other;
  km_stream foreign;
  char path[] = "/tmp/kernelmill-values-XXXXXX";
  OK(km_slice_create(f->context, 4, 4, KM_SLICE_ZEROED, &slice));
  refuse(KM_ERROR_INVALID_ARGUMENT, km_stream_write_value(f->stream, slice, 0, 1, 2),
         "value_size_bytes is 2");
  refuse(KM_ERROR_INVALID_ARGUMENT, km_stream_write_value(f->stream, slice, 0, 1ULL << 32, 4),
         "value is 4294967296");
  refuse(KM_ERROR_INVALID_ARGUMENT, km_stream_wait_value(f->stream, slice, 0, 0, 1, 4),
         "condition is 0");
  refuse(KM_ERROR_INVALID_ARGUMENT, km_stream_wait_value(f->stream, slice, 0, 5, 1, 4),
         "condition is 5");
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_stream_write_value(f->stream, slice, 16, 1, 4));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_stream_wait_value(f->stream, slice, 12, 1, 1, 8));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_stream_write_value(NULL, slice, 0, 1, 4));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_stream_wait_value(f->stream, NULL, 0, 1, 1, 4));
  OK(km_context_create(f->device, &other));
  OK(km_stream_create(other, 0, 0, &foreign));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_stream_write_value(foreign, slice, 0, 1, 4));
  OK(km_stream_destroy(foreign));
  OK(km_context_destroy(other));
  if (!is_fake(f) || is_cuda(f)) {
    refuse(KM_ERROR_INVALID_ARGUMENT, km_stream_write_value(f->stream, slice, 2, 1, 4),
           "not a multiple");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, path, 16), 16);
    close(file);
    OK(km_slice_map_file(f->context, path, 0, 4, 4, KM_MAP_READ_ONLY, &read_only));
    EXPECT(KM_ERROR_NOT_PERMITTED, km_stream_write_value(f->stream, read_only, 0, 1, 4));
    OK(km_slice_destroy(read_only));
    unlink(path);
  } else {
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_stream_write_value(f->stream, slice, 0, 1, 4));
  }
  OK(km_slice_destroy(slice));
}

static void values_can_be_captured(void** state) {
  const fixture* f = *state;
  km_slice slice;
  km_graph graph;
  km_graph_exec exec;
  km_graph_node_info info = {.struct_size = sizeof info};
  uint64_t nodes[2], count = 0;
  uint32_t seen[2];
  if (is_fake(f) && !is_cuda(f)) skip();
  OK(km_slice_create(f->context, 2, 4, KM_SLICE_ZEROED, &slice));
  for (uint32_t round = 1; round <= 2; ++round) {
    OK(km_stream_begin_capture(f->stream));
    OK(km_stream_write_value(f->stream, slice, 0, 10 * round, 4));
    OK(km_stream_wait_value(f->stream, slice, 4, KM_WAIT_CONDITION_EQUAL, round, 4));
    OK(km_stream_end_capture(f->stream, &graph));
    OK(km_graph_nodes(graph, nodes, 2, &count));
    assert_int_equal(count, 2);
    OK(km_graph_node_info_get(graph, nodes[0], &info));
    assert_int_equal(info.kind, KM_GRAPH_NODE_MEMORY_OPS);
    if (round == 1) {
      OK(km_graph_exec_create(graph, &exec));
    } else {
      OK(km_graph_exec_update(exec, graph));
    }
    OK(km_graph_destroy(graph));
    OK(km_stream_write_value(f->stream, slice, 4, round, 4));
    OK(km_graph_exec_launch(exec, f->stream));
    OK(km_slice_download(f->stream, slice, 0, seen, sizeof seen));
    assert_int_equal(seen[0], 10 * round);
    assert_int_equal(seen[1], round);
  }
  OK(km_graph_exec_destroy(exec));
  OK(km_slice_destroy(slice));
}

static void host_and_device_share_managed_memory(void** state) {
  const fixture* f = *state;
  km_slice slice, other;
  km_function scale = load_kernel(f, "scale");
  void* pointer = NULL;
  uint64_t address = 0;
  OK(km_slice_create(f->context, 1000, 4, KM_SLICE_MANAGED | KM_SLICE_ZEROED, &slice));
  OK(km_slice_host_pointer(slice, &pointer));
  OK(km_slice_address(slice, &address));
  assert_non_null(pointer);
  float* values = pointer;
  if (!is_fake(f) || is_cuda(f)) assert_int_equal(address, (uint64_t)(uintptr_t)pointer);
  for (int i = 0; i < 1000; ++i) {
    assert_true(values[i] == 0);
    values[i] = (float)i;
  }
  if (!is_fake(f) || is_cuda(f)) {
    const scale_arguments arguments = {address, 3, 1000};
    const km_launch_config config = {{8, 1, 1}, {128, 1, 1}, 0};
    const km_launch_slice used = {0, 0, (uint64_t)(uintptr_t)slice, 0};
    OK(km_launch_kernel(f->stream, scale, &config, &arguments, sizeof arguments, &used, 1));
    OK(km_stream_synchronize(f->stream));
    for (int i = 0; i < 1000; ++i) assert_true(values[i] == 3 * (float)i);
  }
  /* Copies know it as what it is. */
  OK(km_slice_create(f->context, 1000, 4, 0, &other));
  OK(km_slice_copy(f->stream, other, 0, slice, 0, 4000));
  OK(km_slice_fill_u32(f->stream, slice, 0, 0x40000000, 1000));
  OK(km_stream_synchronize(f->stream));
  if (!is_fake(f) || is_cuda(f)) assert_true(values[999] == 2);
  OK(km_slice_destroy(other));
  OK(km_slice_destroy(slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_create_on_stream(f->stream, 4, 4, KM_SLICE_MANAGED, &slice));
  OK(km_function_destroy(scale));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_written),
      cmocka_unit_test(streams_wait_for_values),
      cmocka_unit_test(the_host_ends_a_wait),
      cmocka_unit_test(values_that_are_wrong_are_named),
      cmocka_unit_test(values_can_be_captured),
      cmocka_unit_test(host_and_device_share_managed_memory),
  };
  return RUN_ON_DEVICES("values", tests);
}
