/* Compiling ends early when its context is reset, when it takes longer than KM_COMPILE_TIMEOUT_MS,
 * and when the process exits. Each case is a child of its own, which an alarm ends if it hangs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/testing.h"

enum { kBranches = 30000, kBytesOfOne = 200, kLimit_s = 120 };

typedef struct preparing {
  fixture f;
  km_function function;
  km_status status;
} preparing;

/* A kernel that takes tens of seconds to compile. */
static char* large_ptx(void) {
  const char* const head =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry large(.param .u64 out) {\n"
      ".reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n"
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
      "ld.global.u32 %r2, [%rd2];\n";
  const size_t capacity = strlen(head) + (size_t)kBranches * kBytesOfOne + 16;
  char* const text = malloc(capacity);
  assert_non_null(text);
  size_t size = (size_t)snprintf(text, capacity, "%s", head);
  for (int i = 0; i < kBranches; ++i) {
    size += (size_t)snprintf(text + size, capacity - size,
                             "setp.lt.u32 %%p, %%r2, %d;\n@%%p bra L%d;\nadd.u32 %%r2, %%r2, 3;\n"
                             "st.global.u32 [%%rd2], %%r2;\nL%d: xor.b32 %%r2, %%r2, %%r1;\n",
                             i, i, i);
  }
  snprintf(text + size, capacity - size, "ret;\n}\n");
  return text;
}

static void open_large(preparing* p) {
  memset(p, 0, sizeof *p);
  p->f.uri = "cpu:0";
  OK(km_device_open(p->f.uri, &p->f.device));
  OK(km_context_create(p->f.device, &p->f.context));
  OK(km_stream_create(p->f.context, 0, 0, &p->f.stream));
  char* const text = large_ptx();
  km_module module = NULL;
  OK(km_module_load_ptx(p->f.context, text, strlen(text), "large.ptx", &module));
  OK(km_module_function(module, "large", &p->function));
  free(text);
}

static void* prepare(void* argument) {
  preparing* const p = argument;
  p->status = km_function_prepare(p->function, 64, 1, 1);
  return NULL;
}

static pthread_t start(preparing* p, void* (*work)(void*)) {
  pthread_t thread;
  open_large(p);
  assert_int_equal(pthread_create(&thread, NULL, work, p), 0);
  usleep(200 * 1000);
  return thread;
}

static void exceed_the_limit(void) {
  /* Small kernels stay below, also those of an emulated compiler. */
  const char* const limit_ms = getenv("KM_TEST_EMULATOR") == NULL ? "1000" : "20000";
  char message[100];
  setenv("KM_COMPILE_TIMEOUT_MS", limit_ms, 1);
  preparing p;
  open_large(&p);
  EXPECT(KM_ERROR_COMPILER, km_function_prepare(p.function, 64, 1, 1));
  snprintf(message, sizeof message,
           "kernel 'large' takes longer to compile than the limit of %s ms", limit_ms);
  expect_message(message);
  const fill_index_arguments none = {0, 0, 0};
  OK(launch(&p.f, load_kernel(&p.f, "noop"), 1, 1, &none, 0));
  OK(km_stream_synchronize(p.f.stream));
}

static void reset_while_a_thread_prepares(void) {
  static preparing p;
  const pthread_t thread = start(&p, prepare);
  OK(km_context_reset(p.f.context));
  pthread_join(thread, NULL);
  EXPECT(KM_ERROR_CONTEXT_LOST, p.status);
  OK(km_stream_create(p.f.context, 0, 0, &p.f.stream));
  const fill_index_arguments none = {0, 0, 0};
  OK(launch(&p.f, load_kernel(&p.f, "noop"), 1, 1, &none, 0));
  OK(km_stream_synchronize(p.f.stream));
}

static void* launch_large(void* argument) {
  preparing* const p = argument;
  const uint64_t out = 0;
  p->status = launch(&p->f, p->function, 1, 64, &out, sizeof out);
  if (p->status == KM_SUCCESS) p->status = km_stream_synchronize(p->f.stream);
  return NULL;
}

static void reset_while_a_thread_launches(void) {
  static preparing p;
  const pthread_t thread = start(&p, launch_large);
  OK(km_context_reset(p.f.context));
  pthread_join(thread, NULL);
  EXPECT(KM_ERROR_CONTEXT_LOST, p.status);
}

static void exit_while_a_thread_prepares(void) {
  static preparing p;
  start(&p, prepare);
}

static void run_in_child(void (*body)(void)) {
  int status = 0;
  if (getenv("KM_PLUGIN_DIR") != NULL) skip(); /* the fake backend compiles nothing */
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    end_after(kLimit_s);
    body();
    exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_limit_of_time_ends_compilation(void** state) {
  (void)state;
  run_in_child(exceed_the_limit);
}

static void a_reset_ends_compilation(void** state) {
  (void)state;
  run_in_child(reset_while_a_thread_prepares);
}

static void a_reset_ends_the_compilation_of_a_launch(void** state) {
  (void)state;
  run_in_child(reset_while_a_thread_launches);
}

static void exit_ends_compilation(void** state) {
  (void)state;
  run_in_child(exit_while_a_thread_prepares);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_limit_of_time_ends_compilation),
      cmocka_unit_test(a_reset_ends_compilation),
      cmocka_unit_test(a_reset_ends_the_compilation_of_a_launch),
      cmocka_unit_test(exit_ends_compilation),
  };
  return cmocka_run_group_tests_name("interruption", tests, NULL, NULL);
}
