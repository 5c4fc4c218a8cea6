/* Processes that end with live objects and queued work, and ones that fork before the first use.
 * Each case is a child of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

#ifdef KM_TEST_SANITIZED /* the fake backend's kernels take long */
enum { kMany = 20 };
#else
enum { kMany = 200 };
#endif

/* Everything is left as it is; exits with 0 when all calls succeed. */
static void leave_everything(void) {
  fixture f;
  memset(&f, 0, sizeof f);
  f.uri = "cpu:0";
  km_host_memory memory;
  km_slice slice;
  km_event event;
  OK(km_device_open(f.uri, &f.device));
  OK(km_context_create(f.device, &f.context));
  OK(km_stream_create(f.context, 0, 0, &f.stream));
  OK(km_host_memory_create(f.context, 1 << 20, 0, &memory));
  OK(km_slice_create(f.context, 1 << 20, 4, 0, &slice));
  OK(km_event_create(f.context, 0, &event));
  km_function function = load_kernel(&f, "fill_index");
  fill_index_arguments arguments = {0, 1, 1 << 20};
  OK(km_slice_address(slice, &arguments.out));
  for (int i = 0; i < kMany; ++i) {
    OK(km_slice_fill_u32(f.stream, slice, 0, 1, 1 << 20));
    OK(launch(&f, function, 8192, 128, &arguments, sizeof arguments));
  }
  OK(km_event_record(event, f.stream));
}

static void call_at_exit(void) {
  uint32_t count = 0;
  km_device device = NULL;
  if (km_backend_count(&count) != KM_SUCCESS) _exit(3);
  if (km_device_open("cpu:0", &device) != KM_SUCCESS) _exit(4);
  if (km_device_destroy(device) != KM_SUCCESS) _exit(5);
}

static int status_of_child(void (*body)(void), int use_exit) {
  int status = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    end_after(60);
    body();
    if (use_exit) exit(0);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static void exit_with_live_objects(void** state) {
  (void)state;
  assert_int_equal(status_of_child(leave_everything, 1), 0);
}

static void quick_exit_with_live_objects(void** state) {
  (void)state;
  assert_int_equal(status_of_child(leave_everything, 0), 0);
}

static void use_at_exit(void) { atexit(call_at_exit); }

static void first_use_at_exit(void** state) {
  (void)state;
  assert_int_equal(status_of_child(use_at_exit, 1), 0);
}

static pthread_barrier_t start;

/* Every thread's first call is the library's first call. */
static void* use_first(void* failed) {
  km_device device = NULL;
  km_context context = NULL;
  uint32_t count = 0;
  pthread_barrier_wait(&start);
  if (km_device_open("auto", &device) != KM_SUCCESS ||
      km_context_create(device, &context) != KM_SUCCESS ||
      km_device_count(NULL, &count) != KM_SUCCESS || count == 0 ||
      km_context_synchronize(context) != KM_SUCCESS || km_context_destroy(context) != KM_SUCCESS ||
      km_device_destroy(device) != KM_SUCCESS) {
    atomic_fetch_add((atomic_int*)failed, 1);
  }
  return NULL;
}

static void use_on_many_threads(void) {
  enum { kThreads = 8 };
  pthread_t threads[kThreads];
  atomic_int failed = 0;
  if (pthread_barrier_init(&start, NULL, kThreads) != 0) _exit(3);
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, use_first, &failed) != 0) _exit(4);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  if (failed != 0) _exit(5);
}

static void first_use_on_many_threads_at_once(void** state) {
  (void)state;
  for (int i = 0; i < 20; ++i) assert_int_equal(status_of_child(use_on_many_threads, 1), 0);
}

static void use_then_use_at_exit(void) {
  atexit(call_at_exit);
  leave_everything();
}

static void further_use_at_exit(void** state) {
  (void)state;
  assert_int_equal(status_of_child(use_then_use_at_exit, 1), 0);
}

static fixture shared;

/* Calls of every kind until the process is gone, whatever they give. */
static void* call_for_ever(void* which) {
  for (;;) {
    km_module module;
    km_function function;
    km_stream stream;
    km_slice slice;
    km_event event;
    switch ((int)(intptr_t)which) {
      case 0:
        if (km_module_load_ptx(shared.context, test_ptx, strlen(test_ptx), "t.ptx", &module)) break;
        if (!km_module_function(module, "noop", &function)) {
          launch(&shared, function, 100, 32, NULL, 0);
          km_function_destroy(function);
        }
        km_module_destroy(module);
        break;
      case 1:
        if (km_stream_create(shared.context, 0, 0, &stream)) break;
        km_stream_synchronize_timeout(shared.stream, 100000);
        km_stream_destroy(stream);
        break;
      case 2:
        if (km_slice_create(shared.context, 100, 4, KM_SLICE_ZEROED, &slice)) break;
        km_slice_fill_u32(shared.stream, slice, 0, 1, 100);
        km_slice_destroy(slice);
        break;
      default:
        if (km_event_create(shared.context, 0, &event)) break;
        km_event_record(event, shared.stream);
        km_event_synchronize(event);
        km_event_destroy(event);
        break;
    }
  }
  return NULL;
}

static void leave_while_others_call(void) {
  const struct timespec moment = {0, 20000000};
  memset(&shared, 0, sizeof shared);
  shared.uri = "cpu:0";
  OK(km_device_open(shared.uri, &shared.device));
  OK(km_context_create(shared.device, &shared.context));
  OK(km_stream_create(shared.context, 0, 0, &shared.stream));
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_for_ever, (void*)(intptr_t)i) != 0) _exit(3);
  }
  nanosleep(&moment, NULL);
}

static void exit_while_other_threads_make_calls(void** state) {
  (void)state;
  for (int i = 0; i < 10; ++i) {
    assert_int_equal(status_of_child(leave_while_others_call, 1), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exit_with_live_objects),
      cmocka_unit_test(quick_exit_with_live_objects),
      cmocka_unit_test(first_use_at_exit),
      cmocka_unit_test(further_use_at_exit),
      cmocka_unit_test(first_use_on_many_threads_at_once),
      cmocka_unit_test(exit_while_other_threads_make_calls),
  };
  return cmocka_run_group_tests_name("exit", tests, NULL, NULL);
}
