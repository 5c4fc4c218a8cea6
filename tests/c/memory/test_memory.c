/* Copies and fills by device address. */
#include <string.h>

#include "support/testing.h"

static uint64_t new_memory(const fixture* f, uint64_t size, km_slice* out_slice) {
  uint64_t address = 0;
  OK(km_slice_create(f->context, size, 1, KM_SLICE_ZEROED, out_slice));
  OK(km_slice_address(*out_slice, &address));
  return address;
}

static void addresses_work_like_slices(void** state) {
  fixture* f = *state;
  km_slice a, b;
  const uint64_t at = new_memory(f, 4096, &a), bt = new_memory(f, 4096, &b);
  unsigned char in[4096], out[4096];
  for (int i = 0; i < 4096; ++i) in[i] = (unsigned char)(i * 13);
  OK(km_memory_upload(f->stream, at, in, sizeof in));
  OK(km_memory_copy(f->stream, bt + 1, at, 4095));
  OK(km_memory_fill_u8(f->stream, bt, 0xEE, 1));
  OK(km_memory_fill_u16(f->stream, bt + 10, 0x1234, 2));
  OK(km_memory_fill_u32(f->stream, bt + 16, 0x89ABCDEF, 3));
  OK(km_memory_download(f->stream, bt, out, sizeof out));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(out[0], 0xEE);
  assert_memory_equal(out + 1, in, 9);
  assert_memory_equal(out + 10, "\x34\x12\x34\x12", 4);
  assert_memory_equal(out + 16, "\xEF\xCD\xAB\x89\xEF\xCD\xAB\x89\xEF\xCD\xAB\x89", 12);
  assert_memory_equal(out + 28, in + 27, 4096 - 28);
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
}

static void bounds_are_those_of_the_allocation(void** state) {
  fixture* f = *state;
  km_slice slice, other;
  const uint64_t at = new_memory(f, 100, &slice), bt = new_memory(f, 100, &other);
  char bytes[128] = "";
  OK(km_memory_upload(f->stream, at + 99, bytes, 1));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_upload(f->stream, at + 99, bytes, 2));
  expect_message("it has 100 bytes, and this is offset 99");
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_upload(f->stream, at + 100, bytes, 1));
  expect_message("lies in no allocation of this context");
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_download(f->stream, at, bytes, 101));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_download(f->stream, at, bytes, UINT64_MAX));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_download(f->stream, 0, bytes, 1));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_download(f->stream, UINT64_MAX, bytes, 1));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_copy(f->stream, at + 1, bt, 100));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_copy(f->stream, at, bt + 1, 100));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_copy(f->stream, at, (uint64_t)(uintptr_t)bytes, 8));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_memory_copy(f->stream, at, at + 10, 11));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_fill_u8(f->stream, at, 0, 101));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_fill_u32(f->stream, at, 0, UINT64_MAX / 2));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_memory_fill_u32(f->stream, at + 2, 0, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_memory_upload(f->stream, at, NULL, 1));
  OK(km_memory_upload(f->stream, 0, NULL, 0));
  OK(km_memory_copy(f->stream, 0, 0, 0));
  OK(km_memory_fill_u8(f->stream, 0, 0, 0));
  OK(km_slice_destroy(slice));
  OK(km_stream_synchronize(f->stream));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_upload(f->stream, at, bytes, 1));
  OK(km_slice_destroy(other));
}

static void memory_of_other_contexts_is_out_of_bounds(void** state) {
  fixture* f = *state;
  km_context other;
  km_slice slice;
  uint64_t address = 0;
  char byte = 0;
  OK(km_context_create(f->device, &other));
  OK(km_slice_create(other, 16, 1, 0, &slice));
  OK(km_slice_address(slice, &address));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_upload(f->stream, address, &byte, 1));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_slice_upload(f->stream, slice, 0, &byte, 1));
  expect_message("destination belongs to another context");
  OK(km_slice_destroy(slice));
  OK(km_context_destroy(other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_work_like_slices),
      cmocka_unit_test(bounds_are_those_of_the_allocation),
      cmocka_unit_test(memory_of_other_contexts_is_out_of_bounds),
  };
  return RUN_ON_DEVICES("memory", tests);
}
