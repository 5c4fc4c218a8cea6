/* Host programs with much thread-local memory: glibc takes it out of the stack of every thread. */
#include <stdatomic.h>
#include <stdlib.h>

#include "support/testing.h"

/* More than any of the library's threads asks for as its stack, but for the largest. */
static _Thread_local volatile char much[4 << 20];

static void count_call(void* user_data, km_status status) {
  much[0] = (char)status;
  ++*(atomic_int*)user_data;
}

static void threads_start_and_work(void** state) {
  const fixture* f = *state;
  enum { kCount = 1 << 16 };
  km_slice slice = NULL;
  atomic_int calls = 0;
  static uint32_t values[kCount];
  OK(km_slice_create(f->context, kCount, sizeof(uint32_t), 0, &slice));
  uint64_t address = 0;
  OK(km_slice_address(slice, &address));
  const km_function function = load_kernel(f, "fill_index");
  const fill_index_arguments arguments = {address, 5, kCount};
  OK(launch(f, function, kCount / 256, 256, &arguments, sizeof arguments));
  OK(km_stream_add_callback(f->stream, count_call, &calls));
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(calls, 1);
  for (uint32_t i = 0; i < kCount; ++i) assert_int_equal(values[i], i + 5);
}

int main(void) {
  much[sizeof much - 1] = 1;
  setenv("KM_KERNEL_TIMEOUT_MS", "60000", 1); /* a thread more, and a small one */
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_start_and_work)};
  return RUN_ON_DEVICES("thread_local", tests);
}
