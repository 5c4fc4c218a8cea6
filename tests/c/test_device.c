/* Backends and devices. */
#include <stdio.h>
#include <string.h>

#include "support/testing.h"

static void backends_are_listed_with_their_state(void** state) {
  fixture* f = *state;
  uint32_t count = 0;
  int found = 0;
  OK(km_backend_count(&count));
  assert_true(count >= 1);
  for (uint32_t i = 0; i < count; ++i) {
    km_backend_info info;
    uint32_t devices = 0;
    info.struct_size = sizeof info;
    OK(km_backend_info_get(i, &info));
    if (info.status != KM_SUCCESS) {
      assert_true(strlen(info.reason) > 0);
      continue;
    }
    OK(km_device_count(info.name, &devices));
    assert_int_equal(devices, info.device_count);
    found |= strncmp(info.name, f->uri, strlen(info.name)) == 0;
  }
  assert_true(found);
  km_backend_info info = {sizeof info, 0, 0, 0, "", ""};
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_backend_info_get(count, &info));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_backend_info_get(0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_backend_count(NULL));
}

static void devices_are_counted(void** state) {
  uint32_t all = 0, none = 77;
  (void)state;
  OK(km_device_count(NULL, &all));
  assert_true(all >= 1);
  EXPECT(KM_ERROR_BACKEND_UNAVAILABLE, km_device_count("abacus", &none));
  assert_int_equal(none, 77);
  expect_message("there is no backend 'abacus'; this build has: cpu");
}

static void bad_uris_are_refused(void** state) {
  const char* bad[] = {"", "cpu:", "cpu:x", "cpu:-1", "cpu:0x1", ":0", "cpu:18446744073709551616"};
  km_device device = (km_device)1;
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_open(bad[i], &device));
  }
  EXPECT(KM_ERROR_NO_DEVICE, km_device_open("cpu:4000", &device));
  expect_message("there is no device 'cpu:4000'");
  EXPECT(KM_ERROR_BACKEND_UNAVAILABLE, km_device_open("abacus:0", &device));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_open(NULL, &device));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_open("cpu", NULL));
  assert_true(device == (km_device)1);
}

static void info_is_complete(void** state) {
  fixture* f = *state;
  const km_device_info* info = &f->info;
  assert_string_equal(info->uri, f->uri);
  assert_true(strlen(info->name) > 0);
  assert_true(info->total_memory_bytes > 0);
  assert_true(info->compute_capability_major >= 5);
  assert_true(info->multiprocessor_count >= 1);
  assert_int_equal(info->warp_size, 32);
  assert_true(info->max_threads_per_block >= 1024);
  for (int i = 0; i < 3; ++i) {
    assert_true(info->max_block_dim[i] >= 64);
    assert_true(info->max_grid_dim[i] >= 65535);
  }
  assert_true(info->shared_bytes_per_block >= 48 << 10);
  assert_true(info->shared_bytes_per_block_max >= info->shared_bytes_per_block);
}

static void attributes_agree_with_info(void** state) {
  fixture* f = *state;
  int64_t value = 0;
  if (is_fake(f)) skip();
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_WARP_SIZE, &value));
  assert_int_equal(value, f->info.warp_size);
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
  assert_int_equal(value, f->info.max_threads_per_block);
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &value));
  assert_int_equal(value, f->info.max_grid_dim[0]);
  OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &value));
  assert_int_equal(value, f->info.multiprocessor_count);
  for (km_device_attribute a = 1; a <= KM_DEVICE_ATTRIBUTE_L2_CACHE_BYTES; ++a) {
    const km_status status = km_device_attribute_get(f->device, a, &value);
    assert_true(status == KM_SUCCESS || status == KM_ERROR_NOT_SUPPORTED);
  }
}

static void unknown_attributes_are_refused(void** state) {
  fixture* f = *state;
  int64_t value = 77;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, 0, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, -1, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, 1000, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_WARP_SIZE, NULL));
  assert_int_equal(value, 77);
}

static void auto_opens_a_device_that_works(void** state) {
  km_device device;
  km_context context;
  (void)state;
  OK(km_device_open("auto", &device));
  OK(km_context_create(device, &context));
  OK(km_device_destroy(device));
  OK(km_context_destroy(context));
}

static void devices_are_opened_as_often_as_one_likes(void** state) {
  fixture* f = *state;
  for (int i = 0; i < 100; ++i) {
    km_device device;
    OK(km_device_open(f->uri, &device));
    assert_true(device != f->device);
    OK(km_device_destroy(device));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(backends_are_listed_with_their_state),
      cmocka_unit_test(devices_are_counted),
      cmocka_unit_test(bad_uris_are_refused),
      cmocka_unit_test(info_is_complete),
      cmocka_unit_test(attributes_agree_with_info),
      cmocka_unit_test(unknown_attributes_are_refused),
      cmocka_unit_test(auto_opens_a_device_that_works),
      cmocka_unit_test(devices_are_opened_as_often_as_one_likes),
  };
  return RUN_ON_DEVICES("device", tests);
}
