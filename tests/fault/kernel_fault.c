/* A kernel that faults is an error of its context. The process and other contexts go on. */
#include "support/host.h"

static void check_illegal_address(host* h) {
  km_slice slice = NULL;
  OK(km_slice_create(h->context, 3 << 20, 1, KM_SLICE_DEFAULT, &slice));
  uint64_t address = 0;
  OK(km_slice_address(slice, &address));
  launch_store(h, address + (3 << 20) + 4, 1);
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h->stream));
  check_message(h, "kernel 'store', block (0,0,0)");
  check_message(h, "4 bytes past the end of the 3145728-byte allocation at 0x");
  check_message(h, "faults.ptx:10");
  /* It sticks. */
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_context_synchronize(h->context));
  km_slice other = NULL;
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS,
               km_slice_create(h->context, 1, 1, KM_SLICE_DEFAULT, &other));
  CHECK(other == NULL);
  OK(km_slice_destroy(slice));
}

int main(void) {
  host h, other;
  host_open(&h);
  host_open(&other);
  check_works(&h);
  check_illegal_address(&h);
  check_works(&other);
  OK(km_context_reset(h.context));
  host_load(&h);
  check_works(&h);
  for (int i = 0; i < 20; ++i) { /* near null, again and again */
    launch_store(&h, (uint64_t)i * 4, 1);
    CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
    check_message(&h, "near the null address");
    OK(km_context_reset(h.context));
    host_load(&h);
  }
  launch_plain(&h, "trap", 64, 96);
  CHECK_STATUS(KM_ERROR_TRAP, km_stream_synchronize(h.stream));
  check_message(&h, "faults.ptx:20");
  OK(km_context_reset(h.context));
  host_load(&h);
  launch_store(&h, UINT64_C(0x8000000000000000), 1);
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
  check_works(&other);
  host_close(&h);
  host_close(&other);
  return 0;
}
