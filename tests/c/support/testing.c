#include "support/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char faulting_tests[] = "kernels fault";

void expect_status(km_status expected, km_status given, const char* call, const char* file,
                   int line) {
  char message[4700] = "";
  const char* given_name = "(unknown)";
  const char* expected_name = "(unknown)";
  if (given == expected) return;
  km_last_error_message(message, sizeof message, NULL);
  km_status_name(given, &given_name);
  km_status_name(expected, &expected_name);
  print_error("%s\n  gave %s, expected %s; last error: %s\n", call, given_name, expected_name,
              message);
  _fail(file, line);
}

void expect_message(const char* part) {
  char message[4700] = "";
  assert_int_equal(km_last_error_message(message, sizeof message, NULL), KM_SUCCESS);
  if (strstr(message, part) != NULL) return;
  print_error("expected '%s' in the message: %s\n", part, message);
  fail();
}

void run_again(const char* first, const char* second) {
  char self[4096] = "";
  const char* const emulator = getenv("KM_TEST_EMULATOR");
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) _exit(126);
  if (emulator != NULL) {
    execl(emulator, emulator, self, first, second, (char*)NULL);
  } else {
    execl(self, self, first, second, (char*)NULL);
  }
  _exit(127);
}

void end_after(unsigned seconds) {
  alarm(getenv("KM_TEST_EMULATOR") == NULL ? seconds : 20 * seconds);
}

static const char* current_uri;

static int set_up(void** state) {
  fixture* f = calloc(1, sizeof *f);
  if (f == NULL) return -1;
  *state = f;
  f->uri = current_uri;
  f->info.struct_size = sizeof f->info;
  if (km_device_open(current_uri, &f->device) != KM_SUCCESS ||
      km_device_info_get(f->device, &f->info) != KM_SUCCESS ||
      km_context_create(f->device, &f->context) != KM_SUCCESS ||
      km_stream_create(f->context, KM_STREAM_DEFAULT, 0, &f->stream) != KM_SUCCESS) {
    char message[4700] = "";
    km_last_error_message(message, sizeof message, NULL);
    print_error("%s: %s\n", current_uri, message);
    return -1;
  }
  return 0;
}

static int tear_down(void** state) {
  fixture* f = *state;
  const int failed = km_stream_destroy(f->stream) != KM_SUCCESS ||
                     km_context_destroy(f->context) != KM_SUCCESS ||
                     km_device_destroy(f->device) != KM_SUCCESS;
  free(f);
  return failed ? -1 : 0;
}

/* The reason in a row "name, tab, where, tab, reason" if it is of this test and of a place like
 * this one; null if it is not. */
static const char* reason_in(char* row, const char* name, const char* place) {
  char* rest = NULL;
  const char* const test = strtok_r(row, "\t\n", &rest);
  const char* const where = strtok_r(NULL, "\t\n", &rest);
  const char* const reason = strtok_r(NULL, "\t\n", &rest);
  if (test == NULL || where == NULL || reason == NULL || strcmp(test, name) != 0) return NULL;
  return strcmp(where, "both") == 0 || strcmp(where, place) == 0 ? reason : NULL;
}

/* KM_TEST_LEFT_OUT=PLACE:FILE names a list like left_out.tsv, and the place that runs the tests.
 * 1, with the reason written, if the test is left out there. */
static int is_left_out(const char* name) {
  const char* const given = getenv("KM_TEST_LEFT_OUT");
  const char* const path = given != NULL ? strchr(given, ':') : NULL;
  char place[16] = "", row[512];
  int is_found = 0;
  if (path == NULL) return 0;
  snprintf(place, sizeof place, "%.*s", (int)(path - given), given);
  FILE* const file = fopen(path + 1, "r");
  if (file == NULL) {
    print_error("cannot read '%s'\n", path + 1);
    exit(1);
  }
  while (!is_found && fgets(row, sizeof row, file) != NULL) {
    const char* const reason = reason_in(row, name, place);
    if (reason == NULL) continue;
    print_message("%s is left out: %s\n", name, reason);
    is_found = 1;
  }
  fclose(file);
  return is_found;
}

static void skip_test(void** state) {
  (void)state;
  skip();
}

static int is_faulting(const struct CMUnitTest* test) {
  return test->initial_state == (void*)faulting_tests;
}

/* A copy of the test with the fixture, or with nothing but its name if it is left out. */
static struct CMUnitTest prepared(const struct CMUnitTest* test) {
  struct CMUnitTest made = *test;
  made.initial_state = NULL;
  if (is_left_out(test->name)) {
    made.test_func = skip_test;
    return made;
  }
  made.setup_func = set_up;
  made.teardown_func = tear_down;
  return made;
}

/* Runs a test in a process that has not begun to use the library. The result is 1 if it fails. */
static int run_alone(const char* group, const struct CMUnitTest* test) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    const struct CMUnitTest one[] = {prepared(test)};
    const int failures = _cmocka_run_group_tests(group, one, 1, NULL, NULL);
    fflush(NULL);
    _exit(failures);
  }
  if (waitpid(child, &status, 0) != child) return 1;
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static int run_on_device(const char* name, const struct CMUnitTest* tests, size_t count,
                         const char* uri) {
  char group[128];
  int failures = 0;
  const int can_lose_process = strncmp(uri, "cuda", 4) == 0;
  struct CMUnitTest* all = calloc(count, sizeof *all);
  if (all == NULL) return 1;
  size_t kept = 0;
  current_uri = uri;
  snprintf(group, sizeof group, "%s on %s", name, uri);
  print_message("%s\n", group);
  for (size_t i = 0; i < count; ++i) {
    if (can_lose_process && is_faulting(&tests[i])) {
      failures += run_alone(group, &tests[i]);
    } else {
      all[kept++] = prepared(&tests[i]);
    }
  }
  if (kept != 0) failures += _cmocka_run_group_tests(group, all, kept, NULL, NULL);
  free(all);
  return failures;
}

int run_on_devices(const char* name, const struct CMUnitTest* tests, size_t count) {
  const char* listed = getenv("KM_TEST_DEVICE");
  char* uris = strdup(listed != NULL && *listed != '\0' ? listed : "cpu:0");
  char* rest = NULL;
  int failures = 0;
  if (uris == NULL) return 1;
  for (char* uri = strtok_r(uris, ",", &rest); uri != NULL; uri = strtok_r(NULL, ",", &rest)) {
    failures += run_on_device(name, tests, count, uri);
  }
  free(uris);
  return failures;
}

int has_device(const char* uri) {
  km_device device;
  if (km_device_open(uri, &device) != KM_SUCCESS) return 0;
  OK(km_device_destroy(device));
  return 1;
}

int is_cuda(const fixture* f) { return strcmp(f->info.backend, "cuda") == 0; }

int is_trap(const fixture* f, km_status status) {
  if (!is_cuda(f)) return status == KM_ERROR_TRAP;
  return status == KM_ERROR_LAUNCH_FAILED || status == KM_ERROR_ILLEGAL_INSTRUCTION;
}

void expect_trap(const fixture* f, km_status given, const char* call, const char* file, int line) {
  if (!is_trap(f, given)) expect_status(KM_ERROR_TRAP, given, call, file, line);
}

int comes_back_after_fault(const fixture* f) {
  const km_status status = km_context_reset(f->context);
  if (is_cuda(f) && status == KM_ERROR_PROCESS_LOST) {
    expect_message("end the process and start it again");
    EXPECT(KM_ERROR_PROCESS_LOST, km_context_reset(f->context));
    return 0;
  }
  EXPECT(KM_SUCCESS, status);
  return 1;
}

const char* other_uri(const fixture* f) { return is_cuda(f) ? "cuda:1" : "cpu:1"; }

int is_fake(const fixture* f) { return strcmp(f->info.name, "Fake") == 0; }

const char test_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 counters[4];\n"
    ".visible .entry noop()\n"
    "{\n"
    "  ret;\n"
    "}\n"
    ".visible .entry fill_index(.param .u64 out, .param .u32 base, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .b32 %r<8>;\n"
    "  .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [out];\n"
    "  ld.param.u32 %r1, [base];\n"
    "  ld.param.u32 %r2, [n];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p1, %r6, %r2;\n"
    "  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mul.wide.u32 %rd3, %r6, 4;\n"
    "  add.s64 %rd4, %rd2, %rd3;\n"
    "  add.s32 %r7, %r6, %r1;\n"
    "  st.global.u32 [%rd4], %r7;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .f32 %f<4>;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [data];\n"
    "  ld.param.f32 %f1, [factor];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n"
    "  mov.u32 %r3, %ntid.x;\n"
    "  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n"
    "  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mul.wide.u32 %rd3, %r5, 4;\n"
    "  add.s64 %rd4, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4];\n"
    "  mul.f32 %f3, %f2, %f1;\n"
    "  st.global.f32 [%rd4], %f3;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry crash()\n"
    "{\n"
    "  trap;\n"
    "}\n";

km_module load_test_module(const fixture* f) {
  km_module module;
  OK(km_module_load_ptx(f->context, test_ptx, sizeof test_ptx - 1, "test.ptx", &module));
  return module;
}

km_function load_kernel(const fixture* f, const char* name) {
  km_module module = load_test_module(f);
  km_function function;
  OK(km_module_function(module, name, &function));
  OK(km_module_destroy(module)); /* the function keeps it */
  return function;
}

km_status launch(const fixture* f, km_function function, uint32_t grid, uint32_t block,
                 const void* arguments, uint64_t size_bytes) {
  const km_launch_config config = {{grid, 1, 1}, {block, 1, 1}, 0};
  return km_launch_kernel(f->stream, function, &config, arguments, size_bytes, NULL, 0);
}
