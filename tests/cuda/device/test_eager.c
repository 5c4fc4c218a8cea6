/* CUDA_MODULE_LOADING=EAGER: modules of any size are read at load, so wrong kernels are told then.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTextBytes = 200 << 10 };

/* Kernels that make a text large, and a last one with this body. The caller frees it. */
static char* large_text(const char* body) {
  char* const text = malloc(kTextBytes + 4096);
  assert_non_null(text);
  const size_t capacity = kTextBytes + 4096;
  size_t size = (size_t)snprintf(text, capacity, ".version 7.0\n.target sm_70\n.address_size 64\n");
  for (int i = 0; size < kTextBytes; ++i) {
    size +=
        (size_t)snprintf(text + size, capacity - size, ".visible .entry filler_%d() { ret; }\n", i);
  }
  snprintf(text + size, capacity - size, ".visible .entry last() { %s ret; }\n", body);
  return text;
}

static CUresult load(CUmodule* module, const char* body) {
  char* const text = large_text(body);
  const CUresult result = cuModuleLoadData(module, text);
  free(text);
  return result;
}

static void wrong_kernels_are_told_at_load(void** state) {
  (void)state;
  CUmodule module = NULL;
  CUfunction last = NULL;
  CUmoduleLoadingMode mode = CU_MODULE_LAZY_LOADING;
  OK(cuModuleGetLoadingMode(&mode));
  assert_int_equal(mode, CU_MODULE_EAGER_LOADING);
  EXPECT(CUDA_ERROR_INVALID_PTX, load(&module, "mov.u32 %none, 1;"));
  OK(load(&module, ""));
  OK(cuModuleGetFunction(&last, module, "last"));
  OK(cuLaunchKernel(last, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cuCtxSynchronize());
  OK(cuModuleUnload(module));
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(wrong_kernels_are_told_at_load)};
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  return cmocka_run_group_tests_name("cuda.eager", tests, NULL, NULL);
}
