/* KM_KERNEL_TIMEOUT_MS stops kernels that run too long, and only those. */
#include <stdlib.h>

#include "support/host.h"

int main(void) {
  CHECK(setenv("KM_KERNEL_TIMEOUT_MS", "100", 1) == 0);
  host h, other;
  host_open(&h);
  host_open(&other);
  check_works(&h);
  for (int i = 0; i < 3; ++i) {
    launch_plain(&h, "endless", 4, 32);
    check_works(&other);
    uint64_t begin = host_now_ns();
    CHECK_STATUS(KM_ERROR_LAUNCH_TIMEOUT, km_stream_synchronize(h.stream));
    CHECK(host_now_ns() - begin < 10000000000u);
    check_message(&h, "100 ms");
    check_message(&h, "kernel 'endless'");
    OK(km_context_reset(h.context));
    host_load(&h);
    check_works(&h);
  }
  host_close(&h);
  host_close(&other);
  return 0;
}
