/* Backends and devices. */
#include <stdio.h>
#include <stdlib.h>
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
  expect_message("there is no backend 'abacus'; this build has: cuda, cpu, vulkan");
}

static void known_backends_that_no_build_has_say_why(void** state) {
  const char* names[] = {"metal", "webgpu", "opengles", "webgl2"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char uri[32];
    uint32_t count = 77;
    km_device device = (km_device)1;
    EXPECT(KM_ERROR_UNSUPPORTED_BACKEND, km_device_count(names[i], &count));
    assert_int_equal(count, 77);
    EXPECT(KM_ERROR_UNSUPPORTED_BACKEND, km_device_open(names[i], &device));
    snprintf(uri, sizeof uri, "%s:0", names[i]);
    EXPECT(KM_ERROR_UNSUPPORTED_BACKEND, km_device_open(uri, &device));
    expect_message(names[i]);
    expect_message("this build has: cuda, cpu, vulkan");
    assert_true(device == (km_device)1);
  }
  expect_message("WebGL 2 has no compute shaders, so no build on any platform can have it");
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
}

/* Ours and CUDA's agree, and a CPU device answers all of them. */
static void every_attribute_has_a_value(void** state) {
  fixture* f = *state;
  uint32_t count = 0, of_cuda = 0;
  km_device_attribute_info info = {.struct_size = sizeof info};
  if (is_fake(f)) skip();
  OK(km_device_attribute_count(&count));
  for (uint32_t i = 0; i < count; ++i) {
    int64_t value = 0, same = 0;
    OK(km_device_attribute_info_get(i, &info));
    assert_true(strlen(info.name) > 2 && strlen(info.unit) > 2);
    const km_status status = km_device_attribute_get(f->device, info.attribute, &value);
    if (strncmp(f->uri, "cpu", 3) == 0) OK(status);
    if (info.attribute > KM_DEVICE_ATTRIBUTE_CUDA) {
      assert_int_equal(info.attribute, KM_DEVICE_ATTRIBUTE_CUDA + info.cuda_attribute);
      ++of_cuda;
    } else if (info.cuda_attribute != 0 && status == KM_SUCCESS) {
      OK(km_device_attribute_get(f->device, KM_DEVICE_ATTRIBUTE_CUDA + info.cuda_attribute, &same));
      assert_int_equal(value, same);
    }
    if (strcmp(info.unit, "flag") == 0) assert_true(value == 0 || value == 1);
  }
  assert_true(of_cuda >= 146);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_count(NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_info_get(count, &info));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_info_get(0, NULL));
  info.struct_size = 3;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_info_get(0, &info));
}

static km_auto_candidate candidate_at(uint32_t index) {
  km_auto_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  candidate.struct_size = sizeof candidate;
  OK(km_auto_candidate_get(index, &candidate));
  return candidate;
}

static void auto_says_what_it_chooses_and_why(void** state) {
  fixture* f = *state;
  uint32_t count = 0, chosen = 0;
  km_device device;
  km_device_info info = {.struct_size = sizeof info};
  OK(km_auto_candidate_count(&count));
  assert_true(count >= 2);
  OK(km_device_open("auto", &device));
  OK(km_device_info_get(device, &info));
  OK(km_device_destroy(device));
  for (uint32_t i = 0; i < count; ++i) {
    const km_auto_candidate candidate = candidate_at(i);
    assert_true(strlen(candidate.reason) > 5);
    if (candidate.outcome == KM_AUTO_CHOSEN) {
      assert_string_equal(candidate.uri, info.uri);
      assert_int_equal(candidate.status, KM_SUCCESS);
      ++chosen;
    } else if (candidate.outcome == KM_AUTO_REFUSED) {
      assert_true(candidate.status >= KM_ERROR_INTERNAL);
      assert_int_equal(chosen, 0); /* what comes after the choice is not tried */
    } else {
      assert_int_equal(candidate.outcome, KM_AUTO_NOT_TRIED);
      assert_int_equal(chosen, 1);
    }
  }
  assert_int_equal(chosen, 1);
  (void)f;
}

static void a_forced_device_is_never_replaced(void** state) {
  km_device device = NULL;
  km_device_info info = {.struct_size = sizeof info};
  uint32_t count = 0;
  km_auto_candidate candidate = {sizeof candidate, 0, 0, 0, "", ""};
  (void)state;
  assert_int_equal(setenv("KM_DEVICE", "cpu:0", 1), 0);
  OK(km_device_open("auto", &device));
  OK(km_device_info_get(device, &info));
  assert_string_equal(info.uri, "cpu:0");
  OK(km_device_destroy(device));
  assert_int_equal(candidate_at(0).outcome, KM_AUTO_CHOSEN);
  assert_string_equal(candidate_at(0).reason, "KM_DEVICE is 'cpu:0'");
  assert_int_equal(candidate_at(1).outcome, KM_AUTO_NOT_TRIED);
  device = NULL;
  assert_int_equal(setenv("KM_DEVICE", "abacus:3", 1), 0);
  EXPECT(KM_ERROR_BACKEND_UNAVAILABLE, km_device_open("auto", &device));
  expect_message("KM_DEVICE: there is no backend 'abacus'");
  assert_null(device);
  OK(km_auto_candidate_count(&count));
  candidate = candidate_at(0);
  assert_int_equal(candidate.outcome, KM_AUTO_REFUSED);
  assert_int_equal(candidate.status, KM_ERROR_BACKEND_UNAVAILABLE);
  assert_string_equal(candidate.uri, "abacus:3");
  for (uint32_t i = 1; i < count; ++i) assert_int_equal(candidate_at(i).outcome, KM_AUTO_NOT_TRIED);
  assert_int_equal(setenv("KM_DEVICE", "cpu:4000", 1), 0);
  EXPECT(KM_ERROR_NO_DEVICE, km_device_open("auto", &device));
  assert_int_equal(unsetenv("KM_DEVICE"), 0);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_auto_candidate_get(count, &candidate));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_auto_candidate_get(0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_auto_candidate_count(NULL));
}

static void unknown_attributes_are_refused(void** state) {
  fixture* f = *state;
  int64_t value = 77;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, 0, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, -1, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, 1000, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, 24, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_attribute_get(f->device, 1999, &value));
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
      cmocka_unit_test(known_backends_that_no_build_has_say_why),
      cmocka_unit_test(bad_uris_are_refused),
      cmocka_unit_test(info_is_complete),
      cmocka_unit_test(attributes_agree_with_info),
      cmocka_unit_test(every_attribute_has_a_value),
      cmocka_unit_test(auto_says_what_it_chooses_and_why),
      cmocka_unit_test(a_forced_device_is_never_replaced),
      cmocka_unit_test(unknown_attributes_are_refused),
      cmocka_unit_test(auto_opens_a_device_that_works),
      cmocka_unit_test(devices_are_opened_as_often_as_one_likes),
  };
  return RUN_ON_DEVICES("device", tests);
}
