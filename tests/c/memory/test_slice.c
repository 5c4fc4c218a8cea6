/* Slices and views. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/testing.h"

static km_slice new_slice(const fixture* f, uint64_t count, uint64_t size) {
  km_slice slice;
  OK(km_slice_create(f->context, count, size, KM_SLICE_ZEROED, &slice));
  return slice;
}

static void info_tells_what_was_asked_for(void** state) {
  fixture* f = *state;
  km_slice slice = new_slice(f, 10, 12), view;
  km_slice_info info = {sizeof info, 9, 0, 0, 0, 0};
  uint64_t address = 0;
  OK(km_slice_info_get(slice, &info));
  OK(km_slice_address(slice, &address));
  assert_int_equal(info.address, address);
  assert_int_equal(address % 256, 0);
  assert_int_equal(info.is_view, 0);
  assert_int_equal(info.element_count, 10);
  assert_int_equal(info.element_size_bytes, 12);
  assert_int_equal(info.size_bytes, 120);
  OK(km_slice_view(slice, 3, 5, &view));
  OK(km_slice_destroy(slice));
  OK(km_slice_info_get(view, &info));
  assert_int_equal(info.address, address + 36);
  assert_int_equal(info.is_view, 1);
  assert_int_equal(info.size_bytes, 60);
  OK(km_slice_destroy(view));
}

static void zeroed_slices_are_zero(void** state) {
  fixture* f = *state;
  const uint64_t sizes[] = {1, 255, 4096, 65537, 3 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    for (int round = 0; round < 3; ++round) { /* memory comes back dirty */
      km_slice slice = new_slice(f, sizes[i], 1);
      unsigned char* bytes = malloc(sizes[i]);
      assert_non_null(bytes);
      OK(km_slice_download(f->stream, slice, 0, bytes, sizes[i]));
      for (uint64_t k = 0; k < sizes[i]; ++k) assert_int_equal(bytes[k], 0);
      OK(km_slice_fill_u8(f->stream, slice, 0, 0xFF, sizes[i]));
      OK(km_stream_synchronize(f->stream));
      OK(km_slice_destroy(slice));
      free(bytes);
    }
  }
}

static void empty_slices_are_allowed(void** state) {
  fixture* f = *state;
  km_slice slice = new_slice(f, 0, 4), view;
  uint64_t address = 77;
  void* pointer = f;
  OK(km_slice_address(slice, &address));
  assert_int_equal(address, 0);
  OK(km_slice_host_pointer(slice, &pointer));
  assert_null(pointer);
  OK(km_slice_upload(f->stream, slice, 0, NULL, 0));
  OK(km_slice_fill_u32(f->stream, slice, 0, 1, 0));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u8(f->stream, slice, 0, 1, 1));
  OK(km_slice_view(slice, 0, 0, &view));
  OK(km_slice_destroy(view));
  OK(km_slice_destroy(slice));
}

static void impossible_sizes_are_refused(void** state) {
  fixture* f = *state;
  km_slice slice = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 0, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, UINT64_MAX, 2, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 1, 4, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 1, 0, NULL));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_slice_create(f->context, (uint64_t)1 << 50, 1, 0, &slice));
  if (!is_fake(f)) {
    expect_message("1125899906842624 bytes (1073741824.0 MiB) asked for");
    expect_message(" free");
  }
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_slice_create(f->context, UINT64_MAX, 1, 0, &slice));
  assert_null(slice);
}

static void copies_and_fills_are_exact(void** state) {
  fixture* f = *state;
  enum { kCount = 5000 };
  static uint16_t in[kCount], out[kCount];
  km_slice a = new_slice(f, kCount, 2), b = new_slice(f, kCount, 2);
  for (int i = 0; i < kCount; ++i) in[i] = (uint16_t)(i * 31);
  OK(km_slice_upload(f->stream, a, 0, in, sizeof in));
  OK(km_slice_copy(f->stream, b, 0, a, 0, sizeof in));
  OK(km_slice_fill_u16(f->stream, b, 20, 0xABCD, 100));
  OK(km_slice_fill_u8(f->stream, b, 221, 0x11, 2));
  OK(km_slice_copy(f->stream, b, 1000, a, 9000, 1000));
  OK(km_slice_download(f->stream, b, 0, out, sizeof out));
  OK(km_stream_synchronize(f->stream));
  for (int i = 0; i < kCount; ++i) {
    uint16_t expected = in[i];
    if (i >= 10 && i < 110) expected = 0xABCD;
    if (i == 110) expected = (uint16_t)((in[i] & 0xFF) | 0x1100);
    if (i == 111) expected = (uint16_t)((in[i] & 0xFF00) | 0x11);
    if (i >= 500 && i < 1000) expected = in[i + 4000];
    assert_int_equal(out[i], expected);
  }
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
}

static void bounds_are_checked(void** state) {
  fixture* f = *state;
  km_slice slice = new_slice(f, 100, 1), other = new_slice(f, 100, 1), view = NULL;
  char bytes[200] = "";
  OK(km_slice_upload(f->stream, slice, 0, bytes, 100));
  OK(km_slice_upload(f->stream, slice, 100, bytes, 0));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload(f->stream, slice, 0, bytes, 101));
  expect_message("101 bytes at offset 0 of the destination reach beyond its 100 bytes");
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload(f->stream, slice, 101, bytes, 0));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_download(f->stream, slice, 50, bytes, 51));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_download(f->stream, slice, UINT64_MAX, bytes, 2));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_download(f->stream, slice, 2, bytes, UINT64_MAX));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_copy(f->stream, slice, 1, other, 0, 100));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_copy(f->stream, slice, 0, other, 1, 100));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u32(f->stream, slice, 0, 0, 26));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u32(f->stream, slice, 0, 0, UINT64_MAX));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_view(slice, 60, 41, &view));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_fill_u32(f->stream, slice, 2, 0, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_fill_u16(f->stream, slice, 1, 0, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_upload(f->stream, slice, 0, NULL, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_download(f->stream, slice, 0, NULL, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy(f->stream, slice, 0, slice, 10, 11));
  expect_message("overlap");
  OK(km_slice_copy(f->stream, slice, 10, slice, 10, 11));
  OK(km_slice_copy(f->stream, slice, 0, slice, 50, 50));
  assert_null(view);
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(other));
}

static void views_see_the_same_memory(void** state) {
  fixture* f = *state;
  km_slice slice = new_slice(f, 100, 4), view;
  uint32_t values[100];
  OK(km_slice_view(slice, 40, 20, &view));
  OK(km_slice_fill_u32(f->stream, view, 0, 9, 20));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u32(f->stream, view, 0, 9, 21));
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  for (int i = 0; i < 100; ++i) assert_int_equal(values[i], i >= 40 && i < 60 ? 9 : 0);
  OK(km_slice_destroy(view));
  OK(km_slice_destroy(slice));
}

static void host_pointers_show_device_memory(void** state) {
  fixture* f = *state;
  km_slice slice = new_slice(f, 4, 4), view;
  uint32_t *all = NULL, *part = NULL;
  const km_status status = km_slice_host_pointer(slice, (void**)&all);
  if (status == KM_ERROR_NOT_SUPPORTED) skip();
  OK(status);
  OK(km_slice_view(slice, 2, 1, &view));
  OK(km_slice_host_pointer(view, (void**)&part));
  assert_ptr_equal(part, all + 2);
  OK(km_slice_fill_u32(f->stream, view, 0, 5, 1));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(all[2], 5);
  OK(km_slice_destroy(view));
  OK(km_slice_destroy(slice));
}

static void count_release(void* user_data) { ++*(atomic_int*)user_data; }

static void wait_for(atomic_int* value, int expected) {
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 5000 && *value != expected; ++i) nanosleep(&pause, NULL);
  assert_int_equal(*value, expected);
}

static void host_memory_becomes_a_slice_without_a_copy(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "scale");
  atomic_int released = 0;
  static float data[1000];
  km_slice slice, overlapping = NULL, view;
  scale_arguments arguments = {0, 2.0f, 1000};
  for (int i = 0; i < 1000; ++i) data[i] = (float)i;
  OK(km_slice_from_host(f->context, data, 1000, 4, count_release, &released, &slice));
  OK(km_slice_address(slice, &arguments.data));
  OK(launch(f, function, 8, 128, &arguments, sizeof arguments));
  OK(km_stream_synchronize(f->stream));
  for (int i = 0; i < 1000; ++i) assert_true(data[i] == (float)(2 * i));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_from_host(f->context, data + 999, 1, 4, count_release, &released, &overlapping));
  assert_null(overlapping);
  assert_int_equal(released, 0);
  OK(km_slice_view(slice, 0, 1, &view));
  OK(km_slice_destroy(slice));
  assert_int_equal(released, 0);
  OK(km_slice_destroy(view));
  wait_for(&released, 1);
  OK(km_slice_from_host(f->context, data, 1000, 4, NULL, NULL, &slice)); /* nobody is told */
  OK(km_slice_destroy(slice));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(released, 1);
  OK(km_function_destroy(function));
}

static void bad_host_ranges_are_refused(void** state) {
  fixture* f = *state;
  km_slice slice = NULL;
  char byte;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_from_host(f->context, NULL, 1, 1, NULL, NULL, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_from_host(f->context, &byte, 0, 1, NULL, NULL, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_from_host(f->context, &byte, 1, 0, NULL, NULL, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_from_host(f->context, &byte, UINT64_MAX, 1, NULL, NULL, &slice));
  assert_null(slice);
}

static void stream_ordered_slices(void** state) {
  fixture* f = *state;
  uint32_t values[64];
  for (int round = 0; round < 50; ++round) {
    km_slice slice;
    OK(km_slice_create_on_stream(f->stream, 64, 4, KM_SLICE_ZEROED, &slice));
    OK(km_slice_fill_u32(f->stream, slice, 0, (uint32_t)round, 32));
    OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
    assert_int_equal(values[31], round);
    assert_int_equal(values[32], 0);
    OK(km_slice_destroy_on_stream(slice, f->stream));
    EXPECT(KM_ERROR_INVALID_HANDLE, km_slice_destroy_on_stream(slice, f->stream));
  }
  OK(km_slice_destroy_on_stream(NULL, f->stream));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_slice_destroy_on_stream(NULL, NULL));
}

static void addresses_are_aligned_as_asked(void** state) {
  fixture* f = *state;
  km_slice slice = NULL;
  for (uint64_t alignment = 1; alignment <= (1 << 22); alignment *= 2) {
    for (uint64_t size = 1; size < 5000000; size = size * 7 + 3) {
      km_slice_info info = {sizeof info, 9, 0, 0, 0, 0};
      unsigned char last = 1;
      OK(km_slice_create_aligned(f->context, size, 1, alignment, KM_SLICE_ZEROED, &slice));
      OK(km_slice_info_get(slice, &info));
      assert_int_equal(info.address % alignment, 0);
      assert_int_equal(info.size_bytes, size);
      OK(km_slice_download(f->stream, slice, size - 1, &last, 1));
      assert_int_equal(last, 0);
      OK(km_slice_fill_u8(f->stream, slice, 0, 0xFF, size));
      EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_fill_u8(f->stream, info.address + size, 0, 1));
      EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_fill_u8(f->stream, info.address - 1, 0, 1));
      OK(km_stream_synchronize(f->stream));
      OK(km_slice_destroy(slice));
    }
  }
  slice = NULL;
  for (uint64_t bad = 0; bad < 100; bad += 3) {
    if (bad != 0 && (bad & (bad - 1)) == 0) continue;
    EXPECT(KM_ERROR_INVALID_ARGUMENT,
           km_slice_create_aligned(f->context, 16, 1, bad, KM_SLICE_DEFAULT, &slice));
  }
  expect_message("expected a power of two");
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_slice_create_aligned(f->context, UINT64_MAX, 1, 4096, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create_aligned(f->context, 1, 0, 16, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create_aligned(f->context, 1, 1, 16, 2, &slice));
  assert_null(slice);
  OK(km_slice_create_aligned(f->context, 0, 1, 4096, 0, &slice));
  OK(km_slice_destroy(slice));
}

static void pitched_slices(void** state) {
  fixture* f = *state;
  km_slice slice = NULL;
  km_slice_info info = {sizeof info, 9, 0, 0, 0, 0};
  uint64_t pitch = 77;
  OK(km_slice_create_pitched(f->context, 1000, 7, KM_SLICE_ZEROED, &slice, &pitch));
  OK(km_slice_info_get(slice, &info));
  assert_int_equal(pitch, 1024);
  assert_int_equal(info.size_bytes, 7 * 1024);
  assert_int_equal(info.address % 256, 0);
  OK(km_slice_destroy(slice));
  OK(km_slice_create_pitched(f->context, 0, 7, 0, &slice, &pitch));
  assert_int_equal(pitch, 0);
  OK(km_slice_destroy(slice));
  slice = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_create_pitched(f->context, UINT64_MAX, 2, 0, &slice, &pitch));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create_pitched(f->context, (uint64_t)1 << 40,
                                                            (uint64_t)1 << 40, 0, &slice, &pitch));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create_pitched(f->context, 1, 1, 0, &slice, NULL));
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_slice_create_pitched(f->context, (uint64_t)1 << 40, 1 << 20, 0, &slice, &pitch));
  assert_null(slice);
  assert_int_equal(pitch, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(info_tells_what_was_asked_for),
      cmocka_unit_test(zeroed_slices_are_zero),
      cmocka_unit_test(empty_slices_are_allowed),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(copies_and_fills_are_exact),
      cmocka_unit_test(bounds_are_checked),
      cmocka_unit_test(views_see_the_same_memory),
      cmocka_unit_test(host_pointers_show_device_memory),
      cmocka_unit_test(host_memory_becomes_a_slice_without_a_copy),
      cmocka_unit_test(bad_host_ranges_are_refused),
      cmocka_unit_test(stream_ordered_slices),
      cmocka_unit_test(addresses_are_aligned_as_asked),
      cmocka_unit_test(pitched_slices),
  };
  return RUN_ON_DEVICES("slice", tests);
}
