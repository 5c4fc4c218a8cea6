/* NVIDIA's PTX compiler as a library: PTX becomes a cubin that the driver loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), 0)

typedef struct nvPTXCompiler* nvPTXCompilerHandle;
enum {
  INVALID_HANDLE = 1,
  INVALID_INPUT,
  FAILURE,
  INCOMPLETE = 6,
  UNSUPPORTED_VERSION,
  PARSED_ONLY = 10
};

int nvPTXCompilerGetVersion(unsigned*, unsigned*);
int nvPTXCompilerGetNumSupportedVersions(int*);
int nvPTXCompilerGetSupportedVersions(int (*)[2]);
int nvPTXCompilerGetNumSupportedArchs(int*);
int nvPTXCompilerGetSupportedArchs(int*);
int nvPTXCompilerCreate(nvPTXCompilerHandle*, size_t, const char*);
int nvPTXCompilerDestroy(nvPTXCompilerHandle*);
int nvPTXCompilerCompile(nvPTXCompilerHandle, int, const char* const*);
int nvPTXCompilerGetCompiledProgramSize(nvPTXCompilerHandle, size_t*);
int nvPTXCompilerGetCompiledProgram(nvPTXCompilerHandle, void*);
int nvPTXCompilerGetErrorLogSize(nvPTXCompilerHandle, size_t*);
int nvPTXCompilerGetErrorLog(nvPTXCompilerHandle, char*);
int nvPTXCompilerGetInfoLogSize(nvPTXCompilerHandle, size_t*);
int nvPTXCompilerGetInfoLog(nvPTXCompilerHandle, char*);

static const char kernel_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry nothing() { ret; }\n";
static char text[4096];

/* Compiles and keeps the error log; the handle lives on. */
static int compile(nvPTXCompilerHandle* compiler, const char* ptx, const char* first,
                   const char* second) {
  const char* const options[] = {first, second};
  size_t size = 0;
  OK(nvPTXCompilerCreate(compiler, strlen(ptx), ptx));
  assert_int_equal(nvPTXCompilerGetCompiledProgramSize(*compiler, &size), INCOMPLETE);
  const int result = nvPTXCompilerCompile(*compiler, second != NULL ? 2 : 1, options);
  OK(nvPTXCompilerGetErrorLogSize(*compiler, &size));
  assert_true(size <= sizeof text);
  text[0] = 0;
  OK(nvPTXCompilerGetErrorLog(*compiler, text));
  return result;
}

static void cubins_are_loaded(void** state) {
  nvPTXCompilerHandle compiler = NULL;
  CUdevice device = 0;
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUlibrary library = NULL;
  CUfunction kernel = NULL;
  size_t size = 0;
  (void)state;
  OK(compile(&compiler, kernel_ptx, "--gpu-name=sm_80", "-v"));
  OK(nvPTXCompilerGetCompiledProgramSize(compiler, &size));
  char* const cubin = malloc(size);
  OK(nvPTXCompilerGetCompiledProgram(compiler, cubin));
  OK(nvPTXCompilerGetInfoLogSize(compiler, &size));
  OK(nvPTXCompilerGetInfoLog(compiler, text));
  assert_non_null(strstr(text, "ptxas info    : Compiling entry function 'nothing' for 'sm_80'\n"));
  OK(nvPTXCompilerDestroy(&compiler));
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, cubin));
  OK(cuModuleGetFunction(&kernel, module, "nothing"));
  OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cuLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryUnload(library));
  OK(cuModuleUnload(module));
  free(cubin);
}

static void errors_are_worded_as_nvidias(void** state) {
  static const struct {
    const char *ptx, *first, *second;
    int result;
    const char* message;
  } cases[] = {
      {".version 99.9\n.target sm_80\n", "-arch=sm_80", NULL, UNSUPPORTED_VERSION,
       "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.9; current version "
       "is "
       "'9.5'\n"},
      {kernel_ptx, "-arch=sm_42", NULL, FAILURE,
       "ptxas fatal   : Value 'sm_42' is not defined for option 'gpu-name'\n"},
      {kernel_ptx, "--bogus", NULL, FAILURE, "ptxas fatal   : Unknown option '-bogus'\n"},
      {kernel_ptx, "-arch=compute_80", NULL, PARSED_ONLY, ""},
      {kernel_ptx, "-arch", "sm_75", FAILURE,
       "ptxas fatal   : SM version specified by .target is higher than default SM version "
       "assumed\n"},
      {"nothing", "-arch=sm_80", NULL, FAILURE,
       "ptxas application ptx input, line 1; fatal   : Missing .version directive at start of file "
       "'application ptx input'\n"},
      {".version 8.0\n.target sm_80\n.address_size 64\n.extern .func there();\n"
       ".visible .entry k() { call there; ret; }\n",
       "-arch=sm_80", NULL, FAILURE, "ptxas fatal   : Unresolved extern function 'there'\n"},
      {".version 8.0\n.target sm_80\n.address_size 64\n.extern .func there();\n"
       ".visible .entry k() { call there; ret; }\n",
       "-arch=sm_80", "-c", 0, ""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    nvPTXCompilerHandle compiler = NULL;
    assert_int_equal(compile(&compiler, cases[i].ptx, cases[i].first, cases[i].second),
                     cases[i].result);
    if (cases[i].message[0] == 0) {
      assert_string_equal(text, "");
    } else {
      assert_non_null(strstr(text, cases[i].message));
    }
    OK(nvPTXCompilerDestroy(&compiler));
    assert_null(compiler);
  }
}

static void handles_and_pointers_are_checked(void** state) {
  nvPTXCompilerHandle compiler = NULL;
  size_t size = 0;
  (void)state;
  assert_int_equal(nvPTXCompilerCreate(NULL, 3, "abc"), INVALID_INPUT);
  assert_int_equal(nvPTXCompilerCreate(&compiler, 3, NULL), INVALID_INPUT);
  assert_int_equal(nvPTXCompilerCreate(&compiler, 0, ""), INVALID_INPUT);
  assert_int_equal(nvPTXCompilerCreate(&compiler, 8, (const char*)64), INVALID_INPUT);
  assert_int_equal(nvPTXCompilerDestroy(&compiler), INVALID_HANDLE);
  assert_int_equal(nvPTXCompilerGetErrorLogSize((nvPTXCompilerHandle)64, &size), INVALID_HANDLE);
}

static void versions_and_architectures_are_listed(void** state) {
  unsigned major = 0, minor = 0;
  int count = 0;
  (void)state;
  OK(nvPTXCompilerGetVersion(&major, &minor));
  assert_int_equal(major, 13);
  OK(nvPTXCompilerGetNumSupportedVersions(&count));
  assert_in_range(count, 40, 60);
  int(*versions)[2] = calloc((size_t)count, sizeof *versions);
  OK(nvPTXCompilerGetSupportedVersions(versions));
  assert_int_equal(versions[count - 1][0], 9);
  assert_int_equal(versions[count - 1][1], 5);
  free(versions);
  OK(nvPTXCompilerGetNumSupportedArchs(&count));
  int* const architectures = calloc((size_t)count, sizeof *architectures);
  OK(nvPTXCompilerGetSupportedArchs(architectures));
  int has_90 = 0;
  for (int i = 0; i < count; ++i) has_90 = has_90 || architectures[i] == 90;
  assert_true(has_90);
  free(architectures);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cubins_are_loaded),
      cmocka_unit_test(errors_are_worded_as_nvidias),
      cmocka_unit_test(handles_and_pointers_are_checked),
      cmocka_unit_test(versions_and_architectures_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
