/* Contexts: ownership, errors, reset, finding slices by address. */
#include <string.h>

#include "support/testing.h"

static void parents_are_given_as_handles_of_their_own(void** state) {
  fixture* f = *state;
  km_device device;
  km_context context;
  km_event event;
  km_device_info info;
  info.struct_size = sizeof info;
  OK(km_context_device(f->context, &device));
  assert_true(device != f->device);
  OK(km_device_info_get(device, &info));
  assert_string_equal(info.uri, f->uri);
  OK(km_device_destroy(device));
  OK(km_stream_context(f->stream, &context));
  OK(km_context_synchronize(context));
  OK(km_context_destroy(context));
  OK(km_event_create(f->context, 0, &event));
  OK(km_event_context(event, &context));
  OK(km_event_record(event, f->stream)); /* the same context */
  OK(km_context_destroy(context));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_event_context(event, NULL));
  OK(km_event_destroy(event));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_context(event, &context));
  OK(km_context_synchronize(f->context));
}

static void default_stream_works_like_any_other(void** state) {
  fixture* f = *state;
  km_stream stream;
  km_slice slice;
  uint32_t value = 0;
  OK(km_context_default_stream(f->context, &stream));
  OK(km_slice_create(f->context, 1, 4, 0, &slice));
  OK(km_slice_fill_u32(stream, slice, 0, 42, 1));
  OK(km_slice_download(stream, slice, 0, &value, 4));
  assert_int_equal(value, 42);
  OK(km_stream_synchronize(stream));
  OK(km_stream_destroy(stream));
  OK(km_slice_destroy(slice));
  OK(km_context_default_stream(f->context, &stream)); /* and is there again */
  OK(km_stream_destroy(stream));
}

static void memory_info_follows_allocations(void** state) {
  fixture* f = *state;
  uint64_t free_before = 0, total = 0, free_after = 0, again = 0;
  km_slice slice;
  const uint64_t size = (uint64_t)64 << 20;
  for (int rounds = 0; free_after + size / 2 >= free_before; ++rounds) {
    assert_true(rounds < 50); /* other programs take and free memory, too */
    OK(km_context_memory_info(f->context, &free_before, &total));
    assert_true(total > 0 && free_before <= total);
    OK(km_slice_create(f->context, size, 1, KM_SLICE_ZEROED, &slice));
    OK(km_context_memory_info(f->context, &free_after, &again));
    assert_int_equal(again, total);
    OK(km_slice_destroy(slice));
  }
}

static void calls_that_fail_are_remembered_until_taken(void** state) {
  fixture* f = *state;
  km_status status = 99;
  char message[256];
  km_slice slice;
  OK(km_context_error(f->context, &status));
  assert_int_equal(status, KM_SUCCESS);
  OK(km_context_error_message(f->context, message, sizeof message, NULL));
  assert_string_equal(message, "");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 0, 0, &slice));
  OK(km_context_error(f->context, &status));
  assert_int_equal(status, KM_ERROR_INVALID_ARGUMENT);
  OK(km_context_error_message(f->context, message, sizeof message, NULL));
  assert_non_null(strstr(message, "km_slice_create: element_size_bytes is 0"));
  status = 99;
  OK(km_context_take_error(f->context, &status));
  assert_int_equal(status, KM_ERROR_INVALID_ARGUMENT);
  OK(km_context_take_error(f->context, &status));
  assert_int_equal(status, KM_SUCCESS);
}

static void kernel_faults_stick_until_reset(void** state) {
  fixture* f = *state;
  km_function crash = load_kernel(f, "crash");
  km_slice slice;
  km_status status = 0;
  char message[4096];
  uint64_t free_bytes, total_bytes;
  assert_true(launch(f, crash, 1, 1, NULL, 0) == KM_SUCCESS ||
              is_trap(f, km_stream_synchronize(f->stream)));
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  EXPECT_TRAP(f, launch(f, crash, 1, 1, NULL, 0));
  EXPECT_TRAP(f, km_slice_create(f->context, 1, 1, 0, &slice));
  EXPECT_TRAP(f, km_context_synchronize(f->context));
  for (int i = 0; i < 2; ++i) {
    OK(km_context_take_error(f->context, &status));
    assert_true(is_trap(f, status));
  }
  OK(km_context_error_message(f->context, message, sizeof message, NULL));
  assert_non_null(strstr(message, is_cuda(f) ? "CUDA_ERROR_" : "crash"));
  OK(km_context_memory_info(f->context, &free_bytes, &total_bytes));
  if (!comes_back_after_fault(f)) return;
  OK(km_context_error(f->context, &status));
  assert_int_equal(status, KM_SUCCESS);
  OK(km_slice_create(f->context, 1, 1, 0, &slice));
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(crash));
}

static void other_contexts_go_on_after_a_fault(void** state) {
  fixture* f = *state;
  if (is_cuda(f)) skip(); /* those of one device fail together */
  fixture other = *f;
  km_function crash = load_kernel(f, "crash");
  km_function noop;
  OK(km_context_create(f->device, &other.context));
  OK(km_stream_create(other.context, 0, 0, &other.stream));
  noop = load_kernel(&other, "noop");
  OK(launch(f, crash, 1, 1, NULL, 0));
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  OK(launch(&other, noop, 4, 64, NULL, 0));
  OK(km_stream_synchronize(other.stream));
  OK(km_function_destroy(noop));
  OK(km_function_destroy(crash));
  OK(km_stream_destroy(other.stream));
  OK(km_context_destroy(other.context));
}

static void reset_loses_every_child(void** state) {
  fixture* f = *state;
  km_event event;
  km_slice slice, view;
  km_host_memory memory;
  km_module module = load_test_module(f);
  km_function function = load_kernel(f, "noop");
  km_launch builder;
  km_stream fresh;
  uint64_t number = 77;
  uint32_t count = 77;
  void* pointer = NULL;
  OK(km_event_create(f->context, 0, &event));
  OK(km_slice_create(f->context, 16, 1, KM_SLICE_ZEROED, &slice));
  OK(km_slice_view(slice, 0, 8, &view));
  OK(km_host_memory_create(f->context, 64, 0, &memory));
  OK(km_host_memory_pointer(memory, &pointer));
  OK(km_launch_create(f->stream, function, &builder));
  OK(km_context_reset(f->context));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_stream_synchronize(f->stream));
  expect_message("stream was lost when its context was reset");
  EXPECT(KM_ERROR_CONTEXT_LOST, km_event_query(event));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_slice_address(slice, &number));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_slice_address(view, &number));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_host_memory_size_bytes(memory, &number));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_module_function_count(module, &count));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_function_param_count(function, &count));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_launch_submit(builder));
  assert_int_equal(number, 77);
  assert_int_equal(count, 77);
  memset(pointer, 1, 64); /* still mapped */
  OK(km_stream_create(f->context, 0, 0, &fresh));
  OK(km_stream_synchronize(fresh));
  OK(km_stream_destroy(fresh));
  OK(km_launch_destroy(builder));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
  OK(km_host_memory_destroy(memory));
  OK(km_slice_destroy(view));
  OK(km_slice_destroy(slice));
  OK(km_event_destroy(event));
}

static void find_slice_resolves_interior_addresses(void** state) {
  fixture* f = *state;
  km_slice slice, found = NULL;
  uint64_t address = 0, offset = 77;
  km_slice_info info = {sizeof info, 0, 0, 0, 0, 0};
  OK(km_slice_create(f->context, 100, 8, 0, &slice));
  OK(km_slice_address(slice, &address));
  OK(km_context_find_slice(f->context, address + 799, &found, &offset));
  assert_int_equal(offset, 799);
  OK(km_slice_info_get(found, &info));
  assert_int_equal(info.address, address);
  assert_int_equal(info.size_bytes, 800);
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(found)); /* it kept the memory */
  found = NULL;
  offset = 77;
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, address, &found, &offset));
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, 8, &found, &offset));
  EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, UINT64_MAX, &found, &offset));
  assert_null(found);
  assert_int_equal(offset, 77);
}

static void ignore_output(void* user_data, const char* text, uint64_t size_bytes) {
  (void)user_data;
  (void)text;
  (void)size_bytes;
}

static void output_can_be_set_and_taken_back(void** state) {
  fixture* f = *state;
  if (is_cuda(f)) { /* the driver prints by itself */
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_context_set_output(f->context, ignore_output, f));
    OK(km_context_set_output(f->context, NULL, NULL));
    return;
  }
  OK(km_context_set_output(f->context, ignore_output, f));
  OK(km_context_synchronize(f->context));
  OK(km_context_set_output(f->context, NULL, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parents_are_given_as_handles_of_their_own),
      cmocka_unit_test(default_stream_works_like_any_other),
      cmocka_unit_test(memory_info_follows_allocations),
      cmocka_unit_test(calls_that_fail_are_remembered_until_taken),
      FAULTING_TEST(kernel_faults_stick_until_reset),
      FAULTING_TEST(other_contexts_go_on_after_a_fault),
      cmocka_unit_test(reset_loses_every_child),
      cmocka_unit_test(find_slice_resolves_interior_addresses),
      cmocka_unit_test(output_can_be_set_and_taken_back),
  };
  return RUN_ON_DEVICES("context", tests);
}
