/* A profile: what ran on the device, how often and for how long, as a table and as a trace. */
#include <stdio.h>
#include <string.h>

#include "session.h"

enum { kCount = 1 << 18 };

int main(int argc, char** argv) {
  session s = open_session();
  km_slice slice;
  char table[10000];
  check(km_slice_create(s.context, kCount, sizeof(float), KM_SLICE_ZEROED, &slice));
  check(km_profiler_set_work(s.scale, kCount, 2 * sizeof(float) * kCount));
  check(km_profiler_start(s.context));
  check(km_profiler_range_push(s.context, "ten steps"));
  for (int i = 0; i < 10; ++i) queue_scale(&s, slice, 1.5F, kCount);
  check(km_stream_synchronize(s.stream));
  check(km_profiler_range_pop(s.context));
  check(km_profiler_stop(s.context));
  check(km_profiler_summary(s.context, table, sizeof table, NULL));
  fputs(table, stdout);
  require(strstr(table, "scale") != NULL, "the kernel has a row");
  require(strstr(table, "ten steps") != NULL, "the range has a row");
  if (argc == 2) check(km_profiler_write(s.context, argv[1])); /* for ui.perfetto.dev */
  check(km_slice_destroy(slice));
  close_session(&s);
  return 0;
}
