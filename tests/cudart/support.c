#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "support/ptx_kernels.h"

const char kernels_ptx[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 total = 5;\n"
    ".extern .shared .align 4 .b8 pool[];\n" KM_PTX_FILL_INDEX KM_PTX_ADD_ONE
        KM_PTX_SLOW KM_PTX_CRASH
    ".visible .entry scaled(.param .u64 out)\n"
    "{\n"
    "  .reg .b32 %r<4>;\n"
    "  .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [out];\n"
    "  ld.const.u32 %r1, [factor];\n"
    "  atom.global.add.u32 %r2, [counter], 1;\n"
    "  mul.lo.u32 %r3, %r1, %r2;\n"
    "  st.global.u32 [%d1], %r3;\n"
    "  atom.global.add.u32 %r2, [total], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry shared_sum(.param .u64 out)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<5>;\n"
    "  .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [out];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  setp.ne.u32 %p, %r1, 0;\n"
    "  mov.u32 %r2, pool;\n"
    "  @!%p st.shared.u32 [%r2], 0;\n"
    "  bar.sync 0;\n"
    "  atom.shared.add.u32 %r3, [%r2], %r1;\n"
    "  bar.sync 0;\n"
    "  @%p ret;\n"
    "  ld.shared.u32 %r4, [%r2];\n"
    "  st.global.u32 [%d1], %r4;\n"
    "  ret;\n"
    "}\n";

/* Different bodies, so that no linker makes one function of them. */
static volatile int stub_calls;
void fill_index(void) { stub_calls = 1; }
void add_one(void) { stub_calls = 2; }
void slow(void) { stub_calls = 3; }
void crash(void) { stub_calls = 4; }
void scaled(void) { stub_calls = 5; }
void shared_sum(void) { stub_calls = 6; }
char factor[4], counter[4];
void* total;
void** kernels_handle;

typedef struct fat_header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t content_bytes;
} fat_header;

typedef struct fat_entry {
  uint16_t kind, attributes;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes, options_offset;
  uint16_t minor, major;
  uint32_t capability;
  uint32_t name_offset, name_bytes;
  uint64_t flags, reserved, text_bytes;
  /* Options for the compiler of PTX, which are none: the driver reads them where options_offset
   * says so. Machine code has no such part, and a shorter header. */
  uint32_t options_text_offset, options_bytes;
  uint64_t options_text;
} fat_entry;

typedef struct fat_wrapper {
  uint32_t magic, version;
  const void* data;
  void** prelinked;
} fat_wrapper;

void* make_fat_binary(const char* text, int kind, unsigned capability) {
  const size_t text_bytes = strlen(text) + 1, payload_bytes = (text_bytes + 7) / 8 * 8;
  const size_t options_offset = offsetof(fat_entry, options_text_offset);
  const size_t entry_bytes = kind == FAT_PTX ? sizeof(fat_entry) : options_offset;
  const fat_entry entry = {.kind = (uint16_t)kind,
                           .attributes = 0x101,
                           .header_bytes = (uint32_t)entry_bytes,
                           .payload_bytes = payload_bytes,
                           .options_offset = kind == FAT_PTX ? (uint32_t)options_offset : 0,
                           .major = 7,
                           .capability = capability,
                           .flags = 0x11,
                           .options_text_offset = offsetof(fat_entry, options_text)};
  const fat_header header = {0xBA55ED50, 1, sizeof header, entry_bytes + payload_bytes};
  char* const made = calloc(1, sizeof header + entry_bytes + payload_bytes);
  memcpy(made, &header, sizeof header);
  memcpy(made + sizeof header, &entry, entry_bytes);
  memcpy(made + sizeof header + entry_bytes, text, text_bytes);
  return made;
}

static void* make_wrapper(uint32_t version, const void* data, void** prelinked) {
  fat_wrapper* const made = calloc(1, sizeof *made);
  *made = (fat_wrapper){0x466243B1, version, data, prelinked};
  return made;
}

void* wrap(void* fat_binary) { return make_wrapper(1, fat_binary, NULL); }

void* wrap_linked(void** fat_binaries, size_t count) {
  static const fat_header empty = {0xBA55ED50, 1, sizeof empty, 0};
  void** const list = calloc(count + 1, sizeof *list);
  memcpy(list, fat_binaries, count * sizeof *list);
  return make_wrapper(2, &empty, list);
}

void** register_kernels(void* wrapper, const symbol* kernels, size_t count) {
  void** const handle = __cudaRegisterFatBinary(wrapper);
  for (size_t i = 0; i < count; ++i) {
    const char* name = kernels[i].name;
    __cudaRegisterFunction(handle, kernels[i].address, (char*)(uintptr_t)name, name, -1, NULL, NULL,
                           NULL, NULL, NULL);
  }
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}

static void unregister_all(void) { __cudaUnregisterFatBinary(kernels_handle); }

__attribute__((constructor)) static void register_all(void) {
  const symbol kernels[] = {{(const void*)fill_index, "fill_index"},
                            {(const void*)add_one, "add_one"},
                            {(const void*)slow, "slow"},
                            {(const void*)crash, "crash"},
                            {(const void*)scaled, "scaled"},
                            {(const void*)shared_sum, "shared_sum"}};
  kernels_handle = register_kernels(wrap(make_fat_binary(kernels_ptx, FAT_PTX, 50)), kernels,
                                    sizeof kernels / sizeof *kernels);
  __cudaRegisterVar(kernels_handle, factor, factor, "factor", 0, 4, 1, 0);
  __cudaRegisterVar(kernels_handle, counter, counter, "counter", 0, 4, 0, 0);
  __cudaRegisterManagedVar(kernels_handle, &total, (char*)&total, "total", 0, 4, 0, 0);
  atexit(unregister_all);
}

void expect_error(cudaError_t expected, cudaError_t given, const char* call, const char* file,
                  int line) {
  if (expected == given) return;
  print_error("%s gave %s (%d), not %s\n", call, cudaGetErrorName(given), (int)given,
              cudaGetErrorName(expected));
  _fail(file, line);
}

dim3 dims(unsigned x, unsigned y, unsigned z) {
  const dim3 made = {x, y, z};
  return made;
}

cudaError_t launch_fill(uint32_t* out, uint32_t base, uint32_t n, cudaStream_t stream) {
  void* arguments[] = {&out, &base, &n};
  return cudaLaunchKernel((const void*)fill_index, dims((n + 63) / 64, 1, 1), dims(64, 1, 1),
                          arguments, 0, stream);
}

cudaError_t launch_add(uint32_t* data, uint32_t n, cudaStream_t stream) {
  void* arguments[] = {&data, &n};
  return cudaLaunchKernel((const void*)add_one, dims((n + 63) / 64, 1, 1), dims(64, 1, 1),
                          arguments, 0, stream);
}

uint32_t read_u32(const uint32_t* device) {
  uint32_t value = 0;
  OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

int on_nvidias_driver(void) {
  const char* set = getenv("KM_TEST_NVIDIA");
  return set != NULL && *set == '1';
}

int count_devices(void) {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  return count;
}

int set_up(void** state) {
  (void)state;
  OK(cudaSetDevice(0));
  if (on_nvidias_driver()) cudaGetLastError(); /* of a test that failed */
  OK(cudaGetLastError());
  return 0;
}

int tear_down(void** state) {
  (void)state;
  OK(cudaSetDevice(0));
  OK(cudaDeviceSynchronize());
  return 0;
}
