/* Tracking of allocations, reports of leaks, the memory profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

static km_slice new_slice(const fixture* f, uint64_t size_bytes) {
  km_slice slice;
  OK(km_slice_create(f->context, size_bytes, 1, 0, &slice));
  return slice;
}

static uint64_t count_of(const fixture* f) {
  uint64_t count = 77;
  OK(km_context_allocations(f->context, 0, NULL, &count));
  return count;
}

static void live_allocations_are_listed(void** state) {
  fixture* f = *state;
  km_allocation_info list[8];
  km_slice before = new_slice(f, 10), a, b, c, view;
  km_host_memory host;
  km_pool pool;
  uint64_t count = 0, address = 0;
  const int64_t now = (int64_t)time(NULL);
  memset(list, 0, sizeof list);
  list[0].struct_size = sizeof list[0];
  assert_int_equal(count_of(f), 0);
  OK(km_context_set_tracking(f->context, KM_TRACKING_ON));
  a = new_slice(f, 1000);
  OK(km_pool_create(f->context, 0, &pool));
  OK(km_pool_allocate(pool, 500, 4, 0, &b));
  OK(km_host_memory_create(f->context, 4096, 0, &host));
  OK(km_slice_view(a, 0, 10, &view));
  OK(km_slice_set_tag(a, "weights"));
  OK(km_context_allocations(f->context, 8, list, &count));
  assert_int_equal(count, 3);
  OK(km_slice_address(a, &address));
  assert_int_equal(list[0].address, address);
  assert_int_equal(list[0].size_bytes, 1000);
  assert_int_equal(list[0].kind, KM_ALLOCATION_DEVICE);
  assert_string_equal(list[0].tag, "weights");
  assert_int_equal(list[0].frame_count, 0);
  assert_true(list[0].time_ns / 1000000000 >= now - 1 && list[0].time_ns / 1000000000 <= now + 60);
  assert_int_equal(list[1].kind, KM_ALLOCATION_POOL);
  assert_int_equal(list[1].size_bytes, 2000);
  assert_int_equal(list[1].struct_size, sizeof list[0]);
  assert_int_equal(list[2].kind, KM_ALLOCATION_HOST);
  assert_true(list[0].id < list[1].id && list[1].id < list[2].id);
  OK(km_slice_destroy(b));
  assert_int_equal(count_of(f), 2); /* free blocks are not listed */
  OK(km_pool_allocate(pool, 500, 4, 0, &c));
  assert_int_equal(count_of(f), 3);
  OK(km_slice_destroy(a));
  assert_int_equal(count_of(f), 3); /* the view keeps it */
  OK(km_slice_destroy(view));
  OK(km_slice_destroy(c));
  OK(km_host_memory_destroy(host));
  assert_int_equal(count_of(f), 0);
  EXPECT(KM_ERROR_NOT_FOUND, km_slice_set_tag(before, "too late"));
  OK(km_context_set_tracking(f->context, KM_TRACKING_OFF));
  a = new_slice(f, 1);
  assert_int_equal(count_of(f), 0);
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(before));
  OK(km_pool_destroy(pool));
}

static void lists_are_cut_where_there_is_no_room(void** state) {
  fixture* f = *state;
  km_slice slices[3];
  struct {
    km_allocation_info info[2];
    unsigned char guard[16];
  } list;
  char long_tag[200];
  uint64_t count = 0;
  memset(&list, 0x5A, sizeof list);
  memset(long_tag, 'x', sizeof long_tag);
  long_tag[199] = '\0';
  OK(km_context_set_tracking(f->context, KM_TRACKING_ON));
  for (int i = 0; i < 3; ++i) slices[i] = new_slice(f, 100 + (uint64_t)i);
  OK(km_slice_set_tag(slices[1], long_tag));
  list.info[0].struct_size = sizeof list.info[0];
  OK(km_context_allocations(f->context, 2, list.info, &count));
  assert_int_equal(count, 3);
  assert_int_equal(list.info[1].size_bytes, 101);
  assert_int_equal(strlen(list.info[1].tag), 63);
  for (int i = 0; i < 16; ++i) assert_int_equal(list.guard[i], 0x5A);
  list.info[0].struct_size = 3;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_allocations(f->context, 2, list.info, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_allocations(f->context, 2, NULL, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_allocations(f->context, 0, NULL, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_set_tracking(f->context, 4));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_set_tag(slices[0], NULL));
  for (int i = 0; i < 3; ++i) OK(km_slice_destroy(slices[i]));
}

static void stacks_say_where(void** state) {
  fixture* f = *state;
  km_slice slice;
  km_allocation_info info;
  uint64_t count = 0, size = 0;
  char text[8192];
  OK(km_context_set_tracking(f->context, KM_TRACKING_ON | KM_TRACKING_STACKS));
  slice = new_slice(f, 64);
  info.struct_size = sizeof info;
  OK(km_context_allocations(f->context, 1, &info, &count));
  assert_true(info.frame_count >= 2);
  OK(km_context_allocation_stack(f->context, info.id, text, sizeof text, &size));
  assert_int_equal(size, strlen(text) + 1);
  assert_non_null(strstr(text, "km_c_tracking"));
  EXPECT(KM_ERROR_BUFFER_TOO_SMALL,
         km_context_allocation_stack(f->context, info.id, text, 2, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_context_allocation_stack(f->context, info.id, NULL, 0, NULL));
  EXPECT(KM_ERROR_NOT_FOUND,
         km_context_allocation_stack(f->context, info.id + 1, text, sizeof text, NULL));
  OK(km_slice_destroy(slice));
  EXPECT(KM_ERROR_NOT_FOUND,
         km_context_allocation_stack(f->context, info.id, text, sizeof text, NULL));
}

/* Runs leak() in a new process with its log in a file; gives the log. */
static char* log_of(const char* mode, const char* level) {
  static char text[65536];
  char path[] = "/tmp/kernelmill-log-XXXXXX";
  const int descriptor = mkstemp(path);
  int status = 0;
  pid_t child;
  FILE* log;
  size_t size;
  assert_true(descriptor >= 0);
  close(descriptor);
  child = fork();
  if (child == 0) {
    setenv("KM_LOG", level, 1);
    setenv("KM_LOG_FILE", path, 1);
    run_again(mode, NULL);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  log = fopen(path, "r");
  assert_non_null(log);
  size = fread(text, 1, sizeof text - 1, log);
  text[size] = '\0';
  fclose(log);
  unlink(path);
  return text;
}

static void leaks_are_reported(void** state) {
  const char* text = log_of("leak-context", "warn");
  (void)state;
  assert_non_null(strstr(text, "when its last handle was destroyed"));
  assert_non_null(strstr(text, "2 live objects: 1 km_stream, 1 km_slice (4096 bytes in slices)"));
  assert_non_null(strstr(text, "tag 'forgotten'"));
  assert_non_null(strstr(text, "km_c_tracking"));
  text = log_of("leak-exit", "warn");
  assert_non_null(strstr(text, "at exit"));
  assert_non_null(strstr(text, "1 km_slice"));
  text = log_of("leak-quietly", "warn");
  assert_string_equal(text, "");
  text = log_of("leak-quietly", "info,memory");
  assert_non_null(strstr(text, "1 km_slice"));
  text = log_of("no-leak", "warn");
  assert_string_equal(text, "");
}

/* The programs of leaks_are_reported. */
static int leak(const char* mode) {
  km_device device;
  km_context context, again;
  km_stream stream;
  km_slice slice;
  if (km_device_open("cpu", &device) != KM_SUCCESS) return 1;
  if (km_context_create(device, &context) != KM_SUCCESS) return 1;
  if (strcmp(mode, "leak-quietly") != 0) {
    if (km_context_set_tracking(context, KM_TRACKING_ON | KM_TRACKING_STACKS) != KM_SUCCESS)
      return 1;
  }
  if (km_slice_create(context, 4096, 1, 0, &slice) != KM_SUCCESS) return 1;
  if (strcmp(mode, "leak-exit") == 0) return 0;
  if (strcmp(mode, "no-leak") == 0) {
    return km_slice_destroy(slice) != KM_SUCCESS || km_context_destroy(context) != KM_SUCCESS;
  }
  if (km_slice_set_tag(slice, "forgotten") != KM_SUCCESS && strcmp(mode, "leak-quietly") != 0) {
    return 1;
  }
  if (km_stream_create(context, 0, 0, &stream) != KM_SUCCESS) return 1;
  if (km_stream_context(stream, &again) != KM_SUCCESS) return 1;
  if (km_context_destroy(context) != KM_SUCCESS) return 1; /* not the last one yet */
  if (km_context_destroy(again) != KM_SUCCESS) return 1;
  return 0;
}

static void sleep_ms(long ms) {
  const struct timespec pause = {0, ms * 1000000};
  nanosleep(&pause, NULL);
}

static void profile_finds_peak_and_minimum(void** state) {
  fixture* f = *state;
  km_memory_profile profile = {sizeof profile, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  km_memory_sample samples[64];
  km_slice kept = new_slice(f, 1 << 20), more;
  uint64_t count = 0;
  OK(km_context_memory_profile(f->context, &profile));
  assert_int_equal(profile.used_bytes, 1 << 20);
  assert_int_equal(profile.is_running, 0);
  assert_int_equal(profile.sample_count, 0);
  OK(km_context_start_memory_profile(f->context, 1000000));
  EXPECT(KM_ERROR_NOT_PERMITTED, km_context_start_memory_profile(f->context, 1000000));
  more = new_slice(f, 3 << 20);
  sleep_ms(30);
  OK(km_slice_destroy(more));
  OK(km_slice_destroy(kept));
  sleep_ms(30);
  kept = new_slice(f, 100);
  OK(km_context_memory_profile(f->context, &profile));
  assert_int_equal(profile.is_running, 1);
  OK(km_context_stop_memory_profile(f->context));
  OK(km_context_stop_memory_profile(f->context));
  OK(km_context_memory_profile(f->context, &profile));
  assert_int_equal(profile.is_running, 0);
  assert_int_equal(profile.interval_ns, 1000000);
  assert_int_equal(profile.peak_bytes, 4 << 20);
  assert_int_equal(profile.minimum_bytes, 0);
  assert_int_equal(profile.used_bytes, 100);
  assert_int_equal(profile.allocation_count, 2);
  assert_int_equal(profile.free_count, 2);
  assert_true(profile.sample_count >= 4);
  assert_true(profile.mean_bytes > 0 && profile.mean_bytes < 4 << 20);
  OK(km_context_memory_samples(f->context, 64, samples, &count));
  assert_int_equal(count, profile.sample_count);
  assert_int_equal(samples[0].used_bytes, 1 << 20);
  for (uint64_t i = 1; i < count && i < 64; ++i) {
    assert_true(samples[i].time_ns >= samples[i - 1].time_ns);
  }
  OK(km_context_memory_samples(f->context, 0, NULL, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_memory_samples(f->context, 1, NULL, &count));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_memory_samples(f->context, 0, NULL, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_start_memory_profile(f->context, 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_memory_profile(f->context, NULL));
  OK(km_slice_destroy(kept));
}

static void profiles_end_with_their_context(void** state) {
  fixture* f = *state;
  for (int round = 0; round < 20; ++round) {
    km_context context;
    OK(km_context_create(f->device, &context));
    OK(km_context_start_memory_profile(context, 1000));
    if (round % 2 == 0) sleep_ms(1);
    OK(km_context_destroy(context));
  }
}

int main(int argc, char** argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_allocations_are_listed),
      cmocka_unit_test(lists_are_cut_where_there_is_no_room),
      cmocka_unit_test(stacks_say_where),
      cmocka_unit_test(leaks_are_reported),
      cmocka_unit_test(profile_finds_peak_and_minimum),
      cmocka_unit_test(profiles_end_with_their_context),
  };
  if (argc == 2) return leak(argv[1]);
  return RUN_ON_DEVICES("tracking", tests);
}
