/* nvJitLink as cuda.core and numba-cuda use it: PTX becomes a cubin that the driver loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), 0)

typedef struct nvJitLink* nvJitLinkHandle;
enum { UNRECOGNIZED_OPTION = 1, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, INTERNAL = 6 };
enum {
  INCOMPATIBLE_OPTIONS = 11,
  INCORRECT_INPUT_TYPE,
  UNRECOGNIZED_ARCH = 16,
  LTO_NOT_ENABLED = 18
};
enum { CUBIN = 1, PTX, LTOIR, FATBIN, ANY = 10 };

/* The header has these as inline functions over names with the version of the toolkit. */
int __nvJitLinkCreate_13_0(nvJitLinkHandle*, uint32_t, const char* const*);
int __nvJitLinkAddData_13_3(nvJitLinkHandle, int, const void*, size_t, const char*);
int nvJitLinkCreate(nvJitLinkHandle*, uint32_t, const char* const*);
int nvJitLinkDestroy(nvJitLinkHandle*);
int nvJitLinkAddData(nvJitLinkHandle, int, const void*, size_t, const char*);
int nvJitLinkAddFile(nvJitLinkHandle, int, const char*);
int nvJitLinkComplete(nvJitLinkHandle);
int nvJitLinkGetLinkedCubinSize(nvJitLinkHandle, size_t*);
int nvJitLinkGetLinkedCubin(nvJitLinkHandle, void*);
int nvJitLinkGetLinkedPtxSize(nvJitLinkHandle, size_t*);
int nvJitLinkGetErrorLogSize(nvJitLinkHandle, size_t*);
int nvJitLinkGetErrorLog(nvJitLinkHandle, char*);
int nvJitLinkGetInfoLogSize(nvJitLinkHandle, size_t*);
int nvJitLinkGetInfoLog(nvJitLinkHandle, char*);
int nvJitLinkVersion(unsigned*, unsigned*);

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
static const char caller[] = HEAD
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".extern .global .u32 offset;\n"
    ".weak .func (.param .b32 r) shared() { st.param.b32 [r], 100; ret; }\n"
    ".visible .entry run(.param .u64 p) {\n"
    "  .reg .b64 %rd<2>; .reg .b32 %r<6>;\n"
    "  ld.param.u64 %rd1, [p];\n"
    "  { .param .b32 a; .param .b32 q; st.param.b32 [a], 20;\n"
    "    call (q), twice, (a); ld.param.b32 %r1, [q]; }\n"
    "  { .param .b32 q; call (q), shared, (); ld.param.b32 %r2, [q]; }\n"
    "  ld.global.u32 %r3, [offset];\n"
    "  add.u32 %r4, %r1, %r2; add.u32 %r4, %r4, %r3;\n"
    "  st.global.u32 [%rd1], %r4; ret; }\n";
static const char callee[] = HEAD
    ".visible .global .u32 offset = 3;\n"
    ".weak .func (.param .b32 r) shared() { st.param.b32 [r], 100; ret; }\n"
    ".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
    "  .reg .b32 %r<2>; ld.param.b32 %r1, [x]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; "
    "}\n";

static char log_text[4096];

static const char* error_log(nvJitLinkHandle link) {
  size_t size = 0;
  OK(nvJitLinkGetErrorLogSize(link, &size));
  assert_true(size <= sizeof log_text);
  log_text[0] = 0;
  OK(nvJitLinkGetErrorLog(link, log_text));
  assert_int_equal(size, log_text[0] == 0 ? 0 : strlen(log_text) + 1);
  return log_text;
}

static nvJitLinkHandle create(const char* first, const char* second) {
  const char* const options[] = {first, second};
  nvJitLinkHandle link = NULL;
  OK(nvJitLinkCreate(&link, second != NULL ? 2 : 1, options));
  assert_non_null(link);
  return link;
}

/* Without the bytes that follow the image: programs hand cubins over as they are. */
static void* linked_cubin(nvJitLinkHandle link, size_t* size) {
  OK(nvJitLinkComplete(link));
  OK(nvJitLinkGetLinkedCubinSize(link, size));
  char* const cubin = malloc(*size);
  OK(nvJitLinkGetLinkedCubin(link, cubin));
  assert_memory_equal(cubin, "\177ELF", 4);
  return cubin;
}

static unsigned run(const void* cubin) {
  CUmodule module = NULL;
  CUfunction kernel = NULL;
  CUdeviceptr out = 0;
  unsigned value = 0;
  OK(cuModuleLoadData(&module, cubin));
  OK(cuModuleGetFunction(&kernel, module, "run"));
  OK(cuMemAlloc(&out, sizeof value));
  void* arguments[] = {&out};
  OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  OK(cuMemcpyDtoH(&value, out, sizeof value));
  OK(cuMemFree(out));
  OK(cuModuleUnload(module));
  return value;
}

static int set_up(void** state) {
  CUdevice device = 0;
  CUcontext context = NULL;
  (void)state;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  return 0;
}

static void modules_call_each_other(void** state) {
  const char* const options[] = {"-arch=sm_80"};
  nvJitLinkHandle link = NULL;
  size_t size = 0;
  (void)state;
  OK(__nvJitLinkCreate_13_0(&link, 1, options));
  OK(__nvJitLinkAddData_13_3(link, PTX, caller, strlen(caller), "caller"));
  OK(nvJitLinkAddData(link, ANY, callee, sizeof callee, NULL));
  void* const cubin = linked_cubin(link, &size);
  assert_string_equal(error_log(link), "");
  OK(nvJitLinkDestroy(&link));
  assert_null(link);
  assert_int_equal(run(cubin), 143);
  /* The cubin is an input of a further link. */
  link = create("-arch=sm_80", NULL);
  OK(nvJitLinkAddData(link, CUBIN, cubin, size, "again"));
  free(cubin);
  void* const again = linked_cubin(link, &size);
  OK(nvJitLinkDestroy(&link));
  assert_int_equal(run(again), 143);
  free(again);
}

static void a_relocatable_link_may_stay_open(void** state) {
  size_t size = 0;
  (void)state;
  nvJitLinkHandle link = create("-arch=sm_80", "-r");
  OK(nvJitLinkAddData(link, PTX, caller, sizeof caller, "caller"));
  void* const part = linked_cubin(link, &size);
  OK(nvJitLinkDestroy(&link));
  link = create("-arch=sm_80", NULL);
  OK(nvJitLinkAddData(link, CUBIN, part, size, "part"));
  OK(nvJitLinkAddData(link, PTX, callee, sizeof callee, "callee"));
  free(part);
  void* const cubin = linked_cubin(link, &size);
  OK(nvJitLinkDestroy(&link));
  assert_int_equal(run(cubin), 143);
  free(cubin);
}

static void errors_are_worded_as_nvidias(void** state) {
  size_t size = 0;
  (void)state;
  nvJitLinkHandle link = create("-arch=sm_80", NULL);
  OK(nvJitLinkAddData(link, PTX, caller, sizeof caller, "a"));
  assert_int_equal(nvJitLinkComplete(link), INTERNAL);
  assert_string_equal(error_log(link),
                      "error   : Undefined reference to 'twice' in 'a'\n"
                      "error   : Undefined reference to 'offset' in 'a'\nERROR 9: complete\n");
  assert_int_equal(nvJitLinkGetLinkedCubinSize(link, &size), INVALID_INPUT);
  OK(nvJitLinkDestroy(&link));
  link = create("-arch=sm_80", NULL);
  OK(nvJitLinkAddData(link, PTX, callee, sizeof callee, "b"));
  OK(nvJitLinkAddData(link, PTX, callee, sizeof callee, "b2"));
  assert_int_equal(nvJitLinkComplete(link), INTERNAL);
  assert_non_null(
      strstr(error_log(link),
             "error   : Multiple definition of 'offset' in 'b2', first defined in 'b'\n"));
  OK(nvJitLinkDestroy(&link));
  link = create("-arch=sm_80", NULL);
  const char newer[] = ".version 99.9\n.target sm_80\n";
  assert_int_equal(nvJitLinkAddData(link, PTX, newer, sizeof newer, "v"), PTX_COMPILE);
  assert_non_null(
      strstr(error_log(link),
             "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.9; "
             "current version is '9.5'\n"));
  assert_non_null(strstr(log_text, "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (v)\n"));
  OK(nvJitLinkDestroy(&link));
}

static void inputs_of_another_type_are_refused(void** state) {
  (void)state;
  nvJitLinkHandle link = create("-arch=sm_80", NULL);
  assert_int_equal(nvJitLinkAddData(link, PTX, "garbage", 7, "g"), INCORRECT_INPUT_TYPE);
  assert_int_equal(nvJitLinkAddData(link, FATBIN, callee, sizeof callee, "g"),
                   INCORRECT_INPUT_TYPE);
  assert_int_equal(nvJitLinkAddData(link, 77, callee, sizeof callee, "g"), INCORRECT_INPUT_TYPE);
  assert_int_equal(nvJitLinkAddData(link, LTOIR, "\xED\x43\x4E\x7F....", 8, "l"), LTO_NOT_ENABLED);
  assert_non_null(strstr(error_log(link), "'l' is code for link-time optimisation (LTO-IR)"));
  assert_int_equal(nvJitLinkAddData(link, PTX, NULL, 8, "n"), INVALID_INPUT);
  assert_int_equal(nvJitLinkAddData(link, PTX, (void*)64, 8, "n"), INVALID_INPUT);
  assert_int_equal(nvJitLinkAddData(link, PTX, callee, 0, "n"), INVALID_INPUT);
  assert_int_equal(nvJitLinkAddFile(link, PTX, "/nowhere.ptx"), INVALID_INPUT);
  assert_non_null(strstr(error_log(link), "no such file: /nowhere.ptx\n"));
  nvJitLinkHandle stale = link;
  OK(nvJitLinkDestroy(&link));
  assert_int_equal(nvJitLinkComplete(stale), INVALID_INPUT);
  assert_int_equal(nvJitLinkDestroy(&stale), INVALID_INPUT);
}

static void options_are_checked(void** state) {
  static const struct {
    const char *first, *second;
    int result;
    const char* message;
  } cases[] = {
      {"-lineinfo", NULL, MISSING_ARCH, ""},
      {"-arch=sm_80", "-bogus", UNRECOGNIZED_OPTION, "unrecognized option: -bogus\n"},
      {"-arch=sm_80", "-O2", UNRECOGNIZED_OPTION,
       "unsupported value of -O: 2. Only 0 and 3 are supported.\n"},
      {"-arch=sm_42", NULL, UNRECOGNIZED_ARCH,
       "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_42)\n"},
      {"-arch=sm_80", "-ptx", INCOMPATIBLE_OPTIONS, "ERROR: -ptx requires -lto\n"},
      {"-arch=compute_80", NULL, INCOMPATIBLE_OPTIONS, "ERROR: virtual arch requires -ptx\n"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char* const options[] = {cases[i].first, cases[i].second};
    nvJitLinkHandle link = NULL;
    assert_int_equal(nvJitLinkCreate(&link, cases[i].second != NULL ? 2 : 1, options),
                     cases[i].result);
    assert_string_equal(error_log(link), cases[i].message);
    OK(nvJitLinkDestroy(&link));
  }
  const char* const accepted[] = {"-arch=sm_90a", "-O3",          "-g",
                                  "-lineinfo",    "-ftz=1",       "-fma=0",
                                  "-prec-div=1",  "-prec-sqrt=1", "-no-cache",
                                  "-verbose",     "-Xptxas=-v",   "-maxrregcount=64",
                                  "-time",        "-Ofc=max",     "-kernels-used=run"};
  nvJitLinkHandle link = NULL;
  OK(nvJitLinkCreate(&link, sizeof accepted / sizeof *accepted, accepted));
  OK(nvJitLinkAddData(link, PTX, callee, sizeof callee, "callee"));
  size_t size = 0;
  OK(nvJitLinkGetInfoLogSize(link, &size));
  char* const info = calloc(1, size + 1);
  OK(nvJitLinkGetInfoLog(link, info));
  assert_non_null(strstr(info, "ptxas info    : Function properties for twice\n"));
  free(info);
  OK(nvJitLinkGetErrorLogSize(link, &size));
  assert_int_equal(size, 0);
  assert_int_equal(nvJitLinkGetLinkedPtxSize(link, &size), INVALID_INPUT);
  OK(nvJitLinkDestroy(&link));
}

/* A missing library of NVIDIA's is named. */
static void link_time_optimisation_names_what_it_needs(void** state) {
  const char* const options[] = {"-arch=sm_80", "-lto"};
  nvJitLinkHandle link = NULL;
  (void)state;
  setenv("KM_NVJITLINK", "/nowhere", 1);
  assert_int_equal(nvJitLinkCreate(&link, 2, options), UNRECOGNIZED_OPTION);
  assert_non_null(strstr(error_log(link), "(-lto) needs NVIDIA's nvJitLink, which was not found"));
  OK(nvJitLinkDestroy(&link));
}

static void the_version_is_of_the_library(void** state) {
  unsigned major = 0, minor = 0;
  (void)state;
  OK(nvJitLinkVersion(&major, &minor));
  assert_int_equal(major, 13);
  assert_int_equal(nvJitLinkVersion(NULL, &minor), INVALID_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modules_call_each_other),
      cmocka_unit_test(a_relocatable_link_may_stay_open),
      cmocka_unit_test(errors_are_worded_as_nvidias),
      cmocka_unit_test(inputs_of_another_type_are_refused),
      cmocka_unit_test(options_are_checked),
      cmocka_unit_test(link_time_optimisation_names_what_it_needs),
      cmocka_unit_test(the_version_is_of_the_library),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
