/* Virtual memory management: addresses, physical memory, and which of it lies where. */
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t granularity(CUdevice device, CUmemAllocationHandleType type,
                          CUmemAllocationProp* out) {
  size_t bytes = 0;
  memset(out, 0, sizeof *out);
  out->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  out->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  out->location.id = device;
  out->requestedHandleTypes = type;
  OK(cuMemGetAllocationGranularity(&bytes, out, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

static void set_access(CUdeviceptr at, size_t bytes, CUdevice device, CUmemAccess_flags flags) {
  CUmemAccessDesc access;
  memset(&access, 0, sizeof access);
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = flags;
  OK(cuMemSetAccess(at, bytes, &access, 1));
}

static CUmemGenericAllocationHandle create(CUdevice device, size_t bytes) {
  CUmemAllocationProp properties;
  CUmemGenericAllocationHandle handle = 0;
  granularity(device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  OK(cuMemCreate(&handle, bytes, &properties, 0));
  return handle;
}

/* Memory of this size at the address, ready for use; it goes with its mapping. */
static void map_new(CUdevice device, CUdeviceptr at, size_t bytes) {
  CUmemGenericAllocationHandle handle = create(device, bytes);
  OK(cuMemMap(at, bytes, 0, handle, 0));
  set_access(at, bytes, device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemRelease(handle));
}

static size_t free_bytes(void) {
  size_t available = 0, total = 0;
  OK(cuMemGetInfo(&available, &total));
  return available;
}

static void devices_say_that_they_can(void** state) {
  const fixture* f = *state;
  int value = 0;
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                          f->device));
  assert_int_equal(value, 1);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                          f->device));
  assert_int_equal(value, 1);
}

/* True if the memory figures show that memory is taken from its creation to its last unmapping. */
static int memory_at_two_addresses_is_counted(const fixture* f) {
  CUmemAllocationProp properties;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  const size_t before = free_bytes();
  CUdeviceptr first = 0, second = 0;
  uint32_t word = 0;
  OK(cuMemAddressReserve(&first, bytes, 0, 0, 0));
  OK(cuMemAddressReserve(&second, 2 * bytes, bytes, 0, 0));
  assert_int_equal(second % bytes, 0);
  CUmemGenericAllocationHandle handle = create(f->device, bytes);
  const size_t created = free_bytes();
  OK(cuMemMap(first, bytes, 0, handle, 0));
  OK(cuMemMap(second + bytes, bytes, 0, handle, 0));
  set_access(first, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  set_access(second + bytes, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemRelease(handle));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
  OK(cuMemsetD32(first, 0xABCD, bytes / 4));
  OK(cuMemcpyDtoH(&word, second + 2 * bytes - 4, 4));
  assert_int_equal(word, 0xABCD);
  OK(cuMemsetD32(second + bytes, 0x1234, 1));
  OK(cuMemcpyDtoH(&word, first, 4));
  assert_int_equal(word, 0x1234);
  OK(cuMemUnmap(first, bytes));
  const size_t mapped_once = free_bytes(); /* the other mapping keeps it */
  OK(cuMemUnmap(second + bytes, bytes));
  const size_t unmapped = free_bytes();
  OK(cuMemAddressFree(first, bytes));
  OK(cuMemAddressFree(second, 2 * bytes));
  return created == before - bytes && mapped_once == before - bytes && unmapped == before;
}

static void one_memory_lies_at_two_addresses(void** state) {
  const fixture* f = *state;
  int rounds = 0; /* other programs take and free memory, too */
  while (!memory_at_two_addresses_is_counted(f)) assert_true(++rounds < 50);
}

static void fill_with_kernel(CUfunction fill, CUstream stream, CUdeviceptr at, uint32_t base,
                             uint32_t n) {
  void* arguments[] = {&at, &base, &n};
  OK(cuLaunchKernel(fill, (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
}

static void kernels_and_copies_cross_mappings(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUmemAllocationProp properties;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUdeviceptr range = 0;
  uint32_t words[16];
  OK(cuMemAddressReserve(&range, 3 * bytes, 0, 0, 0));
  map_new(f->device, range, bytes);
  map_new(f->device, range + bytes, bytes);
  fill_with_kernel(kernel(f, "fill_index"), f->stream, range, 0, (uint32_t)(2 * bytes / 4));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(words, range + bytes - 32, sizeof words));
  for (uint32_t i = 0; i < 16; ++i) assert_int_equal(words[i], bytes / 4 - 8 + i);
  OK(cuMemcpy(range, range + bytes, bytes));
  OK(cuMemcpyDtoH(words, range, 4));
  assert_int_equal(words[0], bytes / 4);
  /* What is not mapped is not to be used. */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(words, range + 2 * bytes - 32, sizeof words));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(range + 2 * bytes, 0, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(range + 2 * bytes, range, 4));
  /* Whole mappings go, several at a time. */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, 3 * bytes));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 3 * bytes));
  OK(cuMemUnmap(range, 2 * bytes));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(words, range, 4));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, bytes));
  OK(cuMemAddressFree(range, 3 * bytes));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 3 * bytes));
}

/* Memory that grows in place, while kernels use what was there before. */
static void ranges_grow_under_kernels(void** state) {
  const fixture* f = *state;
  CUmemAllocationProp properties;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUdeviceptr range = 0;
  uint32_t word = 0;
  OK(cuMemAddressReserve(&range, 8 * bytes, 0, 0, 0));
  map_new(f->device, range, bytes);
  OK(cuMemsetD32(range, 0, bytes / 4));
  CUdeviceptr flag = range, out = range + 64;
  void* arguments[] = {&flag, &out};
  OK(cuLaunchKernel(kernel(f, "slow"), 1, 1, 1, 1, 1, 1, 0, f->stream, arguments, NULL));
  for (size_t i = 1; i < 8; ++i) map_new(f->device, range + i * bytes, bytes);
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
  OK(cuStreamWriteValue32(CU_STREAM_PER_THREAD, flag, 1, 0));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(&word, out, 4));
  assert_int_equal(word, 1);
  OK(cuMemUnmap(range, 8 * bytes));
  OK(cuMemAddressFree(range, 8 * bytes));
}

/* The library's own, which CMocka puts its own in place of for each test. */
static struct sigaction fault_handler;

/* In a context of its own, which does not survive it: what a kernel's write gives. */
static CUresult write_by_kernel(const fixture* f, CUdeviceptr at) {
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction fill = NULL;
  OK(cuCtxCreate(&context, NULL, 0, f->device));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuModuleGetFunction(&fill, module, "fill_index"));
  struct sigaction others;
  sigaction(SIGSEGV, &fault_handler, &others);
  fill_with_kernel(fill, CU_STREAM_PER_THREAD, at, 5, 1);
  const CUresult result = cuCtxSynchronize();
  sigaction(SIGSEGV, &others, NULL);
  OK(cuCtxDestroy(context));
  OK(cuCtxSetCurrent(f->context));
  return result;
}

static void kernels_need_access(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUmemAllocationProp properties;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUdeviceptr range = 0;
  uint32_t word = 0;
  OK(cuMemAddressReserve(&range, 2 * bytes, 0, 0, 0));
  CUmemGenericAllocationHandle handle = create(f->device, bytes);
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, write_by_kernel(f, range));
  OK(cuMemMap(range, bytes, 0, handle, 0));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, write_by_kernel(f, range));
  set_access(range, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READ);
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, write_by_kernel(f, range));
  OK(cuMemcpyDtoH(&word, range, 4));
  assert_int_equal(word, 0);
  set_access(range, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(write_by_kernel(f, range)); /* by a context that came later */
  OK(cuMemcpyDtoH(&word, range, 4));
  assert_int_equal(word, 5);
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, write_by_kernel(f, range + bytes));
  OK(cuMemUnmap(range, bytes));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, write_by_kernel(f, range));
  OK(cuMemRelease(handle));
  OK(cuMemAddressFree(range, 2 * bytes));
}

static void each_device_has_its_own_access(void** state) {
  NEEDS_TWO_DEVICES();
  const fixture* f = *state;
  CUmemAllocationProp properties;
  CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, {1}};
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUdeviceptr range = 0;
  CUcontext other = NULL;
  unsigned long long flags = 9;
  uint32_t word = 7;
  OK(cuMemAddressReserve(&range, bytes, 0, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&flags, &location, range));
  map_new(f->device, range, bytes);
  OK(cuMemsetD32(range, 3, 1));
  OK(cuMemGetAccess(&flags, &location, range));
  assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  OK(cuCtxCreate(&other, NULL, 0, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, range, 4));
  set_access(range, bytes, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemGetAccess(&flags, &location, range + 8));
  assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemcpyDtoH(&word, range, 4));
  assert_int_equal(word, 3);
  OK(cuCtxDestroy(other));
  OK(cuCtxSetCurrent(f->context));
  OK(cuMemUnmap(range, bytes));
  OK(cuMemAddressFree(range, bytes));
}

static void pointers_have_attributes(void** state) {
  const fixture* f = *state;
  CUmemAllocationProp properties;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUdeviceptr range = 0, begin = 0;
  size_t size = 0;
  int number = 9;
  OK(cuMemAddressReserve(&range, 4 * bytes, 0, 0, 0));
  map_new(f->device, range + bytes, 2 * bytes);
  const CUdeviceptr inside = range + bytes + 100;
  OK(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MAPPED, range));
  assert_int_equal(number, 0);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, range));
  OK(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MAPPED, inside));
  assert_int_equal(number, 1);
  OK(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside));
  assert_int_equal(number, CU_MEMORYTYPE_DEVICE);
  OK(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside));
  assert_int_equal(number, f->device);
  OK(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside));
  assert_true(begin == range);
  OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside));
  assert_int_equal(size, 4 * bytes);
  OK(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside));
  assert_true(begin == range + bytes);
  OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside));
  assert_int_equal(size, 2 * bytes);
  OK(cuMemGetAddressRange(&begin, &size, inside));
  assert_true(begin == range + bytes && size == 2 * bytes);
  EXPECT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&begin, &size, range));
  OK(cuMemUnmap(range + bytes, 2 * bytes));
  OK(cuMemAddressFree(range, 4 * bytes));
}

static void handles_are_kept_and_shared(void** state) {
  const fixture* f = *state;
  CUmemAllocationProp properties, read;
  const size_t bytes =
      granularity(f->device, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, &properties);
  CUmemGenericAllocationHandle handle = 0, again = 0, imported = 0;
  CUdeviceptr range = 0;
  uint32_t word = 0;
  int file = -1;
  OK(cuMemCreate(&handle, bytes, &properties, 0));
  OK(cuMemGetAllocationPropertiesFromHandle(&read, handle));
  assert_int_equal(read.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  assert_int_equal(read.location.id, f->device);
  OK(cuMemAddressReserve(&range, 2 * bytes, 0, 0, 0));
  OK(cuMemMap(range, bytes, 0, handle, 0));
  set_access(range, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemRetainAllocationHandle(&again, (void*)(uintptr_t)(range + 5)));
  assert_true(again == handle);
  OK(cuMemRelease(handle));
  OK(cuMemRelease(again));
  OK(cuMemRetainAllocationHandle(&again, (void*)(uintptr_t)range)); /* the mapping keeps it */
  OK(cuMemExportToShareableHandle(&file, again, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED,
         cuMemExportToShareableHandle(&file, again, CU_MEM_HANDLE_TYPE_WIN32, 0));
  OK(cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)file,
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  OK(cuMemMap(range + bytes, bytes, 0, imported, 0));
  set_access(range + bytes, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemsetD32(range, 77, 1));
  OK(cuMemcpyDtoH(&word, range + bytes, 4));
  assert_int_equal(word, 77);
  OK(cuMemUnmap(range, 2 * bytes));
  OK(cuMemRelease(again));
  OK(cuMemRelease(imported));
  handle = create(f->device, bytes);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemRelease(handle));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)STDERR_FILENO,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  OK(cuMemAddressFree(range, 2 * bytes));
}

static void wrong_calls_are_refused(void** state) {
  const fixture* f = *state;
  CUmemAllocationProp properties, wrong;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUmemGenericAllocationHandle handle = 0;
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr range = 0;
  size_t available = 0, total = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, 0, 0, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, bytes + 1, 0, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, bytes, 3, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, bytes, 0, 0, 1));
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&range, (size_t)1 << 62, 0, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, bytes - 4096, &properties, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, bytes, NULL, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, bytes, &properties, 1));
  OK(cuMemGetInfo(&available, &total));
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY,
         cuMemCreate(&handle, (total / bytes + 1) * bytes, &properties, 0));
  wrong = properties;
  wrong.location.id = 99;
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, bytes, &wrong, 0));
  wrong = properties;
  wrong.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, bytes, &wrong, 0));
  wrong = properties;
  wrong.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&handle, bytes, &wrong, 0));

  OK(cuMemAddressReserve(&range, 2 * bytes, 0, 0, 0));
  handle = create(f->device, bytes);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, bytes, bytes, handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, 2 * bytes, 0, handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(range + 4096, bytes, 0, handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(range + 2 * bytes, bytes, 0, handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, bytes, 0, 0x1234, 0));
  OK(cuMemMap(range, bytes, 0, handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, bytes, 0, handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, 2 * bytes, &access, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, bytes, &access, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, bytes, NULL, 1));
  access.flags = (CUmemAccess_flags)2;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, bytes, &access, 1));
  access.location.id = 99;
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemSetAccess(range, bytes, &access, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(range));
  OK(cuMemUnmap(range, bytes));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, bytes));
  OK(cuMemRelease(handle));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemRelease(0));
  OK(cuMemAddressFree(range, 2 * bytes));
}

/* Many steps against a model: which memory lies where, and what is in it. */
static void random_mappings_hold_their_memory(void** state) {
  enum { kPieces = 6, kPlaces = 10, kSteps = 3000 };
  const fixture* f = *state;
  CUmemAllocationProp properties;
  const size_t bytes = granularity(f->device, CU_MEM_HANDLE_TYPE_NONE, &properties);
  CUmemGenericAllocationHandle pieces[kPieces];
  uint32_t values[kPieces] = {0};
  int held[kPlaces];
  CUdeviceptr range = 0;
  unsigned seed = 12345;
  OK(cuMemAddressReserve(&range, kPlaces * bytes, 0, 0, 0));
  for (int i = 0; i < kPieces; ++i) pieces[i] = create(f->device, bytes);
  for (int i = 0; i < kPlaces; ++i) held[i] = -1;
  for (int step = 0; step < kSteps; ++step) {
    const int place = rand_r(&seed) % kPlaces, piece = rand_r(&seed) % kPieces;
    const CUdeviceptr at = range + (size_t)place * bytes;
    uint32_t word = 0;
    if (held[place] < 0) {
      EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(at, 1, 1));
      OK(cuMemMap(at, bytes, 0, pieces[piece], 0));
      set_access(at, bytes, f->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
      held[place] = piece;
    } else if (rand_r(&seed) % 4 == 0) {
      OK(cuMemUnmap(at, bytes));
      held[place] = -1;
      continue;
    } else {
      values[held[place]] = (uint32_t)step;
      OK(cuMemsetD32(at + bytes - 4, (uint32_t)step, 1));
    }
    OK(cuMemcpyDtoH(&word, at + bytes - 4, 4));
    assert_int_equal(word, values[held[place]]);
  }
  for (int i = 0; i < kPlaces; ++i) {
    if (held[i] >= 0) OK(cuMemUnmap(range + (size_t)i * bytes, bytes));
  }
  for (int i = 0; i < kPieces; ++i) OK(cuMemRelease(pieces[i]));
  OK(cuMemAddressFree(range, kPlaces * bytes));
}

int main(void) {
  void* state = NULL;
  set_up(&state);
  sigaction(SIGSEGV, NULL, &fault_handler);
  tear_down(&state);
  const struct CMUnitTest tests[] = {
      TEST(devices_say_that_they_can),
      TEST(one_memory_lies_at_two_addresses),
      TEST(kernels_and_copies_cross_mappings),
      TEST(ranges_grow_under_kernels),
      TEST(kernels_need_access),
      TEST(each_device_has_its_own_access),
      TEST(pointers_have_attributes),
      TEST(handles_are_kept_and_shared),
      TEST(wrong_calls_are_refused),
      TEST(random_mappings_hold_their_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
