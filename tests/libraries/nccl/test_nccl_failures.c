/* Ranks that call different operations, come late, leave, or are killed: the others get an error
 * that names them. Where that takes the time limit, ranks wait side by side. */
#include <time.h>

#include "nccl_ranks.h"

/* Busy machines start processes late. */
enum { COUNT = 1000, LIMIT_S = 6, FAR_LIMIT_S = 60, MOST_SECONDS = 50 };

/* Before ranks start: the limit of their communicators. */
static void set_limit(int limit_s) {
  char text[16];
  snprintf(text, sizeof text, "%d", limit_s);
  setenv("KM_COMM_TIMEOUT_S", text, 1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Waits for the stream and expects this state of the communicator, with these words. */
static void expect_failure(rank* self, int state, const char* words) {
  const double begin = seconds();
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  CHECK(seconds() - begin < MOST_SECONDS);
  int got = 0;
  CHECK(ncclCommGetAsyncError(self->comm, &got) == 0);
  const char* const text = ncclGetLastError(self->comm);
  if (got != state || strstr(text, words) == NULL) {
    fprintf(stderr, "state %d for %d: '%s' for '%s'\n", got, state, text, words);
  }
  CHECK(got == state);
  CHECK(strstr(text, words) != NULL);
  /* Later calls fail at once. */
  CHECK(ncclAllReduce(NULL, NULL, 0, F32, SUM, self->comm, self->stream) == state);
}

/* Polls, as a rank that takes no part. */
static void await_failure(rank* self) {
  for (int state = 0; state == 0; usleep(1000)) {
    CHECK(ncclCommGetAsyncError(self->comm, &state) == 0);
  }
}

static float* data_of(rank* self) {
  void* made = NULL;
  CHECK(cudaMalloc(&made, 16 << 20) == 0);
  return made;
}

static void different_operations(rank* self) {
  float* const data = data_of(self);
  if (self->number == 1) {
    CHECK(ncclBroadcast(data, data, COUNT, F32, 0, self->comm, self->stream) == 0);
  } else {
    CHECK(ncclAllReduce(data, data, COUNT, F32, MAX, self->comm, self->stream) == 0);
  }
  expect_failure(
      self, INVALID_USAGE,
      "rank 0 called all-reduce of 1000 f32, max, but rank 1 broadcast of 1000 f32, root 0");
}

static void different_sizes(rank* self) {
  float* const data = data_of(self);
  const size_t count = self->number == self->count - 1 ? COUNT + 1 : COUNT;
  CHECK(ncclAllReduce(data, data, count, F32, SUM, self->comm, self->stream) == 0);
  expect_failure(self, INVALID_USAGE, "1001 f32");
}

static void different_messages(rank* self) {
  float* const data = data_of(self);
  if (self->number == 0) {
    CHECK(ncclSend(data, COUNT, F32, 1, self->comm, self->stream) == 0);
  } else if (self->number == 1) {
    CHECK(ncclRecv(data, 10, F32, 0, self->comm, self->stream) == 0);
  }
  await_failure(self); /* a message may be away before its receiver comes */
  expect_failure(self, INVALID_USAGE, "10 f32 from rank 0");
}

/* A call that may come after the communicator's failure. */
static void call(rank* self, float* data, size_t count, int state) {
  const int result = ncclAllReduce(data, data, count, F32, SUM, self->comm, self->stream);
  CHECK(result == 0 || result == state);
}

static void late_rank(rank* self) {
  float* const data = data_of(self);
  if (self->number == 1) {
    await_failure(self);
    expect_failure(self, TIMEOUT, "rank 1");
    return;
  }
  call(self, data, COUNT, TIMEOUT);
  expect_failure(self, TIMEOUT, "rank 1");
}

static void lonely_message(rank* self) {
  float* const data = data_of(self);
  if (self->number != 0) {
    await_failure(self);
    return;
  }
  CHECK(ncclRecv(data, COUNT, F32, 1, self->comm, self->stream) == 0);
  expect_failure(self, TIMEOUT, "rank 0 called receive of 1000 f32 from rank 1");
}

static void leaving_rank(rank* self) {
  float* const data = data_of(self);
  CHECK(ncclAllReduce(data, data, COUNT, F32, SUM, self->comm, self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  if (self->number == 1) return;
  call(self, data, COUNT, REMOTE_ERROR);
  expect_failure(self, REMOTE_ERROR, "rank 1");
}

static void aborting_rank(rank* self) {
  float* const data = data_of(self);
  if (self->number == 1) {
    usleep(20000);
    CHECK(ncclCommAbort(self->comm) == 0);
    self->comm = NULL;
    return;
  }
  call(self, data, COUNT, REMOTE_ERROR);
  expect_failure(self, REMOTE_ERROR, "rank 1 has aborted");
}

/* The last rank is killed in the middle of long operations. */
static void killed_rank(rank* self) {
  float* const data = data_of(self);
  for (int i = 0;; ++i) {
    if (self->number == self->count - 1 && i == 3) kill(getpid(), SIGKILL);
    call(self, data, 4 << 20, REMOTE_ERROR);
    CHECK(cudaStreamSynchronize(self->stream) == 0);
    if (i == 3) break;
  }
  expect_failure(self, REMOTE_ERROR, "is gone: its process");
}

typedef struct {
  const char* name;
  void (*body)(rank*);
  int threads, is_killed, takes_limit;
} scene;
static const scene kScenes[] = {
    {"operations", different_operations, 1, 0, 0}, {"sizes", different_sizes, 1, 0, 0},
    {"messages", different_messages, 0, 0, 0},     {"late", late_rank, 1, 0, 1},
    {"lonely", lonely_message, 1, 0, 1},           {"leaving", leaving_rank, 1, 0, 0},
    {"aborting", aborting_rank, 1, 0, 0},          {"killed", killed_rank, 0, 1, 0},
};
enum { SCENES = sizeof kScenes / sizeof kScenes[0] };

static void* wait_for_rank(void* ignored) {
  unique_id id;
  communicator comm = NULL;
  (void)ignored;
  if (ncclGetUniqueId(&id) != 0) return "no id";
  if (ncclCommInitRank(&comm, 2, id, 0) != TIMEOUT) return "no time-out";
  return comm == NULL ? NULL : "a communicator";
}

/* Ranks that wait for the limit, all at once: in threads, in processes, and in the start. */
static void test_limits(void** state) {
  (void)state;
  running_processes processes[2 * SCENES];
  running_threads threads[2 * SCENES];
  pthread_t starting;
  void* fault = NULL;
  int count = 0;
  const double begin = seconds();
  set_limit(LIMIT_S);
  for (int i = 0; i < 2 * SCENES; ++i) {
    if (!kScenes[i / 2].takes_limit) continue;
    processes[count++] = start_processes(kScenes[i / 2].name, 2 + i % 2, -1);
  }
  count = 0;
  for (int i = 0; i < 2 * SCENES; ++i) {
    if (!kScenes[i / 2].takes_limit) continue;
    start_threads(&threads[count++], 2 + 2 * (i % 2), kScenes[i / 2].body);
  }
  assert_int_equal(pthread_create(&starting, NULL, wait_for_rank, NULL), 0);
  for (int i = 0; i < count; ++i) {
    finish_processes(&processes[i]);
    finish_threads(&threads[i]);
  }
  assert_int_equal(pthread_join(starting, &fault), 0);
  if (fault != NULL) fail_msg("the start without a rank has given %s", (const char*)fault);
  assert_true(seconds() - begin < MOST_SECONDS);
  set_limit(FAR_LIMIT_S);
}

static void test_threads(void** state) {
  (void)state;
  for (int i = 0; i < SCENES; ++i) {
    if (!kScenes[i].threads || kScenes[i].takes_limit) continue;
    run_threads(2, kScenes[i].body);
    run_threads(4, kScenes[i].body);
  }
}

static void test_processes(void** state) {
  (void)state;
  for (int i = 0; i < SCENES; ++i) {
    if (kScenes[i].takes_limit) continue;
    run_processes(kScenes[i].name, 2, kScenes[i].is_killed ? 1 : -1);
    run_processes(kScenes[i].name, 3, kScenes[i].is_killed ? 2 : -1);
  }
}

static void* join_with(void* argument) {
  rank* const self = argument;
  CHECK(ncclCommInitRank(&self->comm, self->count, self->id, self->number) != 0);
  CHECK(self->comm == NULL);
  return NULL;
}

/* Ranks that disagree at the start. */
static void test_wrong_start(void** state) {
  (void)state;
  unique_id id;
  pthread_t threads[2];
  assert_int_equal(ncclGetUniqueId(&id), 0);
  rank twice[2] = {{.number = 0, .count = 2, .id = id}, {.number = 0, .count = 2, .id = id}};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, join_with, &twice[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(ncclGetUniqueId(&id), 0);
  rank counts[2] = {{.number = 0, .count = 2, .id = id}, {.number = 1, .count = 3, .id = id}};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, join_with, &counts[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);

  communicator comm = NULL;
  unique_id wrong = {{1, 2, 3}};
  assert_int_equal(ncclCommInitRank(&comm, 1, wrong, 0), INVALID_ARGUMENT);
  assert_int_equal(ncclGetUniqueId(&id), 0);
  assert_int_equal(ncclCommInitRank(&comm, 0, id, 0), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitRank(&comm, 1, id, 1), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitRank(&comm, 1, id, -1), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitRank(NULL, 1, id, 0), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitRank(&comm, 1, id, 0), 0);
  communicator again = NULL;
  assert_int_not_equal(ncclCommInitRank(&again, 1, id, 0), 0); /* the id was used */
  assert_int_equal(ncclCommDestroy(comm), 0);
  assert_int_equal(ncclCommDestroy(comm), INVALID_ARGUMENT);
}

int main(int argc, char** argv) {
  if (getenv("KM_COMM_TIMEOUT_S") == NULL) set_limit(FAR_LIMIT_S);
  for (int i = 0; argc > 4 && i < SCENES; ++i) {
    if (strcmp(argv[2], kScenes[i].name) != 0) continue;
    rank self = rank_of_process(argv, kScenes[i].body);
    run_thread(&self);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_processes),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_wrong_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
