/* The texts of faults say what to look for: a null pointer and the parameter that is one, a trap,
 * a barrier at which a block waits for ever. */
#include "support/host.h"

static const char kKernels[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry add(.param .u64 in, .param .u64 out, .param .u32 n)\n"
    "{\n"
    "  .reg .b64 %rd<3>;\n"
    "  .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [in];\n"
    "  ld.param.u64 %rd2, [out];\n"
    "  ld.global.u32 %r1, [%rd1];\n"
    "  st.global.u32 [%rd2+8], %r1;\n"
    "  ret;\n"
    "}\n"
    /* Each warp waits at a barrier of its own. */
    ".visible .entry apart()\n"
    "{\n"
    "  .reg .b32 %r<3>;\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  shr.u32 %r2, %r1, 5;\n"
    "  bar.sync %r2, 64;\n"
    "  ret;\n"
    "}\n"
    /* The first warp leaves, and the second waits for more threads than there are. */
    ".visible .entry left()\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .b32 %r<2>;\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  setp.lt.u32 %p1, %r1, 32;\n"
    "  @%p1 bra done;\n"
    "  bar.sync 1, 96;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

static host h;

static km_function load(const char* kernel) {
  km_module module = NULL;
  km_function function = NULL;
  OK(km_module_load_ptx(h.context, kKernels, 0, "messages.ptx", &module));
  OK(km_module_function(module, kernel, &function));
  OK(km_module_destroy(module));
  return function;
}

static void reset(void) {
  OK(km_context_reset(h.context));
  host_load(&h);
}

static void null_pointers_are_named(void) {
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  const struct {
    uint64_t in, out;
    uint32_t n;
  } arguments = {0, 0, 1};
  km_function add = load("add");
  OK(km_launch_kernel(h.stream, add, &config, &arguments, 20, NULL, 0));
  OK(km_function_destroy(add));
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
  check_message(&h,
                "near the null address: the kernel dereferences a null pointer (parameter 0 "
                "'in' and parameter 1 'out' are null)");
  check_message(&h, "at messages.ptx:10");
  reset();
  launch_store(&h, 0, 1);
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
  check_message(&h, "a null pointer (parameter 0 'address' is null)");
  reset();
}

static void traps_are_explained(void) {
  launch_plain(&h, "trap", 1, 1);
  CHECK_STATUS(KM_ERROR_TRAP, km_stream_synchronize(h.stream));
  check_message(&h, "certainly dereferences a null pointer there");
  reset();
}

static void deadlocks_have_a_line(const char* kernel, const char* place) {
  const km_launch_config config = {{3, 1, 1}, {64, 1, 1}, 0};
  km_function function = load(kernel);
  OK(km_launch_kernel(h.stream, function, &config, NULL, 0, NULL, 0));
  OK(km_function_destroy(function));
  CHECK_STATUS(KM_ERROR_LAUNCH_FAILED, km_stream_synchronize(h.stream));
  check_message(&h, "deadlock: ");
  check_message(&h, "so that all its threads come to it");
  check_message(&h, place);
  reset();
}

int main(int argc, char** argv) {
  if (argc > 1) setenv("KM_CPU_MODE", argv[1], 1);
  host_open(&h);
  null_pointers_are_named();
  traps_are_explained();
  deadlocks_have_a_line("apart", "at messages.ptx:19");
  deadlocks_have_a_line("left", "among threads (32,0,0) to (63,0,0), at messages.ptx:29");
  check_works(&h);
  host_close(&h);
  return 0;
}
