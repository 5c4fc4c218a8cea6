/* Occupancy, block sizes that follow from it, attributes of kernels and limits of contexts. */
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static const char kernels_ptx[] =
    ".version 7.8\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".extern .func (.param .b64 result) malloc (.param .b64 size);\n"
    ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};\n"
    ".visible .entry plain() { ret; }\n"
    ".visible .entry bounded() .maxntid 128, 1, 1 { ret; }\n"
    ".visible .entry shares()\n"
    "{\n"
    "  .shared .align 4 .b8 tile[40960];\n"
    "  .reg .b32 %r<2>;\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  st.shared.u32 [tile], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry takes(.param .u64 out, .param .u64 size)\n"
    "{\n"
    "  .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [out];\n"
    "  ld.param.u64 %rd2, [size];\n"
    "  {\n"
    "    .param .b64 size0;\n"
    "    .param .b64 result0;\n"
    "    st.param.b64 [size0], %rd2;\n"
    "    call.uni (result0), malloc, (size0);\n"
    "    ld.param.b64 %rd3, [result0];\n"
    "  }\n"
    "  cvta.to.global.u64 %rd4, %rd1;\n"
    "  st.global.u64 [%rd4], %rd3;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry says()\n"
    "{\n"
    "  .reg .b64 %rd<4>;\n"
    "  .reg .b32 %r<2>;\n"
    "  mov.u64 %rd1, text;\n"
    "  cvta.global.u64 %rd2, %rd1;\n"
    "  mov.u64 %rd3, 0;\n"
    "  {\n"
    "    .param .b64 format0;\n"
    "    .param .b64 arguments0;\n"
    "    .param .b32 result0;\n"
    "    st.param.b64 [format0], %rd2;\n"
    "    st.param.b64 [arguments0], %rd3;\n"
    "    call.uni (result0), vprintf, (format0, arguments0);\n"
    "    ld.param.b32 %r1, [result0];\n"
    "  }\n"
    "  ret;\n"
    "}\n";

static km_function kernel(const fixture* f, const char* name) {
  km_module module;
  km_function function;
  if (is_fake(f)) skip();
  OK(km_module_load_ptx(f->context, kernels_ptx, sizeof kernels_ptx - 1, "occupancy.ptx", &module));
  OK(km_module_function(module, name, &function));
  OK(km_module_destroy(module));
  return function;
}

static km_occupancy occupancy(km_function function, uint32_t threads, uint64_t shared_bytes) {
  km_occupancy found;
  memset(&found, 0, sizeof found);
  found.struct_size = sizeof found;
  OK(km_function_occupancy(function, threads, shared_bytes, &found));
  return found;
}

static int64_t cuda_attribute(const fixture* f, int32_t number) {
  int64_t value = 0;
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_CUDA + number, &value));
  return value;
}

static void occupancy_names_what_limits_it(void** state) {
  fixture* f = *state;
  km_function plain = kernel(f, "plain"), shares = kernel(f, "shares");
  const uint32_t max_warps = (uint32_t)(cuda_attribute(f, 39) / cuda_attribute(f, 10));
  const uint32_t max_blocks = (uint32_t)cuda_attribute(f, 106);
  km_occupancy found = occupancy(plain, 256, 0);
  assert_int_equal(found.limit, KM_OCCUPANCY_LIMIT_WARPS);
  assert_int_equal(found.max_warps, max_warps);
  assert_int_equal(found.active_blocks, max_warps / 8);
  assert_int_equal(found.active_warps, max_warps);
  assert_int_equal(found.percent, 100);
  found = occupancy(plain, 32, 0);
  assert_int_equal(found.limit, KM_OCCUPANCY_LIMIT_BLOCKS);
  assert_int_equal(found.active_blocks, max_blocks);
  assert_int_equal(found.percent, 100 * max_blocks / max_warps);
  const int64_t taken = (40 << 10) + cuda_attribute(f, 111); /* what each block reserves */
  found = occupancy(plain, 256, 40 << 10);
  assert_int_equal(found.limit, KM_OCCUPANCY_LIMIT_SHARED_MEMORY);
  assert_int_equal(found.active_blocks, cuda_attribute(f, 81) / taken);
  assert_int_equal(found.shared_bytes_per_block, taken);
  found = occupancy(shares, 32, 0);
  assert_int_equal(found.limit, KM_OCCUPANCY_LIMIT_SHARED_MEMORY);
  assert_int_equal(found.active_blocks, cuda_attribute(f, 81) / taken);
  assert_int_equal(found.blocks_by_blocks, max_blocks);
  OK(km_function_destroy(plain));
  OK(km_function_destroy(shares));
}

static void blocks_that_do_not_fit_are_none(void** state) {
  fixture* f = *state;
  km_function plain = kernel(f, "plain"), bounded = kernel(f, "bounded");
  km_occupancy found = occupancy(plain, 2048, 0);
  assert_int_equal(found.active_blocks, 0);
  assert_int_equal(found.percent, 0);
  assert_int_equal(occupancy(plain, 32, 1 << 20).active_blocks, 0);
  assert_int_equal(occupancy(plain, UINT32_MAX, UINT64_MAX).active_blocks, 0);
  assert_true(occupancy(bounded, 128, 0).active_blocks > 0);
  assert_int_equal(occupancy(bounded, 129, 0).active_blocks, 0);
  memset(&found, 0x5A, sizeof found);
  found.struct_size = sizeof found;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_occupancy(plain, 0, 0, &found));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_occupancy(plain, 32, 0, NULL));
  assert_int_equal(found.active_blocks, 0x5A5A5A5A);
  found.struct_size = 3;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_occupancy(plain, 32, 0, &found));
  OK(km_function_destroy(plain));
  OK(km_function_destroy(bounded));
}

static void set_max_dynamic(km_function function, uint64_t shared_bytes) {
  OK(km_function_attribute_set(function, KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES,
                               (int64_t)shared_bytes));
}

/* A launch and the occupancy of its blocks have one answer: with opting in, without, and beyond. */
static void occupancy_counts_what_launches_take(void** state) {
  fixture* f = *state;
  km_function plain = kernel(f, "plain"), shares = kernel(f, "shares");
  const uint64_t most = f->info.shared_bytes_per_block_max, usual = f->info.shared_bytes_per_block;
  const uint64_t sizes[] = {0,     usual - 40960, usual - 40959, usual, usual + 1,
                            60000, most - 40960,  most - 40959,  most,  most + 1};
  const uint64_t limits[] = {usual - 40960, 60000 - 40960, most - 40960};
  for (size_t k = 0; k < sizeof limits / sizeof limits[0]; ++k) {
    set_max_dynamic(shares, limits[k]);
    set_max_dynamic(plain, limits[k] + 40960);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
      const km_function both[] = {plain, shares};
      for (int which = 0; which < 2; ++which) {
        uint32_t threads = 0, blocks = 0;
        const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, sizes[i]};
        const int launches =
            km_launch_kernel(f->stream, both[which], &config, NULL, 0, NULL, 0) == KM_SUCCESS;
        assert_int_equal(launches, occupancy(both[which], 32, sizes[i]).active_blocks != 0);
        assert_int_equal(launches, km_function_best_block(both[which], sizes[i], NULL, NULL, 32,
                                                          &threads, &blocks) == KM_SUCCESS);
      }
    }
  }
  OK(km_stream_synchronize(f->stream));
  OK(km_function_destroy(plain));
  OK(km_function_destroy(shares));
}

/* By the table of the programming guide, for what KM_CPU_CC says here. */
static void limits_are_those_of_the_capability(void** state) {
  static const struct {
    uint32_t capability;
    int32_t blocks, threads, shared_kib, block_shared_kib, reserved_bytes;
  } table[] = {{75, 16, 1024, 64, 64, 0},      {80, 32, 2048, 164, 163, 1024},
               {86, 16, 1536, 100, 99, 1024},  {89, 24, 1536, 100, 99, 1024},
               {90, 32, 2048, 228, 227, 1024}, {100, 32, 2048, 228, 227, 1024},
               {120, 24, 1536, 100, 99, 1024}};
  fixture* f = *state;
  if (is_fake(f) || getenv("KM_CPU_SHARED_KIB") != NULL) skip();
  const uint32_t capability =
      f->info.compute_capability_major * 10 + f->info.compute_capability_minor;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    if (table[i].capability != capability) continue;
    assert_int_equal(cuda_attribute(f, 106), table[i].blocks);
    assert_int_equal(cuda_attribute(f, 39), table[i].threads);
    assert_int_equal(cuda_attribute(f, 81), table[i].shared_kib << 10);
    assert_int_equal(cuda_attribute(f, 97), table[i].block_shared_kib << 10);
    assert_int_equal(cuda_attribute(f, 111), table[i].reserved_bytes);
    assert_int_equal(cuda_attribute(f, 12), 65536);
    assert_int_equal(cuda_attribute(f, 82), 65536);
    assert_int_equal(f->info.shared_bytes_per_block, 48 << 10);
    assert_int_equal(f->info.shared_bytes_per_block_max, table[i].block_shared_kib << 10);
  }
}

/* A block that may be launched always fits, so that grids sized by occupancy are never empty. */
static void every_legal_block_fits(void** state) {
  fixture* f = *state;
  const char* names[] = {"plain", "bounded", "shares", "takes"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    km_function function = kernel(f, names[i]);
    int64_t most = 0;
    OK(km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most));
    for (uint32_t threads = 1; threads <= (uint32_t)most; threads += 31) {
      assert_true(occupancy(function, threads, 0).active_blocks >= 1);
    }
    OK(km_function_destroy(function));
  }
}

static uint64_t much_for_each(void* user_data, uint32_t threads) {
  ++*(int*)user_data;
  return threads * (uint64_t)100;
}

/* The best by asking for every size. */
static uint32_t best_threads(km_function function, uint32_t most, uint64_t bytes_per_thread) {
  uint32_t best = 0;
  for (uint32_t threads = 32; threads <= most; threads += 32) {
    const uint32_t busy =
        occupancy(function, threads, threads * bytes_per_thread).active_blocks * threads;
    if (busy > best) best = busy;
  }
  return best;
}

static void best_block_keeps_the_most_threads_busy(void** state) {
  fixture* f = *state;
  km_function plain = kernel(f, "plain"), bounded = kernel(f, "bounded");
  uint32_t threads = 0, grid = 0;
  int calls = 0;
  OK(km_function_best_block(plain, 0, NULL, NULL, 0, &threads, &grid));
  assert_int_equal(occupancy(plain, threads, 0).active_blocks * threads, cuda_attribute(f, 39));
  assert_int_equal(grid, occupancy(plain, threads, 0).active_blocks * f->info.multiprocessor_count);
  OK(km_function_best_block(plain, 0, much_for_each, &calls, 0, &threads, &grid));
  assert_true(calls > 1);
  assert_int_equal(occupancy(plain, threads, threads * 100).active_blocks * threads,
                   best_threads(plain, 1024, 100));
  OK(km_function_best_block(plain, 0, NULL, NULL, 100, &threads, &grid));
  assert_true(threads <= 100 && threads > 0);
  OK(km_function_best_block(bounded, 0, NULL, NULL, 0, &threads, &grid));
  assert_true(threads <= 128 && threads > 0);
  threads = grid = 77;
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_function_best_block(plain, 1 << 20, NULL, NULL, 0, &threads, &grid));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_best_block(plain, 0, NULL, NULL, 0, NULL, &grid));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_best_block(plain, 0, NULL, NULL, 0, &threads, NULL));
  assert_true(threads == 77 && grid == 77);
  OK(km_function_destroy(plain));
  OK(km_function_destroy(bounded));
}

static void shared_memory_that_is_left(void** state) {
  fixture* f = *state;
  km_function plain = kernel(f, "plain"), shares = kernel(f, "shares");
  uint64_t bytes = 77;
  const uint32_t most = (uint32_t)cuda_attribute(f, 39) / 256;
  OK(km_function_available_shared_bytes(shares, 1, 32, &bytes)); /* what launches take, no more */
  assert_int_equal(bytes, f->info.shared_bytes_per_block - 40960);
  set_max_dynamic(plain, f->info.shared_bytes_per_block_max);
  set_max_dynamic(shares, f->info.shared_bytes_per_block_max - 40960);
  for (uint32_t blocks = 1; blocks <= most; ++blocks) {
    OK(km_function_available_shared_bytes(plain, blocks, 256, &bytes));
    assert_true(occupancy(plain, 256, bytes).active_blocks >= blocks);
    assert_true(occupancy(plain, 256, bytes + 128).active_blocks < blocks);
  }
  OK(km_function_available_shared_bytes(shares, 1, 32, &bytes));
  assert_int_equal(bytes, f->info.shared_bytes_per_block_max - 40960);
  bytes = 77;
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_function_available_shared_bytes(plain, most + 1, 256, &bytes));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_function_available_shared_bytes(plain, 1, 4096, &bytes));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_available_shared_bytes(plain, 0, 256, &bytes));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_available_shared_bytes(plain, 1, 0, &bytes));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_available_shared_bytes(plain, 1, 256, NULL));
  assert_int_equal(bytes, 77);
  OK(km_function_destroy(plain));
  OK(km_function_destroy(shares));
}

static void active_clusters(void** state) {
  fixture* f = *state;
  km_function plain = kernel(f, "plain");
  uint32_t clusters = 77;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_max_active_clusters(plain, 256, 0, 0, &clusters));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_max_active_clusters(plain, 0, 0, 1, &clusters));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_max_active_clusters(plain, 256, 0, 1, NULL));
  if (cuda_attribute(f, 120) == 0) {
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_function_max_active_clusters(plain, 256, 0, 2, &clusters));
  } else {
    EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_max_active_clusters(plain, 256, 0, 9, &clusters));
  }
  assert_int_equal(clusters, 77);
  OK(km_function_max_active_clusters(plain, 256, 0, 1, &clusters));
  assert_int_equal(clusters, occupancy(plain, 256, 0).active_blocks * f->info.multiprocessor_count);
  OK(km_function_destroy(plain));
}

static int64_t attribute_of(km_function function, km_function_attribute attribute) {
  int64_t value = 0;
  OK(km_function_attribute_get(function, attribute, &value));
  return value;
}

static void kernels_have_all_attributes(void** state) {
  fixture* f = *state;
  km_function bounded = kernel(f, "bounded"), shares = kernel(f, "shares");
  int64_t value = 77;
  for (km_function_attribute a = 1; a <= KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY; ++a) {
    assert_true(attribute_of(bounded, a) >= -1);
  }
  assert_int_equal(attribute_of(bounded, KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
  assert_int_equal(attribute_of(shares, KM_FUNCTION_ATTRIBUTE_SHARED_BYTES), 40960);
  assert_int_equal(attribute_of(shares, KM_FUNCTION_ATTRIBUTE_BINARY_VERSION),
                   f->info.compute_capability_major * 10 + f->info.compute_capability_minor);
  assert_int_equal(attribute_of(shares, KM_FUNCTION_ATTRIBUTE_CLUSTER_X), 0);
  assert_int_equal(attribute_of(shares, KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT), -1);
  OK(km_function_attribute_set(shares, KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT, 50));
  assert_int_equal(attribute_of(shares, KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT), 50);
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_attribute_set(shares, KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT, 101));
  OK(km_function_attribute_set(shares, KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_attribute_set(shares, KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY, 3));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_attribute_set(shares, KM_FUNCTION_ATTRIBUTE_REGISTERS, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_attribute_get(shares, KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY + 1, &value));
  assert_int_equal(value, 77);
  OK(km_function_destroy(bounded));
  OK(km_function_destroy(shares));
}

static uint64_t limit_of(const fixture* f, km_context_limit limit) {
  uint64_t value = 0;
  OK(km_context_limit_get(f->context, limit, &value));
  return value;
}

static uint64_t taken_in_a_kernel(const fixture* f, km_function takes, uint64_t size_bytes) {
  struct {
    uint64_t out, size;
  } arguments = {0, size_bytes};
  uint64_t address = 0;
  km_slice out;
  OK(km_slice_create(f->context, 1, 8, KM_SLICE_ZEROED, &out));
  OK(km_slice_address(out, &arguments.out));
  OK(launch(f, takes, 1, 1, &arguments, sizeof arguments));
  OK(km_slice_download(f->stream, out, 0, &address, 8));
  OK(km_slice_destroy(out));
  return address;
}

static void the_heap_of_kernels_is_limited(void** state) {
  fixture* f = *state;
  km_function takes = kernel(f, "takes");
  const uint64_t before = limit_of(f, KM_CONTEXT_LIMIT_HEAP_BYTES);
  assert_true(before >= 1 << 20);
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_HEAP_BYTES, 4096));
  assert_int_equal(limit_of(f, KM_CONTEXT_LIMIT_HEAP_BYTES), 4096);
  assert_int_equal(taken_in_a_kernel(f, takes, 8192), 0);
  assert_true(taken_in_a_kernel(f, takes, 2048) != 0);
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_HEAP_BYTES, 2 * before));
  OK(km_context_reset(f->context)); /* the limit stays, the rest is made anew */
  assert_int_equal(limit_of(f, KM_CONTEXT_LIMIT_HEAP_BYTES), 2 * before);
  OK(km_function_destroy(takes));
  OK(km_stream_destroy(f->stream));
  OK(km_stream_create(f->context, 0, 0, &f->stream));
  takes = kernel(f, "takes");
  assert_true(taken_in_a_kernel(f, takes, before + 4096) != 0);
  OK(km_function_destroy(takes));
}

static void keep_text(void* user_data, const char* text, uint64_t size_bytes) {
  char* kept = user_data;
  strncat(kept, text, size_bytes < 400 ? size_bytes : 400);
}

static void what_kernels_print_is_limited(void** state) {
  fixture* f = *state;
  km_function says = kernel(f, "says");
  char text[1000] = "";
  assert_true(limit_of(f, KM_CONTEXT_LIMIT_PRINTF_BYTES) >= 1 << 20);
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_PRINTF_BYTES, 12));
  OK(km_context_set_output(f->context, keep_text, text));
  OK(launch(f, says, 1, 4, NULL, 0));
  OK(km_stream_synchronize(f->stream));
  assert_string_equal(text, "hellohello[10 bytes of device printf dropped]\n");
  OK(km_context_set_output(f->context, NULL, NULL));
  OK(km_function_destroy(says));
}

static void other_limits_have_a_clear_status(void** state) {
  fixture* f = *state;
  uint64_t value = 77;
  int64_t code = 0;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_limit_get(f->context, 0, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_limit_get(f->context, 8, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_limit_set(f->context, 8, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_context_limit_get(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, NULL));
  assert_int_equal(value, 77);
  if (is_fake(f) && !is_cuda(f)) {
    EXPECT(KM_ERROR_NOT_SUPPORTED,
           km_context_limit_get(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, &value));
    EXPECT(KM_ERROR_NOT_SUPPORTED,
           km_context_limit_set(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, 1));
    return;
  }
  assert_true(limit_of(f, KM_CONTEXT_LIMIT_STACK_BYTES) >= 1024);
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, 1024));
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, 100 << 10));
  assert_int_equal(limit_of(f, KM_CONTEXT_LIMIT_STACK_BYTES), 100 << 10);
  if (strncmp(f->uri, "cpu", 3) != 0) return;
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, 0));
  assert_int_equal(limit_of(f, KM_CONTEXT_LIMIT_STACK_BYTES), 16 << 10);
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, 512 << 10));
  EXPECT(KM_ERROR_NOT_SUPPORTED,
         km_context_limit_set(f->context, KM_CONTEXT_LIMIT_STACK_BYTES, (512 << 10) + 1));
  for (km_context_limit limit = KM_CONTEXT_LIMIT_SYNC_DEPTH;
       limit <= KM_CONTEXT_LIMIT_PERSISTING_L2_BYTES; ++limit) {
    if (limit == KM_CONTEXT_LIMIT_PENDING_LAUNCHES) continue;
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_context_limit_get(f->context, limit, &value));
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_context_limit_set(f->context, limit, 1));
    OK(km_last_error_native_code(&code));
    assert_int_equal(code, 215); /* CUDA_ERROR_UNSUPPORTED_LIMIT */
  }
  assert_int_equal(value, 77);
  assert_int_equal(limit_of(f, KM_CONTEXT_LIMIT_PENDING_LAUNCHES), 2048);
  OK(km_context_limit_set(f->context, KM_CONTEXT_LIMIT_PENDING_LAUNCHES, 4096));
  assert_int_equal(limit_of(f, KM_CONTEXT_LIMIT_PENDING_LAUNCHES), 4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(occupancy_names_what_limits_it),
      cmocka_unit_test(blocks_that_do_not_fit_are_none),
      cmocka_unit_test(occupancy_counts_what_launches_take),
      cmocka_unit_test(limits_are_those_of_the_capability),
      cmocka_unit_test(every_legal_block_fits),
      cmocka_unit_test(best_block_keeps_the_most_threads_busy),
      cmocka_unit_test(shared_memory_that_is_left),
      cmocka_unit_test(active_clusters),
      cmocka_unit_test(kernels_have_all_attributes),
      cmocka_unit_test(the_heap_of_kernels_is_limited),
      cmocka_unit_test(what_kernels_print_is_limited),
      cmocka_unit_test(other_limits_have_a_clear_status),
  };
  return RUN_ON_DEVICES("occupancy", tests);
}
