/* Events. */
#include <time.h>

#include "support/testing.h"

static void unrecorded_events_hold_nobody_up(void** state) {
  fixture* f = *state;
  km_event event;
  OK(km_event_create(f->context, KM_EVENT_DEFAULT, &event));
  OK(km_event_query(event));
  OK(km_event_synchronize(event));
  OK(km_event_synchronize_timeout(event, 0));
  OK(km_stream_wait_event(f->stream, event));
  OK(km_stream_synchronize(f->stream));
  OK(km_event_destroy(event));
}

static void elapsed_time_is_plausible(void** state) {
  fixture* f = *state;
  km_event start, end;
  km_slice slice;
  int64_t elapsed = -1, back = 1;
  struct timespec before, after;
  OK(km_event_create(f->context, 0, &start));
  OK(km_event_create(f->context, 0, &end));
  OK(km_slice_create(f->context, 1 << 20, 4, 0, &slice));
  clock_gettime(CLOCK_MONOTONIC, &before);
  OK(km_event_record(start, f->stream));
  for (uint32_t i = 0; i < 5; ++i) OK(km_slice_fill_u32(f->stream, slice, 0, i, 1 << 20));
  OK(km_event_record(end, f->stream));
  OK(km_event_synchronize(end));
  clock_gettime(CLOCK_MONOTONIC, &after);
  OK(km_event_elapsed_ns(start, end, &elapsed));
  const int64_t limit =
      (after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
  assert_true(elapsed > 0 && elapsed <= limit);
  OK(km_event_elapsed_ns(end, start, &back));
  assert_int_equal(back, -elapsed);
  OK(km_event_elapsed_ns(start, start, &back));
  assert_int_equal(back, 0);
  OK(km_slice_destroy(slice));
  OK(km_event_destroy(start));
  OK(km_event_destroy(end));
}

static void times_that_were_not_taken_are_errors(void** state) {
  fixture* f = *state;
  km_event timed, plain, never, bad = NULL;
  int64_t elapsed = 77;
  OK(km_event_create(f->context, 0, &timed));
  OK(km_event_create(f->context, KM_EVENT_DISABLE_TIMING, &plain));
  OK(km_event_create(f->context, 0, &never));
  OK(km_event_record(timed, f->stream));
  OK(km_event_record(plain, f->stream));
  OK(km_stream_synchronize(f->stream));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_event_elapsed_ns(timed, plain, &elapsed));
  expect_message("end was created with KM_EVENT_DISABLE_TIMING");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_event_elapsed_ns(timed, never, &elapsed));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_event_elapsed_ns(timed, timed, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_event_create(f->context, 2, &bad));
  assert_int_equal(elapsed, 77);
  assert_null(bad);
  OK(km_event_destroy(timed));
  OK(km_event_destroy(plain));
  OK(km_event_destroy(never));
}

static void events_are_of_one_context(void** state) {
  fixture* f = *state;
  km_context other;
  km_event event, own;
  int64_t elapsed = 77;
  OK(km_context_create(f->device, &other));
  OK(km_event_create(other, 0, &event));
  OK(km_event_create(f->context, 0, &own));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_event_record(event, f->stream));
  OK(km_stream_wait_event(f->stream, event)); /* across contexts */
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_event_elapsed_ns(own, event, &elapsed));
  OK(km_event_destroy(event));
  OK(km_event_destroy(own));
  OK(km_context_destroy(other));
}

static void events_can_be_recorded_again(void** state) {
  fixture* f = *state;
  km_event first, second;
  int64_t elapsed = 0;
  OK(km_event_create(f->context, 0, &first));
  OK(km_event_create(f->context, 0, &second));
  OK(km_event_record(first, f->stream));
  OK(km_event_record(second, f->stream));
  OK(km_event_record(first, f->stream));
  OK(km_event_synchronize(first));
  OK(km_event_elapsed_ns(second, first, &elapsed));
  assert_true(elapsed >= 0);
  for (int i = 0; i < 1000; ++i) OK(km_event_record(first, f->stream));
  OK(km_event_destroy(first)); /* while it may still be due */
  OK(km_stream_synchronize(f->stream));
  OK(km_event_destroy(second));
}

static void do_nothing(void* data, km_status status) {
  (void)data;
  (void)status;
}

typedef struct asked {
  km_stream stream;
  km_status callback, query; /* the first of each that is no success */
} asked;

static void ask_stream(void* data, km_status status) {
  asked* a = data;
  if (a->callback == KM_SUCCESS) a->callback = status;
  if (a->query == KM_SUCCESS) a->query = km_stream_query(a->stream);
}

/* In CUDA's words: an event is over when all work before it is, so the stream has nothing left. */
static void streams_are_as_far_as_their_events(void** state) {
  fixture* f = *state;
  km_event event;
  OK(km_event_create(f->context, KM_EVENT_DISABLE_TIMING, &event));
  for (int i = 0; i < 3000; ++i) {
    km_status status = KM_NOT_READY;
    OK(km_stream_add_callback(f->stream, do_nothing, NULL)); /* so that it is recorded elsewhere */
    OK(km_event_record(event, f->stream));
    while (status == KM_NOT_READY) status = km_event_query(event);
    OK(status);
    OK(km_stream_query(f->stream));
  }
  OK(km_event_destroy(event));
}

static void streams_that_waited_see_what_they_waited_for(void** state) {
  fixture* f = *state;
  km_event event;
  km_stream other;
  asked a = {f->stream, KM_SUCCESS, KM_SUCCESS};
  OK(km_event_create(f->context, KM_EVENT_DISABLE_TIMING, &event));
  OK(km_stream_create(f->context, KM_STREAM_DEFAULT, 0, &other));
  for (int i = 0; i < 3000; ++i) {
    OK(km_stream_add_callback(f->stream, do_nothing, NULL));
    OK(km_event_record(event, f->stream));
    OK(km_stream_wait_event(other, event));
    OK(km_stream_add_callback(other, ask_stream, &a));
    OK(km_stream_synchronize(other));
    OK(a.callback);
    if (a.query != KM_ERROR_NOT_PERMITTED) OK(a.query); /* CUDA permits no calls in callbacks */
  }
  OK(km_stream_destroy(other));
  OK(km_event_destroy(event));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unrecorded_events_hold_nobody_up),
      cmocka_unit_test(elapsed_time_is_plausible),
      cmocka_unit_test(times_that_were_not_taken_are_errors),
      cmocka_unit_test(events_are_of_one_context),
      cmocka_unit_test(events_can_be_recorded_again),
      cmocka_unit_test(streams_are_as_far_as_their_events),
      cmocka_unit_test(streams_that_waited_see_what_they_waited_for),
  };
  return RUN_ON_DEVICES("event", tests);
}
