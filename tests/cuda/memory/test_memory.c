/* Memory: allocation, copies and fills in all forms, pools, page-locked memory, what is known of
 * an address. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kCount = 5000 };

/* True if the figures of one allocation show it to the byte; a GPU has it in steps. */
static int is_counted_exactly(size_t size_bytes) {
  size_t before = 0, during = 0, after = 0, total = 0;
  CUdeviceptr memory = 0;
  OK(cuMemGetInfo(&before, &total));
  OK(cuMemAlloc(&memory, size_bytes));
  OK(cuMemGetInfo(&during, &total));
  OK(cuMemFree(memory));
  OK(cuMemGetInfo(&after, &total));
  if (before != after || during > before) return 0;
  return on_nvidias_driver() ? before - during >= size_bytes : before - during == size_bytes;
}

/* Other programs take and free memory too, so that not every round shows it. */
static void allocations_are_counted_exactly(void** state) {
  size_t free_bytes = 0, total = 0;
  CUdeviceptr memory = 0;
  int rounds = 0;
  (void)state;
  while (!is_counted_exactly(12345678)) assert_true(++rounds < 50);
  OK(cuMemGetInfo(&free_bytes, &total));
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, total + 1));
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, SIZE_MAX));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
}

static void copies_onto_themselves_change_nothing(void** state) {
  const fixture* f = *state;
  unsigned char from[256], to[256];
  CUdeviceptr memory = 0;
  for (int i = 0; i < 256; ++i) from[i] = (unsigned char)(i * 7);
  OK(cuMemAlloc(&memory, 256));
  OK(cuMemcpyHtoD(memory, from, 256));
  OK(cuMemcpyDtoD(memory, memory, 1));
  OK(cuMemcpyAsync(memory, memory, 256, f->stream));
  OK(cuMemcpy(memory, memory, 16));
  CUDA_MEMCPY2D rows;
  memset(&rows, 0, sizeof rows);
  rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.srcDevice = rows.dstDevice = memory;
  rows.srcPitch = rows.dstPitch = 32;
  rows.WidthInBytes = 16;
  rows.Height = 8;
  OK(cuMemcpy2D(&rows));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(to, memory, 256));
  assert_memory_equal(from, to, 256);
  OK(cuMemFree(memory));
}

static void bytes_go_there_and_back(void** state) {
  const fixture* f = *state;
  unsigned char from[kCount], to[kCount];
  CUdeviceptr a = 0, b = 0;
  for (int i = 0; i < kCount; ++i) from[i] = (unsigned char)(i * 7);
  OK(cuMemAlloc(&a, kCount));
  OK(cuMemAlloc(&b, kCount));
  OK(cuMemcpyHtoD(a, from, kCount));
  OK(cuMemcpyDtoDAsync(b, a, kCount, f->stream));
  OK(cuMemcpyDtoHAsync(to, b, kCount, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_memory_equal(from, to, kCount);
  memset(to, 0, sizeof to);
  OK(cuMemcpy((CUdeviceptr)(uintptr_t)to, b, kCount)); /* which side is which is found out */
  assert_memory_equal(from, to, kCount);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a + 1, from, kCount));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(to, a, (size_t)1 << 40));
  OK(cuMemcpyHtoD(0, NULL, 0));
  OK(cuMemFree(a));
  OK(cuMemFree(b));
}

static void rows_and_layers_have_pitches(void** state) {
  enum { kWidth = 40, kRows = 7, kLayers = 3 };
  unsigned char from[kLayers][kRows + 1][kWidth + 3], to[kLayers][kRows][kWidth];
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  (void)state;
  OK(cuMemAllocPitch(&memory, &pitch, kWidth, kRows * kLayers, 4));
  assert_true(pitch >= kWidth && pitch % 4 == 0);
  for (size_t i = 0; i < sizeof from; ++i) ((unsigned char*)from)[i] = (unsigned char)(i * 13);
  CUDA_MEMCPY3D up = {0};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = from;
  up.srcPitch = kWidth + 3;
  up.srcHeight = kRows + 1;
  up.srcXInBytes = 2;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = memory;
  up.dstPitch = pitch;
  up.dstHeight = kRows;
  up.WidthInBytes = kWidth;
  up.Height = kRows;
  up.Depth = kLayers;
  OK(cuMemcpy3D(&up));
  for (int layer = 0; layer < kLayers; ++layer) {
    CUDA_MEMCPY2D down = {0};
    down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    down.srcDevice = memory;
    down.srcPitch = pitch;
    down.srcY = (size_t)layer * kRows;
    down.dstMemoryType = CU_MEMORYTYPE_HOST;
    down.dstHost = to[layer];
    down.dstPitch = kWidth;
    down.WidthInBytes = kWidth;
    down.Height = kRows;
    OK(cuMemcpy2D(&down));
    for (int row = 0; row < kRows; ++row) {
      assert_memory_equal(to[layer][row], &from[layer][row][2], kWidth);
    }
  }
  up.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&up)); /* the array is null */
  OK(cuMemFree(memory));
}

static void fills_have_every_width(void** state) {
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  uint32_t words[64];
  OK(cuMemAlloc(&memory, sizeof words));
  OK(cuMemsetD32(memory, 0x01020304, 64));
  OK(cuMemsetD16(memory + 4, 0xABCD, 2));
  OK(cuMemsetD8Async(memory + 8, 0x55, 4, f->stream));
  OK(cuMemsetD2D32Async(memory + 64, 32, 9, 2, 3, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(words, memory, sizeof words));
  assert_int_equal(words[0], 0x01020304);
  assert_int_equal(words[1], 0xABCDABCD);
  assert_int_equal(words[2], 0x55555555);
  assert_int_equal(words[3], 0x01020304);
  for (int row = 0; row < 3; ++row) {
    assert_int_equal(words[16 + row * 8], 9);
    assert_int_equal(words[17 + row * 8], 9);
    assert_int_equal(words[18 + row * 8], 0x01020304);
  }
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 2, 0, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory, 0, 65));
  OK(cuMemFree(memory));
}

static void host_memory_is_the_devices_too(void** state) {
  const fixture* f = *state;
  uint32_t *pinned = NULL, *own = malloc(4096);
  CUdeviceptr address = 0;
  unsigned flags = 0;
  OK(cuMemHostAlloc((void**)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  OK(cuMemHostGetDevicePointer(&address, pinned, 0));
  OK(cuMemHostGetFlags(&flags, pinned));
  assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
  uint32_t base = 3, n = 1024;
  void* arguments[] = {&address, &base, &n};
  OK(cuLaunchKernel(kernel(f, "fill_index"), 4, 1, 1, 256, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuStreamSynchronize(f->stream));
  for (uint32_t i = 0; i < n; ++i) assert_int_equal(pinned[i], i + 3);
  OK(cuMemFreeHost(pinned));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
  OK(cuMemHostRegister(own, 4096, 0));
  EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own, 4096, 0));
  OK(cuMemHostGetDevicePointer(&address, own + 1, 0));
  OK(cuMemHostUnregister(own));
  EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
  free(own);
}

static void only_mapped_memory_can_be_registered(void** state) {
  (void)state;
  enum { kSize = 1 << 20 };
  char* range = mmap(NULL, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(range != MAP_FAILED);
  assert_int_equal(munmap(range + kSize / 2, kSize / 4), 0);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(range, kSize, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(range + kSize / 2, 1, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(range + kSize / 2 - 1, 2, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(range, SIZE_MAX, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister((void*)64, 64, 0));
  EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(range));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(range + 1, kSize / 2 - 1, 0));
  int can_be_read_only = 0;
  OK(cuDeviceGetAttribute(&can_be_read_only, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
                          0));
  if (can_be_read_only == 0) {
    assert_int_equal(munmap(range, kSize), 0);
    skip();
  }
  OK(cuMemHostRegister(range + 1, kSize / 2 - 1, CU_MEMHOSTREGISTER_READ_ONLY));
  OK(cuMemHostUnregister(range + 1));
  assert_int_equal(munmap(range, kSize), 0);
}

static void managed_memory_is_everybodys(void** state) {
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  OK(cuMemAllocManaged(&memory, 4 * kCount, CU_MEM_ATTACH_GLOBAL));
  uint32_t* words = (uint32_t*)(uintptr_t)memory;
  for (uint32_t i = 0; i < kCount; ++i) words[i] = i;
  const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  OK(cuMemPrefetchAsync(memory, 4 * kCount, here, 0, f->stream));
  OK(cuMemAdvise(memory, 4 * kCount, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  uint32_t n = kCount;
  void* arguments[] = {&memory, &n};
  OK(cuLaunchKernel(kernel(f, "add_one"), 20, 1, 1, 256, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuStreamSynchronize(f->stream));
  for (uint32_t i = 0; i < kCount; ++i) assert_int_equal(words[i], i + 1);
  OK(cuMemFree(memory));
}

static void pools_reuse_and_give_back(void** state) {
  const fixture* f = *state;
  CUmemoryPool pool = NULL, standard = NULL;
  CUmemPoolProps properties = {0};
  CUdeviceptr a = 0, b = 0;
  cuuint64_t used = 0, reserved = 0, threshold = UINT64_MAX;
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  OK(cuMemPoolCreate(&pool, &properties));
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  OK(cuMemAllocFromPoolAsync(&a, 1 << 20, pool, f->stream));
  OK(cuMemFreeAsync(a, f->stream));
  OK(cuMemAllocFromPoolAsync(&b, 1 << 20, pool, f->stream));
  assert_int_equal(a, b);
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  assert_true(used >= 1 << 20);
  OK(cuMemFreeAsync(b, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  assert_true(reserved >= 1 << 20); /* the threshold keeps it */
  OK(cuMemPoolTrimTo(pool, 0));
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  assert_int_equal(reserved, 0);
  OK(cuMemPoolDestroy(pool));
  OK(cuDeviceGetDefaultMemPool(&standard, f->device));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
  OK(cuMemAllocAsync(&a, 100, NULL));
  OK(cuMemFreeAsync(a, NULL));
  OK(cuStreamSynchronize(NULL));
  OK(cuMemPoolGetAttribute(standard, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  assert_int_equal(reserved, 0); /* nothing is kept by default */
}

static void addresses_are_known(void** state) {
  const fixture* f = *state;
  CUdeviceptr memory = 0, begin = 0;
  size_t bytes = 0;
  CUmemorytype type;
  CUcontext context = NULL;
  int ordinal = -1, local = 0;
  OK(cuMemAlloc(&memory, 1000));
  OK(cuMemGetAddressRange(&begin, &bytes, memory + 500));
  assert_int_equal(begin, memory);
  assert_int_equal(bytes, 1000);
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 1));
  assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
  OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  assert_ptr_equal(context, f->context);
  OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
  assert_int_equal(ordinal, 0);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&local));
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_CONTEXT};
  void* to[] = {&context};
  OK(cuPointerGetAttributes(1, asked, to, (CUdeviceptr)&local));
  assert_null(context);
  OK(cuMemFree(memory));
  EXPECT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&begin, &bytes, memory));
}

static void devices_copy_to_each_other(void** state) {
  NEEDS_TWO_DEVICES();
  const fixture* f = *state;
  CUcontext other = NULL;
  CUdeviceptr here = 0, there = 0;
  uint32_t value = 0;
  OK(cuMemAlloc(&here, 64));
  OK(cuMemsetD32(here, 42, 16));
  OK(cuCtxCreate(&other, NULL, 0, 1));
  OK(cuMemAlloc(&there, 64));
  OK(cuMemcpyPeer(there, other, here, f->context, 64));
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH(&value, there + 60, 4));
  assert_int_equal(value, 42);
  OK(cuCtxEnablePeerAccess(f->context, 0));
  EXPECT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(f->context, 0));
  OK(cuCtxDisablePeerAccess(f->context));
  EXPECT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(f->context));
  OK(cuCtxDestroy(other));
}

/* The context of the second device, with a kernel that fills `words` words, has run it. */
static CUcontext fill_on_second_device(CUdeviceptr memory, uint32_t words) {
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction fill = NULL;
  OK(cuCtxCreate(&context, NULL, 0, 1));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuModuleGetFunction(&fill, module, "fill_index"));
  uint32_t base = 0;
  void* arguments[] = {&memory, &base, &words};
  OK(cuLaunchKernel(fill, 1, 1, 1, words, 1, 1, 0, NULL, arguments, NULL));
  OK(cuCtxSynchronize());
  return context;
}

static void pools_are_used_by_devices_that_may(void** state) {
  NEEDS_TWO_DEVICES();
  const fixture* f = *state;
  CUmemoryPool pool = NULL;
  CUmemPoolProps properties = {0};
  CUmemLocation second = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
  CUmemAccessDesc access = {second, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUdeviceptr memory = 0;
  uint32_t words[64] = {0};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  OK(cuMemPoolCreate(&pool, &properties));
  OK(cuMemPoolGetAccess(&flags, pool, &second));
  assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  OK(cuMemPoolSetAccess(pool, &access, 1));
  OK(cuMemPoolGetAccess(&flags, pool, &second));
  assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemAllocFromPoolAsync(&memory, sizeof words, pool, f->stream));
  OK(cuStreamSynchronize(f->stream));
  const CUcontext other = fill_on_second_device(memory, 64);
  OK(cuCtxEnablePeerAccess(f->context, 0)); /* not enabled by the pool */
  OK(cuCtxDisablePeerAccess(f->context));
  OK(cuCtxSetCurrent(f->context));
  OK(cuMemcpyDtoH(words, memory, sizeof words));
  for (uint32_t i = 0; i < 64; ++i) assert_int_equal(words[i], i);
  OK(cuCtxDestroy(fill_on_second_device(memory, 64))); /* one that begins later */
  OK(cuCtxDestroy(other));
  OK(cuCtxSetCurrent(f->context));
  access.flags = (CUmemAccess_flags)2;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, &access, 1));
  CUmemAccessDesc both[] = {{second, CU_MEM_ACCESS_FLAGS_PROT_NONE}, access};
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, both, 2));
  OK(cuMemPoolGetAccess(&flags, pool, &second));
  assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE); /* nothing has changed */
  access.location.id = 0;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, &access, 1));
  OK(cuMemFreeAsync(memory, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemPoolDestroy(pool));
}

/* Kernels of each device write managed, page-locked and registered memory of the other. */
static void memory_is_everybodys_on_two_devices(void** state) {
  NEEDS_TWO_DEVICES();
  enum { kWords = 1000 };
  const fixture* f = *state;
  CUcontext other = NULL;
  CUmodule module = NULL;
  CUfunction fill = NULL;
  CUdeviceptr managed = 0;
  uint32_t base = 7, count = kWords, *words[3] = {NULL};
  words[2] = malloc(kWords * sizeof(uint32_t));
  OK(cuMemAllocManaged(&managed, kWords * sizeof(uint32_t), CU_MEM_ATTACH_GLOBAL));
  words[0] = (uint32_t*)(uintptr_t)managed;
  OK(cuMemHostAlloc((void**)&words[1], kWords * sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE));
  OK(cuMemHostRegister(words[2], kWords * sizeof(uint32_t), CU_MEMHOSTREGISTER_PORTABLE));
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  OK(cuCtxPushCurrent(other));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuModuleGetFunction(&fill, module, "fill_index"));
  for (int kind = 0; kind < 3; ++kind) {
    void* arguments[] = {&words[kind], &base, &count};
    memset(words[kind], 0, kWords * sizeof(uint32_t));
    OK(cuLaunchKernel(fill, (kWords + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
    for (uint32_t i = 0; i < kWords; ++i) assert_int_equal(words[kind][i], base + i);
  }
  OK(cuModuleUnload(module));
  OK(cuCtxPopCurrent(&other));
  OK(cuDevicePrimaryCtxRelease(1));
  OK(cuCtxSetCurrent(f->context));
  OK(cuMemFree(managed));
  OK(cuMemFreeHost(words[1]));
  OK(cuMemHostUnregister(words[2]));
  free(words[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(allocations_are_counted_exactly),
      TEST(bytes_go_there_and_back),
      TEST(copies_onto_themselves_change_nothing),
      TEST(rows_and_layers_have_pitches),
      TEST(fills_have_every_width),
      TEST(host_memory_is_the_devices_too),
      TEST(managed_memory_is_everybodys),
      TEST(memory_is_everybodys_on_two_devices),
      TEST(only_mapped_memory_can_be_registered),
      TEST(managed_memory_is_everybodys),
      TEST(pools_reuse_and_give_back),
      TEST(addresses_are_known),
      TEST(pools_are_used_by_devices_that_may),
      TEST(devices_copy_to_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
