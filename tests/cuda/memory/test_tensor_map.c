/* Tensor maps, and multicast objects of one device. */
#include "support.h"

#include <string.h>

static const cuuint64_t sizes[] = {64, 32, 8};
static const cuuint64_t strides[] = {256, 8192};
static const cuuint32_t box[] = {16, 8, 2};
static const cuuint32_t steps[] = {1, 1, 1};

typedef struct tiled {
  CUtensorMapDataType type;
  cuuint32_t rank;
  uintptr_t address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t *box, *steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
} tiled;

static tiled right(void) {
  const tiled t = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                   3,
                   0x10000,
                   sizes,
                   strides,
                   box,
                   steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE,
                   CU_TENSOR_MAP_SWIZZLE_64B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE};
  return t;
}

static CUresult encode(CUtensorMap* map, tiled t) {
  return cuTensorMapEncodeTiled(map, t.type, t.rank, (void*)t.address, t.sizes, t.strides, t.box,
                                t.steps, t.interleave, t.swizzle,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, t.fill);
}

static void test_tiled_maps_are_checked(void** state) {
  CUtensorMap map;
  tiled t = right();
  (void)state;
  OK(encode(&map, t));
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(NULL, t));
  t.rank = 6;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.address = 0x10008;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; /* the box has rows of 64 bytes */
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; /* needs a swizzle of 32 bytes */
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.sizes = NULL;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
}

static void test_bounds_of_boxes_strides_and_steps(void** state) {
  const cuuint32_t large[] = {16, 257, 1}, none[] = {16, 0, 1}, odd[] = {15, 8, 2};
  const cuuint32_t nine[] = {1, 9, 1};
  const cuuint64_t bent[] = {264, 8192}, empty[] = {64, 0, 8};
  CUtensorMap map;
  tiled t = right();
  (void)state;
  t.box = large;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t.box = none;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t.box = odd;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.steps = nine;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.strides = bent;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
  t = right();
  t.sizes = empty;
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode(&map, t));
}

static CUresult encode_pixels(CUtensorMap* map, int corner, cuuint32_t channels,
                              cuuint32_t pixels) {
  const cuuint64_t image[] = {64, 30, 20, 4}, between[] = {128, 3840, 76800};
  const cuuint32_t ones[] = {1, 1, 1, 1};
  const int lower[] = {corner, -1}, upper[] = {-1, -1};
  return cuTensorMapEncodeIm2col(
      map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void*)0x10000, image, between, lower, upper,
      channels, pixels, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

static void test_maps_of_pixels_are_checked(void** state) {
  CUtensorMap map;
  (void)state;
  OK(encode_pixels(&map, -1, 64, 128));
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode_pixels(&map, -129, 64, 128));
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode_pixels(&map, -1, 257, 128));
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode_pixels(&map, -1, 64, 1025));
  EXPECT(CUDA_ERROR_INVALID_VALUE, encode_pixels(&map, -1, 4, 128)); /* 8 bytes a pixel */
}

static void test_addresses_are_replaced(void** state) {
  CUtensorMap map, other;
  tiled t = right();
  (void)state;
  OK(encode(&map, t));
  OK(cuTensorMapReplaceAddress(&map, (void*)0x20000));
  t.address = 0x20000;
  OK(encode(&other, t));
  assert_memory_equal(&map, &other, sizeof map);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, (void*)0x20004));
  memset(&map, 0, sizeof map);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, (void*)0x20000));
}

/* load(map, out): the box {16, 4} of floats at {8, 2} of a tensor of 20 x 6. */
static const char load_ptx[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".shared .align 128 .b8 box[256];\n.shared .align 8 .b64 barrier;\n"
    ".visible .entry load(.param .align 64 .b8 map[128], .param .u64 out) {\n"
    " .reg .b64 %map, %out, %at, %state; .reg .b32 %t, %x, %y, %box, %bar, %from; .reg .f32 %v;\n"
    " .reg .pred %p;\n"
    " mov.b64 %map, map;\n cvta.param.u64 %map, %map;\n ld.param.u64 %out, [out];\n"
    " mov.u32 %t, %tid.x;\n mov.u32 %box, box;\n mov.u32 %bar, barrier;\n"
    " setp.ne.u32 %p, %t, 0;\n @%p bra wait;\n"
    " mbarrier.init.shared.b64 [%bar], 1;\n"
    " mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 256;\n"
    " mov.u32 %x, 8;\n mov.u32 %y, 2;\n"
    " cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%box], "
    "[%map, {%x, %y}], [%bar];\n"
    "wait:\n bar.sync 0;\n"
    "again:\n mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;\n @!%p bra again;\n"
    " shl.b32 %from, %t, 2;\n add.u32 %from, %box, %from;\n ld.shared.f32 %v, [%from];\n"
    " mul.wide.u32 %at, %t, 4;\n add.u64 %at, %out, %at;\n st.global.f32 [%at], %v;\n ret;\n}\n";

/* multimem(at): adds 5 to the word at `at`, and stores twice its value behind it. */
static const char multimem_ptx[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry multimem(.param .u64 at) {\n"
    " .reg .b64 %at; .reg .b32 %five, %v; .reg .b32 %h<4>;\n"
    " ld.param.u64 %at, [at];\n mov.u32 %five, 5;\n"
    " multimem.red.relaxed.gpu.global.add.u32 [%at], %five;\n"
    " multimem.ld_reduce.relaxed.gpu.global.add.u32 %v, [%at];\n add.u32 %v, %v, %v;\n"
    " multimem.st.relaxed.gpu.global.u32 [%at+4], %v;\n"
    " multimem.ld_reduce.global.add.v4.f16x2 {%h0, %h1, %h2, %h3}, [%at+16];\n"
    " multimem.st.global.v4.f16x2 [%at+32], {%h3, %h2, %h1, %h0};\n ret;\n}\n";

static void test_kernels_load_by_maps(void** state) {
  const cuuint64_t small[] = {20, 6}, row[] = {96};
  const cuuint32_t part[] = {16, 4}, ones[] = {1, 1};
  float tensor[24 * 6], got[64];
  CUdeviceptr from = 0, to = 0;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUtensorMap map;
  void* arguments[] = {&map, &to};
  (void)state;
  for (int i = 0; i < 24 * 6; ++i) tensor[i] = (float)i;
  OK(cuMemAlloc(&from, sizeof tensor));
  OK(cuMemAlloc(&to, sizeof got));
  OK(cuMemcpyHtoD(from, tensor, sizeof tensor));
  OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void*)(uintptr_t)from, small,
                            row, part, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  OK(cuModuleLoadData(&module, load_ptx));
  OK(cuModuleGetFunction(&function, module, "load"));
  OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
  OK(cuMemcpyDtoH(got, to, sizeof got));
  for (int i = 0; i < 64; ++i) {
    const int x = 8 + i % 16, y = 2 + i / 16;
    assert_float_equal(got[i], x < 20 ? (float)(24 * y + x) : 0, 0);
  }
  OK(cuModuleUnload(module));
  OK(cuMemFree(from));
  OK(cuMemFree(to));
}

static void test_multicast_objects_lead_to_bound_memory(void** state) {
  const fixture* f = *state;
  CUmulticastObjectProp object;
  CUmemAllocationProp properties;
  CUmemAccessDesc access;
  CUmemGenericAllocationHandle multicast = 0, memory = 0;
  CUdeviceptr plain = 0, all = 0;
  CUmodule module = NULL;
  CUfunction function = NULL;
  size_t bytes = 0;
  unsigned words[12] = {7, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0};
  void* arguments[] = {&all};
  memset(&object, 0, sizeof object);
  object.numDevices = 1;
  OK(cuMulticastGetGranularity(&bytes, &object, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  object.size = bytes;
  OK(cuMulticastCreate(&multicast, &object));
  memset(&properties, 0, sizeof properties);
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = f->device;
  OK(cuMemCreate(&memory, bytes, &properties, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(multicast, 0, memory, 0, bytes, 0));
  OK(cuMulticastAddDevice(multicast, f->device));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(multicast, 0, memory, 0, 2 * bytes, 0));
  OK(cuMulticastBindMem(multicast, 0, memory, 0, bytes, 0));
  memset(&access, 0, sizeof access);
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  OK(cuMemAddressReserve(&plain, bytes, 0, 0, 0));
  OK(cuMemAddressReserve(&all, bytes, 0, 0, 0));
  OK(cuMemMap(plain, bytes, 0, memory, 0));
  OK(cuMemMap(all, bytes, 0, multicast, 0));
  OK(cuMemSetAccess(plain, bytes, &access, 1));
  OK(cuMemSetAccess(all, bytes, &access, 1));
  OK(cuMemcpyHtoD(plain, words, sizeof words));
  OK(cuModuleLoadData(&module, multimem_ptx));
  OK(cuModuleGetFunction(&function, module, "multimem"));
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  OK(cuMemcpyDtoH(words, plain, sizeof words));
  assert_int_equal(words[0], 12);
  assert_int_equal(words[1], 24);
  for (unsigned i = 0; i < 4; ++i) assert_int_equal(words[8 + i], 4 - i);
  OK(cuModuleUnload(module));
  OK(cuMemUnmap(plain, bytes));
  OK(cuMemUnmap(all, bytes));
  OK(cuMemAddressFree(plain, bytes));
  OK(cuMemAddressFree(all, bytes));
  OK(cuMulticastUnbind(multicast, f->device, 0, bytes));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(multicast, f->device, 0, bytes));
  OK(cuMemRelease(memory));
  OK(cuMemRelease(multicast));
}

static void test_multicast_objects_have_one_device(void** state) {
  CUmulticastObjectProp object;
  CUmemGenericAllocationHandle multicast = 0;
  (void)state;
  memset(&object, 0, sizeof object);
  object.size = 2 << 20;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&multicast, &object));
  object.numDevices = 2;
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&multicast, &object));
  object.numDevices = 1;
  object.size = 100;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&multicast, &object));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(multicast, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_tiled_maps_are_checked),
      TEST(test_bounds_of_boxes_strides_and_steps),
      TEST(test_maps_of_pixels_are_checked),
      TEST(test_addresses_are_replaced),
      TEST(test_kernels_load_by_maps),
      TEST(test_multicast_objects_lead_to_bound_memory),
      TEST(test_multicast_objects_have_one_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
