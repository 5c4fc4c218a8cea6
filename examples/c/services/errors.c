/* Errors: told apart, explained, kept, and what comes after the fault of a kernel. */
#include <stdio.h>

#include "session.h"

/* Asks for less until it fits. */
static km_slice allocate_what_fits(const session* s) {
  uint64_t size = (uint64_t)1 << 60;
  for (;;) {
    km_slice slice;
    const km_status status = km_slice_create(s->context, size, 1, 0, &slice);
    if (status == KM_SUCCESS) return slice;
    require(status == KM_ERROR_OUT_OF_DEVICE_MEMORY, "nothing else is wrong");
    size >>= 8;
  }
}

static void explain(km_status status) {
  const char *name, *description, *recovery;
  check(km_status_name(status, &name));
  check(km_status_description(status, &description));
  check(km_status_recovery(status, &recovery));
  printf("%s: %s %s\n", name, description, recovery);
}

int main(void) {
  session s = open_session();
  km_status status = KM_SUCCESS;
  uint64_t count = 0;
  km_error_record records[4];
  check(km_slice_destroy(allocate_what_fits(&s)));

  /* A kernel that writes where there is nothing. */
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  const scale_arguments arguments = {8, 2, 32};
  check(km_launch_kernel(s.stream, s.scale, &config, &arguments, sizeof arguments, NULL, 0));
  require(km_stream_synchronize(s.stream) == KM_ERROR_ILLEGAL_ADDRESS, "the fault is told");
  check(km_context_error(s.context, &status));
  explain(status);

  records[0].struct_size = sizeof records[0];
  check(km_context_error_history(s.context, 4, records, &count));
  for (uint64_t i = 0; i < count && i < 4; ++i) {
    printf("%llu x %s: %.80s ...\n", (unsigned long long)records[i].count, records[i].call,
           records[i].message);
  }
  require(count >= 2 && records[0].status == KM_ERROR_ILLEGAL_ADDRESS, "failures are kept");

  check(km_context_reset(s.context)); /* streams and kernels of before are lost */
  require(km_stream_query(s.stream) == KM_ERROR_CONTEXT_LOST, "the stream is lost");
  check(km_stream_destroy(s.stream));
  check(km_stream_create(s.context, KM_STREAM_DEFAULT, 0, &s.stream));
  check(km_stream_synchronize(s.stream)); /* and the context is as good as new */
  close_session(&s);
  return 0;
}
