/* CUDA_VISIBLE_DEVICES: which of two devices a program sees, and in which order. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct sight {
  CUresult result; /* of cuInit, or the first call after it that failed */
  int count, buses[3];
  char bus_ids[3][16];
  CUuuid uuids[3];
} sight;

static CUresult look_at(sight* seen, int ordinal) {
  CUdevice device = 0, again = -1;
  CUresult result = cuDeviceGet(&device, ordinal);
  if (result == CUDA_SUCCESS) {
    result = cuDeviceGetAttribute(&seen->buses[ordinal], CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device);
  }
  if (result == CUDA_SUCCESS) result = cuDeviceGetUuid(&seen->uuids[ordinal], device);
  if (result == CUDA_SUCCESS) result = cuDeviceGetPCIBusId(seen->bus_ids[ordinal], 16, device);
  if (result == CUDA_SUCCESS) result = cuDeviceGetByPCIBusId(&again, seen->bus_ids[ordinal]);
  return result == CUDA_SUCCESS && again != ordinal ? CUDA_ERROR_UNKNOWN : result;
}

/* By a process of its own: the driver reads the variable once. */
static sight see(const char* visible) {
  int ends[2];
  sight seen;
  memset(&seen, 0, sizeof seen);
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    seen.result = cuInit(0);
    if (seen.result == CUDA_SUCCESS) seen.result = cuDeviceGetCount(&seen.count);
    for (int i = 0; i < seen.count && seen.result == CUDA_SUCCESS; ++i) {
      seen.result = look_at(&seen, i);
    }
    _exit(write(ends[1], &seen, sizeof seen) == (ssize_t)sizeof seen ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(read(ends[0], &seen, sizeof seen), sizeof seen);
  close(ends[0]);
  close(ends[1]);
  return seen;
}

static void expect_devices(const char* visible, int count, int first, int second) {
  const sight seen = see(visible);
  assert_int_equal(seen.result, CUDA_SUCCESS);
  assert_int_equal(seen.count, count);
  assert_int_equal(seen.buses[0], first);
  if (count > 1) assert_int_equal(seen.buses[1], second);
}

static void devices_are_chosen_by_number(void** state) {
  NOT_ON_NVIDIAS_DRIVER(); /* it needs two devices */
  (void)state;
  expect_devices("0,1", 2, 0, 1);
  expect_devices("1,0", 2, 1, 0);
  expect_devices(" 1 ", 1, 1, 0);
  assert_string_equal(see("1").bus_ids[0], "0000:01:00.0");
}

static void what_follows_a_wrong_one_does_not_count(void** state) {
  NOT_ON_NVIDIAS_DRIVER(); /* it needs two devices */
  (void)state;
  expect_devices("1,2,0", 1, 1, 0);
  expect_devices("1,-1,0", 1, 1, 0);
  expect_devices("0,0,1", 1, 0, 0);
  expect_devices("1,,0", 1, 1, 0);
  expect_devices("0,1x", 1, 0, 0);
}

static void no_device_may_be_left(void** state) {
  NOT_ON_NVIDIAS_DRIVER(); /* it needs two devices */
  (void)state;
  const char* const nothing[] = {"", "-1", "none", "2", "GPU-", "GPU-00", "4294967296"};
  for (size_t i = 0; i < sizeof nothing / sizeof *nothing; ++i) {
    assert_int_equal(see(nothing[i]).result, CUDA_ERROR_NO_DEVICE);
  }
}

static void devices_are_chosen_by_uuid(void** state) {
  NOT_ON_NVIDIAS_DRIVER(); /* it needs two devices */
  (void)state;
  const sight both = see("0,1");
  const unsigned char* u = (const unsigned char*)both.uuids[1].bytes;
  char name[64];
  snprintf(name, sizeof name,
           "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x,0", u[0], u[1],
           u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
           u[15]);
  expect_devices(name, 2, 1, 0);
  *strchr(name, ',') = '\0';
  expect_devices(name, 1, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_are_chosen_by_number),
      cmocka_unit_test(what_follows_a_wrong_one_does_not_count),
      cmocka_unit_test(no_device_may_be_left),
      cmocka_unit_test(devices_are_chosen_by_uuid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
