/* Callbacks of cuFFT: addresses of functions from modules of the program, and code that is loaded
 * for a plan. Random transforms with callbacks are in test_cufft_random.c. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "cufft_callbacks.h"
#include "cufft_reference.h"

static CUmodule load_module(const char* ptx) {
  CUmodule module = NULL;
  assert_int_equal(cudaFree(NULL), 0);
  assert_int_equal(cuModuleLoadData(&module, ptx), 0);
  return module;
}

static float* managed(size_t count) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, count * sizeof(float), cudaMemAttachGlobal), 0);
  memset(memory, 0, count * sizeof(float));
  return memory;
}

static void transform(int plan, float* data, float* out) {
  assert_int_equal(cufftExecC2C(plan, data, out, FORWARD), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
}

static void the_caller_s_information_scales_numbers(void** state) {
  (void)state;
  const CUmodule module = load_module(scaling_callbacks);
  void* routines[8];
  read_pointers(module, "callbacks", routines, 8);
  float* const data = managed(4);
  float* const gains = managed(2);
  int plan = 0;
  assert_int_equal(cufftPlan1d(&plan, 2, C2C, 1), 0);
  void *load_gain = &gains[0], *store_gain = &gains[1];
  gains[0] = 2, gains[1] = 10;
  data[0] = 1, data[2] = 3;
  assert_int_equal(cufftXtSetCallback(plan, &routines[LOAD_C], LOAD_C, &load_gain), 0);
  transform(plan, data, data);
  assert_true(data[0] == 8 && data[2] == -4);
  assert_int_equal(cufftXtSetCallback(plan, &routines[STORE_C], STORE_C, &store_gain), 0);
  gains[0] = 1;
  transform(plan, data, data);
  assert_true(data[0] == 40 && data[2] == 120);
  assert_int_equal(cufftXtClearCallback(plan, LOAD_C), 0);
  transform(plan, data, data);
  assert_true(data[0] == 1600 && data[2] == -800);
  assert_int_equal(cufftXtClearCallback(plan, STORE_C), 0);
  transform(plan, data, data);
  assert_true(data[0] == 800 && data[2] == 2400);
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cuModuleUnload(module), 0);
  cudaFree(data), cudaFree(gains);
}

/* A function uses variables of its module. Which of two modules is meant cannot be told if both
 * have a function of the type at the same place. */
static void functions_are_those_of_their_module(void** state) {
  (void)state;
  static const char text[] = PTX_HEADER
      ".visible .global .align 4 .f32 bias = 0f%s;\n"
      ".visible .func (.param .align 8 .b8 r[8]) load(.param .b64 a, .param .b64 o, .param .b64 i,"
      " .param .b64 s)\n{\n.reg .f32 %%f<3>; .reg .b64 %%d<1>;\nmov.u64 %%d0, bias; ld.global.f32 "
      "%%f0, [%%d0]; mov.f32 %%f1, 0f00000000;\nadd.f32 %%f2, %%f0, 0f3F800000; st.global.f32 "
      "[%%d0], %%f2;\nst.param.f32 [r], %%f0; st.param.f32 [r+4], %%f1; ret;\n}\n"
      ".visible .global .align 8 .u64 pointer = load;\n";
  float* const data = managed(2);
  CUmodule modules[2];
  void* routine = NULL;
  int plan = 0;
  char ptx[sizeof text + 16];
  snprintf(ptx, sizeof ptx, text, "40A00000"); /* 5 */
  modules[0] = load_module(ptx);
  read_pointers(modules[0], "pointer", &routine, 1);
  unsigned count = 9;
  assert_int_equal(cuModuleGetFunctionCount(&count, modules[0]), 0);
  assert_int_equal(count, 0); /* the program's own kernels */
  assert_int_equal(cufftPlan1d(&plan, 1, C2C, 1), 0);
  assert_int_equal(cufftXtSetCallback(plan, &routine, LOAD_C, NULL), 0);
  for (int round = 0; round < 2; ++round) {
    transform(plan, data, data);
    assert_true(data[0] == 5 + round);
  }
  float bias = 0;
  CUdeviceptr place = 0;
  assert_int_equal(cuModuleGetGlobal(&place, NULL, modules[0], "bias"), 0);
  assert_int_equal(cuMemcpyDtoH(&bias, place, sizeof bias), 0);
  assert_true(bias == 7);
  snprintf(ptx, sizeof ptx, text, "42480000"); /* 50 */
  modules[1] = load_module(ptx);
  assert_int_equal(cufftXtSetCallback(plan, &routine, LOAD_C, NULL), INVALID_VALUE);
  assert_int_equal(cuModuleUnload(modules[0]), 0);
  assert_int_equal(cufftXtSetCallback(plan, &routine, LOAD_C, NULL), 0);
  transform(plan, data, data);
  assert_true(data[0] == 50);
  assert_int_equal(cuModuleUnload(modules[1]), 0);
  assert_int_equal(cufftExecC2C(plan, data, data, FORWARD), INVALID_VALUE);
  assert_int_equal(cufftDestroy(plan), 0);
  cudaFree(data);
}

/* The threads of a block share memory of the size that the program has set. */
static void callbacks_have_shared_memory(void** state) {
  (void)state;
  static const char text[] = PTX_HEADER
      ".visible .func (.param .b32 r) load(.param .b64 a, .param .b64 o, .param .b64 i, "
      ".param .b64 s)\n{\n.reg .f32 %f<1>; .reg .b64 %d<3>; .reg .b32 %r<1>;\nld.param.u64 %d0, "
      "[s]; "
      "ld.param.u64 %d1, [o];\nmov.u32 %r0, %tid.x; mad.wide.u32 %d0, %r0, 4, %d0;\ncvt.rn.f32.u64 "
      "%f0, %d1; st.f32 [%d0], %f0;\nld.f32 %f0, [%d0]; st.param.f32 [r], %f0; ret;\n}\n"
      ".visible .global .align 8 .u64 pointer = load;\n";
  const CUmodule module = load_module(text);
  void* routine = NULL;
  read_pointers(module, "pointer", &routine, 1);
  float* const data = managed(4);
  int plan = 0;
  assert_int_equal(cufftPlan1d(&plan, 2, R2C, 1), 0);
  assert_int_equal(cufftXtSetCallbackSharedSize(plan, LOAD_R, 16385), ALLOC_FAILED);
  assert_int_equal(cufftXtSetCallbackSharedSize(plan, LOAD_R, 16384), 0);
  assert_int_equal(cufftXtSetCallback(plan, &routine, LOAD_R, NULL), 0);
  assert_int_equal(cufftExecR2C(plan, data, data), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_true(data[0] == 1 && data[2] == -1);
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cuModuleUnload(module), 0);
  cudaFree(data);
}

static void code_is_loaded_for_a_plan(void** state) {
  (void)state;
  float* const data = managed(4);
  float* const gain = managed(1);
  *gain = 3;
  void* information = gain;
  int plan = 0;
  static const char code[] = PTX_HEADER PTX_LOAD_COMPLEX("own_load", "f32", "4", "8");
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftXtSetJITCallback(plan, "own_load", code, sizeof code, LOAD_C, &information),
                   0);
  assert_int_equal(cufftMakePlan1d(plan, 2, C2C, 1, NULL), 0);
  data[0] = 1, data[2] = 3;
  transform(plan, data, data);
  assert_true(data[0] == 12 && data[2] == -6);
  assert_int_equal(cufftXtSetJITCallback(plan, "own_load", code, sizeof code, LOAD_C, NULL),
                   INVALID_PLAN);
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cufftCreate(&plan), 0); /* loads of real numbers: not the plan's */
  assert_int_equal(cufftXtSetJITCallback(plan, "own_load", code, sizeof code, LOAD_R, &information),
                   0);
  assert_int_equal(cufftMakePlan1d(plan, 2, C2C, 1, NULL), INVALID_TYPE);
  assert_int_equal(cufftXtSetJITCallback(plan, "o l", code, sizeof code, LOAD_C, NULL),
                   INVALID_VALUE);
  assert_int_equal(cufftXtSetJITCallback(plan, "f", code, sizeof code, LOAD_C, NULL),
                   INVALID_VALUE); /* no such function */
  assert_int_equal(cufftXtSetJITCallback(plan, "f", code, 0, LOAD_C, NULL), INVALID_VALUE);
  assert_int_equal(cufftXtSetJITCallback(plan, "f", (void*)16, 8, LOAD_C, NULL), INVALID_VALUE);
  assert_int_equal(cufftXtSetJITCallback(plan, "f", "\x01\x02", 2, LOAD_C, NULL), NOT_SUPPORTED);
  assert_int_equal(cufftDestroy(plan), 0);
  cudaFree(data), cudaFree(gain);
}

static void wrong_callbacks_are_errors(void** state) {
  (void)state;
  const CUmodule module = load_module(scaling_callbacks);
  void* routines[8];
  read_pointers(module, "callbacks", routines, 8);
  int plan = 0;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftXtSetCallback(plan, routines, LOAD_C, NULL), INVALID_PLAN);
  assert_int_equal(cufftMakePlan1d(plan, 4, R2C, 1, NULL), 0);
  assert_int_equal(cufftXtSetCallback(plan, routines, LOAD_C, NULL), INVALID_TYPE);
  assert_int_equal(cufftXtSetCallback(plan, routines, STORE_R, NULL), INVALID_TYPE);
  assert_int_equal(cufftXtSetCallback(plan, routines, 8, NULL), INVALID_VALUE);
  assert_int_equal(cufftXtSetCallback(plan, NULL, LOAD_R, NULL), INVALID_VALUE);
  assert_int_equal(cufftXtSetCallback(plan, (void**)24, LOAD_R, NULL), INVALID_VALUE);
  void* wrong[] = {NULL, (void*)16, routines, (void*)((char*)routines[LOAD_R] + 1)};
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(cufftXtSetCallback(plan, &wrong[i], LOAD_R, NULL), INVALID_VALUE);
  }
  assert_int_equal(cufftXtSetCallbackSharedSize(plan, LOAD_C, 4), INVALID_TYPE);
  assert_int_equal(cufftXtClearCallback(plan, 9), INVALID_VALUE);
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cuModuleUnload(module), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_caller_s_information_scales_numbers),
      cmocka_unit_test(functions_are_those_of_their_module),
      cmocka_unit_test(callbacks_have_shared_memory),
      cmocka_unit_test(code_is_loaded_for_a_plan),
      cmocka_unit_test(wrong_callbacks_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
