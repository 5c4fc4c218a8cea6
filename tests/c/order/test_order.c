/* Contexts with KM_CONTEXT_ORDERED: what waits for what. A stream is held by a callback that waits
 * for the test, so that nothing is left to chance: what depends on it is not done, what does not
 * is.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { COUNT = 1 << 16, BYTES = COUNT * 4 };

/* An ordered context with two streams, two slices of COUNT zeros, and page-locked memory. */
typedef struct world {
  const fixture* f;
  km_context context;
  km_stream s1, s2;
  km_slice x, y;
  km_host_memory pinned;
  uint32_t* words; /* of pinned: 2 * COUNT */
  sem_t hold;
} world;

static world open_world(const fixture* f) {
  world w;
  memset(&w, 0, sizeof w);
  w.f = f;
  OK(km_context_create_with_flags(f->device, KM_CONTEXT_ORDERED, &w.context));
  OK(km_stream_create(w.context, 0, 0, &w.s1));
  OK(km_stream_create(w.context, 0, 0, &w.s2));
  OK(km_slice_create(w.context, COUNT, 4, KM_SLICE_ZEROED, &w.x));
  OK(km_slice_create(w.context, COUNT, 4, KM_SLICE_ZEROED, &w.y));
  OK(km_host_memory_create(w.context, 2 * BYTES, 0, &w.pinned));
  OK(km_host_memory_pointer(w.pinned, (void**)&w.words));
  memset(w.words, 0, 2 * BYTES);
  assert_int_equal(sem_init(&w.hold, 0, 0), 0);
  return w;
}

static void close_world(world* w) {
  OK(km_stream_synchronize(w->s1));
  OK(km_stream_synchronize(w->s2));
  OK(km_host_memory_destroy(w->pinned));
  OK(km_slice_destroy(w->x));
  OK(km_slice_destroy(w->y));
  OK(km_stream_destroy(w->s1));
  OK(km_stream_destroy(w->s2));
  OK(km_context_destroy(w->context));
  sem_destroy(&w->hold);
}

static void wait_for_test(void* hold, km_status status) {
  (void)status;
  while (sem_wait(hold) != 0) continue;
}

/* What is queued in the stream from now on waits for let_go(). */
static void hold(world* w, km_stream stream) {
  OK(km_stream_add_callback(stream, wait_for_test, &w->hold));
}
static void let_go(world* w) { sem_post(&w->hold); }

/* Work runs beside the calls that queue it. */
#define NEEDS_ASYNCHRONY(f) \
  if (is_fake(f)) skip()

/* The device runs all kernels, not only those that it knows by name. */
static int runs_kernels(const fixture* f) {
  return !is_fake(f) && strcmp(f->info.name, "Scripted") != 0;
}

/* A copy to page-locked memory, which the call does not wait for. */
static void read_words(world* w, km_stream stream, km_slice slice, uint32_t first, uint32_t count) {
  OK(km_slice_download(stream, slice, first * 4, w->words + first, count * 4));
}
static void fill_words(km_stream stream, km_slice slice, uint32_t value, uint32_t first,
                       uint32_t count) {
  OK(km_slice_fill_u32(stream, slice, first * 4, value, count));
}

/* The stream has something to wait for, which is held. */
static void expect_waiting(km_stream stream) {
  usleep(2000);
  EXPECT(KM_NOT_READY, km_stream_query(stream));
}
/* The stream gets to its end although something is held. */
static void expect_done(km_stream stream) {
  EXPECT(KM_SUCCESS, km_stream_synchronize_timeout(stream, 10000000000u));
}

static void flags_are_kept_and_checked(void** state) {
  fixture* f = *state;
  km_context context = NULL;
  km_context_flags flags = 77;
  OK(km_context_flags_get(f->context, &flags));
  assert_int_equal(flags & KM_CONTEXT_ORDERED, 0); /* that of debug builds may be there */
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_create_with_flags(f->device, 4, &context));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_create_with_flags(f->device, 1, NULL));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_context_create_with_flags(NULL, 1, &context));
  assert_null(context);
  OK(km_context_create_with_flags(f->device, KM_CONTEXT_ORDERED, &context));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_flags_get(context, NULL));
  OK(km_context_flags_get(context, &flags));
  assert_int_equal(flags, KM_CONTEXT_ORDERED);
  OK(km_context_reset(context));
  OK(km_context_flags_get(context, &flags));
  assert_int_equal(flags, KM_CONTEXT_ORDERED);
  OK(km_context_destroy(context));
}

/* What safe code of a binding could do: read what another stream is about to write. */
static void a_fill_is_seen_by_a_download_on_another_stream(void** state) {
  enum { LARGE = 4 << 20, TRIES = 199 };
  world w = open_world(*state);
  km_slice large;
  uint32_t* seen = malloc(LARGE * 4);
  assert_non_null(seen);
  OK(km_slice_create(w.context, LARGE, 4, KM_SLICE_ZEROED, &large));
  for (uint32_t i = 1; i <= TRIES; ++i) {
    const km_stream writer = i % 2 == 0 ? w.s1 : w.s2, reader = i % 2 == 0 ? w.s2 : w.s1;
    const uint32_t count = i % 10 == 0 ? LARGE : LARGE / 16;
    fill_words(writer, large, i, 0, count);
    OK(km_slice_download(reader, large, 0, seen, count * 4));
    for (uint32_t k = 0; k < count; ++k) {
      if (seen[k] != i) fail_msg("try %u: word %u is %u", i, k, seen[k]);
    }
  }
  OK(km_slice_destroy(large));
  free(seen);
  close_world(&w);
}

static void writes_wait_for_reads_and_writes(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  fill_words(w.s1, w.x, 1, 0, COUNT);
  hold(&w, w.s1);
  read_words(&w, w.s1, w.x, 0, COUNT);
  fill_words(w.s2, w.x, 2, 0, COUNT); /* after the read */
  expect_waiting(w.s2);
  fill_words(w.s1, w.x, 3, 0, COUNT); /* after the fill of the other stream, which waits for it */
  OK(km_slice_copy(w.s2, w.y, 0, w.x, 0, BYTES));
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_slice_download(w.s1, w.y, 0, w.words + COUNT, BYTES));
  OK(km_stream_synchronize(w.s1));
  for (uint32_t i = 0; i < COUNT; ++i) {
    assert_int_equal(w.words[i], 1);
    assert_int_equal(w.words[COUNT + i], 3);
  }
  close_world(&w);
}

static void reads_do_not_wait_for_reads(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  fill_words(w.s1, w.x, 5, 0, COUNT);
  OK(km_stream_synchronize(w.s1)); /* GPUs wait for the stream as it is when they are asked to */
  hold(&w, w.s1);
  read_words(&w, w.s1, w.x, 0, COUNT);
  OK(km_slice_download(w.s2, w.x, 0, w.words + COUNT, BYTES));
  expect_done(w.s2);
  assert_int_equal(w.words[COUNT], 5);
  assert_int_equal(w.words[2 * COUNT - 1], 5);
  assert_int_equal(w.words[0], 0);
  let_go(&w);
  close_world(&w);
}

static void parts_that_share_no_byte_do_not_wait(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  km_slice left, right, middle;
  OK(km_slice_view(w.x, 0, COUNT / 2, &left));
  OK(km_slice_view(w.x, COUNT / 2, COUNT / 2, &right));
  OK(km_slice_view(w.x, COUNT / 2 - 1, 2, &middle));
  hold(&w, w.s1);
  fill_words(w.s1, left, 1, 0, COUNT / 2);
  fill_words(w.s2, right, 2, 0, COUNT / 2);
  read_words(&w, w.s2, right, 0, 4);
  expect_done(w.s2);
  assert_int_equal(w.words[3], 2);
  fill_words(w.s2, middle, 3, 0, 2);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_slice_download(w.s1, w.x, 0, w.words, BYTES));
  OK(km_stream_synchronize(w.s1));
  assert_int_equal(w.words[COUNT / 2 - 2], 1);
  assert_int_equal(w.words[COUNT / 2 - 1], 3);
  assert_int_equal(w.words[COUNT / 2], 3);
  assert_int_equal(w.words[COUNT / 2 + 1], 2);
  OK(km_slice_destroy(left));
  OK(km_slice_destroy(right));
  OK(km_slice_destroy(middle));
  close_world(&w);
}

static void without_the_flag_nothing_waits(void** state) {
  fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  world w = open_world(f);
  km_slice plain;
  km_stream other;
  OK(km_slice_create(f->context, COUNT, 4, KM_SLICE_ZEROED, &plain));
  OK(km_stream_create(f->context, 0, 0, &other));
  hold(&w, f->stream);
  fill_words(f->stream, plain, 1, 0, COUNT);
  fill_words(other, plain, 2, 0, COUNT);
  expect_done(other);
  let_go(&w);
  OK(km_stream_synchronize(f->stream));
  OK(km_stream_destroy(other));
  OK(km_slice_destroy(plain));
  close_world(&w);
}

static km_function load(const world* w, const char* name, km_module* out_module) {
  km_module module;
  km_function function;
  OK(km_module_load_ptx(w->context, test_ptx, strlen(test_ptx), "test.ptx", &module));
  OK(km_module_function(module, name, &function));
  if (out_module != NULL) {
    *out_module = module;
  } else {
    OK(km_module_destroy(module));
  }
  return function;
}

/* fill_index over `count` words of the slice, which the launch says it uses like this. */
static void launch_fill_index(km_stream stream, km_function function, km_slice slice, uint32_t base,
                              uint32_t count, km_access access, uint64_t size_bytes) {
  const km_launch_config config = {{(count + 255) / 256, 1, 1}, {256, 1, 1}, 0};
  const fill_index_arguments arguments = {0, base, count};
  km_launch_operand operand = {0, access, 0, 0, size_bytes};
  memcpy(&operand.slice, &slice, sizeof operand.slice);
  OK(km_launch_kernel_operands(stream, function, &config, &arguments, sizeof arguments, &operand,
                               1));
}

static void arguments_of_launches_wait(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  km_function fill_index = load(&w, "fill_index", NULL);
  const km_launch_config config = {{COUNT / 256, 1, 1}, {256, 1, 1}, 0};
  const fill_index_arguments arguments = {0, 9, COUNT};
  km_launch_slice slice = {0, 0, 0, 0};
  km_launch builder;
  memcpy(&slice.slice, &w.x, sizeof slice.slice);
  hold(&w, w.s1);
  OK(km_launch_kernel(w.s1, fill_index, &config, &arguments, sizeof arguments, &slice, 1));
  OK(km_launch_create(w.s2, fill_index, &builder));
  OK(km_launch_set_grid(builder, 1, 1, 1));
  OK(km_launch_set_block(builder, 4, 1, 1));
  OK(km_launch_arg_slice(builder, w.x, 0));
  OK(km_launch_arg_scalar(builder, &(uint32_t){100}, 4));
  OK(km_launch_arg_scalar(builder, &(uint32_t){4}, 4));
  OK(km_launch_submit(builder));
  read_words(&w, w.s2, w.x, 0, COUNT);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[3], 103);
  assert_int_equal(w.words[4], 13);
  assert_int_equal(w.words[COUNT - 1], COUNT - 1 + 9);
  OK(km_launch_destroy(builder));
  OK(km_function_destroy(fill_index));
  close_world(&w);
}

/* The library takes the word of the launch for it. */
static void what_a_launch_reads_does_not_wait_for_reads(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  km_function fill_index = load(&w, "fill_index", NULL);
  hold(&w, w.s1);
  read_words(&w, w.s1, w.x, 0, COUNT);
  launch_fill_index(w.s2, fill_index, w.x, 0, 0 + 1, KM_ACCESS_READ, 0);
  expect_done(w.s2);
  launch_fill_index(w.s2, fill_index, w.x, 0, 1, KM_ACCESS_UNKNOWN, 0);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  /* Parts: the second half is free while the first is not. */
  hold(&w, w.s1);
  launch_fill_index(w.s1, fill_index, w.x, 0, 16, KM_ACCESS_READ_WRITE, 64);
  fill_words(w.s2, w.x, 7, 16, COUNT - 16);
  expect_done(w.s2);
  fill_words(w.s2, w.x, 7, 15, 1);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_function_destroy(fill_index));
  close_world(&w);
}

static void declared_arguments_are_checked(void** state) {
  fixture* f = *state;
  world w = open_world(f);
  km_function fill_index = load(&w, "fill_index", NULL);
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  const fill_index_arguments arguments = {0, 0, 1};
  km_launch_operand operands[2] = {{0, KM_ACCESS_READ, 0, 0, 0}};
  km_launch builder;
  memcpy(&operands[0].slice, &w.x, sizeof operands[0].slice);
  operands[1] = operands[0];
#define LAUNCH(count)                                                                          \
  km_launch_kernel_operands(w.s1, fill_index, &config, &arguments, sizeof arguments, operands, \
                            count)
  OK(LAUNCH(1));
  EXPECT(KM_ERROR_INVALID_LAUNCH, LAUNCH(2));
  expect_message("two slices are given for parameter 0");
  operands[1].parameter = 1;
  EXPECT(KM_ERROR_INVALID_LAUNCH, LAUNCH(2));
  EXPECT(KM_ERROR_INVALID_LAUNCH, LAUNCH(4));
  operands[0].access = 3;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, LAUNCH(1));
  expect_message("operands[0].access is 3");
  operands[0].access = -1;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, LAUNCH(1));
  operands[0].access = KM_ACCESS_READ_WRITE;
  operands[0].size_bytes = BYTES + 1;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, LAUNCH(1));
  expect_message("reach beyond the slice of 262144 bytes");
  operands[0].size_bytes = UINT64_MAX;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, LAUNCH(1));
  operands[0].size_bytes = 4;
  operands[0].offset_bytes = BYTES;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, LAUNCH(1));
  operands[0].offset_bytes = BYTES - 4;
  OK(LAUNCH(1));
  operands[0].slice = 12345;
  EXPECT(KM_ERROR_INVALID_HANDLE, LAUNCH(1));
  expect_message("operands[].slice");
#undef LAUNCH
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_launch_kernel_operands(w.s1, fill_index, &config, &arguments,
                                                              sizeof arguments, NULL, 1));
  OK(km_launch_create(w.s1, fill_index, &builder));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_launch_arg_slice_access(builder, w.x, 0, 0, 9));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_launch_arg_slice_access(builder, w.x, 4, BYTES, KM_ACCESS_READ));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_launch_arg_slice_access(builder, NULL, 0, 0, 0));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_launch_arg_slice_access(NULL, w.x, 0, 0, 0));
  OK(km_launch_arg_slice_access(builder, w.x, 4, BYTES - 4, KM_ACCESS_READ));
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_launch_arg_slice_access(builder, w.x, 0, 0, KM_ACCESS_READ)); /* a number */
  OK(km_launch_destroy(builder));
  OK(km_function_destroy(fill_index));
  close_world(&w);
}

/* Launches use the variables of their module, and do not wait for each other for that. */
static void variables_wait_for_launches_and_launches_for_them(void** state) {
  fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  world w = open_world(f);
  km_module module;
  km_function noop = load(&w, "noop", &module);
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  km_slice counters;
  hold(&w, w.s1);
  OK(km_launch_kernel(w.s1, noop, &config, NULL, 0, NULL, 0)); /* before anybody asked for them */
  OK(km_module_global(module, "counters", &counters));
  read_words(&w, w.s2, counters, 0, 4);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  hold(&w, w.s1);
  OK(km_launch_kernel(w.s1, noop, &config, NULL, 0, NULL, 0));
  OK(km_launch_kernel(w.s2, noop, &config, NULL, 0, NULL, 0));
  expect_done(w.s2);
  fill_words(w.s1, counters, 1, 0, 4);
  OK(km_launch_kernel(w.s2, noop, &config, NULL, 0, NULL, 0));
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  OK(km_slice_destroy(counters));
  OK(km_module_destroy(module));
  OK(km_function_destroy(noop));
  close_world(&w);
}

static void a_blas_call_waits(void** state) {
  fixture* f = *state;
  world w = open_world(f);
  km_blas blas;
  const float one = 1;
  if (!runs_kernels(f)) {
    close_world(&w);
    skip();
  }
  OK(km_blas_create(w.s2, KM_BLAS_LAYOUT_ROWS, &blas));
  km_blas_vector x = {0, 0, 0, 1}, y = {0, 0, 0, 1};
  memcpy(&x.slice, &w.x, sizeof x.slice);
  memcpy(&y.slice, &w.y, sizeof y.slice);
  hold(&w, w.s1);
  fill_words(w.s1, w.x, 0x3F800000, 0, COUNT); /* 1.0f */
  const km_status status = km_blas_axpy(blas, KM_DATA_TYPE_F32, COUNT, &one, &x, &y);
  if (status == KM_SUCCESS) {
    expect_waiting(w.s2);
    let_go(&w);
    read_words(&w, w.s1, w.y, 0, COUNT);
    OK(km_stream_synchronize(w.s1));
    assert_int_equal(w.words[COUNT - 1], 0x3F800000);
    /* What it reads may be read meanwhile. */
    hold(&w, w.s2);
    OK(km_blas_axpy(blas, KM_DATA_TYPE_F32, COUNT, &one, &x, &y));
    read_words(&w, w.s1, w.x, 0, COUNT);
    expect_done(w.s1);
    read_words(&w, w.s1, w.y, 0, COUNT);
    expect_waiting(w.s1);
  } else {
    EXPECT(KM_ERROR_BLAS_UNAVAILABLE, status);
  }
  let_go(&w);
  OK(km_blas_destroy(blas));
  close_world(&w);
}

static void all_that_a_graph_uses_waits(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  km_graph graph, inner;
  km_graph_exec exec;
  uint64_t node;
  OK(km_graph_create(w.context, &inner));
  OK(km_graph_add_fill(inner, NULL, 0, w.y, 0, 8, 4, COUNT, &node));
  OK(km_graph_create(w.context, &graph));
  OK(km_graph_add_copy(graph, NULL, 0, w.y, 0, w.x, 0, BYTES / 2, &node));
  OK(km_graph_add_child(graph, &node, 1, inner, &node));
  OK(km_graph_exec_create(graph, &exec));
  hold(&w, w.s1);
  OK(km_graph_exec_launch(exec, w.s1));
  fill_words(w.s2, w.x, 1, COUNT / 2, COUNT / 2); /* what the graph does not read */
  read_words(&w, w.s2, w.x, 0, COUNT / 2);        /* what it reads too */
  expect_done(w.s2);
  read_words(&w, w.s2, w.y, 0, COUNT);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[COUNT - 1], 8);
  hold(&w, w.s1);
  fill_words(w.s1, w.x, 4, 0, COUNT);
  OK(km_graph_exec_launch(exec, w.s2)); /* reads what is held */
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_graph_destroy(inner));
  close_world(&w);
}

/* How many dependencies the nodes of a graph have, in the order of the nodes. */
static void expect_dependencies(km_graph graph, uint64_t node, const uint64_t* expected,
                                uint64_t count) {
  uint64_t found[8] = {0}, found_count = 0;
  OK(km_graph_node_dependencies(graph, node, found, 8, &found_count));
  assert_int_equal(found_count, count);
  for (uint64_t i = 0; i < count; ++i) {
    int is_there = 0;
    for (uint64_t k = 0; k < count; ++k) is_there |= found[k] == expected[i];
    assert_true(is_there);
  }
}

static void captures_make_dependencies_of_it(void** state) {
  world w = open_world(*state);
  km_event fork, join;
  km_graph graph;
  km_graph_exec exec;
  uint64_t count = 0;
  OK(km_event_create(w.context, 0, &fork));
  OK(km_event_create(w.context, 0, &join));
  OK(km_stream_begin_capture(w.s1));
  OK(km_event_record(fork, w.s1));
  OK(km_stream_wait_event(w.s2, fork));
  fill_words(w.s1, w.x, 1, 0, COUNT);                 /* 1 */
  fill_words(w.s2, w.y, 2, 0, COUNT);                 /* 2: nothing in common */
  OK(km_slice_copy(w.s2, w.y, 0, w.x, 0, BYTES / 2)); /* 3: after 2 by the stream, and 1 */
  read_words(&w, w.s1, w.x, 0, COUNT);                /* 4: after 1 by the stream; 3 reads too */
  fill_words(w.s1, w.x, 3, 0, COUNT);                 /* 5: after 4, and 3 */
  fill_words(w.s1, w.x, 4, 0, 16);                    /* 6: after 5, which comes after all */
  OK(km_slice_download(w.s2, w.x, 0, w.words + COUNT, BYTES)); /* 7: after 3, and 6 */
  OK(km_event_record(join, w.s2));
  OK(km_stream_wait_event(w.s1, join));
  OK(km_stream_end_capture(w.s1, &graph));
  OK(km_graph_nodes(graph, NULL, 0, &count));
  assert_int_equal(count, 7);
  expect_dependencies(graph, 1, NULL, 0);
  expect_dependencies(graph, 2, NULL, 0);
  expect_dependencies(graph, 3, (const uint64_t[]){1, 2}, 2);
  expect_dependencies(graph, 4, (const uint64_t[]){1}, 1);
  expect_dependencies(graph, 5, (const uint64_t[]){3, 4}, 2);
  expect_dependencies(graph, 6, (const uint64_t[]){5}, 1);
  expect_dependencies(graph, 7, (const uint64_t[]){3, 6}, 2);
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, w.s1));
  OK(km_stream_synchronize(w.s1));
  assert_int_equal(w.words[COUNT - 1], 1);
  assert_int_equal(w.words[COUNT], 4);
  assert_int_equal(w.words[2 * COUNT - 1], 3);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_event_destroy(fork));
  OK(km_event_destroy(join));
  close_world(&w);
}

static void memory_made_on_a_stream_is_ready_for_others_in_time(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  km_pool pool;
  km_slice block, again, zeroed;
  OK(km_pool_create(w.context, 0, &pool));
  OK(km_pool_allocate_on_stream(pool, w.s1, COUNT, 4, KM_SLICE_DEFAULT, &block));
  hold(&w, w.s1);
  fill_words(w.s1, block, 1, 0, COUNT);
  OK(km_slice_destroy(block));
  /* The block goes round on the stream, where work on it is still queued. */
  OK(km_pool_allocate_on_stream(pool, w.s1, COUNT, 4, KM_SLICE_DEFAULT, &again));
  fill_words(w.s2, again, 2, 0, COUNT);
  read_words(&w, w.s2, again, 0, COUNT);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[0], 2);
  assert_int_equal(w.words[COUNT - 1], 2);
  OK(km_slice_destroy(again));
  /* Zeros that a stream writes, over memory that was used before. */
  for (int round = 0; round < 20; ++round) {
    OK(km_slice_create(w.context, COUNT, 4, KM_SLICE_DEFAULT, &block));
    fill_words(w.s1, block, 0xFFFFFFFF, 0, COUNT);
    OK(km_stream_synchronize(w.s1));
    OK(km_slice_destroy(block));
    hold(&w, w.s1);
    OK(km_slice_create_on_stream(w.s1, COUNT, 4, KM_SLICE_ZEROED, &zeroed));
    fill_words(w.s2, zeroed, 6, 0, COUNT / 2);
    usleep(100);
    let_go(&w);
    read_words(&w, w.s2, zeroed, 0, COUNT);
    OK(km_stream_synchronize(w.s2));
    assert_int_equal(w.words[0], 6);
    assert_int_equal(w.words[COUNT - 1], 0);
    OK(km_slice_destroy(zeroed));
  }
  OK(km_pool_destroy(pool));
  close_world(&w);
}

static void host_memory_waits_too(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  uint32_t own[COUNT / 4];
  km_slice wrapped;
  memset(own, 0, sizeof own);
  fill_words(w.s1, w.x, 5, 0, COUNT);
  hold(&w, w.s1);
  read_words(&w, w.s1, w.x, 0, COUNT);               /* writes page-locked memory */
  OK(km_slice_upload(w.s2, w.y, 0, w.words, BYTES)); /* reads it */
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_slice_download(w.s2, w.y, 0, w.words + COUNT, BYTES));
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[2 * COUNT - 1], 5);
  OK(km_slice_from_host(w.context, own, COUNT / 4, 4, NULL, NULL, &wrapped));
  hold(&w, w.s1);
  fill_words(w.s1, wrapped, 6, 0, COUNT / 4);
  read_words(&w, w.s2, wrapped, 0, COUNT / 4);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[COUNT / 4 - 1], 6);
  OK(km_slice_destroy(wrapped));
  close_world(&w);
}

static void addresses_and_rows_wait_too(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  uint64_t address;
  const km_copy_3d rows = {.width_bytes = 64,
                           .height = 100,
                           .depth = 1,
                           .destination_pitch_bytes = 256,
                           .source_pitch_bytes = 256};
  OK(km_slice_address(w.x, &address));
  hold(&w, w.s1);
  OK(km_memory_fill_u32(w.s1, address, 3, COUNT));
  OK(km_memory_download(w.s2, address, w.words, BYTES));
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[COUNT - 1], 3);
  hold(&w, w.s1);
  OK(km_slice_fill_2d(w.s1, w.y, 0, 256, 4, 4, 16, 100));
  OK(km_slice_copy_3d(w.s2, w.x, w.y, &rows));
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_slice_download_3d(w.s2, w.x, w.words, &rows));
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[0], 4);
  assert_int_equal(w.words[99 * 64 + 15], 4);
  close_world(&w);
}

static void streams_that_are_destroyed_are_waited_for(void** state) {
  NEEDS_ASYNCHRONY(*state);
  world w = open_world(*state);
  km_stream gone;
  OK(km_stream_create(w.context, 0, 0, &gone));
  hold(&w, gone);
  fill_words(gone, w.x, 4, 0, COUNT);
  OK(km_stream_destroy(gone));
  read_words(&w, w.s2, w.x, 0, COUNT);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[COUNT - 1], 4);
  /* The default stream's objects are one stream. */
  km_stream first, second;
  OK(km_context_default_stream(w.context, &first));
  OK(km_context_default_stream(w.context, &second));
  hold(&w, first);
  fill_words(first, w.x, 5, 0, COUNT);
  OK(km_stream_destroy(first));
  read_words(&w, second, w.x, 0, COUNT);
  read_words(&w, w.s2, w.x, 0, COUNT);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_stream_synchronize(w.s2));
  assert_int_equal(w.words[COUNT - 1], 5);
  OK(km_stream_destroy(second));
  close_world(&w);
}

static void other_contexts_wait_too(void** state) {
  fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  world w = open_world(f);
  world other = open_world(f);
  hold(&w, w.s1);
  fill_words(w.s1, w.x, 7, 0, COUNT);
  OK(km_slice_copy_peer(other.s1, other.x, 0, w.x, 0, BYTES));
  expect_waiting(other.s1);
  read_words(&other, other.s2, other.x, 0, COUNT);
  expect_waiting(other.s2);
  let_go(&w);
  OK(km_stream_synchronize(other.s2));
  assert_int_equal(other.words[COUNT - 1], 7);
  close_world(&other);
  close_world(&w);
}

static void a_context_that_is_reset_keeps_nobody_waiting(void** state) {
  fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  if (is_cuda(f)) skip(); /* contexts of a device are lost together */
  world w = open_world(f);
  world other = open_world(f);
  OK(km_slice_copy_peer(w.s1, other.x, 0, w.x, 0, BYTES));
  hold(&w, w.s1);
  OK(km_slice_copy_peer(w.s1, other.x, 0, w.x, 0, BYTES)); /* on a stream that will be lost */
  fill_words(other.s2, other.x, 3, 0, COUNT);
  expect_waiting(other.s2);
  let_go(&w);
  OK(km_context_reset(w.context));
  read_words(&other, other.s1, other.x, 0, COUNT);
  OK(km_stream_synchronize(other.s1));
  assert_int_equal(other.words[0], 3);
  EXPECT(KM_ERROR_CONTEXT_LOST, km_slice_copy_peer(other.s1, other.x, 0, w.x, 0, BYTES));
  close_world(&other);
  OK(km_host_memory_destroy(w.pinned));
  OK(km_slice_destroy(w.x));
  OK(km_slice_destroy(w.y));
  OK(km_stream_destroy(w.s1));
  OK(km_stream_destroy(w.s2));
  /* The context orders uses as before. */
  OK(km_stream_create(w.context, 0, 0, &w.s1));
  OK(km_stream_create(w.context, 0, 0, &w.s2));
  OK(km_slice_create(w.context, COUNT, 4, 0, &w.x));
  OK(km_host_memory_create(w.context, 2 * BYTES, 0, &w.pinned));
  OK(km_host_memory_pointer(w.pinned, (void**)&w.words));
  hold(&w, w.s1);
  fill_words(w.s1, w.x, 9, 0, COUNT);
  read_words(&w, w.s2, w.x, 0, COUNT);
  expect_waiting(w.s2);
  let_go(&w);
  OK(km_slice_create(w.context, 1, 4, 0, &w.y));
  close_world(&w);
}

static void a_failed_kernel_fails_what_waits_for_it(void** state) {
  fixture* f = *state;
  if (is_cuda(f)) skip(); /* contexts of a device fail together */
  world w = open_world(f);
  world other = open_world(f);
  km_function crash = load(&w, "crash", NULL);
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  OK(km_launch_kernel(w.s1, crash, &config, NULL, 0, NULL, 0));
  /* Whoever comes after it in its context hears of it, others go on. */
  km_status status = km_slice_fill_u32(w.s1, w.x, 0, 1, COUNT);
  if (status == KM_SUCCESS) status = km_slice_fill_u32(w.s2, w.x, 0, 2, COUNT);
  if (status == KM_SUCCESS) status = km_stream_synchronize(w.s2);
  if (status == KM_SUCCESS) status = km_stream_synchronize(w.s1);
  EXPECT(KM_ERROR_TRAP, status);
  const km_status copied = km_slice_copy_peer(other.s1, other.x, 0, w.x, 0, BYTES);
  assert_true(copied == KM_SUCCESS || copied == KM_ERROR_TRAP);
  fill_words(other.s2, other.x, 3, 0, COUNT);
  read_words(&other, other.s1, other.x, 0, COUNT);
  OK(km_stream_synchronize(other.s1));
  assert_int_equal(other.words[COUNT - 1], 3);
  close_world(&other);
  OK(km_function_destroy(crash));
  OK(km_context_reset(w.context));
  OK(km_host_memory_destroy(w.pinned));
  OK(km_slice_destroy(w.x));
  OK(km_slice_destroy(w.y));
  OK(km_stream_destroy(w.s1));
  OK(km_stream_destroy(w.s2));
  OK(km_context_destroy(w.context));
}

typedef struct refill {
  km_stream stream;
  km_slice slice;
  km_status status;
} refill;

static void fill_in_callback(void* data, km_status status) {
  refill* r = data;
  (void)status;
  r->status = km_slice_fill_u32(r->stream, r->slice, 0, 9, COUNT);
}

/* A call that waits for its copy does not keep a callback, which the copy waits for, from queuing
 * what has to come after the copy. */
static void a_callback_may_use_what_a_waiting_call_uses(void** state) {
  fixture* f = *state;
  if (is_cuda(f)) skip(); /* callbacks may make no calls there */
  world w = open_world(f);
  uint32_t* seen = malloc(BYTES);
  assert_non_null(seen);
  for (int round = 0; round < 100; ++round) {
    refill r = {w.s1, w.x, KM_ERROR_INTERNAL};
    fill_words(w.s1, w.x, 1, 0, COUNT);
    OK(km_stream_add_callback(w.s2, fill_in_callback, &r));
    OK(km_slice_download(w.s2, w.x, 0, seen, BYTES));
    EXPECT(KM_SUCCESS, r.status);
    for (int i = 1; i < COUNT; ++i) {
      if (seen[i] != seen[0])
        fail_msg("round %d: word %d is %u, word 0 is %u", round, i, seen[i], seen[0]);
    }
    OK(km_stream_synchronize(w.s1));
  }
  free(seen);
  close_world(&w);
}

typedef struct full_queue {
  refill again;
  atomic_int fills;
} full_queue;

/* Begins when no fill is queued any more: all of them are, or the queue is full. */
static void fill_when_full(void* data, km_status status) {
  full_queue* const queue = data;
  for (int before = -1; before != queue->fills; usleep(100000)) before = queue->fills;
  fill_in_callback(&queue->again, status);
}

/* On NVIDIA GPUs a call waits while a stream has no room; the callback at its head is what makes
 * room, whatever memory it asks for. */
static void a_callback_does_not_wait_for_a_call_that_waits_for_it(void** state) {
  enum { FILLS = 3000 };
  const fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  world w = open_world(f);
  full_queue queue = {{w.s2, w.x, KM_ERROR_INTERNAL}, 0};
  OK(km_stream_add_callback(w.s1, fill_when_full, &queue));
  for (; queue.fills < FILLS; ++queue.fills) OK(km_slice_fill_u32(w.s1, w.x, 0, 1, 16));
  OK(km_stream_synchronize(w.s1));
  OK(km_stream_synchronize(w.s2));
  const km_status given = queue.again.status;
  if (!is_cuda(f)) EXPECT(KM_SUCCESS, given);
  if (!runs_kernels(f)) EXPECT(KM_ERROR_NOT_PERMITTED, given); /* the scripted driver was full */
  if (given != KM_SUCCESS) EXPECT(KM_ERROR_NOT_PERMITTED, given);
  close_world(&w);
}

typedef struct late_launch {
  world* w;
  km_function function;
  km_status status;
  int is_complete;
} late_launch;

static void* download_all(void* data) {
  world* w = data;
  uint32_t* seen = malloc(BYTES);
  assert_non_null(seen);
  OK(km_slice_download(w->s1, w->x, 0, seen, BYTES));
  free(seen);
  return NULL;
}

static void* launch_cancelled(void* data) {
  late_launch* late = data;
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  const fill_index_arguments arguments = {0, 7, 1};
  km_launch_slice slice = {0, 0, 0, 0};
  memcpy(&slice.slice, &late->w->x, sizeof slice.slice);
  pthread_cancel(pthread_self());
  late->status = km_launch_kernel(late->w->s2, late->function, &config, &arguments,
                                  sizeof arguments, &slice, 1);
  late->is_complete = 1;
  pthread_testcancel();
  return NULL;
}

/* A launch waits for a call on another thread that is about to queue what it conflicts with, and is
 * no cancellation point meanwhile. */
static void launches_that_wait_for_calls_are_not_cancelled(void** state) {
  fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  world w = open_world(f);
  late_launch late = {&w, load(&w, "fill_index", NULL), KM_ERROR_INTERNAL, 0};
  pthread_t reader, launcher;
  void* result = NULL;
  hold(&w, w.s1);
  assert_int_equal(pthread_create(&reader, NULL, download_all, &w), 0);
  usleep(50 * 1000); /* it is in its call now */
  assert_int_equal(pthread_create(&launcher, NULL, launch_cancelled, &late), 0);
  usleep(50 * 1000);
  let_go(&w);
  assert_int_equal(pthread_join(launcher, &result), 0);
  assert_int_equal(pthread_join(reader, NULL), 0);
  assert_true(late.is_complete);
  EXPECT(KM_SUCCESS, late.status);
  assert_ptr_equal(result, PTHREAD_CANCELED);
  OK(km_function_destroy(late.function));
  close_world(&w);
}

static void values_that_streams_wait_for_are_not_ordered(void** state) {
  fixture* f = *state;
  NEEDS_ASYNCHRONY(f);
  world w = open_world(f);
  OK(km_stream_wait_value(w.s1, w.x, 0, KM_WAIT_CONDITION_EQUAL, 5, 4));
  OK(km_stream_write_value(w.s2, w.x, 0, 5, 4));
  OK(km_stream_synchronize(w.s1));
  close_world(&w);
}

/* Kernels that add 1 to all words of two slices, not atomically: two at a time would lose some. */
static const char add_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry add_one(.param .u64 a, .param .u64 b, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .b64 %rd<8>;\n"
    "  ld.param.u64 %rd1, [a];\n"
    "  ld.param.u64 %rd2, [b];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n"
    "  mov.u32 %r3, %ntid.x;\n"
    "  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.u32 %r2, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p, %r2, %r1;\n"
    "  @%p bra done;\n"
    "  mul.wide.u32 %rd3, %r2, 4;\n"
    "  add.u64 %rd1, %rd1, %rd3;\n"
    "  add.u64 %rd2, %rd2, %rd3;\n"
    "  ld.global.u32 %r3, [%rd1];\n"
    "  ld.global.u32 %r4, [%rd2];\n"
    "  add.u32 %r3, %r3, 1;\n"
    "  add.u32 %r4, %r4, 1;\n"
    "  st.global.u32 [%rd1], %r3;\n"
    "  st.global.u32 [%rd2], %r4;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

typedef struct adder {
  km_function function;
  km_stream stream;
  km_slice slices[2];
  int rounds;
  km_status status;
} adder;

static void* add_many(void* data) {
  adder* a = data;
  const km_launch_config config = {{COUNT / 256, 1, 1}, {256, 1, 1}, 0};
  const struct {
    uint64_t a, b;
    uint32_t n;
  } arguments = {0, 0, COUNT};
  km_launch_slice slices[2] = {{0, 0, 0, 0}, {1, 0, 0, 0}};
  memcpy(&slices[0].slice, &a->slices[0], sizeof slices[0].slice);
  memcpy(&slices[1].slice, &a->slices[1], sizeof slices[1].slice);
  for (int i = 0; i < a->rounds && a->status == KM_SUCCESS; ++i) {
    a->status = km_launch_kernel(a->stream, a->function, &config, &arguments, 20, slices, 2);
    if (i % 64 == 63 && a->status == KM_SUCCESS) a->status = km_stream_synchronize(a->stream);
  }
  return NULL;
}

static void threads_with_slices_in_opposite_order_lose_nothing(void** state) {
  fixture* f = *state;
  enum { ROUNDS = 400, THREADS = 4 };
  if (!runs_kernels(f)) skip();
  world w = open_world(f);
  km_module module;
  km_function function;
  adder adders[THREADS];
  pthread_t threads[THREADS];
  OK(km_module_load_ptx(w.context, add_ptx, sizeof add_ptx - 1, "add.ptx", &module));
  OK(km_module_function(module, "add_one", &function));
  for (int i = 0; i < THREADS; ++i) {
    const int swap = i % 2;
    adders[i] = (adder){
        function, i < 2 ? w.s1 : w.s2, {swap ? w.y : w.x, swap ? w.x : w.y}, ROUNDS, KM_SUCCESS};
    if (i >= 2) OK(km_stream_create(w.context, 0, 0, &adders[i].stream));
    assert_int_equal(pthread_create(&threads[i], NULL, add_many, &adders[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    EXPECT(KM_SUCCESS, adders[i].status);
  }
  read_words(&w, w.s1, w.x, 0, COUNT);
  OK(km_slice_download(w.s2, w.y, 0, w.words + COUNT, BYTES));
  OK(km_stream_synchronize(w.s1));
  OK(km_stream_synchronize(w.s2));
  for (int i = 0; i < 2 * COUNT; ++i) assert_int_equal(w.words[i], ROUNDS * THREADS);
  for (int i = 2; i < THREADS; ++i) OK(km_stream_destroy(adders[i].stream));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flags_are_kept_and_checked),
      cmocka_unit_test(a_fill_is_seen_by_a_download_on_another_stream),
      cmocka_unit_test(writes_wait_for_reads_and_writes),
      cmocka_unit_test(reads_do_not_wait_for_reads),
      cmocka_unit_test(parts_that_share_no_byte_do_not_wait),
      cmocka_unit_test(without_the_flag_nothing_waits),
      cmocka_unit_test(arguments_of_launches_wait),
      cmocka_unit_test(what_a_launch_reads_does_not_wait_for_reads),
      cmocka_unit_test(declared_arguments_are_checked),
      cmocka_unit_test(variables_wait_for_launches_and_launches_for_them),
      cmocka_unit_test(a_blas_call_waits),
      cmocka_unit_test(all_that_a_graph_uses_waits),
      cmocka_unit_test(captures_make_dependencies_of_it),
      cmocka_unit_test(memory_made_on_a_stream_is_ready_for_others_in_time),
      cmocka_unit_test(host_memory_waits_too),
      cmocka_unit_test(addresses_and_rows_wait_too),
      cmocka_unit_test(streams_that_are_destroyed_are_waited_for),
      cmocka_unit_test(other_contexts_wait_too),
      cmocka_unit_test(a_context_that_is_reset_keeps_nobody_waiting),
      FAULTING_TEST(a_failed_kernel_fails_what_waits_for_it),
      cmocka_unit_test(a_callback_may_use_what_a_waiting_call_uses),
      cmocka_unit_test(a_callback_does_not_wait_for_a_call_that_waits_for_it),
      cmocka_unit_test(launches_that_wait_for_calls_are_not_cancelled),
      cmocka_unit_test(values_that_streams_wait_for_are_not_ordered),
      cmocka_unit_test(threads_with_slices_in_opposite_order_lose_nothing),
  };
  return RUN_ON_DEVICES("order", tests);
}
