/* Versions, status texts and the last error of a thread. */
#include <pthread.h>
#include <stdio.h>
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
  assert_int_equal(known, 39);
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
  };
  return RUN_ON_DEVICES("error", tests);
}
