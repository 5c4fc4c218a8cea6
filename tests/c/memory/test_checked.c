/* Contexts whose kernels have their accesses tested. This file is a debug build, as programs that
 * are compiled without NDEBUG are. */
#undef NDEBUG
#include "support/testing.h"

enum { COUNT = 1024, EXTRA = 10 };

static km_context_flags flags_of(km_context context) {
  km_context_flags flags = 99;
  OK(km_context_flags_get(context, &flags));
  return flags;
}

/* Runs fill_index with a count that is too large for its slice, beside which others lie. */
static km_status overrun(km_context context) {
  km_stream stream = NULL;
  km_module module = NULL;
  km_function function = NULL;
  km_slice slices[3];
  km_launch launch = NULL;
  const uint32_t base = 0, n = COUNT + EXTRA;
  km_status status;
  OK(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  OK(km_module_load_ptx(context, test_ptx, 0, "test.ptx", &module));
  OK(km_module_function(module, "fill_index", &function));
  for (int i = 0; i < 3; ++i) OK(km_slice_create(context, COUNT, 4, KM_SLICE_ZEROED, &slices[i]));
  OK(km_launch_create(stream, function, &launch));
  OK(km_launch_set_grid(launch, 5, 1, 1));
  OK(km_launch_set_block(launch, 256, 1, 1));
  OK(km_launch_arg_slice(launch, slices[1], 0));
  OK(km_launch_arg_scalar(launch, &base, sizeof base));
  OK(km_launch_arg_scalar(launch, &n, sizeof n));
  OK(km_launch_submit(launch));
  status = km_stream_synchronize(stream);
  OK(km_launch_destroy(launch));
  for (int i = 0; i < 3; ++i) OK(km_slice_destroy(slices[i]));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
  OK(km_stream_destroy(stream));
  return status;
}

static void debug_builds_check(void** state) {
  const fixture* f = *state;
  km_context context = NULL;
  OK(km_context_create(f->device, &context));
  assert_int_equal(flags_of(context), is_cuda(f) || is_fake(f) ? 0 : KM_CONTEXT_CHECKED);
  if (flags_of(context) != 0) {
    EXPECT(KM_ERROR_ILLEGAL_ADDRESS, overrun(context));
    expect_message("0 bytes past the end of the 4096-byte allocation");
    expect_message("(parameter 0 'out')");
    expect_message("block (4,0,0), thread (0,0,0)");
  }
  OK(km_context_destroy(context));
}

static void a_flag_decides_where_it_is_given(void** state) {
  const fixture* f = *state;
  km_context context = NULL;
  const km_context_flags possible = is_cuda(f) || is_fake(f) ? 0 : KM_CONTEXT_CHECKED;
  OK(km_context_create_with_flags(f->device, KM_CONTEXT_DEFAULT, &context));
  assert_int_equal(flags_of(context), KM_CONTEXT_DEFAULT);
  OK(km_context_destroy(context));
  OK(km_context_create_with_flags(f->device, KM_CONTEXT_ORDERED | KM_CONTEXT_BUILD, &context));
  assert_int_equal(flags_of(context), KM_CONTEXT_ORDERED | possible);
  OK(km_context_destroy(context));
  /* The function itself, which release builds call, has no flags. */
  OK((km_context_create)(f->device, &context));
  assert_int_equal(flags_of(context), KM_CONTEXT_DEFAULT);
  OK(km_context_destroy(context));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULTING_TEST(debug_builds_check),
      cmocka_unit_test(a_flag_decides_where_it_is_given),
  };
  return RUN_ON_DEVICES("checked", tests);
}
