#include "support.h"

#include <stdlib.h>

const char kernels_ptx[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry noop() { ret; }\n"
    ".visible .entry fill_index(.param .u64 out, .param .u32 base, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<8>;\n"
    "  .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [out];\n"
    "  ld.param.u32 %r1, [base];\n"
    "  ld.param.u32 %r2, [n];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p, %r6, %r2;\n"
    "  @%p ret;\n"
    "  mul.wide.u32 %d2, %r6, 4;\n"
    "  add.s64 %d1, %d1, %d2;\n"
    "  add.u32 %r7, %r6, %r1;\n"
    "  st.global.u32 [%d1], %r7;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry add_one(.param .u64 data, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<8>;\n"
    "  .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [data];\n"
    "  ld.param.u32 %r2, [n];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p, %r6, %r2;\n"
    "  @%p ret;\n"
    "  mul.wide.u32 %d2, %r6, 4;\n"
    "  add.s64 %d1, %d1, %d2;\n"
    "  ld.global.u32 %r7, [%d1];\n"
    "  add.u32 %r7, %r7, 1;\n"
    "  st.global.u32 [%d1], %r7;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry slow(.param .u64 flag, .param .u64 out)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<2>;\n"
    "  .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [flag];\n"
    "  ld.param.u64 %d2, [out];\n"
    "again:\n"
    "  ld.volatile.global.u32 %r1, [%d1];\n"
    "  setp.eq.u32 %p, %r1, 0;\n"
    "  @%p bra again;\n"
    "  mov.u32 %r1, 1;\n"
    "  st.global.u32 [%d2], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry crash() { trap; }\n"
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
