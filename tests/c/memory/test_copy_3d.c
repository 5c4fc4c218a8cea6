/* Copies and fills with pitches: rows and layers, bounds, overlaps. */
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

enum { ARRAY_BYTES = 1 << 16 };

typedef struct arrays {
  km_slice device, other;
  unsigned char host[ARRAY_BYTES], expected[ARRAY_BYTES], seen[ARRAY_BYTES];
} arrays;

static arrays* new_arrays(const fixture* f) {
  arrays* a = malloc(sizeof *a);
  assert_non_null(a);
  OK(km_slice_create(f->context, ARRAY_BYTES, 1, KM_SLICE_ZEROED, &a->device));
  OK(km_slice_create(f->context, ARRAY_BYTES, 1, KM_SLICE_ZEROED, &a->other));
  for (int i = 0; i < ARRAY_BYTES; ++i) a->host[i] = (unsigned char)(i * 7 + (i >> 8));
  memset(a->expected, 0, ARRAY_BYTES);
  memset(a->seen, 0, ARRAY_BYTES);
  return a;
}

static void free_arrays(arrays* a) {
  OK(km_slice_destroy(a->device));
  OK(km_slice_destroy(a->other));
  free(a);
}

static uint64_t or_else(uint64_t value, uint64_t otherwise) {
  return value != 0 ? value : otherwise;
}

/* What a copy means, byte by byte. */
static void copy_slowly(unsigned char* to, const unsigned char* from, const km_copy_3d* c) {
  const uint64_t to_pitch = or_else(c->destination_pitch_bytes, c->width_bytes);
  const uint64_t from_pitch = or_else(c->source_pitch_bytes, c->width_bytes);
  for (uint64_t z = 0; z < c->depth; ++z) {
    for (uint64_t y = 0; y < c->height; ++y) {
      const uint64_t to_row = z * or_else(c->destination_layer_rows, c->height) + y;
      const uint64_t from_row = z * or_else(c->source_layer_rows, c->height) + y;
      for (uint64_t x = 0; x < c->width_bytes; ++x) {
        to[c->destination_offset_bytes + to_row * to_pitch + x] =
            from[c->source_offset_bytes + from_row * from_pitch + x];
      }
    }
  }
}

static void check_copy(const fixture* f, arrays* a, const km_copy_3d* c) {
  OK(km_slice_fill_u8(f->stream, a->device, 0, 0, ARRAY_BYTES));
  memset(a->expected, 0, ARRAY_BYTES);
  OK(km_slice_upload_3d(f->stream, a->device, a->host, c));
  copy_slowly(a->expected, a->host, c);
  OK(km_slice_download(f->stream, a->device, 0, a->seen, ARRAY_BYTES));
  assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);

  OK(km_slice_upload(f->stream, a->other, 0, a->host, ARRAY_BYTES));
  OK(km_slice_fill_u8(f->stream, a->device, 0, 0, ARRAY_BYTES));
  OK(km_slice_copy_3d(f->stream, a->device, a->other, c));
  OK(km_slice_download(f->stream, a->device, 0, a->seen, ARRAY_BYTES));
  assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);

  memset(a->seen, 0, ARRAY_BYTES);
  OK(km_slice_download_3d(f->stream, a->other, a->seen, c));
  assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);
}

static void pictures_and_volumes(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  const km_copy_3d cases[] = {
      {16, 4, 1, 0, 0, 0, 0, 0, 0},         {16, 4, 2, 0, 0, 0, 0, 0, 0},
      {5, 7, 1, 3, 100, 0, 11, 32, 0},      {1, 50, 1, 0, 3, 0, 2, 2, 0},
      {33, 9, 5, 64, 40, 12, 1, 37, 9},     {33, 9, 5, 64, 33, 9, 1, 37, 10},
      {640, 60, 1, 0, 1024, 0, 0, 1000, 0}, {64, 1, 9, 0, 64, 3, 0, 64, 2},
      {60000, 1, 1, 7, 0, 0, 9, 0, 0},      {200, 1, 1, 7, 300, 5, 9, 400, 5},
      {0, 4, 4, 0, 0, 0, 0, 0, 0},          {4, 0, 4, 0, 0, 0, 0, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) check_copy(f, a, &cases[i]);
  free_arrays(a);
}

static void random_shapes(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  srand(7);
  for (int round = 0; round < 300; ++round) {
    km_copy_3d c = {1 + (uint64_t)rand() % 60,
                    1 + (uint64_t)rand() % 12,
                    1 + (uint64_t)rand() % 5,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0};
    c.destination_offset_bytes = (uint64_t)rand() % 100;
    c.destination_pitch_bytes = c.width_bytes + (uint64_t)rand() % 3 * 20;
    c.destination_layer_rows = c.height + (uint64_t)rand() % 3;
    c.source_offset_bytes = (uint64_t)rand() % 100;
    c.source_pitch_bytes = c.width_bytes + (uint64_t)rand() % 3 * 20;
    c.source_layer_rows = c.height + (uint64_t)rand() % 3;
    check_copy(f, a, &c);
  }
  free_arrays(a);
}

static void by_address_and_page_locked(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  const km_copy_3d c = {100, 20, 2, 10, 256, 30, 5, 128, 20};
  km_host_memory memory;
  void* pinned;
  uint64_t device, other;
  OK(km_host_memory_create(f->context, ARRAY_BYTES, 0, &memory));
  OK(km_host_memory_pointer(memory, &pinned));
  memcpy(pinned, a->host, ARRAY_BYTES);
  OK(km_slice_address(a->device, &device));
  OK(km_slice_address(a->other, &other));
  copy_slowly(a->expected, a->host, &c);
  OK(km_memory_upload_3d(f->stream, device, pinned, &c));
  OK(km_memory_download(f->stream, device, a->seen, ARRAY_BYTES));
  assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);
  OK(km_memory_upload(f->stream, other, a->host, ARRAY_BYTES));
  OK(km_memory_fill_u8(f->stream, device, 0, ARRAY_BYTES));
  OK(km_memory_copy_3d(f->stream, device, other, &c));
  OK(km_stream_synchronize(f->stream));
  memset(pinned, 0, ARRAY_BYTES);
  OK(km_memory_download_3d(f->stream, other, pinned, &c));
  OK(km_stream_synchronize(f->stream));
  assert_memory_equal(pinned, a->expected, ARRAY_BYTES);
  OK(km_memory_download(f->stream, device, a->seen, ARRAY_BYTES));
  assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);
  OK(km_host_memory_destroy(memory));
  free_arrays(a);
}

static void large_copies_use_all_threads(void** state) {
  fixture* f = *state;
  enum { kWidth = 3000, kHeight = 4000, kPitch = 4096 };
  const km_copy_3d up = {kWidth, kHeight, 1, 0, kPitch, 0, 0, 0, 0};
  const km_copy_3d down = {kWidth, kHeight, 1, 0, 0, 0, 0, kPitch, 0};
  unsigned char* in = malloc(kWidth * kHeight);
  unsigned char* out = calloc(kWidth, kHeight);
  km_slice slice;
  uint64_t pitch = 0;
  assert_non_null(in);
  assert_non_null(out);
  for (int i = 0; i < kWidth * kHeight; ++i) in[i] = (unsigned char)(i ^ i >> 11);
  OK(km_slice_create_pitched(f->context, kWidth, kHeight, 0, &slice, &pitch));
  assert_int_equal(pitch, 3072);
  OK(km_slice_destroy(slice));
  OK(km_slice_create_pitched(f->context, kPitch, kHeight, 0, &slice, &pitch));
  assert_int_equal(pitch, kPitch);
  OK(km_slice_upload_3d(f->stream, slice, in, &up));
  OK(km_slice_download_3d(f->stream, slice, out, &down));
  assert_memory_equal(in, out, kWidth * kHeight);
  OK(km_slice_destroy(slice));
  free(in);
  free(out);
}

static void rows_beyond_the_end_are_refused(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  km_copy_3d c = {100, 10, 1, ARRAY_BYTES - 9 * 200 - 100, 200, 0, 0, 0, 0};
  const uint64_t huge[] = {UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 60};
  OK(km_slice_upload_3d(f->stream, a->device, a->host, &c)); /* the last row just fits */
  ++c.destination_offset_bytes;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload_3d(f->stream, a->device, a->host, &c));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_copy_3d(f->stream, a->device, a->other, &c));
  c.source_offset_bytes = c.destination_offset_bytes;
  c.source_pitch_bytes = 200;
  c.destination_offset_bytes = 0;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_download_3d(f->stream, a->device, a->seen, &c));
  for (int i = 0; i < 3; ++i) {
    km_copy_3d d = {1, 1, 1, 0, 0, 0, 0, 0, 0};
    d.destination_offset_bytes = huge[i];
    EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload_3d(f->stream, a->device, a->host, &d));
    EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_memory_upload_3d(f->stream, 4096, a->host, &d));
    d.destination_offset_bytes = 0;
    d.height = d.depth = 5;
    d.destination_pitch_bytes = huge[i];
    EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload_3d(f->stream, a->device, a->host, &d));
    d.destination_pitch_bytes = 0;
    d.destination_layer_rows = huge[i];
    EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload_3d(f->stream, a->device, a->host, &d));
    d = (km_copy_3d){huge[i], huge[i], huge[i], 0, 0, 0, 0, 0, 0};
    EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_upload_3d(f->stream, a->device, a->host, &d));
    EXPECT(KM_ERROR_OUT_OF_BOUNDS,
           km_slice_fill_2d(f->stream, a->device, 0, huge[i] & ~(uint64_t)3, 0, 4, 1, 4));
  }
  OK(km_slice_download(f->stream, a->device, 0, a->seen, 1));
  free_arrays(a);
}

static void rows_must_not_run_into_each_other(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  km_copy_3d c = {100, 10, 2, 0, 99, 0, 0, 0, 0};
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_upload_3d(f->stream, a->device, a->host, &c));
  expect_message("destination_pitch_bytes is 99, less than the width of 100 bytes");
  c.destination_pitch_bytes = 0;
  c.source_layer_rows = 9;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_upload_3d(f->stream, a->device, a->host, &c));
  expect_message("source_layer_rows is 9, less than the height of 10");
  c.source_layer_rows = 0;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_upload_3d(f->stream, a->device, NULL, &c));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_download_3d(f->stream, a->device, NULL, &c));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_upload_3d(f->stream, a->device, a->host, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_memory_copy_3d(f->stream, 0, 0, NULL));
  free_arrays(a);
}

/* Within one slice: the halves of a picture may be exchanged, rows on top of each other not. */
static void overlaps_are_found_row_by_row(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  km_copy_3d c = {50, 20, 1, 50, 100, 0, 0, 100, 0};
  OK(km_slice_upload(f->stream, a->device, 0, a->host, ARRAY_BYTES));
  memcpy(a->expected, a->host, ARRAY_BYTES);
  OK(km_slice_copy_3d(f->stream, a->device, a->device, &c));
  copy_slowly(a->expected, a->expected, &c);
  OK(km_slice_download(f->stream, a->device, 0, a->seen, ARRAY_BYTES));
  assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);
  c.destination_offset_bytes = 49;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy_3d(f->stream, a->device, a->device, &c));
  expect_message("overlap");
  c.destination_offset_bytes = 19 * 100 + 49;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy_3d(f->stream, a->device, a->device, &c));
  c.destination_offset_bytes = 0;
  c.source_offset_bytes = 5;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy_3d(f->stream, a->device, a->device, &c));
  c = (km_copy_3d){10, 30, 1, 9, 33, 0, 0, 99, 0}; /* different pitches */
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy_3d(f->stream, a->device, a->device, &c));
  c.source_pitch_bytes = 66;
  c.destination_offset_bytes = 11;
  OK(km_slice_copy_3d(f->stream, a->device, a->device, &c));
  c = (km_copy_3d){8, 1, 1, 4, 0, 0, 0, 0, 0};
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy_3d(f->stream, a->device, a->device, &c));
  free_arrays(a);
}

static void rows_are_filled(void** state) {
  fixture* f = *state;
  arrays* a = new_arrays(f);
  const uint32_t value = 0x11223344;
  uint64_t address = 0;
  OK(km_slice_address(a->device, &address));
  for (uint32_t size = 1; size <= 4; size *= 2) {
    memset(a->expected, 0, ARRAY_BYTES);
    OK(km_slice_fill_u8(f->stream, a->device, 0, 0, ARRAY_BYTES));
    OK(km_slice_fill_2d(f->stream, a->device, 40, 100, value, size, 20, 30));
    for (int y = 0; y < 30; ++y) {
      for (uint32_t x = 0; x < 20; ++x) memcpy(a->expected + 40 + y * 100 + x * size, &value, size);
    }
    OK(km_memory_fill_2d(f->stream, address + 8000, 0, value, size, 20, 30));
    for (uint32_t x = 0; x < 600; ++x) memcpy(a->expected + 8000 + x * size, &value, size);
    OK(km_slice_download(f->stream, a->device, 0, a->seen, ARRAY_BYTES));
    assert_memory_equal(a->seen, a->expected, ARRAY_BYTES);
  }
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_fill_2d(f->stream, a->device, 0, 0, 0, 3, 1, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_fill_2d(f->stream, a->device, 0, 8, 0, 4, 3, 2));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_fill_2d(f->stream, a->device, 0, 14, 0, 4, 3, 2));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_fill_2d(f->stream, a->device, 2, 16, 0, 4, 3, 2));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_slice_fill_2d(f->stream, a->device, ARRAY_BYTES - 27, 16, 0, 1, 12, 2));
  OK(km_slice_fill_2d(f->stream, a->device, ARRAY_BYTES - 28, 16, 0, 1, 12, 2));
  OK(km_slice_fill_2d(f->stream, a->device, 0, 0, 0, 4, 0, 9));
  free_arrays(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pictures_and_volumes),
      cmocka_unit_test(random_shapes),
      cmocka_unit_test(by_address_and_page_locked),
      cmocka_unit_test(large_copies_use_all_threads),
      cmocka_unit_test(rows_beyond_the_end_are_refused),
      cmocka_unit_test(rows_must_not_run_into_each_other),
      cmocka_unit_test(overlaps_are_found_row_by_row),
      cmocka_unit_test(rows_are_filled),
  };
  return RUN_ON_DEVICES("copy_3d", tests);
}
