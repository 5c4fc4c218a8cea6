/* Page-locked host memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/testing.h"

static void memory_is_usable_and_tells_its_size(void** state) {
  fixture* f = *state;
  km_host_memory memory;
  void* pointer = NULL;
  uint64_t size = 0;
  OK(km_host_memory_create(f->context, 100001, 0, &memory));
  OK(km_host_memory_pointer(memory, &pointer));
  OK(km_host_memory_size_bytes(memory, &size));
  assert_int_equal(size, 100001);
  assert_int_equal((uintptr_t)pointer % 64, 0);
  memset(pointer, 1, size);
  OK(km_host_memory_destroy(memory));
}

static void copies_from_and_to_it_are_right(void** state) {
  fixture* f = *state;
  enum { kSize = 1 << 20 };
  km_host_memory from_memory, to_memory;
  unsigned char *from = NULL, *to = NULL;
  km_slice slice;
  OK(km_host_memory_create(f->context, kSize, 0, &from_memory));
  OK(km_host_memory_create(f->context, kSize, 0, &to_memory));
  OK(km_host_memory_pointer(from_memory, (void**)&from));
  OK(km_host_memory_pointer(to_memory, (void**)&to));
  OK(km_slice_create(f->context, kSize, 1, 0, &slice));
  for (int i = 0; i < kSize; ++i) from[i] = (unsigned char)(i * 7);
  OK(km_slice_upload(f->stream, slice, 0, from, kSize));
  OK(km_slice_download(f->stream, slice, 0, to, kSize));
  OK(km_stream_synchronize(f->stream));
  assert_memory_equal(from, to, kSize);
  /* Queued copies keep what they use. */
  OK(km_slice_upload(f->stream, slice, 0, from, kSize));
  OK(km_host_memory_destroy(from_memory));
  OK(km_slice_destroy(slice));
  OK(km_stream_synchronize(f->stream));
  OK(km_host_memory_destroy(to_memory));
}

static void own_memory_can_be_registered(void** state) {
  fixture* f = *state;
  char* own = malloc(4096);
  km_host_memory memory, again = NULL;
  void* pointer = NULL;
  km_slice slice;
  assert_non_null(own);
  memset(own, 3, 4096);
  OK(km_host_memory_register(f->context, own, 4096, 0, &memory));
  OK(km_host_memory_pointer(memory, &pointer));
  assert_ptr_equal(pointer, own);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_register(f->context, own + 4095, 1, 0, &again));
  expect_message("overlaps memory that is in use already");
  OK(km_slice_create(f->context, 4096, 1, KM_SLICE_ZEROED, &slice));
  OK(km_slice_upload(f->stream, slice, 0, own, 4096));
  memset(pointer, 0, 0);
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_download(f->stream, slice, 4095, own, 1));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(own[0], 3);
  OK(km_host_memory_destroy(memory));
  OK(km_host_memory_register(f->context, own, 4096, 0, &again));
  OK(km_host_memory_destroy(again));
  OK(km_slice_destroy(slice));
  free(own);
}

static void bad_ranges_are_refused(void** state) {
  fixture* f = *state;
  km_host_memory memory = NULL;
  char byte;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_create(f->context, 0, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_create(f->context, 8, 4, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_create(f->context, 8, 0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_register(f->context, NULL, 8, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_register(f->context, &byte, 0, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_register(f->context, &byte, UINT64_MAX, 0, &memory));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_host_memory_create(f->context, (uint64_t)1 << 60, 0, &memory));
  assert_null(memory);
}

static void memory_that_is_not_there_is_refused(void** state) {
  fixture* f = *state;
  enum { kPage = 65536, kPages = 64 };
  const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  km_host_memory memory = NULL;
  char* range = mmap(NULL, kPages * kPage, protection, flags, -1, 0);
  assert_true(range != MAP_FAILED);
  assert_int_equal(munmap(range + 3 * kPage, kPage), 0); /* a hole */
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_register(f->context, range + 3 * kPage, kPage, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_register(f->context, range, kPages * kPage, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_register(f->context, range + 3 * kPage - 1, 2, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_register(f->context, range + 4 * kPage - 1, 2, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_host_memory_register(f->context, (void*)16, 8, 0, &memory));
  assert_null(memory);
  OK(km_host_memory_register(f->context, range + 1, 3 * kPage - 1, 0, &memory));
  OK(km_host_memory_destroy(memory));
  OK(km_host_memory_register(f->context, range + 4 * kPage, 60 * kPage, 0, &memory));
  OK(km_host_memory_destroy(memory));
  munmap(range, kPages * kPage);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_usable_and_tells_its_size),
      cmocka_unit_test(copies_from_and_to_it_are_right),
      cmocka_unit_test(own_memory_can_be_registered),
      cmocka_unit_test(bad_ranges_are_refused),
      cmocka_unit_test(memory_that_is_not_there_is_refused),
  };
  return RUN_ON_DEVICES("host_memory", tests);
}
