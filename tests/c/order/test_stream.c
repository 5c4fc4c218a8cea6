/* Streams: order, waits, callbacks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

static void work_is_done_in_order(void** state) {
  fixture* f = *state;
  km_slice slice;
  uint32_t values[256];
  OK(km_slice_create(f->context, 256, 4, 0, &slice));
  for (uint32_t i = 0; i < 100; ++i) OK(km_slice_fill_u32(f->stream, slice, 0, i, 256));
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  OK(km_stream_synchronize(f->stream));
  for (int i = 0; i < 256; ++i) assert_int_equal(values[i], 99);
  OK(km_slice_destroy(slice));
}

static void an_idle_stream_is_ready(void** state) {
  fixture* f = *state;
  OK(km_stream_query(f->stream));
  OK(km_stream_synchronize(f->stream));
  OK(km_stream_synchronize_timeout(f->stream, 0));
  OK(km_stream_synchronize_timeout(f->stream, 1000));
  OK(km_stream_synchronize_timeout(f->stream, UINT64_MAX));
}

static void priorities_lie_in_the_devices_range(void** state) {
  fixture* f = *state;
  int64_t least = 0, greatest = 0;
  km_stream stream;
  int32_t priority = 77;
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST, &least));
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST, &greatest));
  assert_true(greatest <= least);
  OK(km_stream_create(f->context, KM_STREAM_DEFAULT, (int32_t)greatest, &stream));
  OK(km_stream_priority(stream, &priority));
  assert_int_equal(priority, greatest);
  OK(km_stream_destroy(stream));
  stream = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_stream_create(f->context, 0, 1000, &stream));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_stream_create(f->context, 1u << 31, 0, &stream));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_stream_create(f->context, 0, 0, NULL));
  assert_null(stream);
}

typedef struct calls {
  atomic_int count;
  atomic_int status;
  km_stream stream;
  km_slice slice;
  pthread_t thread;
  atomic_int blocking_call, copy_call, timeout_call, other_call;
} calls;

static void note_call(void* user_data, km_status status) {
  calls* c = user_data;
  c->status = status;
  ++c->count;
}

static void callbacks_run_once_after_the_work(void** state) {
  fixture* f = *state;
  calls c = {0};
  for (int i = 0; i < 10; ++i) OK(km_stream_add_callback(f->stream, note_call, &c));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(c.count, 10);
  assert_int_equal(c.status, KM_SUCCESS);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_stream_add_callback(f->stream, NULL, &c));
}

static void call_from_callback(void* user_data, km_status status) {
  calls* c = user_data;
  uint32_t value = 0;
  uint64_t address = 0;
  (void)status;
  c->blocking_call = km_stream_synchronize(c->stream);
  c->copy_call = km_slice_download(c->stream, c->slice, 0, &value, sizeof value);
  c->timeout_call = km_stream_synchronize_timeout(c->stream, 1000000);
  c->other_call = km_slice_address(c->slice, &address);
  ++c->count;
}

static void callbacks_may_not_block(void** state) {
  fixture* f = *state;
  calls c = {0};
  c.stream = f->stream;
  OK(km_slice_create(f->context, 1, 4, KM_SLICE_ZEROED, &c.slice));
  OK(km_stream_add_callback(f->stream, call_from_callback, &c));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(c.count, 1);
  assert_int_equal(c.blocking_call, KM_ERROR_NOT_PERMITTED);
  assert_int_equal(c.copy_call, KM_ERROR_NOT_PERMITTED);
  assert_int_equal(c.timeout_call, KM_ERROR_NOT_PERMITTED);
  assert_int_equal(c.other_call, KM_SUCCESS);
  OK(km_slice_destroy(c.slice));
}

static void callbacks_hear_of_errors(void** state) {
  fixture* f = *state;
  km_function crash = load_kernel(f, "crash");
  calls c = {0};
  km_status accepted;
  OK(launch(f, crash, 1, 1, NULL, 0));
  accepted = km_stream_add_callback(f->stream, note_call, &c);
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  comes_back_after_fault(f);
  /* The fault may have been noticed before the callback was added, and then it was not taken. */
  assert_int_equal(c.count, accepted == KM_SUCCESS);
  assert_true(accepted == KM_SUCCESS ? is_trap(f, c.status) : c.status == 0);
  OK(km_function_destroy(crash));
}

static void pause_ms(long milliseconds) {
  const struct timespec pause = {0, milliseconds * 1000 * 1000};
  nanosleep(&pause, NULL);
}

static void note_slowly(void* user_data, km_status status) {
  pause_ms(50);
  note_call(user_data, status);
}

/* A callback that another thread is running is over when the reset returns. */
static void a_reset_waits_for_callbacks(void** state) {
  fixture* f = *state;
  km_function crash = load_kernel(f, "crash");
  calls c = {0};
  km_status accepted, polled;
  OK(launch(f, crash, 1, 1, NULL, 0));
  accepted = km_stream_add_callback(f->stream, note_slowly, &c);
  do polled = km_stream_query(f->stream);
  while (polled == KM_NOT_READY);
  assert_true(is_trap(f, polled));
  pause_ms(20); /* lets the other thread begin */
  comes_back_after_fault(f);
  assert_int_equal(c.count, accepted == KM_SUCCESS);
  OK(km_function_destroy(crash));
}

typedef struct own_objects {
  km_context context;
  km_stream stream;
  atomic_int done;
} own_objects;

static void destroy_own_context(void* user_data, km_status status) {
  own_objects* own = user_data;
  (void)status;
  own->done =
      km_stream_destroy(own->stream) == KM_SUCCESS && km_context_destroy(own->context) == KM_SUCCESS
          ? 1
          : -1;
}

static void a_callback_may_destroy_its_own_context(void** state) {
  fixture* f = *state;
  for (int round = 0; round < 20; ++round) {
    own_objects own = {0};
    OK(km_context_create(f->device, &own.context));
    OK(km_stream_create(own.context, 0, 0, &own.stream));
    OK(km_stream_add_callback(own.stream, destroy_own_context, &own));
    for (int i = 0; i < 10000 && own.done == 0; ++i) usleep(1000);
    assert_int_equal(own.done, 1);
  }
}

static void sleep_in_callback(void* user_data, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)user_data)) usleep(100);
}

static void waits_end_at_their_limit(void** state) {
  fixture* f = *state;
  atomic_int go = 0;
  if (is_fake(f)) skip(); /* it runs callbacks on the waiting thread */
  OK(km_stream_add_callback(f->stream, sleep_in_callback, &go));
  EXPECT(KM_NOT_READY, km_stream_query(f->stream));
  EXPECT(KM_TIMEOUT, km_stream_synchronize_timeout(f->stream, 0));
  EXPECT(KM_TIMEOUT, km_stream_synchronize_timeout(f->stream, 2000000));
  atomic_store(&go, 1);
  OK(km_stream_synchronize_timeout(f->stream, UINT64_MAX));
  OK(km_stream_query(f->stream));
}

static void events_order_streams(void** state) {
  fixture* f = *state;
  km_stream other;
  km_event event;
  km_slice slice;
  uint32_t value = 0;
  atomic_int go = 0;
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_event_create(f->context, KM_EVENT_DISABLE_TIMING, &event));
  OK(km_slice_create(f->context, 1, 4, KM_SLICE_ZEROED, &slice));
  if (is_fake(f)) go = 1;
  OK(km_stream_add_callback(f->stream, sleep_in_callback, &go));
  OK(km_slice_fill_u32(f->stream, slice, 0, 1, 1));
  OK(km_event_record(event, f->stream));
  OK(km_stream_wait_event(other, event));
  OK(km_slice_fill_u32(other, slice, 0, 2, 1));
  if (!is_fake(f)) EXPECT(KM_NOT_READY, km_stream_query(other));
  atomic_store(&go, 1);
  OK(km_stream_synchronize(other));
  OK(km_slice_download(other, slice, 0, &value, 4));
  assert_int_equal(value, 2);
  OK(km_stream_synchronize(f->stream));
  OK(km_stream_destroy(other));
  OK(km_event_destroy(event));
  OK(km_slice_destroy(slice));
}

static void destroyed_streams_finish_their_work(void** state) {
  fixture* f = *state;
  km_slice slice;
  uint32_t* values = NULL;
  km_stream stream;
  km_event event;
  OK(km_slice_create(f->context, 1 << 20, 4, 0, &slice));
  OK(km_stream_create(f->context, 0, 0, &stream));
  OK(km_event_create(f->context, 0, &event));
  for (uint32_t i = 1; i <= 20; ++i) OK(km_slice_fill_u32(stream, slice, 0, i, 1 << 20));
  OK(km_event_record(event, stream));
  OK(km_stream_destroy(stream));
  OK(km_event_synchronize(event));
  values = malloc(4 << 20);
  assert_non_null(values);
  OK(km_slice_download(f->stream, slice, 0, values, 4 << 20));
  assert_int_equal(values[0], 20);
  assert_int_equal(values[(1 << 20) - 1], 20);
  free(values);
  OK(km_event_destroy(event));
  OK(km_slice_destroy(slice));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_is_done_in_order),
      cmocka_unit_test(an_idle_stream_is_ready),
      cmocka_unit_test(priorities_lie_in_the_devices_range),
      cmocka_unit_test(callbacks_run_once_after_the_work),
      cmocka_unit_test(callbacks_may_not_block),
      FAULTING_TEST(callbacks_hear_of_errors),
      FAULTING_TEST(a_reset_waits_for_callbacks),
      cmocka_unit_test(a_callback_may_destroy_its_own_context),
      cmocka_unit_test(waits_end_at_their_limit),
      cmocka_unit_test(events_order_streams),
      cmocka_unit_test(destroyed_streams_finish_their_work),
  };
  return RUN_ON_DEVICES("stream", tests);
}
