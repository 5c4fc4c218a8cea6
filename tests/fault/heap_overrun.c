/* Kernels that write past the memory that they have allocated: far enough, they fault; and the
 * host's heap is as it was. */
#include <string.h>

#include "support/host.h"

enum { kBlocks = 2000, kBlockBytes = 1000 };

static const char kOverrun[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 result) malloc (.param .b64 size);\n"
    ".visible .entry overrun(.param .u64 size, .param .u64 bytes, .param .s64 step) {\n"
    "  .reg .b64 %a, %n, %s, %size;\n  .reg .pred %p;\n"
    "  ld.param.u64 %size, [size];\n  ld.param.u64 %n, [bytes];\n  ld.param.s64 %s, [step];\n"
    "  {\n    .param .b64 size0;\n    st.param.b64 [size0], %size;\n    .param .b64 result0;\n"
    "    call.uni (result0), malloc, (size0);\n    ld.param.b64 %a, [result0];\n  }\n"
    "again:\n  st.u64 [%a], 0xFFFFFFFFFFFFFFFF;\n  add.s64 %a, %a, %s;\n  sub.u64 %n, %n, 8;\n"
    "  setp.ne.u64 %p, %n, 0;\n  @%p bra again;\n  ret;\n}\n";

typedef struct overrun_arguments {
  uint64_t size_bytes, written_bytes;
  int64_t step_bytes;
} overrun_arguments;

/* Blocks of all sizes that a heap keeps lists of, with memory between them that is free. */
static unsigned char* blocks[kBlocks];

static size_t size_of_block(int i) { return 16 + (size_t)(i * 37 % kBlockBytes); }

static void fill_heap(void) {
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = malloc(size_of_block(i));
    CHECK(blocks[i] != NULL);
    memset(blocks[i], i & 0xFF, size_of_block(i));
  }
  for (int i = 0; i < kBlocks; i += 3) {
    free(blocks[i]);
    blocks[i] = NULL;
  }
}

static void check_heap(void) {
  for (int i = 0; i < kBlocks; ++i) {
    if (blocks[i] == NULL) {
      blocks[i] = malloc(size_of_block(i));
      CHECK(blocks[i] != NULL);
      memset(blocks[i], i & 0xFF, size_of_block(i));
    }
    for (size_t at = 0; at < size_of_block(i); ++at) CHECK(blocks[i][at] == (i & 0xFF));
  }
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
}

static void run(host* h, const overrun_arguments* arguments, km_status expected) {
  km_module module;
  km_function function;
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  OK(km_module_load_ptx(h->context, kOverrun, sizeof kOverrun - 1, "overrun.ptx", &module));
  OK(km_module_function(module, "overrun", &function));
  OK(km_launch_kernel(h->stream, function, &config, arguments, sizeof *arguments, NULL, 0));
  CHECK_STATUS(expected, km_stream_synchronize(h->stream));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
  if (expected == KM_SUCCESS) return;
  OK(km_context_reset(h->context));
  host_load(h);
}

int main(void) {
  const uint64_t far_bytes = 64 << 20;
  host h;
  host_open(&h);
  check_works(&h);
  fill_heap();
  for (uint64_t size_bytes = 16; size_bytes <= 1 << 20; size_bytes *= 4) {
    const overrun_arguments within = {size_bytes, size_bytes, 8};
    const overrun_arguments up = {size_bytes, far_bytes, 8}, down = {size_bytes, far_bytes, -8};
    run(&h, &within, KM_SUCCESS);
    run(&h, &up, KM_ERROR_ILLEGAL_ADDRESS);
    run(&h, &down, KM_ERROR_ILLEGAL_ADDRESS);
  }
  check_heap();
  check_works(&h);
  host_close(&h);
  return 0;
}
