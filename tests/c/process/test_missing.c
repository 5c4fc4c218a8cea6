/* Without its plugin, a backend is listed with the reason, and calls that need it say so. */
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static void a_missing_plugin_is_named(void** state) {
  km_backend_info info;
  km_device device = NULL;
  uint32_t count = 77;
  (void)state;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  for (uint32_t index = 0; strcmp(info.name, "cpu") != 0; ++index) {
    OK(km_backend_info_get(index, &info));
  }
  assert_int_equal(info.status, KM_ERROR_BACKEND_UNAVAILABLE);
  assert_int_equal(info.device_count, 0);
  assert_non_null(strstr(info.reason, "there is no /nowhere/libkernelmill-cpu.so"));
  EXPECT(KM_ERROR_BACKEND_UNAVAILABLE, km_device_open("cpu", &device));
  expect_message("backend 'cpu' is not installed");
  EXPECT(KM_ERROR_BACKEND_UNAVAILABLE, km_device_count("cpu", &count));
  assert_int_equal(count, 77);
  EXPECT(KM_ERROR_NO_DEVICE, km_device_open("auto", &device));
  expect_message("no device works here");
  expect_message("/nowhere/libkernelmill-cpu.so");
  assert_null(device);
  OK(km_device_count(NULL, &count));
  assert_int_equal(count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_missing_plugin_is_named)};
  setenv("KM_PLUGIN_DIR", "/nowhere", 1); /* before the library looks */
  unsetenv("KM_DEVICE");
  return cmocka_run_group_tests_name("missing", tests, NULL, NULL);
}
