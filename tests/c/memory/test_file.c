/* Mapped files: as slices and as host memory, read-only and private. What becomes shorter meanwhile
 * is in tests/fault, because CMocka has the signals here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/testing.h"

enum { FILE_BYTES = 1 << 20 };

/* A file whose 32-bit words are their numbers; goes with the test. */
typedef struct file {
  char path[64];
} file;

static file new_file(uint64_t size_bytes) {
  file made = {"/tmp/kernelmill-test-XXXXXX"};
  const int descriptor = mkstemp(made.path);
  assert_true(descriptor >= 0);
  for (uint32_t i = 0; i < size_bytes / 4; i += 1024) {
    uint32_t words[1024];
    for (uint32_t k = 0; k < 1024; ++k) words[k] = i + k;
    assert_int_equal(write(descriptor, words, sizeof words), sizeof words);
  }
  assert_int_equal(close(descriptor), 0);
  return made;
}

static void remove_file(const file* f) { assert_int_equal(unlink(f->path), 0); }

static uint32_t word_in_file(const file* f, uint64_t index) {
  uint32_t word = 0;
  FILE* stream = fopen(f->path, "rb");
  assert_non_null(stream);
  assert_int_equal(fseek(stream, (long)(index * 4), SEEK_SET), 0);
  assert_int_equal(fread(&word, 4, 1, stream), 1);
  assert_int_equal(fclose(stream), 0);
  return word;
}

/* Skips the test where the device can use no read-only mapping: a GPU that neither locks pages of
 * files nor reads pageable memory, or not so many of them. */
static void need_mapping(const fixture* f, const file* data) {
  km_slice slice;
  const km_status status =
      km_slice_map_file(f->context, data->path, 0, UINT64_MAX, 4, KM_MAP_READ_ONLY, &slice);
  if (is_cuda(f) && status != KM_SUCCESS) {
    if (status != KM_ERROR_OUT_OF_DEVICE_MEMORY) EXPECT(KM_ERROR_NOT_SUPPORTED, status);
    if (status == KM_ERROR_NOT_SUPPORTED) expect_message("its pages cannot be locked");
    remove_file(data);
    skip();
  }
  EXPECT(KM_SUCCESS, status);
  OK(km_slice_destroy(slice));
}

static void files_are_slices(void** state) {
  fixture* f = *state;
  file data = new_file(FILE_BYTES);
  need_mapping(f, &data);
  km_slice slice, copy, batch;
  km_slice_info info = {sizeof info, 0, 0, 0, 0, 0};
  uint32_t words[4];
  OK(km_slice_map_file(f->context, data.path, 0, UINT64_MAX, 4, KM_MAP_READ_ONLY, &slice));
  OK(km_slice_info_get(slice, &info));
  assert_int_equal(info.element_count, FILE_BYTES / 4);
  OK(km_slice_create(f->context, FILE_BYTES / 4, 4, 0, &copy));
  OK(km_slice_copy(f->stream, copy, 0, slice, 0, FILE_BYTES));
  OK(km_slice_download(f->stream, copy, 4000, words, 16));
  for (uint32_t i = 0; i < 4; ++i) assert_int_equal(words[i], 1000 + i);
  OK(km_slice_view(slice, 2000, 100, &batch)); /* a batch of the data, without a copy */
  OK(km_slice_destroy(slice));
  OK(km_slice_download(f->stream, batch, 8, words, 16));
  for (uint32_t i = 0; i < 4; ++i) assert_int_equal(words[i], 2002 + i);
  OK(km_slice_destroy(batch));
  OK(km_slice_destroy(copy));
  /* A part that begins within a page. */
  OK(km_slice_map_file(f->context, data.path, 5000, 10, 4, KM_MAP_READ_ONLY, &slice));
  OK(km_slice_download(f->stream, slice, 0, words, 16));
  assert_int_equal(words[0], 1250);
  OK(km_slice_info_get(slice, &info));
  assert_int_equal(info.size_bytes, 40);
  OK(km_slice_destroy(slice));
  remove_file(&data);
}

static void read_only_files_are_not_written(void** state) {
  fixture* f = *state;
  file data = new_file(FILE_BYTES);
  need_mapping(f, &data);
  km_slice slice, other;
  uint32_t word = 7;
  const km_copy_3d rows = {4, 2, 1, 0, 64, 0, 0, 4, 0};
  OK(km_slice_map_file(f->context, data.path, 0, UINT64_MAX, 4, KM_MAP_READ_ONLY, &slice));
  OK(km_slice_create(f->context, 16, 4, KM_SLICE_ZEROED, &other));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_slice_upload(f->stream, slice, 0, &word, 4));
  expect_message("read-only");
  EXPECT(KM_ERROR_NOT_PERMITTED, km_slice_fill_u32(f->stream, slice, 0, 1, 1));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_slice_fill_2d(f->stream, slice, 0, 64, 1, 4, 1, 2));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_slice_copy(f->stream, slice, 0, other, 0, 4));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_slice_copy_3d(f->stream, slice, other, &rows));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_slice_upload_3d(f->stream, slice, data.path, &rows));
  OK(km_slice_download(f->stream, slice, 0, &word, 4));
  assert_int_equal(word, 0);
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(other));
  remove_file(&data);
}

static void private_files_keep_changes_to_themselves(void** state) {
  fixture* f = *state;
  file data = new_file(FILE_BYTES);
  km_function function = load_kernel(f, "fill_index");
  km_slice slice;
  uint32_t* words = NULL;
  fill_index_arguments arguments = {0, 100000, 1000};
  OK(km_slice_map_file(f->context, data.path, 0, UINT64_MAX, 4, KM_MAP_PRIVATE, &slice));
  OK(km_slice_address(slice, &arguments.out));
  OK(launch(f, function, 8, 128, &arguments, sizeof arguments));
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_host_pointer(slice, (void**)&words));
  assert_int_equal(words[999], 100999);
  assert_int_equal(words[1000], 1000);
  assert_int_equal(word_in_file(&data, 999), 999);
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(function));
  remove_file(&data);
}

static void files_may_be_larger_than_memory(void** state) {
#if defined(__SANITIZE_THREAD__)
  skip(); /* its shadow leaves no 4 TiB of addresses */
#elif defined(KM_TEST_EMULATED)
  skip(); /* the emulator's table of 4 TiB of pages takes 20 GB */
#endif
  fixture* f = *state;
  file data = new_file(4096);
  const uint64_t size = ((uint64_t)1 << 32) * 1024; /* 4 TiB with a hole */
  km_slice slice, last;
  uint32_t word = 77;
  if (truncate(data.path, (off_t)size) != 0) {
    remove_file(&data);
    skip(); /* the file system has no such files */
  }
  need_mapping(f, &data);
  OK(km_slice_map_file(f->context, data.path, 0, UINT64_MAX, 4, KM_MAP_READ_ONLY, &slice));
  OK(km_slice_view(slice, size / 4 - 1, 1, &last));
  OK(km_slice_download(f->stream, last, 0, &word, 4));
  assert_int_equal(word, 0);
  OK(km_slice_download(f->stream, slice, 400, &word, 4));
  assert_int_equal(word, 100);
  OK(km_slice_destroy(last));
  OK(km_slice_destroy(slice));
  remove_file(&data);
}

static void files_are_host_memory(void** state) {
  fixture* f = *state;
  file data = new_file(FILE_BYTES);
  need_mapping(f, &data);
  km_host_memory memory;
  km_slice slice;
  void* pointer = NULL;
  uint64_t size = 0;
  uint32_t word = 0;
  OK(km_host_memory_map_file(f->context, data.path, 4096, UINT64_MAX, KM_MAP_READ_ONLY, &memory));
  OK(km_host_memory_size_bytes(memory, &size));
  assert_int_equal(size, FILE_BYTES - 4096);
  OK(km_host_memory_pointer(memory, &pointer));
  assert_int_equal(((uint32_t*)pointer)[3], 1027);
  OK(km_slice_create(f->context, size, 1, 0, &slice));
  OK(km_slice_upload(f->stream, slice, 0, pointer, size));
  OK(km_slice_download(f->stream, slice, size - 4, &word, 4));
  assert_int_equal(word, FILE_BYTES / 4 - 1);
  OK(km_slice_destroy(slice));
  OK(km_host_memory_destroy(memory));
  OK(km_host_memory_map_file(f->context, data.path, 8, 8, KM_MAP_PRIVATE, &memory));
  OK(km_host_memory_pointer(memory, &pointer));
  ((uint32_t*)pointer)[0] = 99;
  assert_int_equal(word_in_file(&data, 2), 2);
  OK(km_host_memory_destroy(memory));
  remove_file(&data);
}

static void wrong_files_and_parts(void** state) {
  fixture* f = *state;
  file data = new_file(4096), empty = new_file(0);
  km_slice slice = NULL;
  km_host_memory memory = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_map_file(f->context, NULL, 0, 1, 1, KM_MAP_READ_ONLY, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_map_file(f->context, data.path, 0, 1, 1, KM_MAP_READ_ONLY, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_map_file(f->context, data.path, 0, 1, 1, 2, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_map_file(f->context, data.path, 0, 1, 0, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_map_file(f->context, data.path, 0, UINT64_MAX / 2, 4, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_map_file(f->context, empty.path, 0, UINT64_MAX, 4, 0, &slice));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_slice_map_file(f->context, data.path, 4096, UINT64_MAX, 4, 0, &slice));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_map_file(f->context, data.path, 0, 1025, 4, 0, &slice));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_slice_map_file(f->context, data.path, 4097, UINT64_MAX, 4, 0, &slice));
  EXPECT(KM_ERROR_NOT_FOUND,
         km_slice_map_file(f->context, "/nowhere/at/all", 0, UINT64_MAX, 4, 0, &slice));
  EXPECT(KM_ERROR_IO, km_slice_map_file(f->context, "/tmp", 0, UINT64_MAX, 4, 0, &slice));
  EXPECT(KM_ERROR_NOT_FOUND,
         km_host_memory_map_file(f->context, "/nowhere/at/all", 0, UINT64_MAX, 0, &memory));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_host_memory_map_file(f->context, data.path, 1, 4096, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_map_file(f->context, data.path, 0, 0, 0, &memory));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_host_memory_map_file(f->context, data.path, 0, 1, 8, &memory));
  assert_null(slice);
  assert_null(memory);
  remove_file(&data);
  remove_file(&empty);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_slices),
      cmocka_unit_test(read_only_files_are_not_written),
      cmocka_unit_test(private_files_keep_changes_to_themselves),
      cmocka_unit_test(files_may_be_larger_than_memory),
      cmocka_unit_test(files_are_host_memory),
      cmocka_unit_test(wrong_files_and_parts),
  };
  return RUN_ON_DEVICES("file", tests);
}
