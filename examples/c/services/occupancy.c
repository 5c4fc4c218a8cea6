/* Occupancy: how many blocks a multiprocessor holds, what limits it, and the best block size. */
#include <stdio.h>

#include "session.h"

/* Each thread wants 64 bytes of shared memory. */
static uint64_t shared_of(void* user_data, uint32_t block_threads) {
  (void)user_data;
  return block_threads * (uint64_t)64;
}

int main(void) {
  const char* limits[] = {"", "warps", "registers", "shared memory", "blocks"};
  session s = open_session();
  uint32_t threads = 0, blocks = 0;
  uint64_t left = 0;
  km_occupancy found = {.struct_size = sizeof found};
  for (uint64_t shared = 0; shared <= 48 << 10; shared += 16 << 10) {
    check(km_function_occupancy(s.scale, 256, shared, &found));
    printf("256 threads, %2llu KiB: %u blocks, %u %%, limited by %s\n",
           (unsigned long long)(shared >> 10), found.active_blocks, found.percent,
           limits[found.limit]);
    require(found.active_blocks >= 1, "such a block fits");
  }
  check(km_function_best_block(s.scale, 0, shared_of, NULL, 0, &threads, &blocks));
  printf("best: %u blocks of %u threads\n", blocks, threads);
  require(threads % 32 == 0 && blocks > 0, "whole warps");
  check(km_function_available_shared_bytes(s.scale, 2, 256, &left));
  printf("two blocks of 256 threads can have %llu bytes each\n", (unsigned long long)left);
  close_session(&s);
  return 0;
}
