/* Modules, libraries, functions, launches, occupancy. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cuKernelGetParamCount

static void logs_say_what_is_wrong(void** state) {
  char errors[512] = "";
  CUmodule module = NULL;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_MAX_REGISTERS};
  void* values[] = {errors, (void*)sizeof errors, (void*)32};
  (void)state;
  EXPECT(CUDA_ERROR_INVALID_PTX,
         cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_50\n.address_size 64\nnonsense\n", 3,
                            options, values));
  assert_non_null(strstr(errors, "nonsense"));
  assert_int_equal((uintptr_t)values[1], strlen(errors) + 1);
  EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module,
                                                        "\x7F"
                                                        "ELF\2\1\1"));
  EXPECT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ""));
  EXPECT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/at-all.ptx"));
}

/* Options change no line and no column that a message names. */
static void options_move_no_lines(void** state) {
  static const char ptx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry first()  // a comment {\n"
      "{\n  ret;\n}\n.visible .entry k(.param .u64 p)\n/* of\n two lines */\n{\n"
      "  .reg .b32 %r<2>;\n  addd.s32 %r0, %r1, 1;\n  ret;\n}\n";
  char plain[512] = "", limited[512] = "";
  CUmodule module = NULL;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_MAX_REGISTERS, CU_JIT_OPTIMIZATION_LEVEL,
                            CU_JIT_GENERATE_LINE_INFO};
  void* values[] = {plain, (void*)sizeof plain, (void*)32, (void*)3, (void*)1};
  (void)state;
  EXPECT(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, ptx, 2, options, values));
  values[0] = limited;
  values[1] = (void*)sizeof limited;
  EXPECT(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, ptx, 5, options, values));
  assert_non_null(strstr(plain, ":13:3"));
  assert_string_equal(plain, limited);
}

/* A text whose size is given ends there, with or without a zero; what follows is nobody's. */
static void texts_end_where_their_size_says(void** state) {
  static const char ptx[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry noop() { ret; }";
  const size_t size = sizeof ptx - 1, page = 4096;
  CUlinkState link = NULL;
  void* image = NULL;
  (void)state;
  char* const pages =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  char* const text = pages + page - size;
  memcpy(text, ptx, size);
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, size, "noop", 0, NULL, NULL));
  EXPECT(CUDA_ERROR_INVALID_IMAGE,
         cuLinkAddData(link, CU_JIT_INPUT_PTX, pages + page, 0, "nothing", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, NULL));
  OK(cuLinkDestroy(link));
  /* The same as the only entry of a fat binary, which ends with the page. */
  const struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t content_bytes;
    uint16_t kind, attributes;
    uint32_t entry_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t capability, name_offset, name_bytes;
    uint64_t flags, reserved, text_bytes;
  } head = {0xBA55ED50, 1, 16, 64 + size, 1, 0, 64, size, 0, 0, 0, 7, 50, 0, 0, 0, 0, 0};
  assert_int_equal(sizeof head, 16 + 64);
  memcpy(text - sizeof head, &head, sizeof head);
  CUmodule module = NULL;
  OK(cuModuleLoadData(&module, text - sizeof head));
  OK(cuModuleUnload(module));
  for (size_t cut = 8; cut < sizeof head + size; cut += 7) {
    OK(cuLinkCreate(0, NULL, NULL, &link));
    memmove(pages + page - cut, text - sizeof head, cut);
    assert_int_not_equal(
        CUDA_SUCCESS,
        cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, pages + page - cut, cut, "cut", 0, NULL, NULL));
    OK(cuLinkDestroy(link));
    memcpy(text, ptx, size);
    memcpy(text - sizeof head, &head, sizeof head);
  }
  munmap(pages, 2 * page);
}

#define REFUSED_HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

/* What NVIDIA's driver says of PTX that its assembler refuses. */
static void ptx_is_refused_as_the_driver_does(void** state) {
  static const struct {
    CUresult result;
    const char *text, *message;
  } cases[] = {
      {CUDA_ERROR_INVALID_PTX, ".version 8.7\n.target sm_120\n.visible .entry k() { ret; }\n",
       "sm_120"},
      {CUDA_ERROR_INVALID_PTX, ".version 8.0\n.target sm_81\n.visible .entry k() { ret; }\n",
       "sm_81"},
      {CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
       ".version 99.0\n.target sm_80\n.visible .entry k() { ret; }\n", "99.0"},
      {CUDA_ERROR_INVALID_PTX,
       REFUSED_HEAD ".extern .func nowhere();\n.visible .entry k() { call nowhere; ret; }\n",
       "'nowhere' has no body"},
      {CUDA_ERROR_INVALID_PTX, REFUSED_HEAD ".visible .entry k() { .shared .b8 x[49153]; ret; }\n",
       "49153"},
      {CUDA_ERROR_INVALID_PTX, REFUSED_HEAD ".const .align 4 .b8 c[65540];\n", "65540"},
      {CUDA_ERROR_INVALID_PTX,
       REFUSED_HEAD ".visible .entry k(.param .align 4 .b8 p[4356]) { ret; }\n", "4356"},
      /* The device runtime here lacks this function. */
      {CUDA_ERROR_INVALID_PTX,
       REFUSED_HEAD ".extern .func (.param .b32 e) cudaDeviceSynchronize();\n"
                    ".visible .entry k() { { .param .b32 e;\n"
                    "  call.uni (e), cudaDeviceSynchronize, (); } ret; }\n",
       "cudaDeviceSynchronize"},
  };
  char errors[512];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    void* values[] = {errors, (void*)sizeof errors};
    CUmodule module = NULL;
    EXPECT(cases[i].result, cuModuleLoadDataEx(&module, cases[i].text, 2, options, values));
    assert_non_null(strstr(errors, cases[i].message));
  }
  /* An external variable that no other module defines is the module's own. */
  CUmodule module = NULL;
  CUdeviceptr place = 0;
  size_t size = 0;
  OK(cuModuleLoadData(&module, REFUSED_HEAD ".extern .global .align 4 .u32 own;\n"
                                            ".visible .entry k() { ret; }\n"));
  OK(cuModuleGetGlobal(&place, &size, module, "own"));
  assert_int_equal(size, 4);
  OK(cuModuleUnload(module));
}

/* A fat binary by hand: a container with one entry of PTX text. */
static void fat_binaries_hold_ptx(void** state) {
  const size_t length = strlen(kernels_ptx) + 1;
  unsigned char* image = calloc(1, 16 + 72 + length);
  const uint32_t magic = 0xBA55ED50;
  const uint64_t content = 72 + length, payload = length;
  const uint16_t header = 16, kind = 1, version = 1;
  const uint32_t entry_header = 72, capability = 50;
  CUmodule module = NULL;
  CUfunction function = NULL;
  (void)state;
  memcpy(image, &magic, 4);
  memcpy(image + 4, &version, 2);
  memcpy(image + 6, &header, 2);
  memcpy(image + 8, &content, 8);
  memcpy(image + 16, &kind, 2);
  memcpy(image + 20, &entry_header, 4);
  memcpy(image + 24, &payload, 8);
  memcpy(image + 44, &capability, 4);
  memcpy(image + 88, kernels_ptx, length);
  OK(cuModuleLoadFatBinary(&module, image));
  OK(cuModuleGetFunction(&function, module, "noop"));
  OK(cuModuleUnload(module));
  const uint16_t cubin = 2;
  memcpy(image + 16, &cubin, 2);
  EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, image));
  const uint64_t wrong = UINT64_MAX;
  memcpy(image + 24, &wrong, 8);
  EXPECT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, image));
  free(image);
}

static void functions_are_described(void** state) {
  const fixture* f = *state;
  CUfunction function = kernel(f, "fill_index"), all[8] = {0};
  CUmodule module = NULL;
  const char* name = NULL;
  unsigned count = 0;
  size_t offset = 0, bytes = 0;
  int value = 0;
  assert_ptr_equal(function, kernel(f, "fill_index"));
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&all[0], f->module, "none"));
  OK(cuFuncGetModule(&module, function));
  assert_ptr_equal(module, f->module);
  OK(cuFuncGetName(&name, function));
  assert_string_equal(name, "fill_index");
  OK(cuFuncGetParamInfo(function, 1, &offset, &bytes));
  assert_int_equal(offset, 8);
  assert_int_equal(bytes, 4);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function, 3, &offset, &bytes));
  OK(cuModuleGetFunctionCount(&count, f->module));
  assert_int_equal(count, 6);
  OK(cuModuleEnumerateFunctions(all, 8, f->module));
  assert_non_null(all[5]);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  assert_true(value >= 256);
  OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
}

/* One kernel needs textures, which not every device has: the other can be had everywhere. */
static void kernels_are_there_beside_one_that_cannot_run(void** state) {
  const char ptx[] =
      ".version 8.0\n.target sm_50\n.address_size 64\n"
      ".visible .entry picture(.param .u64 texture) {\n"
      "  .reg .b64 %rd<2>;\n  .reg .f32 %f<7>;\n  ld.param.u64 %rd1, [texture];\n"
      "  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];\n  ret;\n}\n"
      ".visible .entry plain() { ret; }\n";
  CUmodule module = NULL;
  CUlibrary library = NULL;
  CUfunction all[2] = {0}, picture = NULL, plain = NULL;
  CUkernel kernels[2] = {0};
  unsigned count = 0, kernel_count = 0;
  (void)state;
  OK(cuModuleLoadData(&module, ptx));
  OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
  const CUresult result = cuModuleGetFunction(&picture, module, "picture");
  assert_true(result == CUDA_SUCCESS || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  OK(cuModuleGetFunctionCount(&count, module));
  OK(cuLibraryGetKernelCount(&kernel_count, library));
  assert_int_equal(count, result == CUDA_SUCCESS ? 2 : 1);
  assert_int_equal(kernel_count, count);
  OK(cuModuleEnumerateFunctions(all, 2, module));
  OK(cuLibraryEnumerateKernels(kernels, 2, library));
  assert_non_null(all[count - 1]);
  assert_non_null(kernels[count - 1]);
  OK(cuModuleGetFunction(&plain, module, "plain"));
  OK(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cuCtxSynchronize());
  OK(cuLibraryUnload(library));
  OK(cuModuleUnload(module));
}

static void globals_have_addresses(void** state) {
  const fixture* f = *state;
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  uint32_t value = 0;
  OK(cuModuleGetGlobal(&counter, &bytes, f->module, "counter"));
  assert_int_equal(bytes, 4);
  OK(cuMemcpyDtoH(&value, counter, 4));
  assert_int_equal(value, 7);
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &bytes, f->module, "none"));
}

static void arguments_come_in_two_forms(void** state) {
  const fixture* f = *state;
  const struct {
    uint64_t first, second;
  } value = {40, 2};
  CUdeviceptr out = 0;
  uint64_t sum = 0;
  OK(cuMemAlloc(&out, 8));
  void* arguments[] = {(void*)&value, &out};
  OK(cuLaunchKernel(kernel(f, "big"), 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  OK(cuMemcpyDtoH(&sum, out, 8));
  assert_int_equal(sum, 42);
  struct {
    uint64_t first, second, out;
  } buffer = {50, 5, out};
  size_t bytes = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(kernel(f, "big"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  OK(cuMemcpyDtoH(&sum, out, 8));
  assert_int_equal(sum, 55);
  bytes = 8;
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(kernel(f, "big"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(kernel(f, "big"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(kernel(f, "noop"), 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL));
  OK(cuMemFree(out));
}

static void launches_have_attributes(void** state) {
  const fixture* f = *state;
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
  CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, f->stream, &attribute, 1};
  attribute.value.cooperative = 1;
  OK(cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  config.gridDimX = 1 << 20;
  EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
         cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = 4;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  OK(cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  int clusters = 0, more = 0;
  OK(cuOccupancyMaxActiveClusters(&clusters, kernel(f, "noop"), &config));
  attribute.value.clusterDim.x = 2;
  OK(cuOccupancyMaxActiveClusters(&more, kernel(f, "noop"), &config));
  assert_int_equal(more, 2 * clusters);
  OK(cuOccupancyMaxPotentialClusterSize(&clusters, kernel(f, "noop"), &config));
  assert_int_equal(clusters, 8);
  attribute.value.clusterDim.x = 16;
  EXPECT(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  EXPECT(CUDA_ERROR_INVALID_CLUSTER_SIZE,
         cuOccupancyMaxActiveClusters(&clusters, kernel(f, "noop"), &config));
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  OK(cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  OK(cuLaunchCooperativeKernel(kernel(f, "noop"), 2, 1, 1, 32, 1, 1, 0, f->stream, NULL));
  OK(cuStreamSynchronize(f->stream));
}

static void launches_record_events(void** state) {
  const fixture* f = *state;
  static const CUlaunchAttributeID ids[] = {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                            CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
  CUlaunchAttribute attribute;
  CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, f->stream, &attribute, 1};
  volatile uint64_t* flag = NULL;
  uint64_t* out = NULL;
  OK(cuMemHostAlloc((void**)&flag, 8, 0));
  OK(cuMemHostAlloc((void**)&out, 8, 0));
  void* arguments[] = {(void*)&flag, &out};
  for (size_t i = 0; i < 2; ++i) {
    CUevent event = NULL, timed = NULL;
    *flag = 0;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = ids[i];
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&timed, 0));
    attribute.value.launchCompletionEvent.event = timed;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, kernel(f, "slow"), arguments, NULL));
    attribute.value.launchCompletionEvent.event = event;
    OK(cuLaunchKernelEx(&config, kernel(f, "slow"), arguments, NULL));
    EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    *flag = 1;
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(timed));
  }
  memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  OK(cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemFreeHost((void*)flag));
  OK(cuMemFreeHost(out));
}

static size_t CUDA_CB bytes_for(int block_size) { return (size_t)block_size * 64; }

static void occupancy_is_computed(void** state) {
  const fixture* f = *state;
  CUfunction function = kernel(f, "noop");
  int blocks = -1, grid = -1, size = -1, threads = 0;
  size_t bytes = 0;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
  OK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, f->device));
  assert_int_equal(blocks, threads / 256);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 60000));
  assert_int_equal(blocks, 0); /* a launch is refused without opting in */
  OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 60000));
  assert_true(blocks >= 1 && blocks <= 3);
  OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48 << 10));
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &size, function, NULL, 0, 0));
  assert_int_equal(threads % size, 0); /* a multiprocessor is full of them */
  assert_true(grid >= 1);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &size, function, bytes_for, 0, 512));
  assert_true(size > 0 && size <= 512);
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 2, 128));
  assert_true(bytes > 0);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0));
}

static void libraries_belong_to_no_context(void** state) {
  const fixture* f = *state;
  CUlibrary library = NULL;
  CUkernel found = NULL, all[8] = {0};
  CUfunction function = NULL;
  CUmodule module = NULL;
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  unsigned count = 0;
  OK(cuCtxSetCurrent(NULL));
  OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&found, library, "noop"));
  EXPECT(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&all[0], library, "none"));
  OK(cuLibraryGetKernelCount(&count, library));
  assert_int_equal(count, 6);
  OK(cuCtxSetCurrent(f->context));
  OK(cuLibraryEnumerateKernels(all, 8, library));
  OK(cuKernelGetFunction(&function, found));
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  /* A kernel is good where a function is expected. */
  OK(cuLaunchKernel((CUfunction)found, 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  OK(cuStreamSynchronize(f->stream));
  OK(cuLibraryGetModule(&module, library));
  OK(cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
  assert_int_equal(bytes, 4);
  OK(cuLibraryUnload(library));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&function, found));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
}

static void libraries_have_managed_variables(void** state) {
  static const char text[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".visible .global .align 4 .u32 plain = 1;\n"
      ".visible .global .attribute(.managed) .align 8 .b8 shared[8] = {1, 2, 3};\n"
      ".visible .entry more() { .reg .b32 %r;\n"
      " ld.global.u32 %r, [shared]; add.u32 %r, %r, 1; st.global.u32 [shared], %r; ret; }\n";
  const fixture* f = *state;
  CUlibrary library = NULL;
  CUkernel kernel = NULL;
  CUdeviceptr address = 0;
  size_t bytes = 0;
  OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetManaged(&address, &bytes, library, "shared"));
  assert_int_equal(bytes, 8);
  volatile uint32_t* const value = (uint32_t*)(uintptr_t)address;
  assert_int_equal(*value, 0x00030201);
  unsigned managed = 0;
  CUmemorytype type = 0;
  OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address + 7));
  assert_int_equal(managed, 1);
  OK(cuMemPrefetchAsync(address, 8, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, {0}}, 0, NULL));
  CUdeviceptr other = 0;
  OK(cuLibraryGetGlobal(&other, NULL, library, "plain"));
  OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, other));
  assert_int_equal(managed, 0);
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, other));
  assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(other));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  OK(cuLibraryGetKernel(&kernel, library, "more"));
  OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(*value, 0x00030202);
  EXPECT(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&address, &bytes, library, "plain"));
  EXPECT(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&address, &bytes, library, "none"));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLibraryGetManaged(&address, &bytes, library, NULL));
  OK(cuLibraryUnload(library));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetManaged(&address, &bytes, library, "shared"));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, other));
}

static void inputs_are_linked(void** state) {
  if (cuKernelGetParamCount == NULL) skip();
  const fixture* f = *state;
  static const char caller[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
      ".global .align 4 .u32 own = 1;\n"
      ".visible .entry run(.param .u64 out) {\n"
      " .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
      " ld.param.u64 %d1, [out]; ld.global.u32 %r1, [own];\n"
      " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
      "   call (b), twice, (a); ld.param.b32 %r2, [b]; }\n"
      " st.global.u32 [%d1], %r2; ret; }\n";
  static const char callee[] =
      ".version 7.1\n.target sm_60\n.address_size 64\n"
      ".global .align 4 .u32 own = 20; // not the other's\n"
      ".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
      " .reg .b32 %r<4>;\n"
      " ld.param.b32 %r1, [x]; ld.global.u32 %r2, [own];\n"
      " add.u32 %r1, %r1, %r1; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n";
  CUlinkState link = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUdeviceptr out = 0;
  void* image = NULL;
  size_t bytes = 0;
  uint32_t value = 0;
  OK(cuLinkCreate(0, NULL, NULL, &link));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(link, &image, &bytes));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)caller, sizeof caller, "caller", 0, NULL, NULL));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)callee, sizeof callee, "callee", 0, NULL, NULL));
  EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU,
         cuLinkAddData(link, CU_JIT_INPUT_CUBIN, "\177ELF of a GPU", 13, "cubin", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&function, module, "run"));
  OK(cuMemAlloc(&out, 4));
  void* arguments[] = {&out};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(&value, out, 4));
  assert_int_equal(value, 22);
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)sizeof log};
  OK(cuLinkCreate(2, options, values, &link));
  for (int i = 0; i < 2; ++i) {
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)callee, sizeof callee, "again", 0, NULL, NULL));
  }
  EXPECT(CUDA_ERROR_INVALID_PTX, cuLinkComplete(link, &image, &bytes));
  assert_non_null(strstr(log, "twice"));
  OK(cuLinkDestroy(link));
}

#define LINK_HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"

/* Compilers fall back to the driver's linker: they copy the image, and load it without what
 * follows. */
static void a_linked_image_is_a_cubin(void** state) {
  static const char ptx[] = LINK_HEAD ".visible .entry run() { ret; }\n";
  CUlinkState link = NULL;
  CUmodule module = NULL;
  CUlibrary library = NULL;
  CUfunction function = NULL;
  void* image = NULL;
  size_t bytes = 0;
  float time_ms = 0;
  char info[1024] = "";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_LOG_VERBOSE, CU_JIT_WALL_TIME};
  void* values[] = {info, (void*)sizeof info, (void*)1, NULL};
  (void)state;
  OK(cuLinkCreate(4, options, values, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)ptx, sizeof ptx, "run", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  assert_non_null(strstr(info, "Compiling entry function 'run'"));
  assert_int_equal((uintptr_t)values[1], strlen(info) + 1);
  memcpy(&time_ms, &values[3], sizeof time_ms);
  assert_true(time_ms > 0);
  assert_memory_equal(image, "\177ELF", 4);
  const size_t page = 4096, room = (bytes + page - 1) / page * page;
  char* const pages =
      mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  assert_int_equal(mprotect(pages + room, page, PROT_NONE), 0);
  char* const copy = pages + room - bytes;
  memcpy(copy, image, bytes);
  OK(cuLinkDestroy(link));
  OK(cuModuleLoadData(&module, copy));
  OK(cuModuleGetFunction(&function, module, "run"));
  OK(cuModuleUnload(module));
  OK(cuLibraryLoadData(&library, copy, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryUnload(library));
  /* It is an input as well. */
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, copy, bytes, "cubin", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  OK(cuLinkDestroy(link));
  munmap(pages, room + page);
}

static void links_name_what_is_wrong(void** state) {
  static const char caller[] =
      LINK_HEAD ".extern .func there();\n.visible .entry run() { call there; ret; }\n";
  static const char wrong[] = LINK_HEAD ".visible .entry run() {\n nonsense;\n}\n";
  static const char newer[] = ".version 99.9\n.target sm_50\n";
  static const struct {
    const char *text, *message;
    CUresult added, completed;
  } cases[] = {
      {caller, "error   : Undefined reference to 'there' in 'input.ptx'", CUDA_SUCCESS,
       CUDA_ERROR_INVALID_PTX},
      {wrong, "ptxas application ptx input, line 5; error   : ", CUDA_ERROR_INVALID_PTX, 0},
      {newer, "Unsupported .version 99.9; current version is '", CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
       0},
  };
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char log[1024] = "";
    void* values[] = {log, (void*)sizeof log};
    CUlinkState link = NULL;
    void* image = NULL;
    OK(cuLinkCreate(2, options, values, &link));
    EXPECT(cases[i].added, cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)cases[i].text,
                                         strlen(cases[i].text), "input.ptx", 0, NULL, NULL));
    if (cases[i].completed != 0) EXPECT(cases[i].completed, cuLinkComplete(link, &image, NULL));
    assert_non_null(strstr(log, cases[i].message));
    OK(cuLinkDestroy(link));
  }
}

typedef struct unload_race {
  _Atomic(uint64_t) kernel; /* the newest one */
  atomic_int done, calls;
} unload_race;

static void* ask_kernel(void* shared_race) {
  unload_race* race = shared_race;
  while (!race->done) {
    const CUkernel kernel = (CUkernel)(uintptr_t)race->kernel;
    size_t count = 9;
    const CUresult result = cuKernelGetParamCount(kernel, &count);
    if (result == CUDA_SUCCESS) {
      assert_int_equal(count, 0);
    } else {
      assert_true(result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_NOT_FOUND);
    }
    ++race->calls;
  }
  return NULL;
}

/* A call with a kernel is right, or the kernel is gone: its library is not pulled from under it. */
static void libraries_are_unloaded_during_calls(void** state) {
  if (cuKernelGetParamCount == NULL) skip();
  static unload_race race;
  const fixture* f = *state;
  pthread_t threads[2];
  memset(&race, 0, sizeof race);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, ask_kernel, &race);
  for (int i = 0; i < 100 || race.calls < 100; ++i) {
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "noop"));
    race.kernel = (uintptr_t)kernel;
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
    OK(cuLibraryUnload(library));
    size_t count = 0;
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuKernelGetParamCount(kernel, &count));
  }
  race.done = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  OK(cuStreamSynchronize(f->stream));
}

/* The arrays of options are the caller's again after the call, as long as no log was asked for. */
static void options_of_links_are_read_once(void** state) {
  static const char ptx[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry noop() { ret; }\n";
  CUlinkState link = NULL;
  void* image = NULL;
  (void)state;
  char* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(page, MAP_FAILED);
  CUjit_option* const options = (CUjit_option*)page;
  void** const values = (void**)(page + 64);
  options[0] = CU_JIT_MAX_REGISTERS;
  values[0] = (void*)32;
  OK(cuLinkCreate(1, options, values, &link));
  munmap(page, 4096);
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)ptx, sizeof ptx, "noop", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, NULL));
  OK(cuLinkDestroy(link));
}

static uint32_t run_linked(const fixture* f, const char* const* inputs) {
  CUlinkState link = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUdeviceptr out = 0;
  void* image = NULL;
  uint32_t value = 0;
  OK(cuLinkCreate(0, NULL, NULL, &link));
  for (; *inputs != NULL; ++inputs) {
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)*inputs, strlen(*inputs) + 1, "input", 0, NULL,
                     NULL));
  }
  OK(cuLinkComplete(link, &image, NULL));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&function, module, "run"));
  OK(cuMemAlloc(&out, 4));
  void* arguments[] = {&out};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(&value, out, 4));
  OK(cuMemFree(out));
  return value;
}

static void registers_are_limited(void** state) {
  const fixture* f = *state;
  int own = 0, limited = 0;
  CUmodule module = NULL;
  CUfunction function = NULL;
  OK(cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel(f, "fill_index")));
  assert_true(own > 8);
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = (void*)(intptr_t)(own - 1);
  OK(cuModuleLoadDataEx(&module, kernels_ptx, 1, &option, &value));
  OK(cuModuleGetFunction(&function, module, "fill_index"));
  OK(cuFuncGetAttribute(&limited, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  assert_int_equal(limited, own - 1);
  OK(cuModuleUnload(module));
}

#define PTX_HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"
#define PTX_VALUE(linkage, number) \
  linkage " .func (.param .b32 r) value() { st.param.b32 [r], " number "; ret; }\n"
#define PTX_RUN                                                       \
  ".visible .entry run(.param .u64 out) {\n"                          \
  " .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d1, [out];\n"     \
  " { .param .b32 b; call (b), value, (); ld.param.b32 %r1, [b]; }\n" \
  " st.global.u32 [%d1], %r1; ret; }\n"

static void weak_functions_are_linked(void** state) {
  static const char weak[] =
      PTX_HEAD ".weak .func (.param .b32 r) value();\n" PTX_RUN PTX_VALUE(".weak", "3");
  static const char caller[] = PTX_HEAD ".extern .func (.param .b32 r) value();\n" PTX_RUN;
  static const char second_weak[] = PTX_HEAD PTX_VALUE(".weak", "4");
  static const char strong[] = PTX_HEAD PTX_VALUE(".visible", "5");
  const char* const both_weak[] = {weak, second_weak, NULL};
  const char* const found_weak[] = {caller, second_weak, NULL};
  const char* const replaced[] = {weak, strong, NULL};
  const char* const replaced_before[] = {strong, weak, NULL};
  assert_int_equal(run_linked(*state, both_weak), 3);
  assert_int_equal(run_linked(*state, found_weak), 4);
  assert_int_equal(run_linked(*state, replaced), 5);
  assert_int_equal(run_linked(*state, replaced_before), 5);
}

/* GPUs' linkers do not compare what a function gives back with what its callers expect. */
static void returns_may_be_missing(void** state) {
  static const char caller[] = PTX_HEAD
      ".extern .func (.param .b32 r) set(.param .b64 to);\n"
      ".visible .entry run(.param .u64 out) {\n"
      " .reg .b64 %d<2>; ld.param.u64 %d1, [out];\n"
      " { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; call (b), set, (a); }\n"
      " ret; }\n";
  static const char callee[] = PTX_HEAD
      ".visible .func set(.param .b64 to) {\n"
      " .reg .b64 %d<2>; ld.param.u64 %d1, [to]; st.global.u32 [%d1], 7; ret; }\n";
  const char* const inputs[] = {caller, callee, NULL};
  assert_int_equal(run_linked(*state, inputs), 7);
}

/* cooperative_groups' grid.sync() in what Numba compiles. */
static void grids_meet_by_the_device_runtime(void** state) {
  static const char text[] = PTX_HEAD
      ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
      ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);\n"
      ".visible .entry run(.param .u64 out) {\n"
      " .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<2>; ld.param.u64 %d1, [out];\n"
      " { .param .b32 s; .param .b64 h; st.param.b32 [s], 1;\n"
      "   call (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %d2, [h]; }\n"
      " red.global.add.u32 [%d1], 1;\n"
      " { .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h], %d2;\n"
      "   st.param.b32 [f], 0; call (e), cudaCGSynchronize, (h, f); ld.param.b32 %r1, [e]; }\n"
      " ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 256;\n"
      " @%p1 red.global.add.u32 [%d1+4], 1; ret; }\n";
  static const char library[] = "!<arch>\n/ 0 cuda_device_runtime";
  const fixture* f = *state;
  CUlinkState link = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUdeviceptr out = 0;
  void* image = NULL;
  uint32_t counts[2] = {0};
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)text, sizeof text, "grid", 0, NULL, NULL));
  EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, (void*)text,
                                                     sizeof text, "other", 0, NULL, NULL));
  OK(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, (void*)library, sizeof library, "cudadevrt", 0, NULL,
                   NULL));
  OK(cuLinkComplete(link, &image, NULL));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&function, module, "run"));
  OK(cuMemAlloc(&out, sizeof counts));
  OK(cuMemsetD8(out, 0, sizeof counts));
  void* arguments[] = {&out};
  OK(cuLaunchCooperativeKernel(function, 2, 2, 1, 32, 2, 1, 0, f->stream, arguments));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(counts, out, sizeof counts));
  assert_int_equal(counts[0], 256);
  assert_int_equal(counts[1], 256); /* each thread has seen all the others' additions */
  OK(cuMemFree(out));
}

/* nvcc and NVRTC make this of `child<<<1, 32>>>(out, 5); out[33] = cudaGetLastError();`. */
static const char launching[] = PTX_HEAD
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,\n"
    " .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".visible .entry child(.param .u64 out, .param .u32 by) {\n"
    " .reg .b32 %r<5>; .reg .b64 %d<4>; ld.param.u64 %d1, [out]; ld.param.u32 %r1, [by];\n"
    " mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;\n"
    " ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, %r1; st.global.u32 [%d1], %r3; ret; }\n"
    ".visible .entry parent(.param .u64 out, .param .u32 threads) {\n"
    " .reg .b32 %r<5>; .reg .b64 %d<5>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [threads]; mov.u64 %d2, child;\n"
    " { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;\n"
    "   .param .b64 p; st.param.b64 [f], %d2; st.param.b32 [g], 1; st.param.b32 [g+4], 1;\n"
    "   st.param.b32 [g+8], 1; st.param.b32 [b], %r1; st.param.b32 [b+4], 1;\n"
    "   st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
    "   call.uni (p), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %d3, [p]; }\n"
    " setp.eq.u64 %p, %d3, 0; @%p bra done;\n"
    " st.u64 [%d3], %d1; st.u32 [%d3+8], 5;\n"
    " { .param .b64 p; .param .b64 s; .param .b32 e; st.param.b64 [p], %d3;\n"
    "   st.param.b64 [s], 0; call.uni (e), __cudaCDP2LaunchDeviceV2, (p, s); }\n"
    "done: { .param .b32 e; call.uni (e), __cudaCDP2GetLastError, (); ld.param.b32 %r2, [e]; }\n"
    " st.global.u32 [%d1+132], %r2; ret; }\n";

static void kernels_launch_kernels_by_the_device_runtime(void** state) {
  static const char library[] = "!<arch>\n/ 0 cuda_device_runtime";
  const fixture* f = *state;
  CUlinkState link = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUdeviceptr out = 0;
  void* image = NULL;
  uint32_t values[34] = {0}, threads = 32;
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)launching, sizeof launching, "parent", 0, NULL,
                   NULL));
  OK(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, (void*)library, sizeof library, "cudadevrt", 0, NULL,
                   NULL));
  OK(cuLinkComplete(link, &image, NULL));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&function, module, "parent"));
  OK(cuMemAlloc(&out, sizeof values));
  OK(cuMemsetD8(out, 0, sizeof values));
  void* arguments[] = {&out, &threads};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuMemcpyDtoHAsync(values, out, sizeof values, f->stream)); /* after all that was launched */
  OK(cuStreamSynchronize(f->stream));
  for (int i = 0; i < 32; ++i) assert_int_equal(values[i], 5);
  assert_int_equal(values[33], 0);
  threads = 1025;
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuMemcpyDtoHAsync(values, out, sizeof values, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(values[0], 5);
  assert_int_equal(values[33], 9); /* cudaErrorInvalidConfiguration */
  OK(cuMemFree(out));
  OK(cuModuleUnload(module));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(logs_say_what_is_wrong),
      TEST(options_move_no_lines),
      TEST(texts_end_where_their_size_says),
      TEST(ptx_is_refused_as_the_driver_does),
      TEST(fat_binaries_hold_ptx),
      TEST(functions_are_described),
      TEST(globals_have_addresses),
      TEST(arguments_come_in_two_forms),
      TEST(launches_have_attributes),
      TEST(launches_record_events),
      TEST(occupancy_is_computed),
      TEST(libraries_belong_to_no_context),
      TEST(libraries_have_managed_variables),
      TEST(inputs_are_linked),
      TEST(a_linked_image_is_a_cubin),
      TEST(links_name_what_is_wrong),
      TEST(options_of_links_are_read_once),
      TEST(libraries_are_unloaded_during_calls),
      TEST(weak_functions_are_linked),
      TEST(registers_are_limited),
      TEST(returns_may_be_missing),
      TEST(grids_meet_by_the_device_runtime),
      TEST(kernels_launch_kernels_by_the_device_runtime),
      TEST(kernels_are_there_beside_one_that_cannot_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
