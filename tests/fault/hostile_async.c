/* Asynchronous copies, tensor copies, matrix products of warpgroups, mbarriers and accesses between
 * the blocks of a cluster, with values that no program should hand them: each launch succeeds or
 * faults, and the context works after a reset. */
#include <inttypes.h>
#include <string.h>

#include "support/host.h"

enum { kWords = 24, kDraws = 6, kMemoryBytes = 8192, kSharedBytes = 8192 };

/* Registers: %t a tensor map's address, %g and %h global addresses, %s and %u shared ones, %m an
 * mbarrier's, %n a size, %d and %e descriptors or masks, %i to %k coordinates. */
static const char* const kStatements[] = {
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g], %n, [%m];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    " [%s], [%g], %n, [%m], %w;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s], [%u], %n, [%m];",
    "cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], %n;",
    "cp.async.bulk.prefetch.L2.global [%g], %n;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%g], [%s], %n;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 [%g], [%s], %n;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32"
    " [%s], [%u], %n, [%m];",
    "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [%s], [%t, {%i}], [%m];",
    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [%s], [%t, {%i, %j, %k}], [%m];",
    "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    ".multicast::cluster [%s], [%t, {%i, %j, %k, %i, %j}], [%m], %w;",
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
    " [%s], [%t, {%i, %j, %k, %i}], [%m], {%w, %x};",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%t, {%i, %j}], [%s];",
    "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group"
    " [%t, {%i, %j, %k, %i}], [%s];",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%t, {%i, %j}], [%s];",
    "cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%t, {%i, %j, %k}];",
    "prefetch.tensormap [%t];",
    "tensormap.replace.tile.global_address.global.b1024.b64 [%t], %g;",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [%t], 1, %n;",
    "tensormap.replace.tile.global_stride.global.b1024.b64 [%t], 0, %d;",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%g], %n;",
    "cp.async.ca.shared.global [%s], [%g], 16, %n;",
    "cp.async.cg.shared.global [%s], [%g], 16;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%m];",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%s], {%n, %n, %n, %n}, [%m];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64"
    " [%s], %d, [%m];",
    "mbarrier.init.shared.b64 [%m], %n;",
    "mbarrier.inval.shared.b64 [%m];",
    "mbarrier.arrive.noComplete.shared.b64 %d, [%m], %n;",
    "mbarrier.arrive.expect_tx.shared.b64 %d, [%m], %n;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%m], %n;",
    "mbarrier.arrive_drop.shared.b64 %d, [%m], %n;",
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [%m], %n;",
    "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%m], %n;",
    "mbarrier.test_wait.shared.b64 %p, [%m], %d;",
    "mbarrier.test_wait.parity.shared.b64 %p, [%m], %n;",
    "mbarrier.arrive.b64 %d, [%g];",
    "mapa.shared::cluster.u32 %s, %s, %n; st.shared::cluster.u32 [%s], %n;",
    "mapa.u64 %g, %h, %n; st.u32 [%g], %n;",
    "getctarank.u64 %n, %g;",
    "ld.shared::cluster.u32 %n, [%s];",
    "atom.shared::cluster.add.u32 %n, [%s], %n;",
    "red.shared::cluster.add.u64 [%s], %d;",
    "isspacep.shared::cluster %p, %g;",
    "discard.global.L2 [%g], 128;",
    "applypriority.global.L2::evict_normal [%g], 128;",
    "prefetch.global.L2 [%g];",
    "prefetchu.L1 [%g];",
    "multimem.red.relaxed.sys.global.add.u32 [%g], %n;",
    "multimem.ld_reduce.weak.global.add.u32 %n, [%g];",
    "createpolicy.range.global.L2::evict_last.b64 %d, [%g], %n, %n;",
};

/* Statements of all threads of a warp or warpgroup. */
static const char* const kConvergedStatements[] = {
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%n, %n1, %n2, %n3}, [%s];",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%n, %n, %n, %n};",
    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    " {%f0, %f1, %f2, %f3}, %d, %e, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;"
    " wgmma.wait_group.sync.aligned 0;",
    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8"
    " {%n, %n1, %n2, %n3}, %d, %e, 1; wgmma.commit_group.sync.aligned;"
    " wgmma.wait_group.sync.aligned 0;",
    "wgmma.fence.sync.aligned; wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16"
    " {%f0, %f1, %f2, %f3}, %d, %e, %n, 0, 1, 1, 1, 1, 1; wgmma.commit_group.sync.aligned;"
    " wgmma.wait_group.sync.aligned 0;",
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    "barrier.cluster.arrive.relaxed;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    " [%g], [%s], 128;",
    "fence.proxy.tensormap::generic.acquire.gpu [%g], 128;",
};

static const char kText[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry hostile(.param .align 8 .b64 w[24])%s\n"
    "{\n"
    "  .reg .b64 %%t, %%g, %%h, %%d, %%e;\n"
    "  .reg .b32 %%s, %%u, %%m, %%n, %%n<4>, %%i, %%j, %%k, %%r;\n"
    "  .reg .b16 %%w, %%x;\n"
    "  .reg .f32 %%f<4>;\n"
    "  .reg .pred %%p, %%q;\n"
    "  .shared .align 1024 .b8 tile[8192];\n"
    "  ld.param.u64 %%t, [w];\n"
    "  ld.param.u64 %%g, [w+8];\n"
    "  ld.param.u64 %%h, [w+16];\n"
    "  ld.param.u64 %%d, [w+24];\n"
    "  ld.param.u64 %%e, [w+32];\n"
    "  ld.param.u32 %%s, [w+40];\n"
    "  ld.param.u32 %%u, [w+48];\n"
    "  ld.param.u32 %%m, [w+56];\n"
    "  ld.param.u32 %%n, [w+64];\n"
    "  ld.param.u32 %%i, [w+72];\n"
    "  ld.param.u32 %%j, [w+80];\n"
    "  ld.param.u32 %%k, [w+88];\n"
    "  ld.param.u16 %%w, [w+96];\n"
    "  ld.param.u16 %%x, [w+104];\n"
    "  mov.f32 %%f0, 0f00000000;\n  mov.f32 %%f1, %%f0;\n  mov.f32 %%f2, %%f0;\n"
    "  mov.f32 %%f3, %%f0;\n  mov.b32 %%n1, 0;\n  mov.b32 %%n2, 0;\n  mov.b32 %%n3, 0;\n"
    "  mov.u32 %%r, tile;\n"
    "  add.u32 %%s, %%s, %%r;\n  add.u32 %%u, %%u, %%r;\n  add.u32 %%m, %%m, %%r;\n"
    "  mov.u32 %%r, %%tid.x;\n"
    "  setp.eq.u32 %%q, %%r, 0;\n"
    "  @%%q mbarrier.init.shared.b64 [tile+8184], 1;\n"
    "  bar.sync 0;\n"
    "  %s{ %s }\n"
    "done:\n"
    "  cp.async.bulk.commit_group;\n"
    "  cp.async.bulk.wait_group 0;\n"
    "  cp.async.wait_all;\n"
    "  ret;\n"
    "}\n";

static host h;
static uint64_t state = 0x9e3779b97f4a7c15u;
static uint64_t launches, faults;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static uint64_t below(uint64_t end) { return next_random() % end; }

static uint64_t memory_of_device(km_slice* slice) {
  uint64_t address = 0;
  OK(km_slice_create(h.context, kMemoryBytes, 1, KM_SLICE_ZEROED, slice));
  OK(km_slice_address(*slice, &address));
  return address;
}

/* In a plain device's memory an address that some other object has would be written: what is wild
 * there lies where no process has memory. */
static uint64_t draw_global(uint64_t address) {
  static const uint64_t kWild[] = {0,
                                   8,
                                   4095,
                                   0xdeadbeef00000000u,
                                   0xffffffffffffffffu,
                                   0x8000000000000000u,
                                   0x800000000000u,
                                   0xfffffffffffff000u};
  switch (below(4)) {
    case 0:
      return kWild[below(sizeof kWild / sizeof kWild[0])];
    case 1:
      return address + below(64);
    case 2:
      return address + kMemoryBytes - 16 * below(3);
    default:
      return address + 128 * below(8);
  }
}

static uint64_t draw_shared(void) {
  static const uint64_t kWild[] = {kSharedBytes, kSharedBytes - 8, 1,           0xffffffffu,
                                   0x80000000u,  0x1000000u,       0xfffffff0u, 0x40000u};
  return below(2) == 0 ? 16 * below(kSharedBytes / 16) : kWild[below(8)];
}

static uint64_t draw_number(void) {
  static const uint64_t kEdges[] = {0,        1,           15,          16,
                                    17,       0x7fffffffu, 0x80000000u, 0xffffffffu,
                                    0xfffffu, 0x100000u,   0xfffffff0u, 4096};
  return below(2) == 0 ? below(64) : kEdges[below(12)];
}

static void draw_words(uint64_t* words, uint64_t address) {
  for (int i = 0; i < kWords; ++i) words[i] = draw_number();
  for (int i = 0; i < 3; ++i) words[i] = draw_global(address);
  words[3] = below(2) == 0 ? next_random() : below(1024);
  words[4] = below(2) == 0 ? next_random() : below(1024);
  words[5] = draw_shared();
  words[6] = draw_shared();
  words[7] = below(2) == 0 ? kSharedBytes - 8 : draw_shared();
}

/* A tensor map of random bits, with an address that is in reach now and then. */
static void write_maps(km_slice slice, uint64_t address) {
  uint64_t maps[64];
  for (int i = 0; i < 64; ++i) {
    const uint64_t kinds[] = {0, below(16), next_random(), draw_global(address)};
    maps[i] = kinds[below(4)];
  }
  OK(km_slice_upload(h.stream, slice, 0, maps, sizeof maps));
}

static void run_draws(const char* text, uint32_t blocks) {
  km_module module = NULL;
  km_function function = NULL;
  km_slice slice = NULL;
  uint64_t address = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    if (module == NULL) {
      OK(km_module_load_ptx(h.context, text, strlen(text), "hostile.ptx", &module));
      OK(km_module_function(module, "hostile", &function));
      address = memory_of_device(&slice);
    }
    uint64_t words[kWords];
    write_maps(slice, address);
    draw_words(words, address);
    const km_launch_config config = {{blocks, 1, 1}, {128, 1, 1}, 0};
    OK(km_launch_kernel(h.stream, function, &config, words, sizeof words, NULL, 0));
    ++launches;
    if (km_stream_synchronize(h.stream) == KM_SUCCESS) continue;
    ++faults;
    OK(km_context_reset(h.context));
    host_load(&h);
    module = NULL;
  }
  if (module == NULL) return;
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

static void run_statement(const char* statement, const char* guard) {
  char text[8192];
  snprintf(text, sizeof text, kText, "", guard, statement);
  run_draws(text, 1);
  snprintf(text, sizeof text, kText, "\n.reqnctapercluster 2", guard, statement);
  run_draws(text, 4);
}

/* Runs all statements on a device that is open. */
static void run_all(host* opened) {
  h = *opened;
  for (size_t i = 0; i < sizeof kStatements / sizeof kStatements[0]; ++i) {
    if (getenv("KM_TEST_VERBOSE") != NULL) fprintf(stderr, "%s\n", kStatements[i]);
    run_statement(kStatements[i], "@!%q bra done;\n  ");
  }
  for (size_t i = 0; i < sizeof kConvergedStatements / sizeof kConvergedStatements[0]; ++i) {
    if (getenv("KM_TEST_VERBOSE") != NULL) fprintf(stderr, "%s\n", kConvergedStatements[i]);
    run_statement(kConvergedStatements[i], "");
  }
  check_works(&h);
  *opened = h;
  printf("%" PRIu64 " launches, %" PRIu64 " faults\n", launches, faults);
  /* Both happen, or the values are not what they should be. */
  CHECK(faults > launches / 20 && faults < launches - launches / 20);
}

int main(void) {
  if (getenv("KM_TEST_SEED") != NULL) state ^= strtoull(getenv("KM_TEST_SEED"), NULL, 0) << 20;
  setenv("KM_KERNEL_TIMEOUT_MS", "5000", 1);
  setenv("KM_CPU_MEMORY", "plain", 1); /* a process has one kind of memory */
  CHECK(status_of_child(run_all) == 0);
  setenv("KM_CPU_MEMORY", "checked", 1);
  CHECK(status_of_child(run_all) == 0);
  return 0;
}
