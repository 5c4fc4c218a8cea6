#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "support/ptx_kernels.h"

const char kernels_ptx[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry noop() { ret; }\n" KM_PTX_FILL_INDEX KM_PTX_ADD_ONE KM_PTX_SLOW KM_PTX_CRASH
    ".visible .entry big(.param .align 8 .b8 value[16], .param .u64 out)\n"
    "{\n"
    "  .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [value];\n"
    "  ld.param.u64 %d2, [value+8];\n"
    "  ld.param.u64 %d3, [out];\n"
    "  add.s64 %d4, %d1, %d2;\n"
    "  st.global.u64 [%d3], %d4;\n"
    "  ret;\n"
    "}\n";

void expect_result(CUresult expected, CUresult given, const char* call, const char* file,
                   int line) {
  const char *want = "?", *got = "?";
  if (expected == given) return;
  cuGetErrorName(expected, &want);
  cuGetErrorName(given, &got);
  print_error("%s gave %s (%d), not %s\n", call, got, (int)given, want);
  _fail(file, line);
}

int set_up(void** state) {
  fixture* f = calloc(1, sizeof *f);
  OK(cuInit(0));
  OK(cuDeviceGet(&f->device, 0));
  OK(cuDevicePrimaryCtxRetain(&f->context, f->device));
  OK(cuCtxSetCurrent(f->context));
  OK(cuModuleLoadData(&f->module, kernels_ptx));
  OK(cuStreamCreate(&f->stream, CU_STREAM_NON_BLOCKING));
  *state = f;
  return 0;
}

int tear_down(void** state) {
  fixture* f = *state;
  if (f == NULL) return 0;
  OK(cuDevicePrimaryCtxRelease(f->device));
  cuCtxSetCurrent(NULL);
  free(f);
  return 0;
}

int on_nvidias_driver(void) {
  const char* set = getenv("KM_TEST_NVIDIA");
  return set != NULL && *set == '1';
}

int count_devices(void) {
  int count = 0;
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  return count;
}

CUfunction kernel(const fixture* f, const char* name) {
  CUfunction function = NULL;
  OK(cuModuleGetFunction(&function, f->module, name));
  return function;
}

CUDA_KERNEL_NODE_PARAMS one_thread_of(CUmodule module, const char* name, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  OK(cuModuleGetFunction(&params.func, module, name));
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  return params;
}

CUgraphNode add_kernel(CUgraph graph, CUmodule module, const char* name, void** arguments,
                       const CUgraphNode* after) {
  CUgraphNode node = NULL;
  const CUDA_KERNEL_NODE_PARAMS params = one_thread_of(module, name, arguments);
  OK(cuGraphAddKernelNode(&node, graph, after, after != NULL ? 1 : 0, &params));
  return node;
}
