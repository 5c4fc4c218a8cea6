/* Arrays, textures and surfaces: what copies put into arrays, and what kernels read from there. */
#include "support.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { SIDE = 16, TEXELS = SIDE * SIDE, THREADS = 64 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .texref bound;\n"
    ".global .surfref written;\n"
    ".visible .entry fetch(.param .u64 image, .param .u64 at, .param .u64 out) {\n"
    "  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .f32 %f<8>;\n"
    "  ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [at]; ld.param.u64 %rd3, [out];\n"
    "  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd2, %rd2, %rd4;\n"
    "  mul.wide.u32 %rd4, %r1, 16; add.s64 %rd3, %rd3, %rd4;\n"
    "  ld.global.v2.f32 {%f1, %f2}, [%rd2];\n"
    "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n"
    "  st.global.v4.f32 [%rd3], {%f3, %f4, %f5, %f6};\n  ret;\n}\n"
    ".visible .entry fetch_each(.param .u64 images, .param .u64 out) {\n"
    "  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<3>;\n"
    "  ld.param.u64 %rd1, [images]; ld.param.u64 %rd2, [out];\n"
    "  mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; mul.wide.u32 %rd3, %r2, 8;\n"
    "  add.s64 %rd1, %rd1, %rd3; ld.global.u64 %rd4, [%rd1];\n"
    "  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;\n"
    "  setp.lt.u32 %p1, %r1, 40;\n"
    "  mov.u32 %r3, 77;\n"
    "  @%p1 tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd4, {%r1}];\n"
    "  st.global.u32 [%rd2], %r3;\n  ret;\n}\n"
    ".visible .entry fetch_bound(.param .u64 out) {\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<6>;\n"
    "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
    "  add.s64 %rd1, %rd1, %rd2;\n"
    "  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [bound, {%r1}];\n"
    "  st.global.f32 [%rd1], %f1;\n  ret;\n}\n"
    ".visible .entry store(.param .u64 image) {\n"
    "  .reg .b64 %rd<3>; .reg .b32 %r<8>;\n"
    "  ld.param.u64 %rd1, [image]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "  shl.b32 %r3, %r1, 2; shl.b32 %r4, %r2, 8; add.u32 %r5, %r4, %r1;\n"
    "  sust.b.2d.b32.zero [%rd1, {%r3, %r2}], {%r5};\n  ret;\n}\n"
    ".visible .entry store_bound(.param .u32 x) {\n"
    "  .reg .b32 %r<3>; ld.param.u32 %r1, [x];\n"
    "  sust.b.2d.b32.trap [written, {%r1, 0}], {%r1};\n  ret;\n}\n"
    ".visible .entry reduce(.param .u64 image, .param .u64 out) {\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<8>;\n"
    "  ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
    "  sured.b.2d.add.u32.trap [%rd1, {0, 0}], %r1;\n"
    "  bar.sync 0; suld.b.2d.b32.clamp {%r2}, [%rd1, {-8, 99}];\n"
    "  suq.width.b32 %r3, [%rd1]; add.u32 %r2, %r2, %r3;\n"
    "  st.global.u32 [%rd2], %r2;\n  ret;\n}\n"
    ".visible .entry clamped(.param .u64 image, .param .u64 out) {\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [out];\n"
    "  suld.b.2d.b32.clamp {%r1}, [%rd1, {99, 1}];\n"
    "  st.global.u32 [%rd2], %r1;\n  ret;\n}\n"
    ".visible .entry ask(.param .u64 image, .param .u64 out) {\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<3>;\n"
    "  ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [out];\n"
    "  txq.width.b32 %r1, [%rd1]; txq.height.b32 %r2, [%rd1];\n"
    "  istypep.texref %p1, %rd1; selp.u32 %r3, 1, 0, %p1;\n"
    "  istypep.surfref %p2, %rd1; selp.u32 %r4, 1, 0, %p2;\n"
    "  st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};\n  ret;\n}\n";

typedef struct images {
  CUmodule module;
  CUdeviceptr in, out;
} images;
static images at;

static int begin(void** state) {
  if (set_up(state) != 0) return -1;
  OK(cuModuleLoadData(&at.module, ptx));
  OK(cuMemAlloc(&at.in, 4096));
  OK(cuMemAlloc(&at.out, 65536));
  return 0;
}

static int end(void** state) {
  cuMemFree(at.in);
  cuMemFree(at.out);
  cuModuleUnload(at.module);
  return tear_down(state);
}

static void run(const char* name, unsigned blocks, unsigned threads, void** arguments) {
  CUfunction function = NULL;
  OK(cuModuleGetFunction(&function, at.module, name));
  OK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
  OK(cuCtxSynchronize());
}

static CUarray make_array(size_t width, size_t height, CUarray_format format, unsigned channels,
                          unsigned flags) {
  CUarray array = NULL;
  const CUDA_ARRAY3D_DESCRIPTOR description = {
      .Width = width, .Height = height, .Format = format, .NumChannels = channels, .Flags = flags};
  OK(cuArray3DCreate(&array, &description));
  return array;
}

static void upload(CUarray to, const void* from, size_t row_bytes, size_t height) {
  const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = from,
                              .srcPitch = row_bytes,
                              .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                              .dstArray = to,
                              .WidthInBytes = row_bytes,
                              .Height = height};
  OK(cuMemcpy2D(&copy));
}

static CUtexObject texture_of(CUarray array, CUaddress_mode mode, CUfilter_mode filter,
                              unsigned flags) {
  CUtexObject texture = 0;
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  const CUDA_TEXTURE_DESC sampling = {.addressMode = {mode, mode, mode},
                                      .filterMode = filter,
                                      .flags = flags,
                                      .borderColor = {9, 9, 9, 9}};
  OK(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  return texture;
}

static void boxes_of_arrays_are_copied(void** state) {
  (void)state;
  CUarray array = NULL, found_level = NULL;
  const CUDA_ARRAY3D_DESCRIPTOR shape = {
      .Width = 5, .Height = 4, .Depth = 3, .Format = CU_AD_FORMAT_SIGNED_INT16, .NumChannels = 2};
  OK(cuArray3DCreate(&array, &shape));
  CUDA_ARRAY3D_DESCRIPTOR found = {0};
  OK(cuArray3DGetDescriptor(&found, array));
  assert_memory_equal(&found, &shape, sizeof found);
  uint32_t in[60], out[60], rest[4] = {0};
  for (uint32_t i = 0; i < 60; ++i) in[i] = i * 7919;
  CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = 20,
                        .srcHeight = 4,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .WidthInBytes = 20,
                        .Height = 4,
                        .Depth = 3};
  OK(cuMemcpy3D(&copy));
  const CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                              .srcArray = array,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = out,
                              .dstPitch = 20,
                              .dstHeight = 4,
                              .WidthInBytes = 20,
                              .Height = 4,
                              .Depth = 3};
  OK(cuMemcpy3D(&back));
  assert_memory_equal(in, out, sizeof in);
  const CUDA_MEMCPY3D part = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                              .srcArray = array,
                              .srcXInBytes = 8,
                              .srcY = 1,
                              .srcZ = 2,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = rest,
                              .dstPitch = 8,
                              .WidthInBytes = 8,
                              .Height = 2,
                              .Depth = 1};
  OK(cuMemcpy3D(&part));
  assert_int_equal(rest[0], in[2 * 20 + 5 + 2]);
  assert_int_equal(rest[3], in[2 * 20 + 10 + 3]);
  copy.dstXInBytes = 4; /* one texel beyond the end of the rows */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
  copy.dstXInBytes = 0;
  copy.dstZ = 1;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayGetLevel(&found_level, NULL, 0));
  OK(cuArrayDestroy(array));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&back));
  /* No array is not device memory at the offset. */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoA(NULL, at.out, at.in, 4));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoD(at.out, NULL, at.in, 4));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(out, NULL, at.in, 4));
}

static void arrays_that_are_none_are_refused(void** state) {
  const fixture* f = *state;
  CUarray array = NULL;
  CUDA_ARRAY3D_DESCRIPTOR shape = {
      .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 3};
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &shape));
  shape.NumChannels = 1;
  shape.Width = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &shape));
  int widest = 0;
  OK(cuDeviceGetAttribute(&widest, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, f->device));
  assert_true(widest >= 131072);
  shape.Width = (size_t)widest + 1;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &shape));
  shape.Width = 8;
  shape.Flags = CUDA_ARRAY3D_CUBEMAP;
  shape.Depth = 5;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &shape));
  shape.Flags = 0;
  shape.Depth = 0;
  shape.Format = (CUarray_format)0x33;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &shape));
  shape.Format = CU_AD_FORMAT_BC1_UNORM;
  shape.NumChannels = 4;
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuArray3DCreate(&array, &shape));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(NULL, &shape));
  assert_null(array);
}

static void levels_are_arrays_of_their_own(void** state) {
  (void)state;
  CUmipmappedArray mipmap = NULL;
  CUarray level = NULL, other = NULL;
  const CUDA_ARRAY3D_DESCRIPTOR shape = {
      .Width = 16, .Height = 6, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
  OK(cuMipmappedArrayCreate(&mipmap, &shape, 99)); /* as many as there are: 5 */
  OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
  OK(cuMipmappedArrayGetLevel(&other, mipmap, 4));
  CUDA_ARRAY_DESCRIPTOR found;
  OK(cuArrayGetDescriptor(&found, level));
  assert_int_equal(found.Width, 8);
  assert_int_equal(found.Height, 3);
  OK(cuArrayGetDescriptor(&found, other));
  assert_int_equal(found.Width, 1);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&other, mipmap, 5));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level));
  float rows[24], back[24] = {0};
  for (int i = 0; i < 24; ++i) rows[i] = (float)i;
  upload(level, rows, 32, 3);
  OK(cuMemcpyAtoH(back, level, 4, 8));
  assert_true(back[0] == 1 && back[1] == 2);
  OK(cuMipmappedArrayDestroy(mipmap));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuArrayGetDescriptor(&found, level));
}

static void fetches_are_filtered_and_addressed(void** state) {
  (void)state;
  float texels[TEXELS], from[2 * THREADS], got[4 * THREADS];
  for (int i = 0; i < TEXELS; ++i) texels[i] = (float)i;
  const CUarray array = make_array(SIDE, SIDE, CU_AD_FORMAT_FLOAT, 1, 0);
  upload(array, texels, 4 * SIDE, SIDE);
  CUtexObject point = texture_of(array, CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_POINT, 0);
  CUtexObject linear = texture_of(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
  CUtexObject wrap = texture_of(array, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT,
                                CU_TRSF_NORMALIZED_COORDINATES);
  for (int i = 0; i < THREADS; ++i) {
    from[2 * i] = (float)i / 4 - 0.75f;
    from[2 * i + 1] = 3.25f;
  }
  OK(cuMemcpyHtoD(at.in, from, sizeof from));
  void* arguments[] = {&point, &at.in, &at.out};
  run("fetch", 1, THREADS, arguments);
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  assert_true(got[0] == 9); /* the border */
  assert_true(got[4 * 11] == 3 * SIDE + 2);
  assert_true(got[4 * 11 + 1] == 0 && got[4 * 11 + 3] == 1);
  arguments[0] = &linear;
  run("fetch", 1, THREADS, arguments);
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  assert_true(got[0] == 2.75f * SIDE);
  assert_true(got[4 * 11] == 2.75f * SIDE + 1.5f);
  assert_true(got[4 * 63] == 2.75f * SIDE + 14.5f);
  for (int i = 0; i < THREADS; ++i) from[2 * i] = (float)i / SIDE - 1;
  for (int i = 0; i < THREADS; ++i) from[2 * i + 1] = 2 + 3.5f / SIDE;
  OK(cuMemcpyHtoD(at.in, from, sizeof from));
  arguments[0] = &wrap;
  run("fetch", 1, THREADS, arguments);
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  for (int i = 0; i < THREADS; ++i) assert_true(got[4 * i] == (float)(3 * SIDE + i % SIDE));
  OK(cuTexObjectDestroy(point));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(point));
  OK(cuTexObjectDestroy(linear));
  OK(cuTexObjectDestroy(wrap));
  OK(cuArrayDestroy(array));
}

static void linear_memory_is_read_by_lanes_of_their_own_texture(void** state) {
  (void)state;
  uint32_t words[64], got[THREADS];
  for (uint32_t i = 0; i < 64; ++i) words[i] = 1000 + i;
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 1024));
  OK(cuMemcpyHtoD(memory, words, 128));
  OK(cuMemcpyHtoD(memory + 512, words + 32, 128));
  CUtexObject pair[2];
  for (int i = 0; i < 2; ++i) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear.devPtr = memory + 512 * (unsigned)i;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 128;
    const CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER};
    OK(cuTexObjectCreate(&pair[i], &resource, &sampling, NULL));
    resource.res.linear.devPtr += 4;
    CUtexObject none = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&none, &resource, &sampling, NULL));
  }
  OK(cuMemcpyHtoD(at.in, pair, sizeof pair));
  void* arguments[] = {&at.in, &at.out};
  run("fetch_each", 1, THREADS, arguments);
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  for (uint32_t i = 0; i < THREADS; ++i) {
    const uint32_t expected = i >= 40 ? 77 : i >= 32 ? 0 : 1000 + 32 * (i & 1) + i;
    assert_int_equal(got[i], expected); /* beyond the end there is 0 */
  }
  CUdeviceptr small[2]; /* as allocations lie, of which one need not be a multiple of 512 */
  for (int i = 0; i < 2; ++i) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUtexObject texture = 0;
    OK(cuMemAlloc(&small[i], 256));
    resource.res.linear.devPtr = small[i];
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 256;
    const CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER};
    OK(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    OK(cuTexObjectDestroy(texture));
  }
  OK(cuMemFree(small[0]));
  OK(cuMemFree(small[1]));
  OK(cuMemFree(memory)); /* the textures keep it */
  run("fetch_each", 1, THREADS, arguments);
  OK(cuTexObjectDestroy(pair[0]));
  OK(cuTexObjectDestroy(pair[1]));
}

static void references_name_what_they_are_bound_to(void** state) {
  (void)state;
  CUtexref reference = NULL;
  CUsurfref surface = NULL;
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&reference, at.module, "written"));
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&reference, at.module, "none"));
  OK(cuModuleGetTexRef(&reference, at.module, "bound"));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuTexRefDestroy(reference));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFlags(reference, 0x80));
  float values[32], got[32];
  for (int i = 0; i < 32; ++i) values[i] = (float)i * 0.5f;
  CUdeviceptr memory = 0, found = 0;
  OK(cuMemAlloc(&memory, 4096));
  OK(cuMemcpyHtoD(memory, values, sizeof values));
  OK(cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1));
  size_t offset = 1;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress(&offset, reference, memory + 4, SIZE_MAX));
  assert_int_equal(offset, 1);
  OK(cuTexRefSetAddress(&offset, reference, memory, sizeof values));
  assert_int_equal(offset, 0);
  OK(cuTexRefGetAddress(&found, reference));
  assert_int_equal(found, memory);
  void* arguments[] = {&at.out};
  run("fetch_bound", 1, 32, arguments);
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  assert_memory_equal(values, got, sizeof got);
  OK(cuMemcpyHtoD(memory + 2048, values + 16, 64));
  OK(cuTexRefSetAddress(NULL, reference, memory + 2048, 64));
  run("fetch_bound", 1, 32, arguments);
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  assert_true(got[0] == 8 && got[15] == 15.5f && got[16] == 0);
  OK(cuModuleGetSurfRef(&surface, at.module, "written"));
  const CUarray array = make_array(8, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
  OK(cuSurfRefSetArray(surface, array, 0));
  unsigned x = 12;
  void* place[] = {&x};
  run("store_bound", 1, 1, place);
  uint32_t row[8] = {0};
  OK(cuMemcpyAtoH(row, array, 0, 32));
  assert_int_equal(row[3], 12);
  OK(cuMemFree(memory));
  OK(cuArrayDestroy(array));
}

static void surfaces_are_stored_to(void** state) {
  (void)state;
  const CUarray array =
      make_array(SIDE, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
  const CUarray plain = make_array(SIDE, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY}, found;
  resource.res.array.hArray = plain;
  CUsurfObject surface = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &resource));
  resource.res.array.hArray = array;
  OK(cuSurfObjectCreate(&surface, &resource));
  OK(cuSurfObjectGetResourceDesc(&found, surface));
  assert_ptr_equal(found.res.array.hArray, array);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(surface));
  void* arguments[] = {&surface, &at.out};
  run("store", 5, 32, arguments); /* more than there is: those beyond do nothing */
  uint32_t rows[4][SIDE];
  const CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                              .srcArray = array,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = rows,
                              .dstPitch = sizeof rows[0],
                              .WidthInBytes = sizeof rows[0],
                              .Height = 4};
  OK(cuMemcpy2D(&back));
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < SIDE; ++x) assert_int_equal(rows[y][x], 256 * y + x);
  }
  run("reduce", 1, THREADS,
      arguments); /* 0 + 0 + 1 ... 63; then the texel at (0, 3) and the width */
  OK(cuMemcpyAtoH(rows, array, 0, 4));
  assert_int_equal(rows[0][0], 2016);
  uint32_t sum = 0;
  OK(cuMemcpyDtoH(&sum, at.out, sizeof sum));
  assert_int_equal(sum, 768 + SIDE);
  uint32_t answers[4];
  run("ask", 1, 1, arguments);
  OK(cuMemcpyDtoH(answers, at.out, sizeof answers));
  assert_int_equal(answers[0], SIDE);
  assert_int_equal(answers[1], 4);
  assert_true(answers[2] == 0 && answers[3] == 1);
  OK(cuSurfObjectDestroy(surface));
  OK(cuArrayDestroy(array));
  OK(cuArrayDestroy(plain));
}

/* The last four bytes of a row that lie at a multiple of four. */
static void clamped_accesses_are_aligned(void** state) {
  (void)state;
  enum { WIDTH = 10 };
  unsigned char rows[2][WIDTH];
  for (int i = 0; i < 2 * WIDTH; ++i) rows[i / WIDTH][i % WIDTH] = (unsigned char)i;
  const CUarray array =
      make_array(WIDTH, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST);
  upload(array, rows, WIDTH, 2);
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  CUsurfObject surface = 0;
  OK(cuSurfObjectCreate(&surface, &resource));
  void* arguments[] = {&surface, &at.out};
  run("clamped", 1, 1, arguments);
  uint32_t found = 0;
  OK(cuMemcpyDtoH(&found, at.out, sizeof found));
  assert_memory_equal(&found, &rows[1][4], sizeof found);
  OK(cuSurfObjectDestroy(surface));
  OK(cuArrayDestroy(array));
}

static void copies_to_arrays_are_captured(void** state) {
  const fixture* f = *state;
  const CUarray array = make_array(SIDE, 2, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
  uint32_t rows[2][SIDE], back[2][SIDE] = {{0}};
  memset(rows, 0x5a, sizeof rows);
  OK(cuMemcpyHtoD(at.in, rows, sizeof rows));
  const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = at.in,
                              .srcPitch = sizeof rows[0],
                              .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                              .dstArray = array,
                              .WidthInBytes = sizeof rows[0],
                              .Height = 2};
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemcpy2DAsync(&copy, f->stream));
  OK(cuStreamEndCapture(f->stream, &graph));
  CUgraphNode node = NULL;
  size_t nodes = 1;
  CUDA_MEMCPY3D asked;
  OK(cuGraphGetNodes(graph, &node, &nodes));
  OK(cuGraphMemcpyNodeGetParams(node, &asked));
  assert_int_equal(asked.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  assert_ptr_equal(asked.dstArray, array);
  assert_true(asked.dstXInBytes == 0 && asked.dstY == 0);
  OK(cuGraphMemcpyNodeSetParams(node, &asked));
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  for (size_t y = 0; y < 2; ++y) {
    const CUDA_MEMCPY2D row = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                               .srcArray = array,
                               .srcY = y,
                               .dstMemoryType = CU_MEMORYTYPE_HOST,
                               .dstHost = back[y],
                               .dstPitch = 64,
                               .WidthInBytes = 64,
                               .Height = 1};
    OK(cuMemcpy2D(&row));
  }
  assert_memory_equal(rows, back, sizeof rows);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuArrayDestroy(array));
}

static void sampling_that_is_none_is_refused(void** state) {
  (void)state;
  const CUarray array = make_array(4, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC sampling = {.filterMode = CU_TR_FILTER_MODE_LINEAR};
  CUtexObject texture = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  sampling.filterMode = (CUfilter_mode)7;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  sampling.filterMode = CU_TR_FILTER_MODE_POINT;
  sampling.addressMode[1] = (CUaddress_mode)4;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  resource.resType = (CUresourcetype)9;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  resource.resType = CU_RESOURCE_TYPE_PITCH2D; /* an extent modulo 2^64 would be inside */
  resource.res.pitch2D.devPtr = at.out;
  resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
  resource.res.pitch2D.numChannels = 1;
  resource.res.pitch2D.width = 4;
  resource.res.pitch2D.height = 3;
  resource.res.pitch2D.pitchInBytes = (size_t)1 << 63;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  resource.res.pitch2D.pitchInBytes = 32;
  OK(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  OK(cuTexObjectDestroy(texture));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  OK(cuArrayDestroy(array));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuTexObjectCreate(&texture, &resource, &sampling, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(0x1234));
}

/* The context is lost; the next test has one of its own. */
static void surfaces_are_no_textures(void** state) {
  (void)state;
  const CUarray array = make_array(SIDE, SIDE, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  CUsurfObject surface = 0;
  CUfunction function = NULL;
  OK(cuSurfObjectCreate(&surface, &resource));
  void* arguments[] = {&surface, &at.in, &at.out};
  OK(cuModuleGetFunction(&function, at.module, "fetch"));
  OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

/* Last: the context is lost. */
static void handles_that_are_none_end_the_launch(void** state) {
  (void)state;
  CUfunction function = NULL;
  CUtexObject none = 0x3d00000000000007;
  void* arguments[] = {&none, &at.in, &at.out};
  OK(cuModuleGetFunction(&function, at.module, "fetch"));
  OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

typedef struct asking {
  CUcontext context;
  CUtexref reference;
  atomic_int has_begun;
  CUresult answer;
  CUaddress_mode mode;
} asking;

/* Asks for the reference while another thread, which changes it, waits for this function. */
static void CUDA_CB ask_for_reference(void* data) {
  asking* const all = data;
  atomic_store(&all->has_begun, 1);
  const struct timespec until_it_waits = {0, 50000000};
  nanosleep(&until_it_waits, NULL);
  cuCtxSetCurrent(all->context);
  all->answer = cuTexRefGetAddressMode(&all->mode, all->reference, 0);
}

static void references_answer_while_a_change_waits_for_work(void** state) {
  fixture* const f = *state;
  asking all = {f->context, NULL, 0, CUDA_ERROR_UNKNOWN, CU_TR_ADDRESS_MODE_BORDER};
  NOT_ON_NVIDIAS_DRIVER(); /* host functions may not call it */
  OK(cuModuleGetTexRef(&all.reference, at.module, "bound"));
  OK(cuTexRefSetFormat(all.reference, CU_AD_FORMAT_FLOAT, 1));
  OK(cuTexRefSetAddress(NULL, all.reference, at.in, 64));
  OK(cuLaunchHostFunc(f->stream, ask_for_reference, &all));
  while (atomic_load(&all.has_begun) == 0) sched_yield();
  OK(cuTexRefSetAddressMode(all.reference, 0, CU_TR_ADDRESS_MODE_WRAP));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(all.answer, CUDA_SUCCESS);
  assert_int_equal(all.mode, CU_TR_ADDRESS_MODE_CLAMP);
  OK(cuTexRefGetAddressMode(&all.mode, all.reference, 0));
  assert_int_equal(all.mode, CU_TR_ADDRESS_MODE_WRAP);
}

static void CUDA_CB wait_for_word(void* word) {
  while (atomic_load((atomic_int*)word) == 0) sched_yield();
}

static void textures_outlive_the_kernels_that_read_them(void** state) {
  (void)state;
  CUstream stream = NULL;
  CUevent event = NULL;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  float texels[TEXELS], from[2 * THREADS], got[4 * THREADS];
  for (int i = 0; i < TEXELS; ++i) texels[i] = (float)i;
  for (int i = 0; i < 2 * THREADS; ++i) from[i] = 3.5f;
  const CUarray array = make_array(SIDE, SIDE, CU_AD_FORMAT_FLOAT, 1, 0);
  upload(array, texels, 4 * SIDE, SIDE);
  CUtexObject texture = texture_of(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
  OK(cuMemcpyHtoD(at.in, from, sizeof from));
  OK(cuMemsetD8(at.out, 0, sizeof got));
  atomic_int is_released = 0;
  OK(cuLaunchHostFunc(stream, wait_for_word, &is_released));
  void* arguments[] = {&texture, &at.in, &at.out};
  CUfunction fetch = NULL;
  OK(cuModuleGetFunction(&fetch, at.module, "fetch"));
  OK(cuLaunchKernel(fetch, 1, 1, 1, THREADS, 1, 1, 0, stream, arguments, NULL));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuEventRecord(event, stream));
  OK(cuStreamDestroy(stream)); /* its work goes on */
  OK(cuTexObjectDestroy(texture));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
  CUDA_RESOURCE_DESC found;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(&found, texture));
  atomic_store(&is_released, 1);
  OK(cuEventSynchronize(event));
  OK(cuEventDestroy(event));
  OK(cuMemcpyDtoH(got, at.out, sizeof got));
  for (int i = 0; i < THREADS; ++i) assert_true(got[4 * i] == 3 * SIDE + 3);
  OK(cuArrayDestroy(array));
}

#define IMAGE_TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      IMAGE_TEST(boxes_of_arrays_are_copied),
      IMAGE_TEST(arrays_that_are_none_are_refused),
      IMAGE_TEST(levels_are_arrays_of_their_own),
      IMAGE_TEST(fetches_are_filtered_and_addressed),
      IMAGE_TEST(linear_memory_is_read_by_lanes_of_their_own_texture),
      IMAGE_TEST(references_name_what_they_are_bound_to),
      IMAGE_TEST(references_answer_while_a_change_waits_for_work),
      IMAGE_TEST(textures_outlive_the_kernels_that_read_them),
      IMAGE_TEST(surfaces_are_stored_to),
      IMAGE_TEST(clamped_accesses_are_aligned),
      IMAGE_TEST(copies_to_arrays_are_captured),
      IMAGE_TEST(sampling_that_is_none_is_refused),
      IMAGE_TEST(surfaces_are_no_textures),
      IMAGE_TEST(handles_that_are_none_end_the_launch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
