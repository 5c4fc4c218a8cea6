/* A device with little memory: what is beyond it is a status, and managed and page-locked memory is
 * the machine's. */
#include <stdlib.h>

#include "support/testing.h"

static const uint64_t mib = 1 << 20, limit_mib = 256;

static void what_is_beyond_is_a_status(void** state) {
  fixture* f = *state;
  if (is_fake(f) || is_cuda(f)) skip();
  km_slice most, more = NULL;
  uint64_t free = 0, total = 0;
  assert_int_equal(f->info.total_memory_bytes, limit_mib * mib);
  OK(km_context_memory_info(f->context, &free, &total));
  assert_int_equal(total, limit_mib * mib);
  assert_true(free <= total);
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_slice_create(f->context, (limit_mib + 1) * mib, 1, 0, &more));
  OK(km_slice_create(f->context, (limit_mib - 16) * mib, 1, 0, &most));
  OK(km_context_memory_info(f->context, &free, &total));
  assert_true(free <= 16 * mib);
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_slice_create(f->context, 17 * mib, 1, 0, &more));
  expect_message("KM_CPU_MEMORY_MIB");
  OK(km_slice_destroy(most));
  OK(km_slice_create(f->context, 17 * mib, 1, 0, &more));
  OK(km_slice_destroy(more));
}

/* As with CUDA, a device's memory does not bound them; the machine's does. */
static void managed_and_host_memory_is_the_machines(void** state) {
  fixture* f = *state;
  if (is_fake(f) || is_cuda(f)) skip();
  km_slice device, managed;
  km_host_memory host;
  uint64_t before = 0, after = 0, total = 0;
  OK(km_context_memory_info(f->context, &before, &total));
  OK(km_slice_create(f->context, (limit_mib + 16) * mib, 1, KM_SLICE_MANAGED, &managed));
  OK(km_host_memory_create(f->context, (limit_mib + 16) * mib, 0, &host));
  OK(km_context_memory_info(f->context, &after, &total));
  assert_true(after == before || after < total); /* the machine may have less now */
  OK(km_slice_create(f->context, (limit_mib - 1) * mib, 1, 0, &device));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_slice_create(f->context, (uint64_t)1 << 46, 1, KM_SLICE_MANAGED, &managed));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_host_memory_create(f->context, (uint64_t)1 << 46, 0, &host));
  OK(km_slice_destroy(device));
  OK(km_slice_destroy(managed));
  OK(km_host_memory_destroy(host));
  OK(km_slice_create(f->context, (limit_mib - 1) * mib, 1, 0, &device)); /* the count is right */
  OK(km_slice_destroy(device));
}

static void pools_have_the_devices_limit(void** state) {
  fixture* f = *state;
  if (is_fake(f) || is_cuda(f)) skip();
  km_pool pool;
  km_slice slice, more;
  OK(km_pool_create(f->context, 0, &pool));
  OK(km_pool_allocate(pool, 128 * mib, 1, 0, &slice));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_pool_allocate(pool, limit_mib * mib, 1, 0, &more));
  OK(km_slice_destroy(slice));
  OK(km_pool_allocate(pool, limit_mib * mib, 1, 0, &more)); /* free blocks make room */
  OK(km_slice_destroy(more));
  OK(km_pool_destroy(pool));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_beyond_is_a_status),
      cmocka_unit_test(managed_and_host_memory_is_the_machines),
      cmocka_unit_test(pools_have_the_devices_limit),
  };
  if (setenv("KM_CPU_MEMORY_MIB", "256", 1) != 0) return 1; /* before the library is used */
  return RUN_ON_DEVICES("memory_limit", tests);
}
