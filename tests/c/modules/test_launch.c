/* Launches: the one call and the builder, and every way to get one wrong. */
#include <stdio.h>
#include <string.h>

#include "support/testing.h"

enum { kCount = 1000 };

static km_slice new_slice(const fixture* f, uint64_t count) {
  km_slice slice;
  OK(km_slice_create(f->context, count, sizeof(uint32_t), KM_SLICE_ZEROED, &slice));
  return slice;
}

static uint64_t address_of(km_slice slice) {
  uint64_t address = 0;
  OK(km_slice_address(slice, &address));
  return address;
}

static void expect_indices(const fixture* f, km_slice slice, uint32_t first, uint32_t base,
                           uint32_t count) {
  static uint32_t values[kCount];
  OK(km_slice_download(f->stream, slice, first * sizeof(uint32_t), values,
                       count * sizeof(uint32_t)));
  OK(km_stream_synchronize(f->stream));
  for (uint32_t i = 0; i < count; ++i) assert_int_equal(values[i], base + i);
}

static void launch_kernel_with_raw_address(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice out = new_slice(f, kCount);
  const fill_index_arguments arguments = {address_of(out), 7, kCount};
  OK(launch(f, function, (kCount + 127) / 128, 128, &arguments, sizeof arguments));
  expect_indices(f, out, 0, 7, kCount);
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
}

static void launch_kernel_with_slices(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice out = new_slice(f, kCount);
  const fill_index_arguments arguments = {0, 100, kCount - 10};
  const km_launch_slice slices[] = {{0, 0, (uint64_t)out, 10 * sizeof(uint32_t)}};
  const km_launch_config config = {{8, 1, 1}, {128, 1, 1}, 0};
  OK(km_launch_kernel(f->stream, function, &config, &arguments, sizeof arguments, slices, 1));
  OK(km_slice_destroy(out)); /* the launch keeps the memory */
  OK(km_stream_synchronize(f->stream));
  out = new_slice(f, kCount);
  OK(km_launch_kernel(f->stream, function, &config, &arguments, sizeof arguments,
                      &(km_launch_slice){0, 0, (uint64_t)out, 40}, 1));
  expect_indices(f, out, 10, 100, kCount - 10);
  expect_indices(f, out, 0, 0, 0);
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
}

/* More block sizes than get code of their own. */
static void launch_in_many_block_sizes(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice out = new_slice(f, kCount);
  const uint32_t sizes[] = {1, 7, 32, 33, 64, 96, 100, 128, 200, 255, 256, 384, 512, 777, 1024};
  for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    const fill_index_arguments arguments = {address_of(out), 1000 * i, kCount};
    const uint32_t blocks = (kCount + sizes[i] - 1) / sizes[i];
    OK(launch(f, function, blocks, sizes[i], &arguments, sizeof arguments));
    expect_indices(f, out, 0, 1000 * i, kCount);
  }
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
}

static void launch_builder(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice out = new_slice(f, kCount);
  km_launch builder;
  const uint32_t base = 5, n = kCount;
  OK(km_launch_create(f->stream, function, &builder));
  OK(km_function_destroy(function)); /* the builder keeps it */
  OK(km_launch_set_grid(builder, 10, 1, 1));
  OK(km_launch_set_block(builder, 100, 1, 1));
  OK(km_launch_set_shared_bytes(builder, 0));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_submit(builder));
  expect_message("kernel 'fill_index' has 3 parameters; 0 arguments were given: parameter 0 ");
  if (!is_fake(f) && !is_cuda(f)) expect_message("is an address of 8 bytes; give a slice");
  OK(km_launch_arg_slice(builder, out, 0));
  OK(km_launch_arg_scalar(builder, &base, sizeof base));
  OK(km_launch_arg_scalar(builder, &n, sizeof n));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_scalar(builder, &n, sizeof n));
  expect_message("this would be argument 4");
  OK(km_launch_submit(builder));
  expect_indices(f, out, 0, 5, kCount);
  OK(km_slice_fill_u8(f->stream, out, 0, 0, kCount * sizeof(uint32_t)));
  OK(km_launch_submit(builder)); /* once more with the same arguments */
  expect_indices(f, out, 0, 5, kCount);
  OK(km_launch_arg_address(builder, address_of(out)));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_submit(builder));
  OK(km_launch_destroy(builder));
  OK(km_slice_destroy(out));
}

static void builder_checks_each_argument(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice out = new_slice(f, 4);
  km_launch builder;
  const uint64_t wide = 1;
  OK(km_launch_create(f->stream, function, &builder));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_scalar(builder, &wide, 4));
  expect_message("parameter 0 'out' of kernel 'fill_index' is ");
  if (!is_fake(f)) expect_message("; 4 bytes were given: give a slice");
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_launch_arg_slice(builder, out, 17));
  OK(km_launch_arg_slice(builder, out, 16)); /* the end of the slice is an address, too */
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_slice(builder, out, 0));
  expect_message("parameter 1 'base' of kernel 'fill_index' is ");
  expect_message("; a slice was given: give a");
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_address(builder, 0));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_scalar(builder, &wide, 8));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_launch_arg_scalar(builder, NULL, 4));
  OK(km_launch_destroy(builder));
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
}

static void argument_buffers_are_checked(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice out = new_slice(f, 4);
  const fill_index_arguments arguments = {address_of(out), 0, 4};
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  km_launch_slice slices[2] = {{0, 0, (uint64_t)out, 0}, {0, 0, (uint64_t)out, 0}};
  EXPECT(KM_ERROR_INVALID_LAUNCH, launch(f, function, 1, 32, &arguments, 12));
  expect_message(
      "arguments_size_bytes is 12; kernel 'fill_index' takes 16 bytes for 3 parameters: "
      "parameter 0 'out' is ");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, launch(f, function, 1, 32, NULL, 16));
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, slices, 2));
  expect_message("two slices are given for parameter 0");
  slices[0].parameter = 3;
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, slices, 1));
  slices[0].parameter = 1;
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, slices, 1));
  slices[0].parameter = 0;
  slices[0].reserved = 1;
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, slices, 1));
  slices[0].reserved = 0;
  slices[0].slice = 0;
  EXPECT(KM_ERROR_INVALID_HANDLE,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, slices, 1));
  expect_message("(entry 0)");
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, NULL, 1));
  EXPECT(KM_ERROR_INVALID_LAUNCH,
         km_launch_kernel(f->stream, function, &config, &arguments, 16, slices, UINT64_MAX));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_launch_kernel(f->stream, function, NULL, &arguments, 16, NULL, 0));
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
}

static void bad_dimensions_are_errors_before_anything_runs(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "noop");
  const km_launch_config bad[] = {
      {{0, 1, 1}, {1, 1, 1}, 0},          {{1, 0, 1}, {1, 1, 1}, 0},
      {{1, 1, 0}, {1, 1, 1}, 0},          {{1, 1, 1}, {0, 1, 1}, 0},
      {{1, 1, 1}, {1, 0, 1}, 0},          {{1, 1, 1}, {1, 1, 0}, 0},
      {{1, 1, 1}, {1025, 1, 1}, 0},       {{1, 1, 1}, {1024, 2, 1}, 0},
      {{1, 1, 1}, {1, 1, 65}, 0},         {{UINT32_MAX, 1, 1}, {1, 1, 1}, 0},
      {{1, 65536, 1}, {1, 1, 1}, 0},      {{1, 1, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, 0},
      {{1, 1, 1}, {1, 1, 1}, UINT64_MAX}, {{1, 1, 1}, {1, 1, 1}, 1 << 20},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    EXPECT(KM_ERROR_INVALID_LAUNCH,
           km_launch_kernel(f->stream, function, &bad[i], NULL, 0, NULL, 0));
  }
  OK(launch(f, function, 1, 1024, NULL, 0));
  OK(km_stream_synchronize(f->stream));
  OK(km_function_destroy(function));
}

static void objects_of_other_contexts_are_refused(void** state) {
  fixture* f = *state;
  km_context other;
  km_slice foreign;
  km_function function = load_kernel(f, "fill_index");
  km_stream other_stream;
  km_launch builder;
  const fill_index_arguments arguments = {0, 0, 0};
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  OK(km_context_create(f->device, &other));
  OK(km_slice_create(other, 4, 4, 0, &foreign));
  OK(km_stream_create(other, 0, 0, &other_stream));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH,
         km_launch_kernel(f->stream, function, &config, &arguments, 16,
                          &(km_launch_slice){0, 0, (uint64_t)foreign, 0}, 1));
  expect_message("parameter 0 of kernel 'fill_index' belongs to another context");
  EXPECT(KM_ERROR_CONTEXT_MISMATCH,
         km_launch_kernel(other_stream, function, &config, &arguments, 16, NULL, 0));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_launch_create(other_stream, function, &builder));
  OK(km_stream_destroy(other_stream));
  OK(km_slice_destroy(foreign));
  OK(km_context_destroy(other));
  OK(km_function_destroy(function));
}

static void code_is_made_beforehand(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  OK(km_function_prepare(function, 64, 2, 1));
  OK(km_function_prepare(function, 64, 2, 1));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_function_prepare(function, 0, 1, 1));
  expect_message("block.x is 0");
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_function_prepare(function, 64, 64, 1));
  expect_message("is 4096 threads");
  OK(km_function_destroy(function));
}

static void clusters_and_cooperation_are_checked(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "fill_index");
  km_slice slice;
  km_launch builder;
  const uint32_t first = 7, count = 256;
  OK(km_slice_create(f->context, count, 4, 0, &slice));
  OK(km_launch_create(f->stream, function, &builder));
  OK(km_launch_set_grid(builder, 4, 1, 1));
  OK(km_launch_set_block(builder, 64, 1, 1));
  OK(km_launch_arg_slice(builder, slice, 0));
  OK(km_launch_arg_scalar(builder, &first, 4));
  OK(km_launch_arg_scalar(builder, &count, 4));
  OK(km_launch_set_cluster(builder, 2, 1, 1));
  OK(km_launch_set_cooperative(builder, is_fake(f) ? 0 : 1)); /* that one has no limits */
  OK(km_launch_submit(builder));
  expect_indices(f, slice, 0, first, count);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_launch_set_cooperative(builder, 2));
  OK(km_launch_set_cluster(builder, 0, 0, 0));
  OK(km_launch_set_grid(builder, 1 << 30, 1, 1));
  if (!is_fake(f)) {
    EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_submit(builder));
    expect_message("cooperative launch of 1073741824 blocks");
  }
  OK(km_launch_set_cooperative(builder, 0));
  OK(km_launch_set_grid(builder, 9, 1, 1));
  OK(km_launch_set_cluster(builder, 9, 1, 1));
  if (!is_fake(f)) EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_submit(builder));
  OK(km_launch_destroy(builder));
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(function));
}

/* Either the module is refused or its launch is: nothing runs beyond what the device reports. */
static void static_shared_memory_has_the_devices_limit(void** state) {
  static const char form[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.shared .align 8 .b8 all[%llu];\n"
      ".visible .entry touch() { .reg .b32 %%r; mov.u32 %%r, all; st.shared.u32 [%%r], 1; ret; }\n";
  fixture* f = *state;
  if (is_cuda(f) || is_fake(f)) skip();
  const unsigned long long most = f->info.shared_bytes_per_block_max;
  const unsigned long long sizes[] = {most + 1, 1 << 24, 2147483648};
  char limit[100];
  snprintf(limit, sizeof limit, "bytes of static shared memory; a block has at most %llu", most);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    char text[512];
    const int length = snprintf(text, sizeof text, form, sizes[i]);
    km_module module;
    km_function function;
    const km_status loaded =
        km_module_load_ptx(f->context, text, (uint64_t)length, "shared.ptx", &module);
    if (loaded != KM_SUCCESS) {
      assert_int_equal(loaded, KM_ERROR_INVALID_PTX);
      continue;
    }
    OK(km_module_function(module, "touch", &function));
    EXPECT(KM_ERROR_INVALID_LAUNCH, launch(f, function, 1, 1, NULL, 0));
    expect_message(limit);
    OK(km_function_destroy(function));
    OK(km_module_destroy(module));
  }
  OK(km_stream_synchronize(f->stream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launch_kernel_with_raw_address),
      cmocka_unit_test(launch_kernel_with_slices),
      cmocka_unit_test(launch_in_many_block_sizes),
      cmocka_unit_test(launch_builder),
      cmocka_unit_test(builder_checks_each_argument),
      cmocka_unit_test(argument_buffers_are_checked),
      cmocka_unit_test(bad_dimensions_are_errors_before_anything_runs),
      cmocka_unit_test(objects_of_other_contexts_are_refused),
      cmocka_unit_test(code_is_made_beforehand),
      cmocka_unit_test(clusters_and_cooperation_are_checked),
      cmocka_unit_test(static_shared_memory_has_the_devices_limit),
  };
  return RUN_ON_DEVICES("launch", tests);
}
