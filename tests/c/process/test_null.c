/* The null backend: listed on request, opens, and refuses the rest with a reason. */
#include <stdlib.h>

#include "support/testing.h"

static void null_device_opens_and_runs_nothing(void** state) {
  km_device device;
  km_device_info info;
  km_context context = NULL;
  int64_t value = 77;
  (void)state;
  info.struct_size = sizeof info;
  OK(km_device_open("null:0", &device));
  OK(km_device_info_get(device, &info));
  assert_string_equal(info.uri, "null:0");
  assert_string_equal(info.backend, "null");
  EXPECT(KM_ERROR_NOT_SUPPORTED, km_context_create(device, &context));
  expect_message("km_context_create: the null backend has no contexts");
  assert_null(context);
  EXPECT(KM_ERROR_NOT_SUPPORTED,
         km_device_attribute_get(device, KM_DEVICE_ATTRIBUTE_WARP_SIZE, &value));
  assert_int_equal(value, 77);
  OK(km_device_destroy(device));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(null_device_opens_and_runs_nothing)};
  setenv("KM_ENABLE_NULL", "1", 1); /* before the library looks */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
