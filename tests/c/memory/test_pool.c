/* Memory pools: reuse in stream order, size classes, limit, trim, figures. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

static km_pool new_pool(const fixture* f, uint64_t limit_bytes) {
  km_pool pool;
  OK(km_pool_create(f->context, limit_bytes, &pool));
  return pool;
}

static km_pool_info info_of(km_pool pool) {
  km_pool_info info = {sizeof info, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  OK(km_pool_info_get(pool, &info));
  return info;
}

static km_slice allocate(km_pool pool, uint64_t size_bytes) {
  km_slice slice;
  OK(km_pool_allocate(pool, size_bytes, 1, 0, &slice));
  return slice;
}

static uint64_t address_of(km_slice slice) {
  uint64_t address = 0;
  OK(km_slice_address(slice, &address));
  return address;
}

static void pool_reuses_blocks(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  uint64_t first = 0;
  for (int round = 0; round < 100; ++round) {
    km_slice slice = allocate(pool, 1000);
    if (round == 0) first = address_of(slice);
    assert_int_equal(address_of(slice), first);
    OK(km_slice_destroy(slice));
  }
  assert_int_equal(info_of(pool).allocation_count, 100);
  assert_int_equal(info_of(pool).reuse_count, 99);
  assert_int_equal(info_of(pool).reserved_bytes, 1024);
  assert_int_equal(info_of(pool).used_bytes, 0);
  OK(km_pool_destroy(pool));
}

static void blocks_are_never_far_larger(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  km_slice slice;
  OK(km_slice_destroy(allocate(pool, 1 << 20))); /* a free block that must not serve small ones */
  for (uint64_t size = 1; size < (1 << 19); size += size / 5 + 1) {
    const uint64_t before = info_of(pool).used_bytes;
    slice = allocate(pool, size);
    const uint64_t block = info_of(pool).used_bytes - before;
    assert_true(block >= size);
    assert_true(block - size < 256 || block - size <= size / 8);
    OK(km_slice_destroy(slice));
  }
  OK(km_pool_destroy(pool));
}

static void pooled_slices_are_slices(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  km_slice slice, view, found = NULL;
  km_slice_info info = {sizeof info, 0, 0, 0, 0, 0};
  uint32_t values[10];
  uint64_t address, offset = 77;
  OK(km_pool_allocate(pool, 10, 4, KM_SLICE_ZEROED, &slice));
  address = address_of(slice);
  assert_int_equal(address % 256, 0);
  OK(km_slice_info_get(slice, &info));
  assert_int_equal(info.size_bytes, 40);
  OK(km_slice_view(slice, 2, 3, &view));
  OK(km_slice_fill_u32(f->stream, view, 0, 7, 3));
  OK(km_memory_download(f->stream, address, values, 40));
  assert_int_equal(values[1], 0);
  assert_int_equal(values[2], 7);
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_download(f->stream, address, values, 41));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u8(f->stream, slice, 40, 0, 1));
  OK(km_context_find_slice(f->context, address + 39, &found, &offset));
  assert_int_equal(offset, 39);
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, address + 40, &found, &offset));
  OK(km_slice_destroy(found));
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(view));
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, address, &found, &offset));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_download(f->stream, address, values, 1));
  OK(km_pool_allocate(pool, 0, 4, 0, &slice));
  assert_int_equal(address_of(slice), 0);
  OK(km_slice_destroy(slice));
  OK(km_pool_destroy(pool));
}

static void zeroed_blocks_are_zero_again(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  unsigned char bytes[3000];
  for (int round = 0; round < 6; ++round) {
    km_slice slice;
    if (round % 2 == 0) {
      OK(km_pool_allocate(pool, sizeof bytes, 1, KM_SLICE_ZEROED, &slice));
    } else {
      OK(km_pool_allocate_on_stream(pool, f->stream, sizeof bytes, 1, KM_SLICE_ZEROED, &slice));
    }
    OK(km_slice_download(f->stream, slice, 0, bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof bytes; ++i) assert_int_equal(bytes[i], 0);
    OK(km_slice_fill_u8(f->stream, slice, 0, 0xFF, sizeof bytes));
    OK(km_stream_synchronize(f->stream));
    OK(km_slice_destroy(slice));
  }
  assert_int_equal(info_of(pool).reuse_count, 5);
  OK(km_pool_destroy(pool));
}

static void wait_in_callback(void* go, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)go)) usleep(100);
}

/* A block freed on stream A is used again on A at once, on B only when A is done with it. */
static void reuse_follows_stream_order(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip(); /* it runs callbacks on the waiting thread */
  km_pool pool = new_pool(f, 0);
  km_stream other;
  km_slice first, second, third;
  uint64_t address;
  uint32_t value = 0;
  atomic_int go = 0;
  OK(km_stream_create(f->context, 0, 0, &other));
  OK(km_pool_allocate_on_stream(pool, f->stream, 64, 4, 0, &first));
  address = address_of(first);
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_slice_fill_u32(f->stream, first, 0, 1, 64));
  OK(km_slice_destroy_on_stream(first, f->stream));
  OK(km_pool_allocate_on_stream(pool, other, 64, 4, 0, &second));
  assert_true(address_of(second) != address);
  OK(km_pool_allocate(pool, 64, 4, 0, &third));
  assert_true(address_of(third) != address);
  OK(km_pool_allocate_on_stream(pool, f->stream, 64, 4, 0, &first));
  assert_int_equal(address_of(first), address);
  OK(km_slice_destroy(third));
  OK(km_slice_fill_u32(f->stream, first, 0, 2, 64));
  OK(km_slice_destroy_on_stream(first, f->stream));
  OK(km_slice_destroy_on_stream(second, other));
  OK(km_pool_trim(pool, 0)); /* what is still used stays */
  assert_int_equal(info_of(pool).reserved_bytes, 256);
  atomic_store(&go, 1);
  OK(km_stream_synchronize(f->stream));
  OK(km_pool_allocate_on_stream(pool, other, 64, 4, 0, &second));
  assert_int_equal(address_of(second), address);
  OK(km_slice_download(other, second, 0, &value, 4));
  assert_int_equal(value, 2);
  OK(km_slice_destroy(second));
  OK(km_stream_destroy(other));
  OK(km_pool_destroy(pool));
}

static void limit_and_figures(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 4096);
  km_slice slices[4], more = NULL;
  km_pool_info info;
  for (int i = 0; i < 4; ++i) slices[i] = allocate(pool, 1024);
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_pool_allocate(pool, 1, 1, 0, &more));
  expect_message("the pool has 4096 bytes reserved, 4096 of them in use, and its limit is 4096");
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_pool_allocate(pool, 8192, 1, 0, &more));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_pool_allocate(pool, UINT64_MAX, 1, 0, &more));
  assert_null(more);
  OK(km_slice_destroy(slices[3]));
  OK(km_slice_destroy(slices[2]));
  more = allocate(pool, 2048); /* the free blocks make room */
  info = info_of(pool);
  assert_int_equal(info.limit_bytes, 4096);
  assert_int_equal(info.reserved_bytes, 4096);
  assert_int_equal(info.used_bytes, 4096);
  assert_int_equal(info.used_block_count, 3);
  assert_int_equal(info.release_threshold_bytes, UINT64_MAX);
  OK(km_slice_destroy(more));
  OK(km_slice_destroy(slices[0]));
  OK(km_slice_destroy(slices[1]));
  OK(km_pool_trim(pool, 0));
  info = info_of(pool);
  assert_int_equal(info.used_bytes, 0);
  assert_int_equal(info.reserved_bytes, 0);
  assert_int_equal(info.used_high_bytes, 4096);
  assert_int_equal(info.reserved_high_bytes, 4096);
  OK(km_pool_reset_high_water(pool));
  info = info_of(pool);
  assert_int_equal(info.used_high_bytes, 0);
  assert_int_equal(info.reserved_high_bytes, 0);
  OK(km_pool_destroy(pool));
}

static void threshold_and_trim_give_memory_back(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  km_slice slices[8], view;
  for (int i = 0; i < 8; ++i) slices[i] = allocate(pool, 1024);
  OK(km_pool_set_release_threshold(pool, 4096));
  assert_int_equal(info_of(pool).reserved_bytes, 8192); /* all are in use */
  OK(km_slice_view(slices[7], 0, 1, &view));
  for (int i = 0; i < 8; ++i) OK(km_slice_destroy(slices[i]));
  assert_int_equal(info_of(pool).reserved_bytes, 4096);
  assert_int_equal(info_of(pool).release_threshold_bytes, 4096);
  OK(km_pool_trim(pool, 2000));
  assert_int_equal(info_of(pool).reserved_bytes, 1024);
  OK(km_pool_set_release_threshold(pool, 0));
  assert_int_equal(info_of(pool).reserved_bytes, 1024); /* the view's */
  OK(km_slice_destroy(view));
  assert_int_equal(info_of(pool).reserved_bytes, 0);
  OK(km_pool_destroy(pool));
}

/* What is over the threshold goes when its work is over, with no call that would see to it. */
static void surplus_in_use_goes_with_its_work(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip(); /* it runs callbacks on the waiting thread */
  enum { SIZE = 64 << 20 };
  atomic_int go = 0;
  km_pool pool = new_pool(f, 0);
  OK(km_pool_set_release_threshold(pool, 0));
  km_slice slice = allocate(pool, SIZE);
  uint64_t before = 0, after = 0, total = 0;
  OK(km_slice_fill_u8(f->stream, slice, 0, 1, SIZE));
  OK(km_stream_synchronize(f->stream));
  OK(km_context_memory_info(f->context, &before, &total));
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_slice_fill_u8(f->stream, slice, 0, 1, SIZE));
  OK(km_slice_destroy(slice));
  assert_int_equal(info_of(pool).reserved_bytes, 0);
  atomic_store(&go, 1);
  for (int i = 0; i < 10000 && after < before + SIZE / 2; ++i) {
    usleep(1000);
    OK(km_context_memory_info(f->context, &after, &total));
  }
  assert_true(after >= before + SIZE / 2);
  /* CUDA's figure may be there before the callback has read `go`. */
  OK(km_stream_synchronize(f->stream));
  OK(km_pool_destroy(pool));
}

/* A block that is pinned, here by a view, is neither used again nor trimmed. */
static void pinned_blocks_stay(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  km_slice slice = allocate(pool, 100), pin, other;
  const uint64_t address = address_of(slice);
  OK(km_slice_view(slice, 0, 100, &pin));
  OK(km_slice_fill_u8(f->stream, pin, 0, 42, 100));
  OK(km_slice_destroy(slice));
  OK(km_pool_trim(pool, 0));
  other = allocate(pool, 100);
  assert_true(address_of(other) != address);
  OK(km_slice_fill_u8(f->stream, other, 0, 0, 100));
  unsigned char byte = 0;
  OK(km_slice_download(f->stream, pin, 99, &byte, 1));
  assert_int_equal(byte, 42);
  OK(km_slice_destroy(pin));
  OK(km_slice_destroy(other));
  OK(km_pool_destroy(pool));
}

static void slices_outlive_their_pool(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  km_slice slice = allocate(pool, 5000);
  unsigned char byte = 0;
  OK(km_slice_destroy(allocate(pool, 5000)));
  OK(km_pool_destroy(pool));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_pool_destroy(pool));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_pool_trim(pool, 0));
  OK(km_slice_fill_u8(f->stream, slice, 0, 9, 5000));
  OK(km_slice_download(f->stream, slice, 4999, &byte, 1));
  assert_int_equal(byte, 9);
  OK(km_slice_destroy(slice));
}

static void wrong_arguments(void** state) {
  fixture* f = *state;
  km_pool pool = new_pool(f, 0);
  km_context context;
  km_stream stream;
  km_slice slice = NULL;
  km_pool_info info = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  OK(km_context_create(f->device, &context));
  OK(km_stream_create(context, 0, 0, &stream));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_create(f->context, 0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_allocate(pool, 1, 0, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_allocate(pool, 1, 1, 2, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_allocate(pool, 1, 1, 0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_allocate(pool, UINT64_MAX, 2, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_info_get(pool, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_pool_info_get(pool, &info));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_pool_allocate_on_stream(pool, stream, 1, 1, 0, &slice));
  OK(km_pool_destroy(pool));
  OK(km_pool_create(context, 0, &pool));
  OK(km_pool_allocate(pool, 100, 1, 0, &slice));
  OK(km_context_reset(context));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_pool_allocate(pool, 1, 1, 0, &slice));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_pool_trim(pool, 0));
  OK(km_slice_destroy(slice));
  OK(km_pool_destroy(pool));
  OK(km_stream_destroy(stream));
  OK(km_context_destroy(context));
}

static void pools_feel_sticky_errors(void** state) {
  fixture* f = *state;
  km_function crash = load_kernel(f, "crash");
  km_pool pool = new_pool(f, 0);
  km_slice slice = NULL;
  OK(km_slice_destroy(allocate(pool, 64)));
  OK(launch(f, crash, 1, 1, NULL, 0));
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  EXPECT_TRAP(f, km_pool_allocate(pool, 64, 1, 0, &slice));
  assert_null(slice);
  OK(km_pool_destroy(pool));
  OK(km_function_destroy(crash));
}

typedef struct churn {
  const fixture* f;
  km_pool pool;
  uint32_t mark;
} churn;

static void* churn_blocks(void* argument) {
  churn* c = argument;
  km_stream stream;
  uint32_t seen = 0;
  uint64_t random = c->mark * UINT64_C(88172645463325252) + 1;
  OK(km_stream_create(c->f->context, 0, 0, &stream));
  for (int round = 0; round < 3000; ++round) {
    km_slice slice;
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const uint64_t count = 1 + (random >> 33) % 600;
    OK(km_pool_allocate_on_stream(c->pool, stream, count, 4, 0, &slice));
    OK(km_slice_fill_u32(stream, slice, 0, c->mark, count));
    OK(km_slice_download(stream, slice, (count - 1) * 4, &seen, 4));
    assert_int_equal(seen, c->mark);
    if (round % 2 == 0) {
      OK(km_slice_destroy(slice));
    } else {
      OK(km_slice_destroy_on_stream(slice, stream));
    }
    if (round % 500 == 0) OK(km_pool_trim(c->pool, 0));
  }
  OK(km_stream_destroy(stream));
  return NULL;
}

static void threads_share_a_pool(void** state) {
  fixture* f = *state;
  churn threads[4];
  pthread_t ids[4];
  km_pool pool = new_pool(f, 0);
  for (uint32_t i = 0; i < 4; ++i) {
    threads[i] = (churn){f, pool, i + 1};
    assert_int_equal(pthread_create(&ids[i], NULL, churn_blocks, &threads[i]), 0);
  }
  for (int i = 0; i < 4; ++i) pthread_join(ids[i], NULL);
  assert_int_equal(info_of(pool).used_bytes, 0);
  assert_true(info_of(pool).reserved_bytes < (1 << 20));
  OK(km_pool_destroy(pool));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pool_reuses_blocks),
      cmocka_unit_test(blocks_are_never_far_larger),
      cmocka_unit_test(pooled_slices_are_slices),
      cmocka_unit_test(zeroed_blocks_are_zero_again),
      cmocka_unit_test(reuse_follows_stream_order),
      cmocka_unit_test(limit_and_figures),
      cmocka_unit_test(threshold_and_trim_give_memory_back),
      cmocka_unit_test(surplus_in_use_goes_with_its_work),
      cmocka_unit_test(pinned_blocks_stay),
      cmocka_unit_test(slices_outlive_their_pool),
      cmocka_unit_test(wrong_arguments),
      FAULTING_TEST(pools_feel_sticky_errors),
      cmocka_unit_test(threads_share_a_pool),
  };
  return RUN_ON_DEVICES("pool", tests);
}
