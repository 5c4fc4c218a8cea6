/* Calls of CUDA 1 to 3: launches whose shape and arguments are set one by one, addresses of 32
 * bits, contexts that are attached to. */
#include "support.h"

#include <dlfcn.h>
#include <string.h>

enum { COUNT = 100 };

/* cuda.h declares only the newest versions of these. */
typedef unsigned int address32;
typedef CUresult (*alloc_fn)(address32*, unsigned int);
typedef CUresult (*pitch_fn)(address32*, unsigned int*, unsigned int, unsigned int, unsigned int);
typedef CUresult (*free_fn)(address32);
typedef CUresult (*range_fn)(address32*, unsigned int*, address32);
typedef CUresult (*info_fn)(unsigned int*, unsigned int*);
typedef CUresult (*up_fn)(address32, const void*, unsigned int);
typedef CUresult (*down_fn)(void*, address32, unsigned int);
typedef CUresult (*across_fn)(address32, address32, unsigned int);
typedef CUresult (*set32_fn)(address32, unsigned int, unsigned int);
typedef CUresult (*global_fn)(address32*, unsigned int*, CUmodule, const char*);

typedef struct copy_2d_v1 {
  unsigned int src_x, src_y;
  CUmemorytype src_type;
  const void* src_host;
  address32 src_device;
  CUarray src_array;
  unsigned int src_pitch;
  unsigned int dst_x, dst_y;
  CUmemorytype dst_type;
  void* dst_host;
  address32 dst_device;
  CUarray dst_array;
  unsigned int dst_pitch;
  unsigned int width, height;
} copy_2d_v1;
typedef CUresult (*copy_2d_fn)(const copy_2d_v1*);

static void* symbol(const char* name) {
  static void* library;
  void* found = NULL;
  if (library == NULL) library = dlopen("libcuda.so.1", RTLD_NOW);
  assert_non_null(library);
  found = dlsym(library, name);
  if (found == NULL) fail_msg("%s is not exported", name);
  return found;
}
#define FUNCTION(type, name)                      \
  type name##_v1 = NULL;                          \
  {                                               \
    void* const found = symbol(#name);            \
    memcpy(&name##_v1, &found, sizeof name##_v1); \
  }

static void expect_index(CUdeviceptr out, unsigned base, unsigned count) {
  unsigned got[COUNT];
  OK(cuMemcpyDtoH(got, out, sizeof got));
  for (unsigned i = 0; i < COUNT; ++i) assert_int_equal(got[i], i < count ? base + i : 0);
  OK(cuMemsetD32(out, 0, COUNT));
}

/* fill_index(out, base, n), its arguments at 0, 8 and 12. */
static void set_arguments(CUfunction function, CUdeviceptr out, unsigned base, unsigned count) {
  OK(cuParamSetv(function, 0, &out, sizeof out));
  OK(cuParamSeti(function, 8, base));
  OK(cuParamSeti(function, 12, count));
  OK(cuParamSetSize(function, 16));
}

static void launches_take_what_was_set(void** state) {
  const fixture* f = *state;
  const CUfunction function = kernel(f, "fill_index");
  CUdeviceptr out = 0;
  OK(cuMemAlloc(&out, COUNT * sizeof(unsigned)));
  OK(cuMemsetD32(out, 0, COUNT));
  OK(cuFuncSetBlockShape(function, 32, 1, 1));
  OK(cuFuncSetSharedSize(function, 64));
  set_arguments(function, out, 5, COUNT);
  OK(cuLaunch(function)); /* one block */
  expect_index(out, 5, 32);
  OK(cuLaunchGrid(function, 2, 1));
  expect_index(out, 5, 64);
  OK(cuParamSeti(function, 8, 1000)); /* the rest stays */
  OK(cuLaunchGridAsync(function, 4, 1, f->stream));
  OK(cuStreamSynchronize(f->stream));
  expect_index(out, 1000, COUNT);
  OK(cuFuncSetBlockShape(function, 4, 2, 2));
  OK(cuLaunchGrid(function, 1, 1)); /* x alone counts for the kernel */
  expect_index(out, 1000, 4);
  OK(cuMemFree(out));
}

static void launches_of_now_leave_it_alone(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUfunction function = kernel(f, "fill_index");
  CUdeviceptr out = 0;
  unsigned base = 7, count = 10;
  OK(cuMemAlloc(&out, COUNT * sizeof(unsigned)));
  OK(cuMemsetD32(out, 0, COUNT));
  void* params[] = {&out, &base, &count};
  OK(cuFuncSetBlockShape(function, 16, 1, 1));
  set_arguments(function, out, 50, COUNT);
  OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
  expect_index(out, 7, 10);
  OK(cuLaunch(function));
  expect_index(out, 50, 16);
  OK(cuMemFree(out));
}

static void values_that_are_none_are_refused(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUfunction function = kernel(f, "fill_index"), none = (CUfunction)0x10;
  CUdeviceptr out = 0;
  OK(cuMemAlloc(&out, COUNT * sizeof(unsigned)));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunch(function)); /* no shape yet */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(function, 0, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(function, -1, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(function, 2048, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(function, 64, 64, 1));
  OK(cuFuncSetBlockShape(function, 32, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunch(function)); /* no arguments yet */
  set_arguments(function, out, 1, COUNT);
  OK(cuParamSetSize(function, 12));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunch(function));
  OK(cuParamSetSize(function, 16));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuParamSeti(function, -4, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuParamSetf(function, 1 << 20, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuParamSetv(function, 0, NULL, 4));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuParamSetSize(function, 1 << 20));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuParamSetTexRef(function, 0, NULL));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(function, 0, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(function, 1, -1));
  OK(cuFuncSetSharedSize(function, 1 << 30));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunch(function));
  OK(cuFuncSetSharedSize(function, 0));
  OK(cuLaunch(function));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuFuncSetBlockShape(none, 1, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunch(none));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunchGridAsync(function, 1, 1, (CUstream)0x10));
  OK(cuCtxSynchronize());
  OK(cuMemFree(out));
}

static void floats_are_arguments(void** state) {
  static const char ptx[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".visible .entry put(.param .f32 value, .param .u64 out) {\n"
      "  .reg .f32 %f; .reg .b64 %d;\n"
      "  ld.param.f32 %f, [value]; ld.param.u64 %d, [out]; st.global.f32 [%d], %f; ret; }\n";
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUdeviceptr out = 0;
  float got = 0;
  (void)state;
  OK(cuModuleLoadData(&module, ptx));
  OK(cuModuleGetFunction(&function, module, "put"));
  OK(cuMemAlloc(&out, sizeof got));
  OK(cuFuncSetBlockShape(function, 1, 1, 1));
  OK(cuParamSetf(function, 0, 1.5F));
  OK(cuParamSetv(function, 8, &out, sizeof out));
  OK(cuParamSetSize(function, 16));
  OK(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  OK(cuLaunch(function));
  OK(cuMemcpyDtoH(&got, out, sizeof got));
  assert_true(got == 1.5F);
  OK(cuMemFree(out));
  OK(cuModuleUnload(module));
}

static void narrow_addresses_hold_memory(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  unsigned up[64], down[64], pitch = 0, bytes = 0;
  address32 first = 0, second = 0, begin = 0;
  FUNCTION(alloc_fn, cuMemAlloc)
  FUNCTION(free_fn, cuMemFree)
  FUNCTION(up_fn, cuMemcpyHtoD)
  FUNCTION(down_fn, cuMemcpyDtoH)
  FUNCTION(across_fn, cuMemcpyDtoD)
  FUNCTION(set32_fn, cuMemsetD32)
  FUNCTION(range_fn, cuMemGetAddressRange)
  FUNCTION(pitch_fn, cuMemAllocPitch)
  (void)state;
  for (unsigned i = 0; i < 64; ++i) up[i] = i * i;
  OK(cuMemAlloc_v1(&first, sizeof up));
  OK(cuMemAlloc_v1(&second, sizeof up));
  assert_true(first != second);
  OK(cuMemcpyHtoD_v1(first, up, sizeof up));
  OK(cuMemsetD32_v1(second, 9, 64));
  OK(cuMemcpyDtoD_v1(second, first, sizeof up / 2));
  OK(cuMemcpyDtoH_v1(down, second, sizeof down));
  for (unsigned i = 0; i < 64; ++i) assert_int_equal(down[i], i < 32 ? i * i : 9);
  OK(cuMemGetAddressRange_v1(&begin, &bytes, second + 100));
  assert_int_equal(begin, second);
  assert_int_equal(bytes, sizeof up);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v1(first, up, sizeof up + 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v1(&begin, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v1(NULL, 16));
  OK(cuMemFree_v1(first));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v1(first));
  OK(cuMemFree(second)); /* of the newest version */
  OK(cuMemAllocPitch_v1(&first, &pitch, 100, 3, 4));
  assert_true(pitch >= 100 && pitch % 4 == 0);
  OK(cuMemFree_v1(first));
}

static void narrow_addresses_are_for_kernels_and_rows(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  unsigned base = 3, count = COUNT, free_bytes = 0, total_bytes = 0;
  address32 out = 0;
  unsigned char rows[4][8];
  copy_2d_v1 copy;
  FUNCTION(alloc_fn, cuMemAlloc)
  FUNCTION(free_fn, cuMemFree)
  FUNCTION(info_fn, cuMemGetInfo)
  FUNCTION(copy_2d_fn, cuMemcpy2D)
  FUNCTION(global_fn, cuModuleGetGlobal)
  OK(cuMemGetInfo_v1(&free_bytes, &total_bytes));
  assert_true(free_bytes != 0 && free_bytes <= total_bytes);
  OK(cuMemAlloc_v1(&out, COUNT * sizeof(unsigned)));
  CUdeviceptr wide = out;
  void* params[] = {&wide, &base, &count};
  OK(cuMemsetD32(wide, 0, COUNT));
  OK(cuLaunchKernel(kernel(f, "fill_index"), 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
  memset(rows, 0, sizeof rows);
  memset(&copy, 0, sizeof copy);
  copy.src_type = CU_MEMORYTYPE_DEVICE;
  copy.src_device = out;
  copy.src_pitch = 16;
  copy.dst_type = CU_MEMORYTYPE_HOST;
  copy.dst_host = rows;
  copy.dst_pitch = sizeof rows[0];
  copy.width = 4;
  copy.height = 4;
  OK(cuMemcpy2D_v1(&copy));
  for (unsigned row = 0; row < 4; ++row) assert_int_equal(rows[row][0], 3 + 4 * row);
  expect_index(wide, base, count);
  OK(cuMemFree_v1(out));
  /* What lies above 4 GiB has no such address. */
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  OK(cuModuleGetGlobal(&counter, &bytes, f->module, "counter"));
  EXPECT(counter > UINT32_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS,
         cuModuleGetGlobal_v1(&out, NULL, f->module, "counter"));
}

static void contexts_end_with_their_last_user(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUcontext context = NULL, attached = NULL, current = NULL;
  OK(cuCtxCreate(&context, NULL, 0, f->device));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&attached, 1));
  OK(cuCtxAttach(&attached, 0));
  assert_ptr_equal(attached, context);
  OK(cuCtxDetach(context));
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, context);
  OK(cuCtxSynchronize());
  OK(cuCtxSetCurrent(f->context));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(context)); /* not current */
  OK(cuCtxSetCurrent(context));
  OK(cuCtxDetach(context));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(context));
  OK(cuCtxSetCurrent(f->context));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(f->context)); /* primary ones are released */
  OK(cuCtxAttach(&attached, 0));
  OK(cuCtxDetach(f->context));
  OK(cuCtxSynchronize());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(launches_take_what_was_set),        TEST(launches_of_now_leave_it_alone),
      TEST(values_that_are_none_are_refused),  TEST(floats_are_arguments),
      TEST(narrow_addresses_hold_memory),      TEST(narrow_addresses_are_for_kernels_and_rows),
      TEST(contexts_end_with_their_last_user),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
