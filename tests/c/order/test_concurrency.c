/* Streams beside each other. Where a test says that two things run at the same time, one of them
 * waits for what the other does: in turn they would never end. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

/* await(flag): until flag[0] is not 0, then flag[1] = flag[0]. raise(flag): flag[0] = 1.
 * spin(started, out, rounds): takes time; out[0] = how many of its kernels had started before. */
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry await(.param .u64 flag)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<2>;\n"
    "  .reg .b64 %rd;\n"
    "  ld.param.u64 %rd, [flag];\n"
    "again:\n"
    "  ld.volatile.global.u32 %r1, [%rd];\n"
    "  setp.eq.u32 %p, %r1, 0;\n"
    "  @%p bra again;\n"
    "  st.global.u32 [%rd+4], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry raise(.param .u64 flag)\n"
    "{\n"
    "  .reg .b64 %rd;\n"
    "  ld.param.u64 %rd, [flag];\n"
    "  st.volatile.global.u32 [%rd], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry spin(.param .u64 started, .param .u64 out, .param .u32 rounds)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<4>;\n"
    "  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd0, [started];\n"
    "  ld.param.u64 %rd1, [out];\n"
    "  atom.global.add.u32 %r3, [%rd0], 1;\n"
    "  st.global.u32 [%rd1], %r3;\n"
    "  ld.param.u32 %r1, [rounds];\n"
    "  mov.u32 %r2, 1;\n"
    "again:\n"
    "  mad.lo.u32 %r2, %r2, 1664525, %r1;\n"
    "  sub.u32 %r1, %r1, 1;\n"
    "  setp.ne.u32 %p, %r1, 0;\n"
    "  @%p bra again;\n"
    "  st.global.u32 [%rd1+4], %r2;\n"
    "  ret;\n"
    "}\n";

typedef struct spin_arguments {
  uint64_t started, out;
  uint32_t rounds;
} spin_arguments;
enum { SPIN_BYTES = 20 };

static km_function load(km_context context, const char* name) {
  km_module module;
  km_function function;
  OK(km_module_load_ptx(context, ptx, sizeof ptx - 1, "concurrency.ptx", &module));
  OK(km_module_function(module, name, &function));
  OK(km_module_destroy(module));
  return function;
}

static void run(km_stream stream, km_function function, const void* arguments, uint64_t size) {
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  OK(km_launch_kernel(stream, function, &config, arguments, size, NULL, 0));
}

static uint64_t address_of(km_slice slice) {
  uint64_t address = 0;
  OK(km_slice_address(slice, &address));
  return address;
}

/* The device runs two things at once and runs kernels at all. */
static int is_parallel(const fixture* f) { return !is_fake(f) && f->info.threads >= 2; }

static void kernels_of_two_streams_overlap(void** state) {
  fixture* f = *state;
  km_stream other;
  km_slice flag;
  uint32_t values[2] = {0};
  uint64_t address;
  if (!is_parallel(f)) skip();
  km_function await = load(f->context, "await"), raise = load(f->context, "raise");
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_slice_create(f->context, 2, 4, KM_SLICE_ZEROED, &flag));
  address = address_of(flag);
  run(f->stream, await, &address, sizeof address);
  usleep(2000); /* it runs by now, or waits forever */
  EXPECT(KM_NOT_READY, km_stream_query(f->stream));
  run(other, raise, &address, sizeof address);
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_download(f->stream, flag, 0, values, sizeof values));
  assert_int_equal(values[1], 1);
  OK(km_stream_destroy(other));
  OK(km_slice_destroy(flag));
  OK(km_function_destroy(await));
  OK(km_function_destroy(raise));
}

/* The kernel waits for the last bytes of a copy that workers do, being large. */
static void a_copy_runs_beside_a_kernel(void** state) {
  fixture* f = *state;
  enum { COUNT = 2 << 20 };
  km_stream other;
  km_slice data;
  km_host_memory memory;
  uint32_t* words = NULL;
  uint64_t flag;
  if (!is_parallel(f)) skip();
  km_function await = load(f->context, "await");
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_slice_create(f->context, COUNT, 4, KM_SLICE_ZEROED, &data));
  OK(km_host_memory_create(f->context, COUNT * 4, 0, &memory));
  OK(km_host_memory_pointer(memory, (void**)&words));
  for (int i = 0; i < COUNT; ++i) words[i] = (uint32_t)i + 1;
  OK(km_stream_synchronize(f->stream));
  flag = address_of(data) + (COUNT - 2) * 4;
  run(f->stream, await, &flag, sizeof flag);
  usleep(2000);
  EXPECT(KM_NOT_READY, km_stream_query(f->stream));
  OK(km_slice_upload(other, data, 0, words, COUNT * 4));
  OK(km_stream_synchronize(f->stream));
  OK(km_stream_synchronize(other));
  OK(km_stream_destroy(other));
  OK(km_slice_destroy(data));
  OK(km_host_memory_destroy(memory));
  OK(km_function_destroy(await));
}

static void set_flag(void* user_data, km_status status) {
  *(volatile int*)user_data = status == KM_SUCCESS ? 1 : -1;
}

static void callbacks_run_beside_kernels(void** state) {
  fixture* f = *state;
  km_stream other;
  km_slice flag;
  uint32_t* words = NULL;
  uint64_t address;
  if (!is_parallel(f)) skip();
  km_function await = load(f->context, "await");
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_slice_create(f->context, 2, 4, KM_SLICE_ZEROED, &flag));
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_host_pointer(flag, (void**)&words));
  address = address_of(flag);
  run(f->stream, await, &address, sizeof address);
  OK(km_stream_add_callback(other, set_flag, words));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(words[1], 1);
  OK(km_stream_destroy(other));
  OK(km_slice_destroy(flag));
  OK(km_function_destroy(await));
}

/* Streams of low priority have their work queued first, and all of them start at once. A kernel
 * takes milliseconds: more than the system takes the processor from the thread that opens the gate.
 */
enum { LOW_STREAMS = 24, LOW_KERNELS = 4, SPIN_ROUNDS = 3000000 };

/* How many kernels of low priority start before one of the highest. */
static uint32_t started_before_high(fixture* f) {
  enum { FLAG, FLAG_COPY, STARTED, OF_LOW = 4, OF_HIGH = 6, WORDS = 8 };
  int64_t greatest = 0;
  km_stream low[LOW_STREAMS], high;
  km_event gate_opened;
  km_slice slice;
  volatile uint32_t* words = NULL;
  spin_arguments arguments;
  km_function await = load(f->context, "await"), spin = load(f->context, "spin");
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST, &greatest));
  OK(km_slice_create(f->context, WORDS, 4, KM_SLICE_ZEROED, &slice));
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_host_pointer(slice, (void**)&words));
  const uint64_t base = address_of(slice);
  run(f->stream, await, &base, sizeof base);
  OK(km_event_create(f->context, KM_EVENT_DISABLE_TIMING, &gate_opened));
  OK(km_event_record(gate_opened, f->stream));
  arguments = (spin_arguments){base + STARTED * 4, base + OF_LOW * 4, SPIN_ROUNDS};
  for (int i = 0; i < LOW_STREAMS; ++i) {
    OK(km_stream_create(f->context, 0, 0, &low[i]));
    OK(km_stream_wait_event(low[i], gate_opened));
    for (int k = 0; k < LOW_KERNELS; ++k) run(low[i], spin, &arguments, SPIN_BYTES);
  }
  OK(km_stream_create(f->context, 0, (int32_t)greatest, &high));
  OK(km_stream_wait_event(high, gate_opened));
  arguments.out = base + OF_HIGH * 4;
  run(high, spin, &arguments, SPIN_BYTES);
  words[FLAG] = 1;
  /* No wait: a thread that waits helps the stream that it waits for, whatever its priority. */
  while (km_stream_query(high) == KM_NOT_READY) usleep(200);
  OK(km_context_synchronize(f->context));
  assert_int_equal(words[STARTED], LOW_STREAMS * LOW_KERNELS + 1);
  const uint32_t before = words[OF_HIGH];
  for (int i = 0; i < LOW_STREAMS; ++i) OK(km_stream_destroy(low[i]));
  OK(km_stream_destroy(high));
  OK(km_event_destroy(gate_opened));
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(await));
  OK(km_function_destroy(spin));
  return before;
}

/* The system may take the processor from the thread that makes the streams ready before it comes to
 * the last one, more likely where the machine is busy: one good try shows what is to be shown. */
static void priorities_decide_what_starts_next(void** state) {
  fixture* f = *state;
  enum { TRIES = 3, LIMIT = LOW_STREAMS * LOW_KERNELS / 8 };
  uint32_t least = UINT32_MAX;
  if (is_fake(f)) skip();
  for (int i = 0; i < TRIES && least > LIMIT; ++i) {
    const uint32_t before = started_before_high(f);
    if (before < least) least = before;
  }
  if (least > LIMIT) {
    print_error("%u of %d kernels of low priority went first\n", least, LOW_STREAMS * LOW_KERNELS);
    fail();
  }
}

/* A stream waits for an event of `theirs`: of another context, perhaps on another device. */
static void check_wait_across(fixture* f, km_context theirs) {
  km_stream stream;
  km_event event;
  km_slice flag, result;
  volatile uint32_t* words = NULL;
  uint32_t value = 0;
  uint64_t address;
  km_function await = load(theirs, "await");
  OK(km_stream_create(theirs, 0, 0, &stream));
  OK(km_event_create(theirs, KM_EVENT_DISABLE_TIMING, &event));
  OK(km_slice_create(theirs, 2, 4, KM_SLICE_ZEROED, &flag));
  OK(km_slice_create(f->context, 1, 4, KM_SLICE_ZEROED, &result));
  OK(km_stream_synchronize(stream));
  OK(km_slice_host_pointer(flag, (void**)&words));
  address = address_of(flag);
  run(stream, await, &address, sizeof address);
  OK(km_event_record(event, stream));
  OK(km_stream_wait_event(f->stream, event));
  OK(km_slice_copy(f->stream, result, 0, result, 0, 0));
  OK(km_slice_fill_u32(f->stream, result, 0, 7, 1));
  EXPECT(KM_TIMEOUT, km_stream_synchronize_timeout(f->stream, 3000000));
  words[0] = 1;
  OK(km_stream_synchronize(f->stream));
  OK(km_event_query(event));
  OK(km_slice_download(f->stream, result, 0, &value, 4));
  assert_int_equal(value, 7);
  OK(km_stream_destroy(stream));
  OK(km_event_destroy(event));
  OK(km_slice_destroy(flag));
  OK(km_slice_destroy(result));
  OK(km_function_destroy(await));
}

static void streams_wait_across_contexts(void** state) {
  fixture* f = *state;
  km_context theirs;
  if (is_fake(f)) skip();
  OK(km_context_create(f->device, &theirs));
  check_wait_across(f, theirs);
  OK(km_context_destroy(theirs));
}

static void streams_wait_across_devices(void** state) {
  fixture* f = *state;
  km_device device;
  km_context theirs;
  if (is_fake(f) || !has_device(other_uri(f))) skip();
  OK(km_device_open(other_uri(f), &device));
  OK(km_context_create(device, &theirs));
  check_wait_across(f, theirs);
  OK(km_context_destroy(theirs));
  OK(km_device_destroy(device));
}

/* The wait ends with the other context's work, also when that fails or is dropped. */
static void a_wait_survives_the_other_context(void** state) {
  fixture* f = *state;
  km_context theirs;
  km_stream stream;
  km_event event;
  km_slice flag;
  km_function await;
  uint64_t address;
  if (is_fake(f)) skip();
  OK(km_context_create(f->device, &theirs));
  await = load(theirs, "await");
  OK(km_stream_create(theirs, 0, 0, &stream));
  OK(km_event_create(theirs, 0, &event));
  OK(km_slice_create(theirs, 2, 4, KM_SLICE_ZEROED, &flag));
  address = address_of(flag);
  run(stream, await, &address, sizeof address); /* for ever */
  OK(km_event_record(event, stream));
  OK(km_stream_wait_event(f->stream, event));
  EXPECT(KM_TIMEOUT, km_stream_synchronize_timeout(f->stream, 3000000));
  OK(km_context_reset(theirs));
  OK(km_stream_synchronize(f->stream));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_stream_wait_event(f->stream, event));
  OK(km_stream_destroy(stream));
  OK(km_event_destroy(event));
  OK(km_slice_destroy(flag));
  OK(km_function_destroy(await));
  OK(km_context_destroy(theirs));
}

typedef struct held {
  sem_t hold;
  atomic_int was_too_late;
} held;

static void wait_for_launch(void* data, km_status status) {
  held* h = data;
  struct timespec limit;
  (void)status;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 10;
  if (sem_timedwait(&h->hold, &limit) != 0) h->was_too_late = 1;
}

/* CUDA loads kernels late, and waits for all work of the context then: a launch must not. */
static void first_launches_wait_for_no_callback(void** state) {
  fixture* f = *state;
  held h;
  km_stream other;
  h.was_too_late = 0;
  if (is_fake(f)) skip();
  km_function noop = load_kernel(f, "noop");
  OK(km_stream_create(f->context, 0, 0, &other));
  assert_int_equal(sem_init(&h.hold, 0, 0), 0);
  OK(km_stream_add_callback(other, wait_for_launch, &h));
  OK(launch(f, noop, 1, 1, NULL, 0));
  sem_post(&h.hold);
  OK(km_stream_synchronize(other));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(h.was_too_late, 0);
  sem_destroy(&h.hold);
  OK(km_stream_destroy(other));
  OK(km_function_destroy(noop));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_launches_wait_for_no_callback),
      cmocka_unit_test(kernels_of_two_streams_overlap),
      cmocka_unit_test(a_copy_runs_beside_a_kernel),
      cmocka_unit_test(callbacks_run_beside_kernels),
      cmocka_unit_test(priorities_decide_what_starts_next),
      cmocka_unit_test(streams_wait_across_contexts),
      cmocka_unit_test(streams_wait_across_devices),
      cmocka_unit_test(a_wait_survives_the_other_context),
  };
  return RUN_ON_DEVICES("concurrency", tests);
}
