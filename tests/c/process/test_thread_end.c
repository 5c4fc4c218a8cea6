/* Callbacks that end their thread (pthread_exit) instead of returning, of every kind. On a thread
 * of the library they count as returned; on the caller's the call is completed, and the thread ends
 * with the result that the callback chose. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { kResult = 42, kSecond = 1000000000 };

static atomic_int calls, returned;

static void end_thread(void) {
  atomic_fetch_add(&calls, 1);
  pthread_exit((void*)(intptr_t)kResult);
}

static void host_callback(void* unused, km_status status) {
  (void)unused;
  (void)status;
  end_thread();
}
static void release_callback(void* unused) {
  (void)unused;
  end_thread();
}
static void output_callback(void* unused, const char* text, uint64_t size_bytes) {
  (void)unused;
  if (size_bytes == 5 && memcmp(text, "hello", 5) == 0) end_thread();
}
static uint64_t shared_bytes_callback(void* unused, uint32_t block_threads) {
  (void)unused;
  (void)block_threads;
  end_thread();
  return 0;
}
static void progress_callback(void* unused, uint32_t done, uint32_t count) {
  (void)unused;
  (void)done;
  (void)count;
  end_thread();
}
static void count_callback(void* unused, km_status status) {
  (void)unused;
  assert_int_equal(status, KM_SUCCESS);
  atomic_fetch_add(&returned, 1);
}

/* Another thread's call, which must not come back: it ends with the callback's result. */
typedef struct call {
  const fixture* f;
  void (*make)(const fixture*);
  int came_back;
} call;

static void* make_call(void* argument) {
  call* one = argument;
  one->make(one->f);
  one->came_back = 1;
  return NULL;
}

static void expect_end_of_thread(const fixture* f, void (*make)(const fixture*)) {
  call one = {f, make, 0};
  void* result = NULL;
  pthread_t thread;
  const int before = atomic_load(&calls);
  assert_int_equal(pthread_create(&thread, NULL, make_call, &one), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_int_equal(atomic_load(&calls), before + 1);
  assert_false(one.came_back);
  assert_int_equal((intptr_t)result, kResult);
}

static void threads_of_the_library_are_replaced(void** state) {
  enum { kCalls = 20, kBytes = 4096 };
  fixture* f = *state;
  static char memory[kBytes];
  km_slice slice;
  atomic_store(&calls, 0);
  atomic_store(&returned, 0);
  for (int i = 0; i < kCalls; ++i) {
    OK(km_stream_add_callback(f->stream, host_callback, NULL));
    OK(km_stream_add_callback(f->stream, count_callback, NULL));
  }
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(atomic_load(&calls), kCalls);
  assert_int_equal(atomic_load(&returned), kCalls);
  OK(km_slice_from_host(f->context, memory, kBytes, 1, release_callback, NULL, &slice));
  OK(km_slice_destroy(slice));
  for (int i = 0; i < 5000 && atomic_load(&calls) == kCalls; ++i) usleep(1000);
  assert_int_equal(atomic_load(&calls), kCalls + 1);
  OK(km_stream_add_callback(f->stream, count_callback, NULL));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(atomic_load(&returned), kCalls + 1);
}

static void graphs_go_on(void** state) {
  fixture* f = *state;
  km_graph graph;
  km_graph_exec exec;
  uint64_t first = 0, second = 0;
  atomic_store(&calls, 0);
  atomic_store(&returned, 0);
  OK(km_graph_create(f->context, &graph));
  OK(km_graph_add_host(graph, NULL, 0, host_callback, NULL, &first));
  OK(km_graph_add_host(graph, &first, 1, count_callback, NULL, &second));
  OK(km_graph_exec_create(graph, &exec));
  for (int i = 0; i < 5; ++i) OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(atomic_load(&calls), 5);
  assert_int_equal(atomic_load(&returned), 5);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
}

static const char print_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};\n"
    ".visible .entry greet() {\n  .reg .b64 %a;\n  .reg .b32 %r;\n"
    "  mov.u64 %a, text;\n  cvta.global.u64 %a, %a;\n  {\n"
    "    .param .b64 format0;\n    st.param.b64 [format0], %a;\n"
    "    .param .b64 arguments0;\n    st.param.b64 [arguments0], 0;\n"
    "    .param .b32 result0;\n    call.uni (result0), vprintf, (format0, arguments0);\n"
    "    ld.param.b32 %r, [result0];\n  }\n  ret;\n}\n";

static void greet(const fixture* f) {
  km_module module;
  km_function function;
  OK(km_module_load_ptx(f->context, print_ptx, strlen(print_ptx), "print.ptx", &module));
  OK(km_module_function(module, "greet", &function));
  OK(launch(f, function, 1, 1, NULL, 0));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

static void wait_for_stream(const fixture* f) { km_stream_synchronize(f->stream); }
static void wait_for_stream_for_a_while(const fixture* f) {
  while (km_stream_synchronize_timeout(f->stream, kSecond) == KM_TIMEOUT) continue;
}
static void wait_for_context(const fixture* f) { km_context_synchronize(f->context); }
static void reset(const fixture* f) {
  while (km_stream_query(f->stream) == KM_NOT_READY) usleep(100);
  km_context_reset(f->context);
}
static void wait_for_event(const fixture* f) {
  km_event event;
  OK(km_event_create(f->context, 0, &event));
  OK(km_event_record(event, f->stream));
  km_event_synchronize(event); /* the event is lost with the thread */
}
static void wait_for_event_for_a_while(const fixture* f) {
  km_event event;
  OK(km_event_create(f->context, 0, &event));
  OK(km_event_record(event, f->stream));
  while (km_event_synchronize_timeout(event, kSecond) == KM_TIMEOUT) continue;
}

static void output_ends_the_thread_that_waits(void** state) {
  void (*const waits[])(const fixture*) = {
      wait_for_stream, wait_for_stream_for_a_while, wait_for_context,
      wait_for_event,  wait_for_event_for_a_while,  reset};
  fixture* f = *state;
  if (is_fake(f) || is_cuda(f)) skip();
  OK(km_context_set_output(f->context, output_callback, NULL));
  for (size_t i = 0; i < sizeof waits / sizeof waits[0]; ++i) {
    greet(f);
    expect_end_of_thread(f, waits[i]);
  }
  OK(km_context_set_output(f->context, NULL, NULL));
}

static void choose_block(const fixture* f) {
  const km_function function = load_kernel(f, "noop");
  uint32_t block = 7, grid = 7;
  km_function_best_block(function, 0, shared_bytes_callback, NULL, 0, &block, &grid);
}

static void tune(const fixture* f) {
  static const char source[] = "extern \"C\" __global__ void none() {}";
  km_tune tune;
  uint32_t best = 0, candidate = 0;
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  OK(km_tune_create(f->device, source, strlen(source), "none", &tune));
  OK(km_tune_add_candidate(tune, &config, NULL, &candidate));
  OK(km_tune_add_candidate(tune, &config, NULL, &candidate));
  OK(km_tune_set_progress(tune, progress_callback, NULL));
  km_tune_run(tune, "", KM_TUNE_RUN_AGAIN, &best);
}

static void other_callbacks_end_the_callers_thread(void** state) {
  fixture* f = *state;
  expect_end_of_thread(f, choose_block);
  if (is_fake(f) || is_cuda(f)) return;
  expect_end_of_thread(f, tune);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_of_the_library_are_replaced),
      cmocka_unit_test(graphs_go_on),
      cmocka_unit_test(output_ends_the_thread_that_waits),
      cmocka_unit_test(other_callbacks_end_the_callers_thread),
  };
  return RUN_ON_DEVICES("thread_end", tests);
}
