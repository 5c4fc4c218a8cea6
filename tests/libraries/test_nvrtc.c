/* NVRTC as programs find it: the machine code of a program is PTX that the driver loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), 0)

static const char source[] =
    "extern \"C\" __global__ void twice(int* data) { data[threadIdx.x] *= 2; }\n"
    "template <class T> __global__ void none(T*) {}\n";

/* A program of `source`, compiled with these options. */
static nvrtcProgram compile(int option_count, const char* const* options) {
  nvrtcProgram program = NULL;
  OK(nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL));
  OK(nvrtcAddNameExpression(program, "none<float>"));
  OK(nvrtcCompileProgram(program, option_count, options));
  return program;
}

/* Loads the image and runs its kernel. */
static void assert_doubles(const char* image) {
  CUdevice device = 0;
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction kernel = NULL;
  CUdeviceptr data = 0;
  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = i;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, image));
  OK(cuModuleGetFunction(&kernel, module, "twice"));
  OK(cuMemAlloc(&data, sizeof values));
  OK(cuMemcpyHtoD(data, values, sizeof values));
  void* arguments[] = {&data};
  OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  OK(cuMemcpyDtoH(values, data, sizeof values));
  for (int i = 0; i < 32; ++i) assert_int_equal(values[i], 2 * i);
  OK(cuMemFree(data));
  OK(cuModuleUnload(module));
  OK(cuDevicePrimaryCtxRelease(device));
}

static void assert_machine_code_runs(int option_count, const char* const* options) {
  nvrtcProgram program = compile(option_count, options);
  size_t size = 0;
  OK(nvrtcGetCUBINSize(program, &size));
  assert_true(size > 100);
  char* const image = malloc(size);
  OK(nvrtcGetCUBIN(program, image));
  assert_doubles(image);
  free(image);
  OK(nvrtcDestroyProgram(&program));
}

static void machine_code_of_any_spelling_runs(void** state) {
  (void)state;
  assert_machine_code_runs(1, (const char*[]){"--gpu-architecture=sm_89"});
  assert_machine_code_runs(2, (const char*[]){"-lineinfo", "-arch=sm_80"});
  assert_machine_code_runs(3, (const char*[]){"-arch", "sm_90a", "-lineinfo"});
  assert_machine_code_runs(2, (const char*[]){"--gpu-architecture", "sm_75"});
}

static void ptx_has_the_capability_that_was_asked_for(void** state) {
  (void)state;
  const char* const machine = "-arch=sm_86";
  const char* const virtual = "-arch=compute_86";
  for (int is_virtual = 0; is_virtual < 2; ++is_virtual) {
    nvrtcProgram program = compile(1, is_virtual ? &virtual : &machine);
    size_t size = 0;
    OK(nvrtcGetPTXSize(program, &size));
    char* const text = malloc(size);
    OK(nvrtcGetPTX(program, text));
    assert_non_null(strstr(text, ".target sm_86"));
    assert_doubles(text);
    free(text);
    OK(nvrtcGetCUBINSize(program, &size));
    assert_int_equal(size != 0, !is_virtual);
    const char* lowered = NULL;
    OK(nvrtcGetLoweredName(program, "none<float>", &lowered));
    assert_string_equal(lowered, "_Z4noneIfEvPT_");
    OK(nvrtcDestroyProgram(&program));
    assert_null(program);
  }
}

static void errors_are_nvidias(void** state) {
  (void)state;
  nvrtcProgram program = NULL;
  size_t size = 0;
  const char* const unknown[] = {"-arch=sm_1"};
  const char* const none[] = {NULL};
  assert_int_equal(nvrtcCompileProgram(NULL, 0, NULL), NVRTC_ERROR_INVALID_PROGRAM);
  assert_int_equal(nvrtcDestroyProgram(NULL), NVRTC_ERROR_INVALID_PROGRAM);
  assert_int_equal(nvrtcGetCUBINSize(NULL, &size), NVRTC_ERROR_INVALID_PROGRAM);
  OK(nvrtcCreateProgram(&program, "this is no program", NULL, 0, NULL, NULL));
  assert_int_equal(nvrtcCompileProgram(program, -1, NULL), NVRTC_ERROR_INVALID_INPUT);
  assert_int_equal(nvrtcCompileProgram(program, 1, NULL), NVRTC_ERROR_INVALID_INPUT);
  assert_int_equal(nvrtcCompileProgram(program, 1, unknown), NVRTC_ERROR_INVALID_OPTION);
  assert_int_not_equal(nvrtcCompileProgram(program, 1, none), NVRTC_SUCCESS);
  assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_COMPILATION);
  OK(nvrtcGetProgramLogSize(program, &size));
  assert_true(size > 20);
  OK(nvrtcDestroyProgram(&program));
  assert_string_equal(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION");
}

/* NVIDIA's library calls it while it compiles. */
static int end_thread(void* payload, void* unused) {
  (void)unused;
  pthread_exit(payload);
}

static void* compile_until_the_end(void* program) {
  int came_back = nvrtcCompileProgram(program, 0, NULL) + 1;
  assert_int_equal(came_back, 0);
  return NULL;
}

static void a_thread_may_end_while_it_compiles(void** state) {
  (void)state;
  nvrtcProgram program = NULL;
  pthread_t thread;
  void* result = NULL;
  OK(nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL));
  OK(nvrtcSetFlowCallback(program, end_thread, &program));
  OK(pthread_create(&thread, NULL, compile_until_the_end, program));
  OK(pthread_join(thread, &result));
  assert_ptr_equal(result, &program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machine_code_of_any_spelling_runs),
      cmocka_unit_test(ptx_has_the_capability_that_was_asked_for),
      cmocka_unit_test(errors_are_nvidias),
      cmocka_unit_test(a_thread_may_end_while_it_compiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
