/* Arrays and textures in the runtime's forms. */
#include "support.h"

#include <driver_functions.h>
#include <string.h>

/* cudaMemcpyToArray and cudaMemcpyFromArray, which old programs call. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { WIDTH = 8, HEIGHT = 4 };

static const char ptx[] =
    ".version 8.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry sample(.param .u64 texture, .param .u64 out) {\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<8>;\n"
    "  ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;\n"
    "  cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f40200000;\n" /* 2.5 */
    "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n"
    "  st.global.f32 [%rd2], %f3;\n  ret;\n}\n"
    ".visible .entry negate(.param .u64 surface) {\n"
    "  .reg .b64 %rd<2>; .reg .b32 %r<5>;\n"
    "  ld.param.u64 %rd1, [surface]; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2;\n"
    "  suld.b.2d.b32.trap {%r2}, [%rd1, {%r1, 1}]; xor.b32 %r2, %r2, -2147483648;\n"
    "  sust.b.2d.b32.trap [%rd1, {%r1, 1}], {%r2};\n  ret;\n}\n";
static void sample(void) {}
static void negate(void) {}

static void use_kernels(void) {
  static int done = 0;
  static const symbol kernels[] = {{(const void*)sample, "sample"},
                                   {(const void*)negate, "negate"}};
  if (!done) register_kernels(wrap(make_fat_binary(ptx, FAT_PTX, 50)), kernels, 2);
  done = 1;
}

static struct cudaChannelFormatDesc floats(void) {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
}

static void arrays_hold_what_is_copied(void** state) {
  (void)state;
  const struct cudaChannelFormatDesc format = floats();
  float in[HEIGHT][WIDTH], out[HEIGHT][WIDTH] = {{0}};
  for (int i = 0; i < HEIGHT * WIDTH; ++i) in[i / WIDTH][i % WIDTH] = (float)i;
  cudaArray_t array = NULL, other = NULL;
  OK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, 0));
  OK(cudaMallocArray(&other, &format, WIDTH, HEIGHT, 0));
  struct cudaChannelFormatDesc found;
  struct cudaExtent extent;
  unsigned flags = 9;
  OK(cudaArrayGetInfo(&found, &extent, &flags, array));
  assert_int_equal(found.x, 32);
  assert_int_equal(extent.width, WIDTH);
  assert_int_equal(extent.height, HEIGHT);
  assert_int_equal(flags, 0);
  OK(cudaMemcpy2DToArray(array, 0, 0, in, sizeof in[0], sizeof in[0], HEIGHT,
                         cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, sizeof in[0], HEIGHT,
                              cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2DFromArray(out, sizeof out[0], other, 0, 0, sizeof in[0], HEIGHT,
                           cudaMemcpyDeviceToHost));
  assert_memory_equal(in, out, sizeof in);
  OK(cudaMemcpy2DFromArray(out, sizeof out[0], other, 4, 2, 8, 1, cudaMemcpyDeviceToHost));
  assert_true(out[0][0] == in[2][1] && out[0][1] == in[2][2]);
  memset(out, 0, sizeof out); /* a run goes on from row to row */
  OK(cudaMemcpyToArray(other, 0, 0, in[1], 3 * sizeof in[0], cudaMemcpyHostToDevice));
  OK(cudaMemcpyFromArray(out, other, 8, 0, 2 * sizeof in[0] + 12, cudaMemcpyDeviceToHost));
  assert_memory_equal(out, &in[1][2], 2 * sizeof in[0] + 12);
  assert_true(out[2][3] == 0);
  EXPECT(cudaErrorInvalidValue,
         cudaMemcpyToArray(other, 4, 0, in, sizeof in, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy2DToArray(array, 4, 0, in, sizeof in[0], sizeof in[0],
                                                    HEIGHT, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpyToArray(other, 0, 0, in, 4, cudaMemcpyDeviceToHost));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpyFromArray(out, other, 0, 0, 4, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy2DToArray(array, 0, 0, in, 4, 4, 1, cudaMemcpyHostToHost));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy2DFromArray(out, 4, array, 0, 0, 4, 1, (enum cudaMemcpyKind)7));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 4, 1, cudaMemcpyHostToDevice));
  OK(cudaFreeArray(other));
  OK(cudaFreeArray(array));
  OK(cudaFreeArray(NULL));
  assert_true(cudaFreeArray(array) != cudaSuccess);
  cudaGetLastError();
}

/* The rows of the two arrays differ in length. */
static void runs_go_on_from_row_to_row(void** state) {
  (void)state;
  enum { LONG = 12 };
  const struct cudaChannelFormatDesc format = floats();
  float in[HEIGHT * WIDTH], out[HEIGHT * LONG] = {0};
  for (int i = 0; i < HEIGHT * WIDTH; ++i) in[i] = (float)i;
  cudaArray_t array = NULL, wide = NULL;
  OK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, 0));
  OK(cudaMallocArray(&wide, &format, LONG, HEIGHT, 0));
  OK(cudaMemcpyToArray(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
  OK(cudaMemcpyToArray(wide, 0, 0, out, sizeof out, cudaMemcpyHostToDevice));
  /* 27 texels, from (3, 0) on to (10, 0) on. */
  OK(cudaMemcpyArrayToArray(wide, 40, 0, array, 12, 0, 27 * 4, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyFromArray(out, wide, 0, 0, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < HEIGHT * LONG; ++i) {
    const int texel = i - 10 + 3;
    assert_true(out[i] == (i < 10 || texel >= 30 ? 0 : in[texel]));
  }
  EXPECT(cudaErrorInvalidValue,
         cudaMemcpyArrayToArray(wide, 0, 0, array, 4, 0, sizeof in, cudaMemcpyDeviceToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpyArrayToArray(wide, 0, 0, array, 0, 0, 4, cudaMemcpyHostToDevice));
  cudaGetLastError();
  OK(cudaFreeArray(wide));
  OK(cudaFreeArray(array));
}

static void boxes_are_copied_in_texels(void** state) {
  (void)state;
  const struct cudaChannelFormatDesc format =
      cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindSigned);
  uint32_t in[24], out[4] = {0};
  for (uint32_t i = 0; i < 24; ++i) in[i] = i;
  cudaArray_t array = NULL;
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 3, 2), 0));
  struct cudaMemcpy3DParms copy = {0};
  copy.srcPtr = make_cudaPitchedPtr(in, 16, 4, 3);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(4, 3, 2);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  struct cudaMemcpy3DParms back = {0};
  back.srcArray = array;
  back.srcPos = make_cudaPos(2, 1, 1); /* texels */
  back.dstPtr = make_cudaPitchedPtr(out, 8, 2, 2);
  back.extent = make_cudaExtent(2, 2, 1);
  back.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&back));
  assert_int_equal(out[0], 12 + 4 + 2);
  assert_int_equal(out[3], 12 + 8 + 3);
  back.srcPos.x = (size_t)1 << 62; /* 0 in bytes modulo 2^64 */
  EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&back));
  cudaGetLastError();
  OK(cudaFreeArray(array));
}

static void levels_of_mipmaps_are_arrays(void** state) {
  (void)state;
  const struct cudaChannelFormatDesc format = floats();
  cudaMipmappedArray_t mipmap = NULL;
  cudaArray_t level = NULL;
  struct cudaExtent extent;
  OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(16, 8, 0), 3, 0));
  OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
  OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
  assert_int_equal(extent.width, 4);
  assert_int_equal(extent.height, 2);
  assert_true(cudaGetMipmappedArrayLevel(&level, mipmap, 3) != cudaSuccess);
  cudaGetLastError();
  OK(cudaFreeMipmappedArray(mipmap));
}

static void textures_and_surfaces_are_read_by_kernels(void** state) {
  (void)state;
  use_kernels();
  const struct cudaChannelFormatDesc format = floats();
  float in[HEIGHT][WIDTH], *out = NULL, got[WIDTH];
  for (int i = 0; i < HEIGHT * WIDTH; ++i) in[i / WIDTH][i % WIDTH] = (float)i;
  cudaArray_t array = NULL;
  OK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(array, 0, 0, in, sizeof in[0], sizeof in[0], HEIGHT,
                         cudaMemcpyHostToDevice));
  OK(cudaMalloc((void**)&out, sizeof got));
  struct cudaResourceDesc resource, found;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  struct cudaTextureDesc sampling, described;
  memset(&sampling, 0, sizeof sampling);
  sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
  sampling.filterMode = cudaFilterModeLinear;
  sampling.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
  OK(cudaGetTextureObjectResourceDesc(&found, texture));
  assert_ptr_equal(found.res.array.array, array);
  OK(cudaGetTextureObjectTextureDesc(&described, texture));
  assert_int_equal(described.filterMode, cudaFilterModeLinear);
  OK(cudaCreateSurfaceObject(&surface, &resource));
  void* arguments[] = {&texture, &out};
  OK(cudaLaunchKernel((const void*)sample, dims(1, 1, 1), dims(WIDTH, 1, 1), arguments, 0, NULL));
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  assert_true(got[0] == 16 && got[1] == 16.5f && got[7] == 22.5f);
  arguments[0] = &surface;
  OK(cudaLaunchKernel((const void*)negate, dims(1, 1, 1), dims(WIDTH, 1, 1), arguments, 0, NULL));
  OK(cudaMemcpy2DFromArray(got, sizeof got, array, 0, 1, sizeof got, 1, cudaMemcpyDeviceToHost));
  for (int i = 0; i < WIDTH; ++i) assert_true(got[i] == -in[1][i]);
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  OK(cudaFree(out));
}

static void sampling_that_is_none_has_its_own_errors(void** state) {
  (void)state;
  const struct cudaChannelFormatDesc words =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t array = NULL;
  OK(cudaMallocArray(&array, &words, WIDTH, HEIGHT, 0));
  struct cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  struct cudaTextureDesc sampling;
  memset(&sampling, 0, sizeof sampling);
  sampling.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = 0;
  EXPECT(cudaErrorInvalidFilterSetting,
         cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
  sampling.filterMode = cudaFilterModePoint;
  sampling.readMode = cudaReadModeNormalizedFloat;
  EXPECT(cudaErrorInvalidNormSetting,
         cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
  resource.res.array.array = NULL;
  sampling.filterMode = cudaFilterModeLinear;
  sampling.readMode = cudaReadModeElementType;
  EXPECT(cudaErrorInvalidResourceHandle,
         cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
  cudaGetLastError();
  OK(cudaFreeArray(array));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(arrays_hold_what_is_copied),
      TEST(runs_go_on_from_row_to_row),
      TEST(boxes_are_copied_in_texels),
      TEST(levels_of_mipmaps_are_arrays),
      TEST(textures_and_surfaces_are_read_by_kernels),
      TEST(sampling_that_is_none_has_its_own_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
