/* Launches of registered kernels, in all forms. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void kernels_of_the_program_run(void** state) {
  (void)state;
  uint32_t* data = NULL;
  OK(cudaMalloc((void**)&data, 4000));
  OK(launch_fill(data, 100, 1000, NULL));
  OK(launch_add(data, 1000, NULL));
  assert_int_equal(read_u32(data), 101);
  assert_int_equal(read_u32(data + 999), 1100);
  OK(cudaFree(data));
}

/* A launch as the stub of `kernel<<<grid, block, shared, stream>>>(...)` does it. */
static void stubs_push_and_pop_configurations(void** state) {
  (void)state;
  uint32_t* out = NULL;
  cudaKernel_t kernel = NULL;
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = NULL;
  OK(cudaMalloc((void**)&out, 4));
  assert_int_equal(__cudaPushCallConfiguration(dims(1, 1, 1), dims(64, 1, 1), 16, NULL), 0);
  assert_int_equal(__cudaPushCallConfiguration(dims(9, 8, 7), dims(6, 5, 4), 3, (void*)2), 0);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  assert_int_equal(grid.x + grid.y + grid.z + block.x + block.y + block.z, 39);
  assert_int_equal(shared, 3);
  assert_ptr_equal(stream, cudaStreamPerThread);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  OK(__cudaGetKernel(&kernel, (const void*)shared_sum));
  void* arguments[] = {&out};
  OK(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
  assert_int_equal(read_u32(out), 63 * 64 / 2);
  EXPECT(cudaErrorMissingConfiguration,
         __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT(cudaErrorMissingConfiguration, cudaGetLastError());
  OK(cudaFree(out));
}

static void impossible_configurations_are_refused(void** state) {
  (void)state;
  uint32_t* data = NULL;
  uint32_t base = 0, n = 1;
  void* arguments[] = {&data, &base, &n};
  const void* const kernel = (const void*)fill_index;
  const dim3 one = dims(1, 1, 1);
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(kernel, dims(0, 1, 1), one, arguments, 0, 0));
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(kernel, one, dims(2048, 1, 1), arguments, 0, 0));
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(kernel, one, dims(1, 1, 65), arguments, 0, 0));
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(kernel, dims(1, 70000, 1), one, arguments, 0, 0));
  EXPECT(cudaErrorInvalidValue, cudaLaunchKernel(kernel, one, one, arguments, (size_t)1 << 40, 0));
  EXPECT(cudaErrorInvalidValue, cudaLaunchKernel(kernel, one, one, arguments, 1 << 24, 0));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&n, one, one, arguments, 0, 0));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(NULL, one, one, arguments, 0, 0));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
}

static void launches_take_attributes(void** state) {
  (void)state;
  uint32_t* data = NULL;
  uint32_t base = 4, n = 128;
  void* arguments[] = {&data, &base, &n};
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config;
  OK(cudaMalloc((void**)&data, 512));
  memset(&attribute, 0, sizeof attribute);
  memset(&config, 0, sizeof config);
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.gridDim = dims(2, 1, 1);
  config.blockDim = dims(64, 1, 1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaLaunchKernelExC(&config, (const void*)fill_index, arguments));
  assert_int_equal(read_u32(data + 127), 131);
  OK(cudaLaunchCooperativeKernel((const void*)add_one, dims(2, 1, 1), dims(64, 1, 1),
                                 (void*[]){&data, &n}, 0, NULL));
  assert_int_equal(read_u32(data + 127), 132);
  EXPECT(cudaErrorInvalidValue, cudaLaunchKernelExC(NULL, (const void*)fill_index, arguments));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaFree(data));
}

static void kernels_have_attributes(void** state) {
  (void)state;
  struct cudaFuncAttributes found;
  const char* name = NULL;
  size_t offset = 0, size = 0;
  memset(&found, 0xFF, sizeof found);
  OK(cudaFuncGetAttributes(&found, (const void*)fill_index));
  assert_int_equal(found.maxThreadsPerBlock, 1024);
  assert_int_equal(found.ptxVersion, 50);
  assert_int_equal(found.sharedSizeBytes, 0);
  OK(cudaFuncSetAttribute((const void*)shared_sum, cudaFuncAttributeMaxDynamicSharedMemorySize,
                          64 << 10));
  OK(cudaFuncGetAttributes(&found, (const void*)shared_sum));
  assert_int_equal(found.maxDynamicSharedSizeBytes, 64 << 10);
  OK(cudaFuncGetName(&name, (const void*)add_one));
  assert_string_equal(name, "add_one");
  OK(cudaFuncGetParamInfo((const void*)fill_index, 2, &offset, &size));
  assert_int_equal(offset, 12);
  assert_int_equal(size, 4);
  OK(cudaFuncSetCacheConfig((const void*)add_one, cudaFuncCachePreferShared));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&found, &found));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
}

static void occupancy_is_told(void** state) {
  (void)state;
  int blocks = 0, clusters = 0;
  size_t shared = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add_one, 256, 0));
  assert_true(blocks >= 1);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)add_one, 256, 0,
                                                            cudaOccupancyDisableCachingOverride));
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, (const void*)add_one, 1, 256));
  assert_true(shared > 0);
  cudaLaunchConfig_t config;
  memset(&config, 0, sizeof config);
  config.gridDim = dims(4, 1, 1);
  config.blockDim = dims(64, 1, 1);
  OK(cudaOccupancyMaxPotentialClusterSize(&clusters, (const void*)add_one, &config));
  assert_true(clusters >= 1);
}

/* Several translation units, each with a fat binary, one of which goes. */
static void stub_a(void) { abort(); }
static void stub_b(void) { exit(1); }

static char* text_with(const char* name, int value) {
  char* const text = malloc(400);
  snprintf(text, 400,
           ".version 7.0\n.target sm_50\n.address_size 64\n"
           ".visible .entry %s(.param .u64 out) { .reg .b64 %%d; ld.param.u64 %%d, [out];"
           " st.global.u32 [%%d], %d; ret; }\n",
           name, value);
  return text;
}

static uint32_t result_of(const void* symbol) {
  uint32_t *out = NULL, value;
  OK(cudaMalloc((void**)&out, 4));
  OK(cudaLaunchKernel(symbol, dims(1, 1, 1), dims(1, 1, 1), (void*[]){&out}, 0, NULL));
  value = read_u32(out);
  OK(cudaFree(out));
  return value;
}

static void every_unit_has_its_own_code(void** state) {
  (void)state;
  const symbol a = {(const void*)stub_a, "same"}, b = {(const void*)stub_b, "same"};
  void** const first =
      register_kernels(wrap(make_fat_binary(text_with("same", 1), FAT_PTX, 50)), &a, 1);
  void** const second =
      register_kernels(wrap(make_fat_binary(text_with("same", 2), FAT_PTX, 75)), &b, 1);
  assert_int_equal(result_of(a.address), 1);
  assert_int_equal(result_of(b.address), 2);
  __cudaUnregisterFatBinary(first);
  EXPECT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel(a.address, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
  assert_int_equal(result_of(b.address), 2);
  __cudaUnregisterFatBinary(second);
  __cudaUnregisterFatBinary(second);
  __cudaRegisterFunction(second, a.address, NULL, "same", -1, NULL, NULL, NULL, NULL, NULL);
}

static void code_that_cannot_run_says_so_at_its_launch(void** state) {
  (void)state;
  const symbol missing = {(const void*)stub_a, "no_such_kernel"};
  const symbol machine = {(const void*)stub_b, "same"};
  cudaKernel_t kernel = NULL;
  char junk[64] = "no fat binary";
  register_kernels(wrap(make_fat_binary(text_with("same", 1), FAT_PTX, 50)), &missing, 1);
  EXPECT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel(missing.address, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  register_kernels(wrap(make_fat_binary("machine code", FAT_CUBIN, 80)), &machine, 1);
  OK(__cudaGetKernel(&kernel, machine.address));
  EXPECT(cudaErrorNoKernelImageForDevice,
         __cudaLaunchKernel(kernel, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  register_kernels(junk, &machine, 1);
  EXPECT(cudaErrorInvalidKernelImage,
         cudaLaunchKernel(machine.address, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  register_kernels(wrap(make_fat_binary(".version 7.0 nonsense", FAT_PTX, 50)), &machine, 1);
  EXPECT(cudaErrorInvalidPtx,
         cudaLaunchKernel(machine.address, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  EXPECT(cudaErrorInvalidPtx, cudaGetLastError());
}

/* Units that `nvcc -rdc=true` leaves to be linked when the program runs. */
static void relocatable_units_are_linked(void** state) {
  (void)state;
  const char* const kernel =
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".extern .func (.param .b32 r) twice(.param .b32 x);\n.extern .global .align 4 .u32 shared;\n"
      ".visible .entry linked(.param .u64 out) {\n .reg .b64 %d; .reg .b32 %r<3>;\n"
      " ld.param.u64 %d, [out];\n ld.global.u32 %r1, [shared];\n {\n"
      " .param .b32 x; .param .b32 r; st.param.b32 [x], %r1;\n call.uni (r), twice, (x);\n"
      " ld.param.b32 %r2, [r];\n }\n st.global.u32 [%d], %r2;\n ret;\n}\n";
  const char* const helper =
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".visible .global .align 4 .u32 shared = 21;\n"
      ".visible .func (.param .b32 r) twice(.param .b32 x) {\n .reg .b32 %a<3>;\n"
      " ld.param.b32 %a1, [x];\n add.u32 %a2, %a1, %a1;\n st.param.b32 [r], %a2;\n ret;\n}\n";
  const symbol linked = {(const void*)stub_a, "linked"};
  void* units[] = {make_fat_binary(kernel, FAT_PTX, 50), make_fat_binary(helper, FAT_PTX, 50)};
  register_kernels(wrap_linked(units, 2), &linked, 1);
  assert_int_equal(result_of(linked.address), 42);
}

/* Linked programs carry NVIDIA's device runtime, whose only PTX is for newer GPUs; of it, grids
 * that meet need two functions. */
static void linked_grids_meet(void** state) {
  (void)state;
  const char* const kernel =
      ".version 7.0\n.target sm_60\n.address_size 64\n"
      ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
      ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);\n"
      ".visible .entry meet(.param .u64 out) {\n"
      " .reg .b32 %r<4>; .reg .b64 %d<3>; ld.param.u64 %d1, [out];\n"
      " { .param .b32 s; .param .b64 h; st.param.b32 [s], 1;\n"
      "   call (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %d2, [h]; }\n"
      " red.global.add.u32 [%d1], 1;\n"
      " { .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h], %d2;\n"
      "   st.param.b32 [f], 0; call (e), cudaCGSynchronize, (h, f); ld.param.b32 %r1, [e]; }\n"
      " ld.volatile.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1;\n"
      " red.global.max.u32 [%d1+4], %r2; ret; }\n";
  const char* const runtime =
      ".version 9.5\n.target sm_121\n.address_size 64\n"
      ".func _ZN60_INTERNAL_cuda_device_runtime_cu_00() { ret; }\n";
  const symbol meet = {(const void*)stub_a, "meet"};
  void* units[] = {make_fat_binary(kernel, FAT_PTX, 60), make_fat_binary(runtime, FAT_PTX, 121)};
  uint32_t* out = NULL;
  register_kernels(wrap_linked(units, 2), &meet, 1);
  OK(cudaMalloc((void**)&out, 8));
  OK(cudaMemset(out, 0, 8));
  OK(cudaLaunchCooperativeKernel(meet.address, dims(4, 1, 1), dims(32, 1, 1), (void*[]){&out}, 0,
                                 NULL));
  assert_int_equal(read_u32(out + 1), 128);
  OK(cudaFree(out));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(kernels_of_the_program_run),
      TEST(stubs_push_and_pop_configurations),
      TEST(impossible_configurations_are_refused),
      TEST(launches_take_attributes),
      TEST(kernels_have_attributes),
      TEST(occupancy_is_told),
      TEST(every_unit_has_its_own_code),
      TEST(code_that_cannot_run_says_so_at_its_launch),
      TEST(relocatable_units_are_linked),
      TEST(linked_grids_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
