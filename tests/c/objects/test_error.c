/* Versions, status texts and the last error of a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static void version_matches_the_header(void** state) {
  uint32_t major = 99, minor = 99, patch = 99;
  (void)state;
  OK(km_version(&major, &minor, &patch));
  assert_int_equal(major, KM_VERSION_MAJOR);
  assert_int_equal(minor, KM_VERSION_MINOR);
  assert_int_equal(patch, KM_VERSION_PATCH);
  major = 99;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_version(&major, NULL, &patch));
  assert_int_equal(major, 99);
  expect_message("km_version: out_minor is null");
}

static void structures_are_filled_as_far_as_they_go(void** state) {
  km_build_info info;
  (void)state;
  memset(&info, 0x5A, sizeof info);
  info.struct_size = sizeof info;
  OK(km_build_info_get(&info));
  assert_int_equal(info.struct_size, sizeof info);
  assert_int_equal(info.version_major, KM_VERSION_MAJOR);
  assert_true(strlen(info.build_id) >= 8);
  assert_true(strlen(info.compiler) > 3);
  /* An older caller, who knows the first two members. */
  memset(&info, 0x5A, sizeof info);
  info.struct_size = 8;
  OK(km_build_info_get(&info));
  assert_int_equal(info.version_major, KM_VERSION_MAJOR);
  assert_int_equal(info.version_minor, 0x5A5A5A5A);
  info.struct_size = 3;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_build_info_get(&info));
  expect_message("out_info->struct_size is 3");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_build_info_get(NULL));
}

static void every_status_has_texts(void** state) {
  int known = 0;
  (void)state;
  for (km_status status = -10; status < 1000; ++status) {
    const char *name = NULL, *description = NULL, *recovery = NULL;
    km_error_category category = -1;
    const km_status given = km_status_name(status, &name);
    assert_int_equal(km_status_description(status, &description), given);
    assert_int_equal(km_status_recovery(status, &recovery), given);
    assert_int_equal(km_status_category(status, &category), given);
    if (given != KM_SUCCESS) {
      assert_int_equal(given, KM_ERROR_INVALID_ARGUMENT);
      assert_true(name == NULL && description == NULL && recovery == NULL && category == -1);
      continue;
    }
    ++known;
    assert_memory_equal(name, "KM_", 3);
    assert_true(strlen(description) > 10 && strlen(recovery) > 5);
    assert_int_equal(category == KM_ERROR_CATEGORY_NONE, status < 100);
  }
  assert_int_equal(known, 42);
}

static void texts_are_copied_out(void** state) {
  char buffer[256];
  uint64_t size = 0;
  (void)state;
  EXPECT(KM_ERROR_INVALID_HANDLE, km_stream_query(NULL));
  OK(km_last_error_message(NULL, 0, &size));
  assert_true(size > 20);
  memset(buffer, 0x5A, sizeof buffer);
  OK(km_last_error_message(buffer, size, NULL));
  assert_int_equal(strlen(buffer) + 1, size);
  assert_int_equal(buffer[size], 0x5A);
  /* Too small: nothing changes, not even the error that is being read. */
  memset(buffer, 0x5A, sizeof buffer);
  size = 12345;
  assert_int_equal(km_last_error_message(buffer, 5, &size), KM_ERROR_BUFFER_TOO_SMALL);
  assert_int_equal(size, 12345);
  assert_int_equal(buffer[0], 0x5A);
  assert_int_equal(km_last_error_message(NULL, 5, &size), KM_ERROR_INVALID_ARGUMENT);
  assert_int_equal(km_last_error_message(NULL, 0, NULL), KM_ERROR_INVALID_ARGUMENT);
  expect_message("km_stream_query: stream is null");
}

static void success_keeps_the_last_error(void** state) {
  fixture* f = *state;
  int64_t code = -1;
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_query(NULL));
  OK(km_stream_query(f->stream));
  expect_message("km_event_query");
  OK(km_last_error_native_code(&code));
  assert_int_equal(code, 0);
  assert_int_equal(km_last_error_native_code(NULL), KM_ERROR_INVALID_ARGUMENT);
}

static void last_error_is_peeked_and_taken(void** state) {
  km_status status = 99;
  uint64_t size = 0;
  int64_t code = 99;
  (void)state;
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_query(NULL));
  for (int i = 0; i < 2; ++i) {
    OK(km_last_error_status(&status));
    assert_int_equal(status, KM_ERROR_INVALID_HANDLE);
  }
  status = 99;
  OK(km_last_error_take(&status));
  assert_int_equal(status, KM_ERROR_INVALID_HANDLE);
  OK(km_last_error_status(&status));
  assert_int_equal(status, KM_SUCCESS);
  OK(km_last_error_take(&status));
  assert_int_equal(status, KM_SUCCESS);
  OK(km_last_error_message(NULL, 0, &size));
  assert_int_equal(size, 1);
  OK(km_last_error_native_code(&code));
  assert_int_equal(code, 0);
  assert_int_equal(km_last_error_status(NULL), KM_ERROR_INVALID_ARGUMENT);
  assert_int_equal(km_last_error_take(NULL), KM_ERROR_INVALID_ARGUMENT);
}

/* What programs written for CUDA compare with. */
static void cuda_results_have_their_statuses(void** state) {
  const struct {
    int32_t cuda_result;
    const char* name;
    km_status status;
  } known[] = {
      {0, "CUDA_SUCCESS", KM_SUCCESS},
      {1, "CUDA_ERROR_INVALID_VALUE", KM_ERROR_INVALID_ARGUMENT},
      {2, "CUDA_ERROR_OUT_OF_MEMORY", KM_ERROR_OUT_OF_DEVICE_MEMORY},
      {218, "CUDA_ERROR_INVALID_PTX", KM_ERROR_INVALID_PTX},
      {400, "CUDA_ERROR_INVALID_HANDLE", KM_ERROR_INVALID_HANDLE},
      {500, "CUDA_ERROR_NOT_FOUND", KM_ERROR_NOT_FOUND},
      {600, "CUDA_ERROR_NOT_READY", KM_NOT_READY},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS", KM_ERROR_ILLEGAL_ADDRESS},
      {719, "CUDA_ERROR_LAUNCH_FAILED", KM_ERROR_LAUNCH_FAILED},
      {801, "CUDA_ERROR_NOT_SUPPORTED", KM_ERROR_NOT_SUPPORTED},
      {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", KM_ERROR_CAPTURE_INVALIDATED},
      {909, "CUDA_ERROR_TIMEOUT", KM_TIMEOUT},
  };
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    km_status status = 99;
    int32_t back = 99;
    const char* name = NULL;
    OK(km_status_from_cuda(known[i].cuda_result, &status));
    assert_int_equal(status, known[i].status);
    OK(km_status_to_cuda(status, &back));
    assert_int_equal(back, known[i].cuda_result);
    OK(km_cuda_result_name(known[i].cuda_result, &name));
    assert_string_equal(name, known[i].name);
  }
}

static void every_status_and_cuda_result_is_mapped(void** state) {
  int results = 0, statuses = 0;
  (void)state;
  for (int32_t result = -5; result < 2000; ++result) {
    km_status status = 99;
    const char* name = NULL;
    const km_status given = km_status_from_cuda(result, &status);
    assert_int_equal(km_cuda_result_name(result, &name), given);
    if (given != KM_SUCCESS) {
      assert_int_equal(given, KM_ERROR_INVALID_ARGUMENT);
      assert_true(status == 99 && name == NULL);
      continue;
    }
    ++results;
    OK(km_status_name(status, &name));
    assert_int_equal(status == KM_SUCCESS, result == 0);
  }
  assert_int_equal(results, 106);
  for (km_status status = -5; status < 1000; ++status) {
    int32_t result = 99999;
    km_status back = 0;
    km_error_category category = 0, category_back = 0;
    const char* name = NULL;
    const km_status given = km_status_to_cuda(status, &result);
    assert_int_equal(km_status_name(status, &name), given);
    if (given != KM_SUCCESS) {
      assert_int_equal(result, 99999);
      continue;
    }
    ++statuses;
    /* There and back, what kind of failure it is stays. */
    OK(km_status_from_cuda(result, &back));
    OK(km_status_category(status, &category));
    OK(km_status_category(back, &category_back));
    assert_int_equal(category, category_back);
  }
  assert_int_equal(statuses, 42);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_status_from_cuda(12345, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_status_to_cuda(KM_SUCCESS, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_cuda_result_name(0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_status_from_cuda(12345, &(km_status){0}));
  expect_message("12345 is not a result of the CUDA driver");
}

static uint64_t history(const fixture* f, km_error_record* records, uint64_t capacity) {
  uint64_t count = 77;
  if (capacity != 0) records[0].struct_size = sizeof records[0];
  OK(km_context_error_history(f->context, capacity, records, &count));
  return count;
}

static void history_has_what_went_wrong(void** state) {
  fixture* f = *state;
  km_error_record records[4];
  km_slice slice;
  memset(records, 0x5A, sizeof records);
  assert_int_equal(history(f, NULL, 0), 0);
  records[0].struct_size = 3; /* an error also where there is nothing to give */
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_context_error_history(f->context, 1, records, &(uint64_t){0}));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_error_history(f->context, 1, NULL, &(uint64_t){0}));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_error_history(f->context, 0, NULL, NULL));
  OK(km_context_clear_error_history(f->context));
  for (int i = 0; i < 3; ++i) {
    EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 0, 0, &slice));
  }
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_slice_create(f->context, 1, UINT64_MAX / 4, 0, &slice));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_record(NULL, f->stream)); /* of no context */
  assert_int_equal(history(f, records, 4), 2);
  assert_int_equal(records[0].status, KM_ERROR_OUT_OF_DEVICE_MEMORY);
  assert_int_equal(records[0].category, KM_ERROR_CATEGORY_RESOURCE);
  assert_int_equal(records[0].count, 1);
  assert_int_equal(records[1].status, KM_ERROR_INVALID_ARGUMENT);
  assert_int_equal(records[1].category, KM_ERROR_CATEGORY_USAGE);
  assert_int_equal(records[1].count, 3);
  assert_int_equal(records[1].struct_size, sizeof records[0]);
  assert_string_equal(records[1].call, "km_slice_create");
  assert_non_null(strstr(records[1].message, "element_size_bytes is 0"));
  assert_true(records[1].id < records[0].id);
  assert_true(records[1].time_ns > 0 && records[1].time_ns <= records[1].last_time_ns);
  assert_int_equal(records[2].count, 0x5A5A5A5A5A5A5A5A); /* beyond what there was */
  OK(km_context_reset(f->context));
  assert_int_equal(history(f, records, 1), 2); /* it stays */
  assert_int_equal(records[0].status, KM_ERROR_OUT_OF_DEVICE_MEMORY);
  /* An older caller, who knows the first members. */
  memset(records, 0x5A, sizeof records);
  records[0].struct_size = 8;
  OK(km_context_error_history(f->context, 1, records, &(uint64_t){0}));
  assert_int_equal(records[0].status, KM_ERROR_OUT_OF_DEVICE_MEMORY);
  assert_int_equal(records[0].category, 0x5A5A5A5A);
}

/* Long texts are cut, and not within a character. */
static void long_texts_are_cut(void** state) {
  fixture* f = *state;
  static char name[4000];
  km_module module = load_test_module(f);
  km_function function;
  km_error_record record;
  memset(name, 0, sizeof name);
  for (int i = 0; i < 1500; ++i) memcpy(name + 2 * i, "\xC3\xA4", 2);
  EXPECT(KM_ERROR_NOT_FOUND, km_module_function(module, name, &function));
  assert_int_equal(history(f, &record, 1), 1);
  const size_t size = strlen(record.message);
  assert_true(size < sizeof record.message);
  assert_true(size == 0 || (record.message[size - 1] & 0xC0) != 0xC0);
  OK(km_module_destroy(module));
}

static void history_is_a_ring(void** state) {
  fixture* f = *state;
  km_error_record* records = calloc(KM_CONTEXT_ERROR_CAPACITY, sizeof *records);
  km_slice slice;
  uint64_t first = 0;
  assert_non_null(records);
  for (uint64_t i = 0; i < KM_CONTEXT_ERROR_CAPACITY + 10; ++i) {
    const uint64_t alignment = 2 * i + 3; /* each with a message of its own */
    EXPECT(KM_ERROR_INVALID_ARGUMENT,
           km_slice_create_aligned(f->context, 1, 1, alignment, 0, &slice));
  }
  assert_int_equal(history(f, records, KM_CONTEXT_ERROR_CAPACITY), KM_CONTEXT_ERROR_CAPACITY);
  first = records[0].id;
  for (uint64_t i = 0; i < KM_CONTEXT_ERROR_CAPACITY; ++i) {
    assert_int_equal(records[i].id, first - i);
    assert_int_equal(records[i].count, 1);
  }
  OK(km_context_clear_error_history(f->context));
  assert_int_equal(history(f, NULL, 0), 0);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 0, 0, &slice));
  assert_int_equal(history(f, records, 2), 1);
  assert_int_equal(records[0].id, first + 1);
  free(records);
}

static void statistics_count_each_status(void** state) {
  fixture* f = *state;
  km_error_count counts[4];
  km_slice slice;
  uint64_t count = 77;
  for (int i = 0; i < 200; ++i) {
    EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_create(f->context, 1, 0, 0, &slice));
    EXPECT(KM_ERROR_NOT_FOUND, km_context_find_slice(f->context, 8, &slice, &count));
  }
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_error_counts(f->context, 1, NULL, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_error_counts(f->context, 4, counts, NULL));
  assert_int_equal(count, 77);
  OK(km_context_error_counts(f->context, 4, counts, &count));
  assert_int_equal(count, 2);
  assert_int_equal(counts[0].status, KM_ERROR_INVALID_ARGUMENT);
  assert_int_equal(counts[0].count, 202);
  assert_int_equal(counts[1].status, KM_ERROR_NOT_FOUND);
  assert_int_equal(counts[1].category, KM_ERROR_CATEGORY_USAGE);
  assert_int_equal(counts[1].count, 200);
  assert_true(counts[1].last_time_ns > 0);
  OK(km_context_clear_error_history(f->context));
  OK(km_context_error_counts(f->context, 0, NULL, &count));
  assert_int_equal(count, 0);
}

static void faults_of_kernels_are_in_the_history(void** state) {
  fixture* f = *state;
  km_function crash = load_kernel(f, "crash");
  km_error_record record;
  int64_t code = 99;
  OK(launch(f, crash, 1, 1, NULL, 0));
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  EXPECT_TRAP(f, km_stream_synchronize(f->stream));
  OK(km_context_error_native_code(f->context, &code));
  if (is_cuda(f)) assert_true(code == 719 || code == 715);
  if (!is_cuda(f) && !is_fake(f)) assert_int_equal(code, 0);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_error_native_code(f->context, NULL));
  if (!comes_back_after_fault(f)) return;
  OK(km_context_clear_error_history(f->context));
  EXPECT(KM_ERROR_CONTEXT_LOST, km_stream_query(f->stream));
  assert_int_equal(history(f, &record, 1), 1);
  assert_int_equal(record.status, KM_ERROR_CONTEXT_LOST);
  OK(km_function_destroy(crash));
}

/* A capture has codes of CUDA's own. */
static void native_codes_are_kept(void** state) {
  fixture* f = *state;
  km_graph graph;
  km_error_record record;
  int64_t code = 0, of_context = 0;
  EXPECT(KM_ERROR_NOT_PERMITTED, km_stream_end_capture(f->stream, &graph));
  OK(km_last_error_native_code(&code));
  OK(km_context_error_native_code(f->context, &of_context));
  assert_int_equal(code, 401);
  assert_int_equal(of_context, 401);
  assert_int_equal(history(f, &record, 1), 1);
  assert_int_equal(record.native_code, 401);
}

static void* text_of_new_thread(void* size) {
  km_last_error_message(NULL, 0, size);
  return NULL;
}

static void errors_are_per_thread(void** state) {
  pthread_t thread;
  uint64_t size = 0;
  (void)state;
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_query(NULL));
  assert_int_equal(pthread_create(&thread, NULL, text_of_new_thread, &size), 0);
  pthread_join(thread, NULL);
  assert_int_equal(size, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_matches_the_header),
      cmocka_unit_test(structures_are_filled_as_far_as_they_go),
      cmocka_unit_test(every_status_has_texts),
      cmocka_unit_test(texts_are_copied_out),
      cmocka_unit_test(success_keeps_the_last_error),
      cmocka_unit_test(errors_are_per_thread),
      cmocka_unit_test(last_error_is_peeked_and_taken),
      cmocka_unit_test(cuda_results_have_their_statuses),
      cmocka_unit_test(every_status_and_cuda_result_is_mapped),
      cmocka_unit_test(history_has_what_went_wrong),
      cmocka_unit_test(long_texts_are_cut),
      cmocka_unit_test(history_is_a_ring),
      cmocka_unit_test(statistics_count_each_status),
      FAULTING_TEST(faults_of_kernels_are_in_the_history),
      cmocka_unit_test(native_codes_are_kept),
  };
  return RUN_ON_DEVICES("error", tests);
}
