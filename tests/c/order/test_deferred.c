/* What is given up while work uses it goes when the last work is over: with an idle device and
 * without a call that would see to it. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { SIZE = 64 << 20, WORDS = 1024 };

static void wait_in_callback(void* go, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)go)) usleep(100);
}

static void note_release(void* flag) { atomic_store((atomic_int*)flag, 1); }

/* No call of the library is made until the flag is set. */
static void expect_set(atomic_int* flag) {
  for (int i = 0; i < 20000 && !atomic_load(flag); ++i) usleep(500);
  assert_int_equal(atomic_load(flag), 1);
}

static uint64_t free_bytes(const fixture* f) {
  uint64_t free = 0, total = 0;
  OK(km_context_memory_info(f->context, &free, &total));
  return free;
}

/* Asks for nothing but the figure. */
static void expect_back(const fixture* f, uint64_t before) {
  for (int i = 0; i < 10000 && free_bytes(f) < before + SIZE / 2; ++i) usleep(1000);
  assert_true(free_bytes(f) >= before + SIZE / 2);
}

/* Memory of the host that says when nothing uses it any more. */
typedef struct watched {
  uint32_t words[WORDS];
  atomic_int released;
  km_slice slice;
} watched;

static void watch(const fixture* f, watched* memory) {
  memset(memory, 0, sizeof *memory);
  OK(km_slice_from_host(f->context, memory->words, WORDS, 4, note_release, &memory->released,
                        &memory->slice));
}

static void memory_comes_back(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip(); /* it runs callbacks on the waiting thread */
  for (int round = 0; round < 3; ++round) {
    atomic_int go = 0;
    km_slice slice, view;
    OK(km_slice_create(f->context, SIZE, 1, 0, &slice));
    OK(km_slice_fill_u8(f->stream, slice, 0, 1, SIZE)); /* so that it has its pages */
    OK(km_stream_synchronize(f->stream));
    const uint64_t before = free_bytes(f);
    OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
    OK(km_slice_view(slice, 0, SIZE / 2, &view));
    OK(km_slice_fill_u8(f->stream, view, 0, 2, SIZE / 2));
    if (round != 1) OK(km_slice_destroy(slice));
    if (round == 1) OK(km_slice_destroy_on_stream(slice, f->stream));
    OK(km_slice_destroy(view));
    /* CUDA counts what is given back in a stream's order as free at once. */
    if (!is_cuda(f)) assert_true(free_bytes(f) < before + SIZE / 2);
    atomic_store(&go, 1);
    expect_back(f, before);
    /* CUDA's figure may be there before the callback has read `go`, which the next round clears. */
    OK(km_stream_synchronize(f->stream));
  }
}

static void host_memory_comes_back(void** state) {
  fixture* f = *state;
  if (is_fake(f) || is_cuda(f)) skip(); /* its memory is no part of the device's */
  atomic_int go = 0;
  km_host_memory host;
  km_slice slice;
  void* pointer;
  OK(km_host_memory_create(f->context, SIZE, 0, &host));
  OK(km_slice_create(f->context, SIZE, 1, 0, &slice));
  OK(km_host_memory_pointer(host, &pointer));
  memset(pointer, 1, SIZE);
  OK(km_slice_upload(f->stream, slice, 0, pointer, SIZE));
  OK(km_stream_synchronize(f->stream));
  const uint64_t before = free_bytes(f);
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_slice_upload(f->stream, slice, 0, pointer, SIZE));
  OK(km_host_memory_destroy(host));
  OK(km_slice_destroy(slice));
  atomic_store(&go, 1);
  expect_back(f, before);
}

static void released_after_the_last_of_several_streams(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip();
  atomic_int go = 0;
  watched memory;
  km_stream other;
  watch(f, &memory);
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_stream_add_callback(other, wait_in_callback, &go));
  OK(km_slice_fill_u32(f->stream, memory.slice, 0, 1, WORDS));
  OK(km_slice_fill_u32(other, memory.slice, 0, 2, WORDS));
  OK(km_slice_destroy(memory.slice));
  OK(km_stream_destroy(other)); /* its work goes on */
  usleep(20000);
  assert_int_equal(atomic_load(&memory.released), 0);
  atomic_store(&go, 1);
  expect_set(&memory.released);
  assert_int_equal(memory.words[WORDS - 1], 2);
}

static void graphs_let_go_after_their_last_launch(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip();
  atomic_int go = 0;
  watched memory;
  km_graph graph;
  km_graph_exec exec;
  watch(f, &memory);
  OK(km_stream_begin_capture(f->stream));
  OK(km_slice_fill_u32(f->stream, memory.slice, 0, 3, WORDS));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_slice_destroy(memory.slice));
  OK(km_graph_destroy(graph));
  OK(km_graph_exec_destroy(exec));
  usleep(20000);
  assert_int_equal(atomic_load(&memory.released), 0);
  atomic_store(&go, 1);
  expect_set(&memory.released);
  assert_int_equal(memory.words[WORDS - 1], 3);
}

static void kernels_keep_their_module_and_memory(void** state) {
  static const char ptx[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry set(.param .u64 out) { .reg .b64 %p; ld.param.u64 %p, [out]; "
      "cvta.to.global.u64 %p, %p; st.global.u32 [%p], 7; ret; }\n";
  fixture* f = *state;
  if (is_fake(f)) skip();
  atomic_int go = 0;
  watched memory;
  km_module module;
  km_function function;
  km_launch launch;
  watch(f, &memory);
  OK(km_module_load_ptx(f->context, ptx, sizeof ptx - 1, "deferred.ptx", &module));
  OK(km_module_function(module, "set", &function));
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_launch_create(f->stream, function, &launch));
  OK(km_launch_set_grid(launch, 1, 1, 1));
  OK(km_launch_set_block(launch, 1, 1, 1));
  OK(km_launch_arg_slice(launch, memory.slice, 0));
  OK(km_launch_submit(launch));
  OK(km_launch_destroy(launch));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
  OK(km_slice_destroy(memory.slice));
  atomic_store(&go, 1);
  expect_set(&memory.released);
  assert_int_equal(memory.words[0], 7);
}

static void contexts_go_with_their_last_work(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip();
  atomic_int go = 0;
  watched memory;
  km_event event;
  fixture own = *f;
  OK(km_context_create(f->device, &own.context));
  OK(km_stream_create(own.context, 0, 0, &own.stream));
  OK(km_event_create(own.context, 0, &event));
  watch(&own, &memory);
  OK(km_stream_add_callback(own.stream, wait_in_callback, &go));
  OK(km_slice_fill_u32(own.stream, memory.slice, 0, 4, WORDS));
  OK(km_event_record(event, own.stream));
  OK(km_event_destroy(event));
  OK(km_slice_destroy(memory.slice));
  OK(km_stream_destroy(own.stream));
  OK(km_context_destroy(own.context));
  atomic_store(&go, 1);
  expect_set(&memory.released);
  assert_int_equal(memory.words[WORDS - 1], 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_comes_back),
      cmocka_unit_test(host_memory_comes_back),
      cmocka_unit_test(released_after_the_last_of_several_streams),
      cmocka_unit_test(graphs_let_go_after_their_last_launch),
      cmocka_unit_test(kernels_keep_their_module_and_memory),
      cmocka_unit_test(contexts_go_with_their_last_work),
  };
  return RUN_ON_DEVICES("deferred", tests);
}
