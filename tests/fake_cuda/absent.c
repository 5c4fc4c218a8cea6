/* Machines whose CUDA driver does not work, each in its own way: the reason is told, with what to
 * do, and everything else works as if there were no such backend. Arguments: the status, and a part
 * of the reason. */
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static km_status expected;
static const char* reason;

static void the_reason_is_told(void** state) {
  km_device device = NULL;
  uint32_t count = 77;
  (void)state;
  EXPECT(expected, km_device_open("cuda:0", &device));
  expect_message(reason);
  EXPECT(expected, km_device_open("cuda", &device));
  EXPECT(expected, km_device_count("cuda", &count));
  assert_null(device);
  assert_int_equal(count, 77);
}

static void the_backend_is_listed_with_it(void** state) {
  km_backend_info info;
  (void)state;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(km_backend_info_get(0, &info));
  assert_string_equal(info.name, "cuda");
  assert_int_equal(info.status, expected);
  assert_int_equal(info.device_count, 0);
  assert_non_null(strstr(info.reason, reason));
}

static void the_cpu_is_chosen(void** state) {
  km_device device;
  km_device_info info;
  (void)state;
  info.struct_size = sizeof info;
  OK(km_device_open("auto", &device));
  OK(km_device_info_get(device, &info));
  assert_string_equal(info.uri, "cpu:0");
  OK(km_device_destroy(device));
}

int main(int count, char** arguments) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_reason_is_told),
                                     cmocka_unit_test(the_backend_is_listed_with_it),
                                     cmocka_unit_test(the_cpu_is_chosen)};
  if (count != 3) return 2;
  expected = atoi(arguments[1]);
  reason = arguments[2];
  return cmocka_run_group_tests_name("no CUDA", tests, NULL, NULL);
}
