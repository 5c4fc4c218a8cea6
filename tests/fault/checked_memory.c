/* KM_CPU_MEMORY=checked: a kernel reaches the memory of its context and nothing else. */
#include <string.h>

#include "support/host.h"

static const char kKernels[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry dense(.param .u64 base)\n"
    "{\n"
    "  .reg .b64 %rd<4>;\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [base];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r1, 4;\n"
    "  add.s64 %rd3, %rd1, %rd2;\n"
    "  st.global.u32 [%rd3], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry strided(.param .u64 base, .param .u64 stride)\n"
    "{\n"
    "  .reg .b64 %rd<5>;\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [base];\n"
    "  ld.param.u64 %rd2, [stride];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  cvt.u64.u32 %rd3, %r1;\n"
    "  mad.lo.s64 %rd4, %rd3, %rd2, %rd1;\n"
    "  st.global.u8 [%rd4], 7;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry atomic(.param .u64 base, .param .u64 stride)\n"
    "{\n"
    "  .reg .b64 %rd<5>;\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [base];\n"
    "  ld.param.u64 %rd2, [stride];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  cvt.u64.u32 %rd3, %r1;\n"
    "  mad.lo.s64 %rd4, %rd3, %rd2, %rd1;\n"
    "  red.global.add.u32 [%rd4], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry shared(.param .u64 offset, .param .u64 stride)\n"
    "{\n"
    "  .shared .align 4 .b8 tile[128];\n"
    "  .reg .b64 %rd<3>;\n"
    "  .reg .b32 %r<6>;\n"
    "  ld.param.u64 %rd1, [offset];\n"
    "  ld.param.u64 %rd2, [stride];\n"
    "  cvt.u32.u64 %r1, %rd1;\n"
    "  cvt.u32.u64 %r2, %rd2;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r3, %r2, %r1;\n"
    "  mov.u32 %r5, tile;\n"
    "  add.u32 %r4, %r4, %r5;\n"
    "  st.shared.u32 [%r4], %r3;\n"
    "  ret;\n"
    "}\n"
    /* Element tid + 768 of each 1,024, where there is one; its address is made before a barrier. */
    ".visible .entry looped(.param .u64 base, .param .u64 count)\n"
    "{\n"
    "  .reg .pred %p<3>;\n"
    "  .reg .b64 %rd<4>;\n"
    "  .reg .b32 %r<6>;\n"
    "  ld.param.u64 %rd1, [base];\n"
    "  ld.param.u32 %r1, [count];\n"
    "  mov.u32 %r2, %tid.x;\n"
    "  mov.u32 %r3, 0;\n"
    "again:\n"
    "  add.s32 %r4, %r2, %r3;\n"
    "  add.s32 %r5, %r4, 768;\n"
    "  setp.lt.s32 %p1, %r5, %r1;\n"
    "  mad.wide.s32 %rd2, %r4, 2, %rd1;\n"
    "  add.s64 %rd3, %rd2, 1536;\n"
    "  bar.sync 0;\n"
    "  @%p1 st.global.u16 [%rd3], 7;\n"
    "  add.s32 %r3, %r3, 1024;\n"
    "  setp.lt.s32 %p2, %r3, %r1;\n"
    "  @%p2 bra again;\n"
    "  ret;\n"
    "}\n"
    /* cuda::atomic_ref of a byte does compare-and-swap of the aligned word around it. */
    ".visible .entry swapped(.param .u64 base, .param .u64 value)\n"
    "{\n"
    "  .reg .b64 %rd<3>;\n"
    "  .reg .b32 %r<5>;\n"
    "  .reg .pred %p;\n"
    "  ld.param.u64 %rd1, [base];\n"
    "  ld.param.u32 %r1, [value];\n"
    "  ld.relaxed.gpu.global.u32 %r2, [%rd1];\n"
    "retry:\n"
    "  and.b32 %r3, %r2, 0xffffff00;\n"
    "  or.b32 %r3, %r3, %r1;\n"
    "  atom.relaxed.gpu.global.cas.b32 %r4, [%rd1], %r2, %r3;\n"
    "  setp.ne.u32 %p, %r4, %r2;\n"
    "  mov.u32 %r2, %r4;\n"
    "  @%p bra retry;\n"
    "  st.release.gpu.global.u32 [%rd1], %r3;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry doubled(.param .u64 base, .param .u64 value)\n"
    "{\n"
    "  .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [base];\n"
    "  ld.param.u64 %rd2, [value];\n"
    "  red.global.add.u64 [%rd1], %rd2;\n"
    "  ret;\n"
    "}\n";

static host h;
static km_module module;

static void load(void) {
  OK(km_module_load_ptx(h.context, kKernels, sizeof kKernels - 1, "checked.ptx", &module));
}

static km_status run(const char* kernel, uint64_t first, uint64_t second, uint32_t threads) {
  uint64_t arguments[] = {first, second};
  km_function function = NULL;
  OK(km_module_function(module, kernel, &function));
  km_launch_config config = {{1, 1, 1}, {threads, 1, 1}, 0};
  uint64_t size = strcmp(kernel, "dense") == 0 ? 8 : 16;
  OK(km_launch_kernel(h.stream, function, &config, arguments, size, NULL, 0));
  OK(km_function_destroy(function));
  return km_stream_synchronize(h.stream);
}

/* The launch faults, its message holds both parts, and the context works again after a reset. */
static void check_fault(const char* kernel, uint64_t first, uint64_t second, uint32_t threads,
                        const char* part, const char* other) {
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, run(kernel, first, second, threads));
  check_message(&h, part);
  check_message(&h, other);
  OK(km_context_reset(h.context));
  host_load(&h);
  load();
}

static uint64_t allocate(uint64_t size_bytes) {
  km_slice slice = NULL;
  uint64_t address = 0;
  OK(km_slice_create(h.context, size_bytes, 1, KM_SLICE_ZEROED, &slice));
  OK(km_slice_address(slice, &address));
  return address;
}

static void host_memory_is_out_of_reach(void) {
  static uint32_t words[64];
  const uint64_t address = (uint64_t)(uintptr_t)words;
  check_fault("dense", address, 0, 33, "thread (0,0,0)", "checked.ptx:12");
  check_fault("strided", address, 1, 33, "thread (0,0,0)", "checked.ptx:24");
  check_fault("atomic", address, 4, 33, "thread (0,0,0)", "checked.ptx:36");
  for (int i = 0; i < 64; ++i) CHECK(words[i] == 0);
  km_slice slice = NULL;
  OK(km_slice_from_host(h.context, words, 64, 4, NULL, NULL, &slice));
  OK(run("dense", address, 0, 64));
  for (uint32_t i = 0; i < 64; ++i) CHECK(words[i] == i);
  OK(km_slice_destroy(slice));
  check_fault("dense", address, 0, 1, "thread (0,0,0)", "checked.ptx:12");
}

static void neighbours_are_out_of_reach(void) {
  OK(run("dense", allocate(160), 0, 40));
  check_fault("dense", allocate(156), 0, 40, "thread (39,0,0)",
              "0 bytes past the end of the 156-byte allocation");
  check_fault("strided", allocate(100), 10, 40, "thread (10,0,0)",
              "0 bytes past the end of the 100-byte allocation");
  check_fault("atomic", allocate(100), 12, 40, "thread (9,0,0)", "(4 bytes)");
  OK(run("strided", allocate(391), 10, 40));
  OK(run("strided", allocate(1) + 0, 0, 1024));
  /* Backwards: the highest lane is the lowest address. */
  OK(run("strided", allocate(100) + 99, (uint64_t)-3, 34));
  check_fault("strided", allocate(100) + 98, (uint64_t)-3, 34, "thread (33,0,0)",
              "1 byte before the 100-byte allocation");
}

/* Atomics and ordered accesses of an aligned word need its first byte alone to be theirs. */
static void words_reach_around_bytes(void) {
  for (uint64_t size_bytes = 1; size_bytes <= 9; ++size_bytes) {
    const uint64_t last_word = (size_bytes - 1) & ~UINT64_C(3);
    OK(run("swapped", allocate(size_bytes) + last_word, 7, 1));
    OK(run("atomic", allocate(size_bytes) + last_word, 0, 32));
    check_fault("swapped", allocate(size_bytes) + last_word + 4, 7, 1, "thread (0,0,0)",
                "(4 bytes)");
  }
  check_fault("dense", allocate(2), 0, 1, "thread (0,0,0)", "(4 bytes)");
  check_fault("doubled", allocate(6), 1, 1, "thread (0,0,0)", "(8 bytes)");
}

static void shared_memory_ends(void) {
  OK(run("shared", 0, 4, 32));
  check_fault("shared", 0, 4, 33, "thread (32,0,0), at checked.ptx:52",
              "offset 128 in shared memory, of which the block has 128 bytes");
  check_fault("shared", 0, (uint64_t)-4, 2, "thread (1,0,0)", "checked.ptx:52");
  check_fault("shared", UINT64_C(0x40000000), 4, 1, "thread (0,0,0)", "checked.ptx:52");
}

/* Packets behind a barrier test their own addresses, not those of another packet. */
static void addresses_cross_barriers(void) {
  OK(run("looped", allocate(2 * 781), 781, 128));
  OK(run("looped", allocate(2 * 2000), 2000, 128));
  check_fault("looped", allocate(2 * 780), 781, 128, "thread (12,0,0)",
              "0 bytes past the end of the 1560-byte allocation");
  check_fault("looped", allocate(2 * 1800), 1900, 128, "thread (8,0,0)",
              "0 bytes past the end of the 3600-byte allocation");
}

int main(void) {
  setenv("KM_CPU_MEMORY", "checked", 1);
  host_open(&h);
  load();
  host_memory_is_out_of_reach();
  neighbours_are_out_of_reach();
  words_reach_around_bytes();
  shared_memory_ends();
  addresses_cross_barriers();
  check_works(&h);
  OK(km_module_destroy(module));
  host_close(&h);
  return 0;
}
