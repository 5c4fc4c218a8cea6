/* Two streams: one waits for the other by an event, the host by a callback; events tell the time.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "session.h"

enum { kCount = 1 << 20 };

static void note(void* user_data, km_status status) {
  atomic_store((atomic_int*)user_data, status == KM_SUCCESS ? 1 : -1);
}

int main(void) {
  session s = open_session();
  km_stream second;
  km_event begin, end;
  km_slice slice;
  int64_t elapsed_ns = 0;
  atomic_int noted = 0;
  float first_value = 1;
  check(km_stream_create(s.context, KM_STREAM_DEFAULT, 0, &second));
  check(km_event_create(s.context, KM_EVENT_DEFAULT, &begin));
  check(km_event_create(s.context, KM_EVENT_DEFAULT, &end));
  check(km_slice_create(s.context, kCount, sizeof(float), KM_SLICE_ZEROED, &slice));
  check(km_slice_upload(s.stream, slice, 0, &first_value, sizeof first_value));

  check(km_event_record(begin, s.stream));
  queue_scale(&s, slice, 3, kCount);
  check(km_event_record(end, s.stream));
  check(km_stream_wait_event(second, end)); /* nothing here blocks the host */
  session on_second = s;
  on_second.stream = second;
  queue_scale(&on_second, slice, 5, kCount);
  check(km_stream_add_callback(second, note, &noted));
  check(km_stream_synchronize(second));

  check(km_event_elapsed_ns(begin, end, &elapsed_ns));
  check(km_slice_download(s.stream, slice, 0, &first_value, sizeof first_value));
  printf("%g after %lld us of the first kernel\n", first_value, (long long)elapsed_ns / 1000);
  require(first_value == 15, "one kernel ran after the other");
  require(atomic_load(&noted) == 1, "the callback came before the end of the wait");
  require(elapsed_ns > 0, "time passed");
  check(km_slice_destroy(slice));
  check(km_event_destroy(begin));
  check(km_event_destroy(end));
  check(km_stream_destroy(second));
  close_session(&s);
  return 0;
}
