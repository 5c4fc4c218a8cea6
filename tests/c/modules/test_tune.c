/* Tuning: measured choices, candidates that are left out, choices that are remembered. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/testing.h"

/* Sums `work` values, slower the larger it is; out[i] = its result. `wrong` adds to it, a negative
 * `work` traps. The work of a block does not depend on its size. */
static const char kSource[] =
    "#ifndef WORK\n#define WORK 1\n#endif\n#ifndef WRONG\n#define WRONG 0\n#endif\n"
    "extern \"C\" __global__ void tuned(float* out, int n, float scale) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (WORK < 0) __trap();\n"
    "  volatile float sum = 0;\n"
    "  for (int k = 0; k < WORK * 2000; ++k) sum = sum + 1.0f;\n"
    "  if (i < n) out[i] = i * scale + WRONG + (sum < 0);\n"
    "}\n";

enum { kCount = 4096 };

static km_tune new_tuning(const fixture* f) {
  km_tune tune;
  const int count = kCount;
  const float scale = 2;
  OK(km_tune_create(f->device, kSource, 0, "tuned", &tune));
  OK(km_tune_add_buffer(tune, NULL, kCount * sizeof(float), KM_TUNE_BUFFER_OUTPUT));
  OK(km_tune_add_scalar(tune, &count, sizeof count));
  OK(km_tune_add_scalar(tune, &scale, sizeof scale));
  OK(km_tune_set_budget(tune, 50000000, 1));
  return tune;
}

static uint32_t add(km_tune tune, uint32_t block, const char* options) {
  const km_launch_config config = {
      {block == 0 ? 1 : (kCount + block - 1) / block, 1, 1}, {block, 1, 1}, 0};
  uint32_t number = 77;
  OK(km_tune_add_candidate(tune, &config, options, &number));
  return number;
}

static km_tune_result result_of(km_tune tune, uint32_t candidate) {
  km_tune_result result = {.struct_size = sizeof result};
  OK(km_tune_result_get(tune, candidate, &result));
  return result;
}

static void require_nvrtc(const fixture* f) {
  km_program program;
  km_status status;
  if (is_fake(f)) skip();
  OK(km_program_create("", 0, NULL, &program));
  status = km_program_compile(program);
  OK(km_program_destroy(program));
  if (status == KM_ERROR_NVRTC_UNAVAILABLE) skip();
}

static void count_up(void* user_data, uint32_t done, uint32_t count) {
  uint32_t* seen = user_data;
  assert_int_equal(count, 3);
  assert_int_equal(done, ++*seen);
}

static void the_fastest_candidate_is_chosen(void** state) {
  const fixture* f = *state;
  uint32_t best = 77, seen = 0;
  float values[kCount];
  uint64_t size = 0;
  require_nvrtc(f);
  km_tune tune = new_tuning(f);
  /* A hundred times the work: no noise turns that round. */
  assert_int_equal(add(tune, 64, "-DWORK=100"), 0);
  assert_int_equal(add(tune, 128, "-DWORK=1\n"), 1);
  assert_int_equal(add(tune, 64, "-DWORK=100\n-DWRONG=0"), 2);
  OK(km_tune_set_check(tune, KM_TUNE_CHECK_EXACT, 0));
  OK(km_tune_set_progress(tune, count_up, &seen));
  assert_int_equal(result_of(tune, 0).status, KM_NOT_READY);
  OK(km_tune_run(tune, NULL, 0, &best));
  assert_int_equal(best, 1);
  assert_int_equal(seen, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    const km_tune_result result = result_of(tune, i);
    assert_int_equal(result.status, KM_SUCCESS);
    assert_true(result.sample_count >= 1);
    assert_true(result.min_ns <= result.median_ns);
    assert_true(result.median_ns >= result_of(tune, best).median_ns);
  }
  OK(km_tune_result_message(tune, 1, NULL, 0, &size));
  assert_int_equal(size, 1);
  /* The chosen one, in a context of the caller's. */
  km_function function;
  km_slice slice;
  OK(km_tune_function(tune, best, f->context, &function));
  OK(km_slice_create(f->context, kCount, sizeof(float), 0, &slice));
  const struct {
    uint64_t out;
    int32_t n;
    float scale;
  } arguments = {0, kCount, 3};
  const km_launch_config config = {{kCount / 128, 1, 1}, {128, 1, 1}, 0};
  const km_launch_slice slices[] = {{0, 0, (uint64_t)(uintptr_t)slice, 0}};
  OK(km_launch_kernel(f->stream, function, &config, &arguments, sizeof arguments, slices, 1));
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  assert_true(values[1000] == 3000);
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(function));
  OK(km_tune_destroy(tune));
}

static void expect_left_out(km_tune tune, uint32_t candidate, km_status status, const char* text) {
  char message[4096] = "";
  assert_int_equal(result_of(tune, candidate).status, status);
  assert_int_equal(result_of(tune, candidate).sample_count, 0);
  OK(km_tune_result_message(tune, candidate, message, sizeof message, NULL));
  if (strstr(message, text) == NULL) fail_msg("'%s' lacks '%s'", message, text);
}

static void candidates_that_fail_are_left_out(void** state) {
  const fixture* f = *state;
  uint32_t best = 77;
  require_nvrtc(f);
  km_tune tune = new_tuning(f);
  add(tune, 64, "-DWORK=-1");
  add(tune, 64, "-DWORK=no number");
  add(tune, 5000, NULL);
  add(tune, 64, "-DWORK=5");
  add(tune, 64, "-DWRONG=1");
  add(tune, 128, NULL);
  OK(km_tune_set_check(tune, KM_TUNE_CHECK_EXACT, 0));
  OK(km_tune_run(tune, NULL, 0, &best));
  assert_int_equal(best, 5);
  expect_left_out(tune, 0, KM_ERROR_TRAP, "trap");
  expect_left_out(tune, 1, KM_ERROR_COMPILATION_FAILED, "error");
  expect_left_out(tune, 2, KM_ERROR_INVALID_LAUNCH, "5000");
  assert_int_equal(result_of(tune, 3).status, KM_SUCCESS);
  expect_left_out(tune, 4, KM_ERROR_RESULT_MISMATCH, "differs from what candidate 3 left");
  /* With a tolerance it is right. */
  OK(km_tune_set_check(tune, KM_TUNE_CHECK_F32, 1.0));
  OK(km_tune_run(tune, NULL, 0, &best));
  assert_int_equal(result_of(tune, 4).status, KM_SUCCESS);
  /* The fault stayed in the tuning's own context. */
  OK(km_stream_synchronize(f->stream));
  OK(km_tune_destroy(tune));
}

static void a_tuning_without_a_way_says_why(void** state) {
  const fixture* f = *state;
  uint32_t best = 77;
  require_nvrtc(f);
  km_tune tune = new_tuning(f);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_run(tune, NULL, 0, &best));
  expect_message("no candidates");
  add(tune, 64, "-DWORK=-1");
  add(tune, 0, NULL);
  EXPECT(KM_ERROR_TRAP, km_tune_run(tune, "some problem", 0, &best));
  expect_message("none of 2 candidates works; the first: ");
  assert_int_equal(best, 77);
  OK(km_tune_destroy(tune));
}

typedef struct caller {
  km_tune tune;
  km_status statuses[3];
} caller;

static void call_back(void* user_data, uint32_t done, uint32_t count) {
  caller* c = user_data;
  km_tune_result result = {.struct_size = sizeof result};
  uint32_t best;
  (void)done;
  (void)count;
  c->statuses[0] = km_tune_result_get(c->tune, 0, &result);
  c->statuses[1] = km_tune_run(c->tune, NULL, 0, &best);
  c->statuses[2] = km_tune_set_budget(c->tune, 1, 1);
}

static void arguments_are_checked(void** state) {
  const fixture* f = *state;
  km_tune tune, other = NULL;
  km_tune_result result = {.struct_size = sizeof result};
  km_function function;
  uint32_t best = 77;
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_create(f->device, NULL, 0, "k", &other));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_create(f->device, "", 0, NULL, &other));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_create(f->device, "", 0, "k", NULL));
  OK(km_tune_create(f->device, test_ptx, 0, "noop", &tune));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_add_candidate(tune, NULL, NULL, &best));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_add_buffer(tune, NULL, 1, 2));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_add_scalar(tune, NULL, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_add_scalar(tune, "", UINT64_MAX));
  expect_message("size_bytes is 18446744073709551615; the arguments of a kernel have 32764 bytes");
  EXPECT(KM_ERROR_OUT_OF_HOST_MEMORY, km_tune_add_buffer(tune, NULL, UINT64_MAX, 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_set_check(tune, 0, 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_set_check(tune, KM_TUNE_CHECK_F32, -1));
  OK(km_tune_add_candidate(tune, &config, NULL, &best));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_run(tune, NULL, 2, &best));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_run(tune, NULL, 0, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_result_get(tune, 1, &result));
  expect_message("candidate is 1, beyond the end of 1 candidate");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_function(tune, 1, f->context, &function));
  if (!is_fake(f)) {
    caller c = {tune, {0, 0, 0}};
    OK(km_tune_set_progress(tune, call_back, &c));
    OK(km_tune_run(tune, NULL, 0, &best));
    assert_int_equal(best, 0);
    for (int i = 0; i < 3; ++i) assert_int_equal(c.statuses[i], KM_ERROR_NOT_PERMITTED);
    OK(km_tune_function(tune, 0, f->context, &function));
    OK(km_function_destroy(function));
    OK(km_tune_add_candidate(tune, &config, "-DX", &best));
    EXPECT(KM_ERROR_INVALID_ARGUMENT, km_tune_function(tune, best, f->context, &function));
    expect_message("PTX, which no option ('-DX') changes");
  }
  OK(km_tune_destroy(tune));
}

/* Twenty problems of a kernel in PTX, in a process of its own: `folder` is the cache. */
static int remember_many(void) {
  km_device device;
  if (km_device_open("cpu", &device) != KM_SUCCESS) return 1;
  for (int round = 0;; ++round) {
    char problem[32];
    km_tune tune;
    uint32_t best;
    const km_launch_config configs[] = {{{1, 1, 1}, {32, 1, 1}, 0}, {{64, 1, 1}, {64, 1, 1}, 0}};
    if (km_tune_create(device, test_ptx, 0, "noop", &tune) != KM_SUCCESS) return 2;
    for (int i = 0; i < 2; ++i) {
      if (km_tune_add_candidate(tune, &configs[i], NULL, &best) != KM_SUCCESS) return 3;
    }
    if (km_tune_set_budget(tune, 1000, 0) != KM_SUCCESS) return 4;
    snprintf(problem, sizeof problem, "problem %d", round % 20);
    if (km_tune_run(tune, problem, KM_TUNE_RUN_AGAIN, &best) != KM_SUCCESS || best > 1) return 5;
    if (km_tune_destroy(tune) != KM_SUCCESS) return 6;
    if (round == 40 && getenv("KM_TEST_END") != NULL) return 0;
  }
}

/* Looks all of them up: nothing may fail, whatever there is. How many were remembered. */
static int count_remembered(void) {
  km_device device;
  int found = 0;
  if (km_device_open("cpu", &device) != KM_SUCCESS) return 100;
  for (int i = 0; i < 20; ++i) {
    char problem[32];
    km_tune tune;
    uint32_t best = 77;
    km_tune_result result = {.struct_size = sizeof result};
    const km_launch_config configs[] = {{{1, 1, 1}, {32, 1, 1}, 0}, {{64, 1, 1}, {64, 1, 1}, 0}};
    if (km_tune_create(device, test_ptx, 0, "noop", &tune) != KM_SUCCESS) return 100;
    for (int k = 0; k < 2; ++k) {
      if (km_tune_add_candidate(tune, &configs[k], NULL, &best) != KM_SUCCESS) return 100;
    }
    snprintf(problem, sizeof problem, "problem %d", i);
    if (km_tune_run(tune, problem, 0, &best) != KM_SUCCESS || best > 1) return 100;
    if (km_tune_result_get(tune, best, &result) != KM_SUCCESS) return 100;
    found += result.status == KM_NOT_READY; /* nothing was measured */
    if (km_tune_destroy(tune) != KM_SUCCESS) return 100;
  }
  return found;
}

static pid_t start(const char* what, const char* folder) {
  setenv("KM_CACHE_DIR", folder, 1);
  const pid_t process = fork();
  assert_true(process >= 0);
  if (process == 0) run_again(what, NULL);
  return process;
}

static int finish(pid_t process) {
  int status = 0;
  assert_int_equal(waitpid(process, &status, 0), process);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void remove_folder(const char* folder) {
  char path[600];
  DIR* listed = opendir(folder);
  assert_non_null(listed);
  for (struct dirent* entry = readdir(listed); entry != NULL; entry = readdir(listed)) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    unlink(path); /* the folder itself and the one above stay */
  }
  closedir(listed);
  assert_int_equal(rmdir(folder), 0);
}

static void choices_are_remembered_between_processes(void** state) {
  char folder[] = "/tmp/kernelmill-tune-XXXXXX";
  if (is_fake(*state)) skip();
  assert_non_null(mkdtemp(folder));
  assert_int_equal(finish(start("--count", folder)), 0);
  assert_int_equal(finish(start("--count", folder)), 20);
  remove_folder(folder);
}

static void a_kill_in_the_middle_of_a_write_leaves_nothing_corrupt(void** state) {
  char folder[] = "/tmp/kernelmill-tune-XXXXXX";
  if (is_fake(*state)) skip();
  assert_non_null(mkdtemp(folder));
  for (int round = 0; round < 12; ++round) {
    const pid_t writer = start("--write", folder);
    int status = 0;
    usleep(30000 + (useconds_t)round * 7919);
    assert_int_equal(kill(writer, SIGKILL), 0);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status));
    assert_true(finish(start("--count", folder)) <= 20);
  }
  setenv("KM_TEST_END", "1", 1);
  assert_int_equal(finish(start("--write", folder)), 0);
  unsetenv("KM_TEST_END");
  assert_int_equal(finish(start("--count", folder)), 20);
  remove_folder(folder);
}

int main(int argc, char** argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fastest_candidate_is_chosen),
      cmocka_unit_test(candidates_that_fail_are_left_out),
      cmocka_unit_test(a_tuning_without_a_way_says_why),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(choices_are_remembered_between_processes),
      cmocka_unit_test(a_kill_in_the_middle_of_a_write_leaves_nothing_corrupt),
  };
  if (argc > 1 && strcmp(argv[1], "--write") == 0) return remember_many();
  if (argc > 1 && strcmp(argv[1], "--count") == 0) return count_remembered();
  return RUN_ON_DEVICES("tune", tests);
}
