/* Capture of streams: what becomes of calls, and which calls it does not bear. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "support/testing.h"

enum { COUNT = 256 };
/* Results of the CUDA driver. */
enum {
  INVALID_VALUE = 1,
  ILLEGAL_STATE = 401,
  UNSUPPORTED = 900,
  INVALIDATED = 901,
  MERGE = 902,
  UNMATCHED = 903,
  UNJOINED = 904,
  ISOLATION = 905,
  CAPTURED_EVENT = 907
};

typedef struct objects {
  km_stream other;
  km_event event, join;
  km_slice a, b;
} objects;

static objects create(const fixture* f) {
  objects o;
  OK(km_stream_create(f->context, 0, 0, &o.other));
  OK(km_event_create(f->context, 0, &o.event));
  OK(km_event_create(f->context, 0, &o.join));
  OK(km_slice_create(f->context, COUNT, 4, KM_SLICE_ZEROED, &o.a));
  OK(km_slice_create(f->context, COUNT, 4, KM_SLICE_ZEROED, &o.b));
  OK(km_stream_synchronize(f->stream));
  return o;
}

static void destroy(objects o) {
  OK(km_stream_destroy(o.other));
  OK(km_event_destroy(o.event));
  OK(km_event_destroy(o.join));
  OK(km_slice_destroy(o.a));
  OK(km_slice_destroy(o.b));
}

static void expect_native(int64_t expected) {
  int64_t code = 0;
  OK(km_last_error_native_code(&code));
  assert_int_equal(code, expected);
}

static void expect_state(km_stream stream, km_capture_status expected) {
  km_capture_status found = 0;
  OK(km_stream_capture_status(stream, &found));
  assert_int_equal(found, expected);
}

/* The capture is invalid, and over after its end. */
static void expect_invalid(km_stream stream) {
  km_graph graph = NULL;
  expect_state(stream, KM_CAPTURE_STATUS_INVALIDATED);
  EXPECT(KM_ERROR_CAPTURE_INVALIDATED, km_stream_end_capture(stream, &graph));
  expect_native(INVALIDATED);
  assert_null(graph);
  expect_state(stream, KM_CAPTURE_STATUS_NONE);
  OK(km_stream_synchronize(stream));
}

static uint64_t node_count(km_graph graph) {
  uint64_t count = 0;
  OK(km_graph_nodes(graph, NULL, 0, &count));
  return count;
}

static void launch_once(const fixture* f, km_graph graph) {
  km_graph_exec exec;
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  OK(km_graph_exec_destroy(exec));
}

static void count_call(void* user_data, km_status status) {
  atomic_int* calls = user_data;
  *calls += status == KM_SUCCESS ? 1 : 1000;
}

static void captured_work_runs_when_launched(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_function fill_index = load_kernel(f, "fill_index");
  km_graph graph;
  km_graph_exec exec;
  atomic_int calls = 0;
  uint32_t in[COUNT], out[COUNT] = {0}, values[COUNT];
  const km_launch_config config = {{1, 1, 1}, {COUNT, 1, 1}, 0};
  fill_index_arguments arguments = {0, 30, COUNT};
  const km_launch_slice slice = {0, 0, (uint64_t)(uintptr_t)o.a, 0};
  uint64_t address;
  memset(in, 0xFF, sizeof in);
  OK(km_slice_address(o.b, &address));
  expect_state(f->stream, KM_CAPTURE_STATUS_NONE);
  OK(km_stream_begin_capture(f->stream));
  expect_state(f->stream, KM_CAPTURE_STATUS_ACTIVE);
  OK(km_slice_upload(f->stream, o.a, 0, in, sizeof in));
  OK(km_launch_kernel(f->stream, fill_index, &config, &arguments, sizeof arguments, &slice, 1));
  arguments.base = 99; /* copied already */
  OK(km_slice_copy(f->stream, o.b, 0, o.a, 0, COUNT * 4));
  OK(km_memory_fill_u32(f->stream, address, 1, 1));
  OK(km_slice_fill_u8(f->stream, o.b, 4, 2, 4));
  OK(km_stream_add_callback(f->stream, count_call, &calls));
  OK(km_slice_download(f->stream, o.b, 0, out, sizeof out));
  OK(km_stream_end_capture(f->stream, &graph));
  expect_state(f->stream, KM_CAPTURE_STATUS_NONE);
  assert_int_equal(node_count(graph), 7);
  assert_int_equal(calls, 0);
  OK(km_slice_download(f->stream, o.a, 0, values, sizeof values));
  assert_int_equal(values[2], 0); /* nothing has run */
  OK(km_graph_exec_create(graph, &exec));
  for (int round = 1; round <= 3; ++round) {
    memset(out, 0, sizeof out);
    OK(km_graph_exec_launch(exec, f->stream));
    OK(km_stream_synchronize(f->stream));
    assert_int_equal(calls, round);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0x02020202);
    assert_int_equal(out[2], 32);
  }
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_function_destroy(fill_index));
  destroy(o);
}

static void launch_builders_are_captured(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_function fill_index = load_kernel(f, "fill_index");
  km_launch builder;
  km_graph graph;
  uint32_t base = 8, n = COUNT, values[COUNT];
  OK(km_launch_create(f->stream, fill_index, &builder));
  OK(km_launch_set_grid(builder, 1, 1, 1));
  OK(km_launch_set_block(builder, COUNT, 1, 1));
  OK(km_launch_arg_slice(builder, o.a, 0));
  OK(km_launch_arg_scalar(builder, &base, 4));
  OK(km_launch_arg_scalar(builder, &n, 4));
  OK(km_stream_begin_capture(f->stream));
  OK(km_launch_submit(builder));
  OK(km_launch_submit(builder));
  OK(km_stream_end_capture(f->stream, &graph));
  assert_int_equal(node_count(graph), 2);
  OK(km_launch_destroy(builder));
  launch_once(f, graph);
  OK(km_slice_download(f->stream, o.a, 0, values, sizeof values));
  assert_int_equal(values[1], 9);
  OK(km_graph_destroy(graph));
  OK(km_function_destroy(fill_index));
  destroy(o);
}

/* Fork and join over two streams. */
static void streams_join_by_events(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_graph graph;
  uint32_t values[COUNT];
  uint64_t before[4], count;
  OK(km_stream_begin_capture(f->stream));
  OK(km_slice_fill_u32(f->stream, o.a, 0, 1, COUNT));
  OK(km_event_record(o.event, f->stream));
  OK(km_stream_wait_event(o.other, o.event));
  expect_state(o.other, KM_CAPTURE_STATUS_ACTIVE);
  OK(km_slice_copy(o.other, o.b, 0, o.a, 0, COUNT * 4));
  OK(km_slice_fill_u32(f->stream, o.a, 0, 3, COUNT / 2)); /* beside it */
  OK(km_event_record(o.join, o.other));
  OK(km_stream_wait_event(f->stream, o.join));
  OK(km_slice_fill_u32(f->stream, o.b, 0, 4, 1));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_stream_end_capture(o.other, &graph));
  expect_native(UNMATCHED);
  OK(km_stream_end_capture(f->stream, &graph));
  expect_state(o.other, KM_CAPTURE_STATUS_NONE);
  assert_int_equal(node_count(graph), 4);
  OK(km_graph_node_dependencies(graph, 4, before, 4, &count));
  assert_int_equal(count, 2);
  OK(km_graph_node_dependencies(graph, 3, before, 4, &count));
  assert_int_equal(count, 1);
  assert_int_equal(before[0], 1);
  launch_once(f, graph);
  OK(km_slice_download(f->stream, o.b, 0, values, sizeof values));
  assert_int_equal(values[0], 4);
  OK(km_slice_download(f->stream, o.a, 0, values, sizeof values));
  assert_int_equal(values[0], 3);
  assert_int_equal(values[COUNT - 1], 1);
  OK(km_graph_destroy(graph));
  destroy(o);
}

static void work_that_nothing_waits_for_ends_it(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_graph graph = NULL;
  OK(km_stream_begin_capture(f->stream));
  OK(km_event_record(o.event, f->stream));
  OK(km_stream_wait_event(o.other, o.event));
  OK(km_slice_fill_u32(o.other, o.a, 0, 1, COUNT));
  EXPECT(KM_ERROR_CAPTURE_UNJOINED, km_stream_end_capture(f->stream, &graph));
  expect_native(UNJOINED);
  assert_null(graph);
  expect_state(f->stream, KM_CAPTURE_STATUS_NONE);
  expect_state(o.other, KM_CAPTURE_STATUS_NONE);
  /* The same when the other stream is gone by then. */
  OK(km_stream_begin_capture(f->stream));
  OK(km_event_record(o.event, f->stream));
  OK(km_stream_wait_event(o.other, o.event));
  OK(km_slice_fill_u32(o.other, o.a, 0, 1, COUNT));
  OK(km_stream_destroy(o.other));
  EXPECT(KM_ERROR_CAPTURE_UNJOINED, km_stream_end_capture(f->stream, &graph));
  OK(km_stream_create(f->context, 0, 0, &o.other));
  /* A stream that joined and did nothing is no matter. */
  OK(km_stream_begin_capture(f->stream));
  OK(km_slice_fill_u32(f->stream, o.a, 0, 1, COUNT));
  OK(km_event_record(o.event, f->stream));
  OK(km_stream_wait_event(o.other, o.event));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_destroy(graph));
  destroy(o);
}

static void waits_and_queries_invalidate(void** state) {
  fixture* f = *state;
  objects o = create(f);
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_synchronize(f->stream));
  expect_native(UNSUPPORTED);
  EXPECT(KM_ERROR_CAPTURE_INVALIDATED, km_slice_fill_u32(f->stream, o.a, 0, 1, COUNT));
  expect_native(INVALIDATED);
  EXPECT(KM_ERROR_CAPTURE_INVALIDATED, km_stream_synchronize(f->stream));
  expect_invalid(f->stream);
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_query(f->stream));
  expect_invalid(f->stream);
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_synchronize_timeout(f->stream, 1000));
  expect_invalid(f->stream);
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_context_synchronize(f->context));
  expect_native(UNSUPPORTED);
  expect_invalid(f->stream);
  OK(km_context_synchronize(f->context));
  destroy(o);
}

static void events_of_a_capture_mark_no_work(void** state) {
  fixture* f = *state;
  objects o = create(f);
  int64_t elapsed = 0;
  km_graph graph;
  OK(km_event_record(o.join, f->stream));
  for (int i = 0; i < 4; ++i) {
    OK(km_stream_begin_capture(f->stream));
    OK(km_event_record(o.event, f->stream));
    km_status status = i == 0   ? km_event_query(o.event)
                       : i == 1 ? km_event_synchronize(o.event)
                       : i == 2 ? km_event_synchronize_timeout(o.event, 5)
                                : km_event_elapsed_ns(o.join, o.event, &elapsed);
    EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, status);
    expect_native(CAPTURED_EVENT);
    expect_invalid(f->stream);
  }
  /* After the end too, until it is recorded again. */
  OK(km_stream_begin_capture(f->stream));
  OK(km_event_record(o.event, f->stream));
  OK(km_stream_end_capture(f->stream, &graph));
  for (int round = 0; round < 2; ++round) { /* with the graph and without */
    EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_event_query(o.event));
    expect_native(INVALID_VALUE);
    EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_event_synchronize(o.event));
    expect_native(INVALID_VALUE);
    EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_event_elapsed_ns(o.join, o.event, &elapsed));
    expect_native(INVALID_VALUE);
    EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_wait_event(o.other, o.event));
    expect_native(INVALID_VALUE);
    if (round == 0) OK(km_graph_destroy(graph));
  }
  OK(km_event_record(o.event, f->stream));
  OK(km_event_synchronize(o.event));
  OK(km_stream_wait_event(o.other, o.event));
  /* Of a capture that is invalid but not over. */
  OK(km_stream_begin_capture(f->stream));
  OK(km_event_record(o.event, f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_query(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_event_query(o.event));
  expect_native(INVALID_VALUE);
  EXPECT(KM_ERROR_CAPTURE_INVALIDATED, km_stream_wait_event(o.other, o.event));
  expect_native(INVALID_VALUE);
  expect_invalid(f->stream);
  OK(km_event_record(o.event, f->stream));
  OK(km_event_synchronize(o.event));
  destroy(o);
}

static void captures_stay_apart(void** state) {
  fixture* f = *state;
  const char* advice = NULL;
  objects o = create(f);
  km_graph graph;
  OK(km_stream_begin_capture(f->stream));
  OK(km_stream_wait_event(f->stream, o.event)); /* never recorded: nothing to wait for */
  OK(km_event_record(o.join, o.other));         /* outside */
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_wait_event(f->stream, o.join));
  expect_native(ISOLATION);
  expect_invalid(f->stream);

  OK(km_stream_begin_capture(f->stream));
  OK(km_stream_begin_capture(o.other));
  OK(km_event_record(o.event, f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_wait_event(o.other, o.event));
  expect_native(MERGE);
  expect_invalid(f->stream);
  expect_invalid(o.other);

  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_stream_begin_capture(f->stream));
  expect_native(ILLEGAL_STATE);
  OK(km_stream_end_capture(f->stream, &graph));
  assert_int_equal(node_count(graph), 0);
  EXPECT(KM_ERROR_NOT_PERMITTED, km_stream_end_capture(f->stream, &graph));
  expect_native(ILLEGAL_STATE);
  expect_message("the capture has ended already");
  OK(km_status_recovery(KM_ERROR_NOT_PERMITTED, &advice));
  assert_non_null(strstr(advice, "ending a capture"));
  OK(km_graph_destroy(graph));
  destroy(o);
}

static void memory_in_stream_order_is_refused(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_slice slice = NULL;
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_slice_create_on_stream(f->stream, 16, 4, 0, &slice));
  expect_invalid(f->stream);
  OK(km_slice_create(f->context, 16, 4, 0, &slice));
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_CAPTURE_UNSUPPORTED, km_slice_destroy_on_stream(slice, f->stream));
  expect_invalid(f->stream);
  OK(km_slice_destroy(slice));
  destroy(o);
}

/* What fails because of its arguments leaves the capture as it is. */
static void wrong_arguments_change_nothing(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_graph graph = NULL;
  OK(km_stream_begin_capture(f->stream));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u32(f->stream, o.a, 4, 1, COUNT));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy(f->stream, o.a, 0, o.a, 4, 8));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_upload(f->stream, o.a, 0, NULL, 8));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_stream_end_capture(f->stream, NULL));
  expect_state(f->stream, KM_CAPTURE_STATUS_ACTIVE);
  OK(km_slice_fill_u32(f->stream, o.a, 0, 1, COUNT));
  OK(km_stream_end_capture(f->stream, &graph));
  assert_int_equal(node_count(graph), 1);
  OK(km_graph_destroy(graph));
  destroy(o);
}

static void graphs_are_captured_as_children(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_graph inner, outer;
  km_graph_exec exec;
  uint32_t values[COUNT];
  km_graph_node_info info = {.struct_size = sizeof info};
  OK(km_stream_begin_capture(f->stream));
  OK(km_slice_fill_u32(f->stream, o.a, 0, 6, COUNT));
  OK(km_stream_end_capture(f->stream, &inner));
  OK(km_graph_exec_create(inner, &exec));
  OK(km_stream_begin_capture(f->stream));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_slice_copy(f->stream, o.b, 0, o.a, 0, COUNT * 4));
  OK(km_stream_end_capture(f->stream, &outer));
  OK(km_graph_node_info_get(outer, 1, &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_CHILD);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(inner));
  launch_once(f, outer);
  OK(km_slice_download(f->stream, o.b, 0, values, sizeof values));
  assert_int_equal(values[3], 6);
  OK(km_graph_destroy(outer));
  destroy(o);
}

/* Streams, contexts and events go in the middle of captures. */
static void captures_end_with_their_objects(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_stream first, second, by_default;
  km_context context;
  km_event event;
  OK(km_stream_begin_capture(o.other));
  OK(km_event_record(o.event, o.other));
  OK(km_stream_wait_event(f->stream, o.event));
  OK(km_stream_destroy(o.other)); /* nobody can end it any more */
  expect_state(f->stream, KM_CAPTURE_STATUS_NONE);
  OK(km_context_synchronize(f->context));
  OK(km_stream_create(f->context, 0, 0, &o.other));

  OK(km_context_create(f->device, &context));
  OK(km_stream_create(context, 0, 0, &first));
  OK(km_stream_create(context, 0, 0, &second));
  OK(km_context_default_stream(context, &by_default));
  OK(km_event_create(context, 0, &event));
  OK(km_stream_begin_capture(first));
  OK(km_event_record(event, first));
  OK(km_stream_wait_event(second, event));
  OK(km_stream_begin_capture(by_default));
  OK(km_context_reset(context));
  OK(km_context_synchronize(context));
  OK(km_stream_destroy(by_default));
  OK(km_context_default_stream(context, &by_default));
  expect_state(by_default, KM_CAPTURE_STATUS_NONE);
  OK(km_stream_begin_capture(by_default));
  OK(km_stream_destroy(first));
  OK(km_stream_destroy(second));
  OK(km_event_destroy(event));
  OK(km_stream_destroy(by_default)); /* its last object */
  OK(km_context_synchronize(context));
  OK(km_context_destroy(context));
  destroy(o);
}

/* Captured memory remembers the streams that used it before: that must not keep the stream. */
static void a_capture_ends_although_its_memory_was_used_before(void** state) {
  fixture* f = *state;
  objects o = create(f);
  km_slice slice;
  OK(km_slice_create(f->context, 1 << 20, 4, 0, &slice));
  OK(km_slice_fill_u32(o.other, slice, 0, 1, 1 << 20));
  OK(km_stream_synchronize(o.other));
  OK(km_stream_begin_capture(o.other));
  OK(km_slice_fill_u32(o.other, slice, 0, 2, 1 << 20));
  OK(km_slice_destroy(slice));
  OK(km_stream_destroy(o.other));
  OK(km_context_synchronize(f->context)); /* refused while anything is captured */
  OK(km_stream_create(f->context, 0, 0, &o.other));
  destroy(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(captured_work_runs_when_launched),
      cmocka_unit_test(launch_builders_are_captured),
      cmocka_unit_test(streams_join_by_events),
      cmocka_unit_test(work_that_nothing_waits_for_ends_it),
      cmocka_unit_test(waits_and_queries_invalidate),
      cmocka_unit_test(events_of_a_capture_mark_no_work),
      cmocka_unit_test(captures_stay_apart),
      cmocka_unit_test(memory_in_stream_order_is_refused),
      cmocka_unit_test(wrong_arguments_change_nothing),
      cmocka_unit_test(graphs_are_captured_as_children),
      cmocka_unit_test(captures_end_with_their_objects),
      cmocka_unit_test(a_capture_ends_although_its_memory_was_used_before),
  };
  return RUN_ON_DEVICES("capture", tests);
}
