/* Files that become shorter while they are mapped: errors of kernels and of calls, never the end
 * of the process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/host.h"

enum { FILE_BYTES = 1 << 20, PATH_BYTES = 64 };

static void make_file(char* path) {
  static uint32_t words[FILE_BYTES / 4];
  snprintf(path, PATH_BYTES, "/tmp/kernelmill-fault-XXXXXX");
  const int file = mkstemp(path);
  CHECK(file >= 0);
  for (uint32_t i = 0; i < FILE_BYTES / 4; ++i) words[i] = i;
  CHECK(write(file, words, sizeof words) == sizeof words);
  close(file);
}

/* What a call waits for is that call's error; the context goes on. */
static void check_calls(host* h) {
  char path[PATH_BYTES];
  static char bytes[FILE_BYTES];
  const km_copy_3d rows = {64, 100, 1, 0, 128, 0, FILE_BYTES / 2, 0, 0};
  km_slice mapped = NULL, slice = NULL;
  km_host_memory memory = NULL;
  void* pointer = NULL;
  uint32_t word = 55;
  make_file(path);
  OK(km_slice_map_file(h->context, path, 0, UINT64_MAX, 4, KM_MAP_READ_ONLY, &mapped));
  OK(km_host_memory_map_file(h->context, path, 0, UINT64_MAX, KM_MAP_READ_ONLY, &memory));
  OK(km_host_memory_pointer(memory, &pointer));
  OK(km_slice_create(h->context, FILE_BYTES, 1, 0, &slice));
  CHECK(truncate(path, 8192) == 0);
  CHECK_STATUS(KM_ERROR_IO, km_slice_download(h->stream, mapped, FILE_BYTES - 4, &word, 4));
  check_message(h, "may have been truncated");
  check_message(h, path);
  CHECK_STATUS(KM_ERROR_IO, km_slice_download(h->stream, mapped, 0, bytes, FILE_BYTES));
  CHECK_STATUS(KM_ERROR_IO, km_slice_upload(h->stream, slice, 0, pointer, FILE_BYTES));
  CHECK_STATUS(KM_ERROR_IO, km_slice_upload(h->stream, slice, 0, (char*)pointer + 100000, 100));
  CHECK_STATUS(KM_ERROR_IO, km_slice_upload_3d(h->stream, slice, pointer, &rows));
  OK(km_slice_download(h->stream, mapped, 4096, &word, 4));
  CHECK(word == 1024);
  OK(km_stream_synchronize(h->stream));
  check_works(h);
  OK(km_slice_destroy(mapped));
  OK(km_slice_destroy(slice));
  OK(km_host_memory_destroy(memory));
  unlink(path);
}

/* What is queued is the context's error. */
static void check_queued_copy(host* h) {
  char path[PATH_BYTES];
  km_slice mapped = NULL, slice = NULL;
  make_file(path);
  OK(km_slice_map_file(h->context, path, 0, UINT64_MAX, 4, KM_MAP_READ_ONLY, &mapped));
  OK(km_slice_create(h->context, FILE_BYTES, 1, 0, &slice));
  CHECK(truncate(path, 8192) == 0);
  OK(km_slice_copy(h->stream, slice, 0, mapped, 0, FILE_BYTES));
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h->stream));
  OK(km_context_reset(h->context));
  OK(km_slice_destroy(mapped));
  OK(km_slice_destroy(slice));
  unlink(path);
  host_load(h);
}

static void check_kernels(host* h, km_map_flags flags, uint64_t offset_bytes) {
  char path[PATH_BYTES];
  km_slice mapped = NULL;
  uint64_t address = 0;
  make_file(path);
  OK(km_slice_map_file(h->context, path, 0, UINT64_MAX, 4, flags, &mapped));
  OK(km_slice_address(mapped, &address));
  if (flags == KM_MAP_PRIVATE) {
    launch_store(h, address + 100, 1);
    OK(km_stream_synchronize(h->stream));
    CHECK(truncate(path, 8192) == 0);
  }
  launch_store(h, address + offset_bytes, 1);
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h->stream));
  OK(km_context_reset(h->context));
  OK(km_slice_destroy(mapped));
  unlink(path);
  host_load(h);
}

/* A product with the mapped matrix, which has lost its second half. */
static km_status multiply_truncated(host* h, km_data_type type) {
  const float one = 1;
  char path[PATH_BYTES];
  km_slice mapped = NULL, result = NULL;
  km_blas blas = NULL;
  km_blas_matrix a = {0}, c = {0};
  const uint64_t n = 512, size = n * n * (type == KM_DATA_TYPE_F16 ? 2 : 4);
  make_file(path);
  OK(km_slice_map_file(h->context, path, 0, size, 1, KM_MAP_READ_ONLY, &mapped));
  OK(km_slice_create(h->context, size, 1, 0, &result));
  OK(km_blas_create(h->stream, KM_BLAS_LAYOUT_ROWS, &blas));
  CHECK(truncate(path, (off_t)size / 2) == 0);
  a.slice = (uint64_t)(uintptr_t)mapped;
  c.slice = (uint64_t)(uintptr_t)result;
  a.leading_dimension = c.leading_dimension = n;
  km_status status = km_blas_gemm(blas, type, KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_NONE, n, n,
                                  n, &one, &a, &a, &one, &c);
  if (status == KM_SUCCESS) {
    status = km_stream_synchronize(h->stream);
    CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, status);
    check_message(h, "may have been truncated");
    OK(km_context_reset(h->context));
  }
  OK(km_blas_destroy(blas));
  OK(km_slice_destroy(mapped));
  OK(km_slice_destroy(result));
  unlink(path);
  if (status == KM_ERROR_ILLEGAL_ADDRESS) host_load(h);
  return status;
}

/* OpenBLAS, which cannot be left tidily, is refused before it would end the process. */
static void check_blas(host* h) {
  CHECK(multiply_truncated(h, KM_DATA_TYPE_F16) == KM_ERROR_ILLEGAL_ADDRESS);
  int faults = 0;
  while (faults < 100 && multiply_truncated(h, KM_DATA_TYPE_F32) != KM_ERROR_BLAS_UNAVAILABLE) {
    ++faults;
  }
  printf("faults in OpenBLAS: %d\n", faults);
  CHECK(faults < 100);
}

int main(void) {
  host h;
  host_open(&h);
  check_calls(&h);
  check_queued_copy(&h);
  check_kernels(&h, KM_MAP_PRIVATE, FILE_BYTES - 4);
  check_kernels(&h, KM_MAP_READ_ONLY, 0);
  check_blas(&h);
  check_works(&h);
  host_close(&h);
  return 0;
}
