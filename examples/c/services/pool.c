/* A pool of device memory: blocks are used again, in the order of a stream, up to a limit. */
#include <stdio.h>

#include "session.h"

enum { kCount = 100000, kRounds = 100 };

int main(void) {
  session s = open_session();
  km_pool pool;
  km_pool_info info = {.struct_size = sizeof info};
  km_slice slice, too_large = NULL;
  check(km_pool_create(s.context, 16 << 20, &pool));
  for (int i = 0; i < kRounds; ++i) {
    check(
        km_pool_allocate_on_stream(pool, s.stream, kCount, sizeof(float), KM_SLICE_ZEROED, &slice));
    queue_scale(&s, slice, 2, kCount);
    check(km_slice_destroy_on_stream(slice, s.stream)); /* free once the kernel is done */
  }
  check(km_stream_synchronize(s.stream));
  check(km_pool_info_get(pool, &info));
  printf("%llu allocations took %llu bytes from the device\n",
         (unsigned long long)info.allocation_count, (unsigned long long)info.reserved_high_bytes);
  require(info.allocation_count == kRounds, "every allocation counts");
  require(info.reuse_count >= kRounds - 2, "blocks are used again");
  require(km_pool_allocate(pool, 32 << 20, 1, 0, &too_large) == KM_ERROR_OUT_OF_DEVICE_MEMORY,
          "the limit holds");
  check(km_pool_trim(pool, 0));
  check(km_pool_info_get(pool, &info));
  require(info.reserved_bytes == 0, "trimming gives all free blocks back");
  check(km_pool_destroy(pool));
  close_session(&s);
  return 0;
}
