/* What graphs are for: launching costs little, branches run beside each other. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

enum { KERNELS = 100, ROUNDS = 300 };

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static const km_launch_config one = {{1, 1, 1}, {1, 1, 1}, 0};

/* What 100 kernels cost: for the calls alone, and until they are done. The best of many rounds. */
typedef struct costs {
  double calls_us, done_us;
} costs;

static void note(costs* best, double start, double called, double done) {
  if (called - start < best->calls_us) best->calls_us = called - start;
  if (done - start < best->done_us) best->done_us = done - start;
}

static void launch_all(const fixture* f, km_function function) {
  for (int i = 0; i < KERNELS; ++i) {
    OK(km_launch_kernel(f->stream, function, &one, NULL, 0, NULL, 0));
  }
}

static void a_launch_costs_less_than_half(void** state) {
  fixture* f = *state;
  km_function noop = load_kernel(f, "noop");
  km_graph graph;
  km_graph_exec exec;
  costs eager = {1e9, 1e9}, replay = {1e9, 1e9};
  if (is_fake(f)) skip();
  OK(km_stream_begin_capture(f->stream));
  launch_all(f, noop);
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_exec_create(graph, &exec));
  for (int round = 0; round < ROUNDS; ++round) {
    double start = now_us();
    launch_all(f, noop);
    double called = now_us();
    OK(km_stream_synchronize(f->stream));
    note(&eager, start, called, now_us());
    start = now_us();
    OK(km_graph_exec_launch(exec, f->stream));
    called = now_us();
    OK(km_stream_synchronize(f->stream));
    note(&replay, start, called, now_us());
  }
  print_message("100 launches: calls %.2f us, done after %.2f us; as a graph: %.2f us, %.2f us\n",
                eager.calls_us, eager.done_us, replay.calls_us, replay.done_us);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_function_destroy(noop));
}

/* await(flags): until flags[0] is not 0; then flags[0] = 0. raise(flags): flags[0] = 1. */
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry await(.param .u64 flags)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r;\n"
    "  .reg .b64 %rd;\n"
    "  ld.param.u64 %rd, [flags];\n"
    "again:\n"
    "  ld.volatile.global.u32 %r, [%rd];\n"
    "  setp.eq.u32 %p, %r, 0;\n"
    "  @%p bra again;\n"
    "  st.volatile.global.u32 [%rd], 0;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry raise(.param .u64 flags)\n"
    "{\n"
    "  .reg .b64 %rd;\n"
    "  ld.param.u64 %rd, [flags];\n"
    "  st.volatile.global.u32 [%rd], 1;\n"
    "  ret;\n"
    "}\n";

typedef struct branches {
  km_function await, raise;
  km_slice flags;
  uint64_t address;
} branches;

static branches create(const fixture* f) {
  branches b;
  km_module module;
  OK(km_module_load_ptx(f->context, ptx, sizeof ptx - 1, "branches.ptx", &module));
  OK(km_module_function(module, "await", &b.await));
  OK(km_module_function(module, "raise", &b.raise));
  OK(km_module_destroy(module));
  OK(km_slice_create(f->context, 1, 4, KM_SLICE_ZEROED, &b.flags));
  OK(km_slice_address(b.flags, &b.address));
  return b;
}

static void destroy(branches b) {
  OK(km_function_destroy(b.await));
  OK(km_function_destroy(b.raise));
  OK(km_slice_destroy(b.flags));
}

static void run_some(const fixture* f, km_graph graph) {
  km_graph_exec exec;
  OK(km_graph_exec_create(graph, &exec));
  for (int round = 0; round < 20; ++round) {
    OK(km_graph_exec_launch(exec, f->stream));
    OK(km_stream_synchronize(f->stream));
  }
  for (int round = 0; round < 20; ++round) OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  OK(km_graph_exec_destroy(exec));
}

/* One branch waits for what the other does: one after the other, they would never end. */
static void branches_run_at_the_same_time(void** state) {
  fixture* f = *state;
  if (is_fake(f) || f->info.threads < 2) skip();
  branches b = create(f);
  km_graph graph;
  uint64_t root, await, raise, join;
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_empty(graph, NULL, 0, &root));
  OK(km_graph_add_kernel(graph, &root, 1, b.await, &one, &b.address, 8, NULL, 0, &await));
  OK(km_graph_add_kernel(graph, &root, 1, b.raise, &one, &b.address, 8, NULL, 0, &raise));
  OK(km_graph_add_empty(graph, (uint64_t[]){await, raise}, 2, &join));
  run_some(f, graph);
  OK(km_graph_destroy(graph));
  destroy(b);
}

static void captured_streams_become_branches(void** state) {
  fixture* f = *state;
  if (is_fake(f) || f->info.threads < 2) skip();
  branches b = create(f);
  km_graph graph;
  km_stream other;
  km_event event;
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_event_create(f->context, KM_EVENT_DISABLE_TIMING, &event));
  OK(km_stream_begin_capture(f->stream));
  OK(km_event_record(event, f->stream));
  OK(km_stream_wait_event(other, event));
  OK(km_launch_kernel(f->stream, b.await, &one, &b.address, 8, NULL, 0));
  OK(km_launch_kernel(other, b.raise, &one, &b.address, 8, NULL, 0));
  OK(km_event_record(event, other));
  OK(km_stream_wait_event(f->stream, event));
  OK(km_stream_end_capture(f->stream, &graph));
  run_some(f, graph);
  OK(km_graph_destroy(graph));
  OK(km_event_destroy(event));
  OK(km_stream_destroy(other));
  destroy(b);
}

/* Many forks and joins: each layer doubles what the one before left, in `width` branches. */
static void layers_of_branches_keep_their_order(void** state) {
  fixture* f = *state;
  enum { LAYERS = 12, WIDTH = 24, COUNT = 4096 };
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  km_graph graph;
  km_graph_exec exec;
  static float values[WIDTH * COUNT];
  uint64_t join = 0, nodes[WIDTH], address;
  const km_launch_config config = {{COUNT / 256, 1, 1}, {256, 1, 1}, 0};
  OK(km_slice_create(f->context, WIDTH * COUNT, 4, 0, &data));
  OK(km_slice_address(data, &address));
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_fill(graph, NULL, 0, data, 0, 0x3F800000, 4, WIDTH * COUNT, &join));
  for (int layer = 0; layer < LAYERS; ++layer) {
    for (uint64_t i = 0; i < WIDTH; ++i) {
      const scale_arguments arguments = {address + ((i + (uint64_t)layer) % WIDTH) * COUNT * 4, 2,
                                         COUNT};
      OK(km_graph_add_kernel(graph, &join, 1, scale, &config, &arguments, sizeof arguments, NULL, 0,
                             &nodes[i]));
    }
    OK(km_graph_add_empty(graph, nodes, WIDTH, &join));
  }
  OK(km_graph_exec_create(graph, &exec));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 3; ++i) OK(km_graph_exec_launch(exec, f->stream));
    OK(km_slice_download(f->stream, data, 0, values, sizeof values));
    for (int i = 0; i < WIDTH * COUNT; ++i) assert_true(values[i] == (float)(1 << LAYERS));
  }
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

static void add_call(void* user_data, km_status status) {
  (void)status;
  atomic_fetch_add((atomic_int*)user_data, 1);
}

/* A graph of branches is stopped in the middle; callbacks run once for each launch all the same. */
static void resets_stop_branches(void** state) {
  fixture* f = *state;
  enum { WIDTH = 6, DEPTH = 4, LAUNCHES = 8, ROUNDS = 30 };
  const km_launch_config config = {{64, 1, 1}, {256, 1, 1}, 0};
  if (is_fake(f)) skip();
  for (int round = 0; round < ROUNDS; ++round) {
    km_function scale = load_kernel(f, "scale");
    km_slice data;
    km_graph graph;
    km_graph_exec exec;
    km_stream stream;
    atomic_int calls = 0;
    uint64_t address, host;
    OK(km_stream_create(f->context, 0, 0, &stream));
    OK(km_slice_create(f->context, WIDTH * 16384, 4, KM_SLICE_ZEROED, &data));
    OK(km_slice_address(data, &address));
    OK(km_graph_create(f->context, &graph));
    for (int i = 0; i < WIDTH; ++i) {
      const scale_arguments arguments = {address + (uint64_t)i * 16384 * 4, 2, 16384};
      uint64_t last = 0;
      for (int k = 0; k < DEPTH; ++k) {
        OK(km_graph_add_kernel(graph, &last, k != 0, scale, &config, &arguments, sizeof arguments,
                               NULL, 0, &last));
      }
      OK(km_graph_add_host(graph, &last, 1, add_call, &calls, &host));
    }
    OK(km_graph_exec_create(graph, &exec));
    for (int i = 0; i < LAUNCHES; ++i) OK(km_graph_exec_launch(exec, stream));
    usleep((useconds_t)(round * 37));
    OK(km_context_reset(f->context));
    assert_int_equal(calls, LAUNCHES * WIDTH);
    OK(km_graph_exec_destroy(exec));
    OK(km_graph_destroy(graph));
    OK(km_stream_destroy(stream));
    OK(km_slice_destroy(data));
    OK(km_function_destroy(scale));
  }
  OK(km_context_synchronize(f->context));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_launch_costs_less_than_half),
      cmocka_unit_test(branches_run_at_the_same_time),
      cmocka_unit_test(captured_streams_become_branches),
      cmocka_unit_test(layers_of_branches_keep_their_order),
      cmocka_unit_test(resets_stop_branches),
  };
  return RUN_ON_DEVICES("graph_speed", tests);
}
