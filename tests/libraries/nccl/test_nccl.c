/* Communicators of libnccl: groups, splits, captures, settings, memory, and wrong calls. */
#include "nccl_ranks.h"

enum { COUNT = 5000 };

static float* new_data(int value) {
  void* made = NULL;
  assert_int_equal(cudaMalloc(&made, COUNT * MOST_RANKS * sizeof(float)), 0);
  for (int i = 0; i < COUNT * MOST_RANKS; ++i) ((float*)made)[i] = (float)value;
  return made;
}

static void check_data(const float* data, float value) {
  for (int i = 0; i < COUNT; ++i) assert_true(data[i] == value);
}

/* All ranks on this thread, two devices: each rank's operation in a stream of its own, or all in
 * one. */
static void group_on(int shares_stream) {
  enum { RANKS = 4 };
  const int devices[RANKS] = {0, 1, 0, 1};
  communicator comms[RANKS];
  cudaStream_t streams[RANKS];
  float* data[RANKS];
  assert_int_equal(
      ncclCommInitAll(comms, RANKS, shares_stream ? (const int[]){0, 0, 0, 0} : devices), 0);
  for (int i = 0; i < RANKS; ++i) {
    int number = -1, count = -1, device = -1;
    assert_int_equal(ncclCommUserRank(comms[i], &number), 0);
    assert_int_equal(ncclCommCount(comms[i], &count), 0);
    assert_int_equal(ncclCommCuDevice(comms[i], &device), 0);
    assert_int_equal(number, i);
    assert_int_equal(count, RANKS);
    assert_int_equal(device, shares_stream ? 0 : devices[i]);
    assert_int_equal(cudaSetDevice(device), 0);
    data[i] = new_data(1 << i);
    streams[i] = NULL;
    if (!shares_stream) assert_int_equal(cudaStreamCreate(&streams[i]), 0);
  }
  for (int round = 0; round < 20; ++round) {
    assert_int_equal(ncclGroupStart(), 0);
    assert_int_equal(ncclGroupStart(), 0); /* groups nest */
    for (int i = 0; i < RANKS; ++i) {
      assert_int_equal(
          ncclBroadcast(data[i], data[i], COUNT, F32, round % RANKS, comms[i], streams[i]), 0);
      assert_int_equal(ncclAllReduce(data[i], data[i], COUNT, F32, AVG, comms[i], streams[i]), 0);
    }
    assert_int_equal(ncclGroupEnd(), 0);
    assert_int_equal(ncclGroupEnd(), 0);
  }
  for (int i = 0; i < RANKS; ++i) {
    assert_int_equal(cudaSetDevice(shares_stream ? 0 : devices[i]), 0);
    assert_int_equal(cudaStreamSynchronize(streams[i]), 0);
    check_data(data[i], 1);
    assert_int_equal(cudaFree(data[i]), 0);
  }
  for (int i = 0; i < RANKS; ++i) {
    assert_int_equal(ncclCommFinalize(comms[i]), 0);
    assert_int_equal(ncclAllReduce(data[i], data[i], 1, F32, AVG, comms[i], streams[i]),
                     INVALID_ARGUMENT);
    assert_int_equal(ncclCommDestroy(comms[i]), 0);
    if (!shares_stream) assert_int_equal(cudaStreamDestroy(streams[i]), 0);
  }
  assert_int_equal(cudaSetDevice(0), 0);
}

static void test_groups(void** state) {
  (void)state;
  group_on(0);
  group_on(1);
  assert_int_equal(ncclGroupEnd(), INVALID_USAGE);
}

/* A group that fails does nothing, and the next one works. */
static void test_failed_group(void** state) {
  (void)state;
  communicator comm;
  float* const data = new_data(3);
  assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
  assert_int_equal(ncclGroupStart(), 0);
  assert_int_equal(ncclAllReduce(data, data, COUNT, 99, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, COUNT, F32, SUM, comm, NULL), 0);
  assert_int_equal(ncclGroupEnd(), INVALID_ARGUMENT);
  assert_int_equal(ncclGroupStart(), 0);
  assert_int_equal(ncclAllReduce(data, data, COUNT, F32, SUM, comm, NULL), 0);
  assert_int_equal(ncclGroupEnd(), 0);
  struct {
    size_t size;
    unsigned magic, version;
    float time;
  } info = {sizeof info, 0x74685283, 23203, -1};
  assert_int_equal(ncclGroupStart(), 0);
  assert_int_equal(ncclAllReduce(data, data, COUNT, F32, SUM, comm, NULL), 0);
  assert_int_equal(ncclGroupSimulateEnd(&info), 0);
  assert_true(info.time > 0);
  info.magic = 5;
  assert_int_equal(ncclGroupStart(), 0);
  assert_int_equal(ncclGroupSimulateEnd(&info), INVALID_ARGUMENT);
  assert_int_equal(ncclGroupEnd(), 0);
  assert_int_equal(cudaStreamSynchronize(NULL), 0);
  check_data(data, 3);
  /* A communicator that starts at the end of the group has no operations in it. */
  communicator later = NULL;
  unique_id id;
  assert_int_equal(ncclGetUniqueId(&id), 0);
  assert_int_equal(ncclGroupStart(), 0);
  assert_int_equal(ncclCommInitRank(&later, 1, id, 0), 0);
  assert_int_equal(ncclAllReduce(data, data, COUNT, F32, SUM, later, NULL), INVALID_USAGE);
  assert_int_equal(ncclGroupEnd(), INVALID_USAGE);
  assert_int_equal(ncclCommDestroy(comm), 0);
  assert_int_equal(cudaFree(data), 0);
}

/* Sums of the numbers of a communicator's ranks, by each of them. */
static void check_sum(rank* self, communicator comm, int expected) {
  float* data = NULL;
  CHECK(cudaMallocAsync((void**)&data, 4096, self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  for (int i = 0; i < 1024; ++i) data[i] = (float)self->number;
  CHECK(ncclAllReduce(data, data, 1024, F32, SUM, comm, self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  for (int i = 0; i < 1024; ++i) CHECK(data[i] == (float)expected);
  CHECK(cudaFreeAsync(data, self->stream) == 0);
}

static void derived(rank* self) {
  communicator half = NULL, none = (void*)1, fewer = NULL;
  int number = -1, count = -1;
  /* Even and odd ranks, backwards. */
  CHECK(ncclCommSplit(self->comm, self->number % 2, -self->number, &half, NULL) == 0);
  CHECK(ncclCommUserRank(half, &number) == 0);
  CHECK(ncclCommCount(half, &count) == 0);
  CHECK(count == 2);
  CHECK(number == (self->number < 2 ? 1 : 0));
  check_sum(self, half, self->number % 2 == 0 ? 2 : 4);
  CHECK(ncclCommDestroy(half) == 0);
  CHECK(ncclCommSplit(self->comm, self->number == 0 ? -1 : 7, 0, &none, NULL) == 0);
  CHECK((none == NULL) == (self->number == 0));
  if (none != NULL) check_sum(self, none, 6);
  CHECK(ncclCommDestroy(none) == 0);
  for (int round = 0; self->number != 1 && round < 2; ++round) {
    int excluded = 1;
    CHECK(ncclCommShrink(self->comm, &excluded, 1, &fewer, NULL, 0) == 0);
    CHECK(ncclCommUserRank(fewer, &number) == 0);
    CHECK(number == (self->number == 0 ? 0 : self->number - 1));
    check_sum(self, fewer, 5);
    if (round == 0) CHECK(ncclCommDestroy(fewer) == 0);
  }
  if (self->number != 1) CHECK(ncclCommDestroy(fewer) == 0);
  check_sum(self, self->comm, 6);
}

static unique_id grow_id;
static pthread_barrier_t grow_barrier;

/* Rank 3 joins a communicator of three. */
static void growing(rank* self) {
  communicator three = NULL, four = NULL;
  int excluded = 3;
  if (self->number == 3) {
    pthread_barrier_wait(&grow_barrier);
    CHECK(ncclCommGrow(NULL, 4, &grow_id, 3, &four, NULL) == 0);
  } else {
    CHECK(ncclCommShrink(self->comm, &excluded, 1, &three, NULL, 0) == 0);
    if (self->number == 1) CHECK(ncclCommGetUniqueId(three, &grow_id) == 0);
    pthread_barrier_wait(&grow_barrier);
    CHECK(ncclCommGrow(three, 4, self->number == 1 ? &grow_id : NULL, -1, &four, NULL) == 0);
    CHECK(ncclCommDestroy(three) == 0);
  }
  check_sum(self, four, 6);
  CHECK(ncclCommDestroy(four) == 0);
}

static void test_derived(void** state) {
  (void)state;
  run_threads(4, derived);
  run_processes("derived", 4, -1);
  pthread_barrier_init(&grow_barrier, NULL, 4);
  run_threads(4, growing);
}

/* A captured graph sums anew at each launch; it outlives its communicator. */
static void captured(rank* self) {
  float *data = NULL, *result = NULL;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaMallocAsync((void**)&data, COUNT * sizeof(float), self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  CHECK(cudaMallocAsync((void**)&result, COUNT * sizeof(float), self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  CHECK(cudaStreamBeginCapture(self->stream, cudaStreamCaptureModeThreadLocal) == 0);
  CHECK(ncclAllReduce(data, result, COUNT, F32, SUM, self->comm, self->stream) == 0);
  CHECK(ncclAllReduce(result, result, COUNT, F32, MAX, self->comm, self->stream) == 0);
  CHECK(cudaStreamEndCapture(self->stream, &graph) == 0);
  CHECK(cudaGraphInstantiate(&exec, graph, 0) == 0);
  CHECK(cudaGraphDestroy(graph) == 0);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < COUNT; ++i) data[i] = (float)(self->number + round);
    CHECK(cudaGraphLaunch(exec, self->stream) == 0);
    CHECK(cudaStreamSynchronize(self->stream) == 0);
    const int all = self->count * (self->count - 1) / 2 + round * self->count;
    for (int i = 0; i < COUNT; ++i) CHECK(result[i] == (float)all);
  }
  CHECK(cudaGraphExecDestroy(exec) == 0);
  CHECK(cudaFreeAsync(data, self->stream) == 0);
  CHECK(cudaFreeAsync(result, self->stream) == 0);
}

static void test_captures(void** state) {
  (void)state;
  run_threads(4, captured);
  run_processes("captured", 2, -1);
}

/* Operations of one communicator in two streams keep their order. */
static void two_streams(rank* self) {
  cudaStream_t second;
  float* data = NULL;
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == 0);
  CHECK(cudaMallocAsync((void**)&data, COUNT * sizeof(float), self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  for (int i = 0; i < COUNT; ++i) data[i] = (float)(self->number + 1);
  for (int round = 0; round < 50; ++round) {
    CHECK(ncclAllReduce(data, data, COUNT, F32, MAX, self->comm, self->stream) == 0);
    CHECK(ncclBroadcast(data, data, COUNT, F32, 0, self->comm, second) == 0);
  }
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  CHECK(cudaStreamSynchronize(second) == 0);
  for (int i = 0; i < COUNT; ++i) CHECK(data[i] == (float)self->count);
  CHECK(cudaFreeAsync(data, self->stream) == 0);
  CHECK(cudaStreamDestroy(second) == 0);
}

static void test_streams(void** state) {
  (void)state;
  run_threads(3, two_streams);
}

/* Starts and splits that do not block are polled. */
static void polled(rank* self) {
  config settings = {sizeof settings, 0xcafebeef, 23203, 0, {0}};
  communicator comm = NULL, part = NULL;
  int state = IN_PROGRESS;
  const int begun = ncclCommSplit(self->comm, 0, self->number, &comm, &settings);
  CHECK(begun == SUCCESS || begun == IN_PROGRESS);
  while (state == IN_PROGRESS) CHECK(ncclCommGetAsyncError(comm, &state) == 0);
  CHECK(state == SUCCESS);
  check_sum(self, comm, self->count * (self->count - 1) / 2);
  const int split = ncclCommSplit(comm, 0, self->number, &part, NULL); /* as its parent */
  CHECK(split == SUCCESS || split == IN_PROGRESS);
  check_sum(self, part, self->count * (self->count - 1) / 2);
  CHECK(ncclCommDestroy(comm) == 0);
  CHECK(ncclCommDestroy(part) == 0);
  settings.magic = 1;
  CHECK(ncclCommSplit(self->comm, 0, 0, &comm, &settings) == INVALID_ARGUMENT);
}

static void test_polled(void** state) {
  (void)state;
  run_threads(2, polled);
}

static void test_arguments(void** state) {
  (void)state;
  int value = 0;
  communicator comm;
  float* const data = new_data(1);
  assert_int_equal(ncclGetVersion(&value), 0);
  assert_int_equal(value, 23203);
  assert_int_equal(ncclGetVersion(NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclGetUniqueId(NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitAll(&comm, 0, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitAll(NULL, 1, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitAll(&comm, 1, (const int[]){77}), INVALID_ARGUMENT);
  assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
  assert_int_equal(ncclAllReduce(data, data, 1, -1, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, 1, F32, 5, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(NULL, data, 1, F32, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, NULL, 1, F32, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, &value, 1, F32, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, SIZE_MAX / 2, F32, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, 1 << 30, F32, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclBroadcast(data, data, 1, F32, 1, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclSend(data, 1, F32, -1, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, 1, F32, SUM, NULL, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, 1, F32, SUM, (void*)8, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclCommCount((void*)8, &value), INVALID_ARGUMENT);

  assert_int_equal(ncclCommDestroy(comm), 0);
  assert_int_equal(ncclCommDestroy(NULL), 0);
  assert_int_equal(cudaFree(data), 0);
}

static void test_own_reductions(void** state) {
  (void)state;
  communicator comm;
  float* const data = new_data(1);
  assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
  int op = 0;
  float scalar = 2;
  float* device_scalar = NULL;
  assert_int_equal(ncclMemAlloc((void**)&device_scalar, 4), 0);
  *device_scalar = 3;
  assert_int_equal(ncclRedOpCreatePreMulSum(&op, &scalar, F32, 2, comm), INVALID_ARGUMENT);
  assert_int_equal(ncclRedOpCreatePreMulSum(&op, (void*)8, F32, 1, comm), INVALID_ARGUMENT);
  assert_int_equal(ncclRedOpCreatePreMulSum(&op, device_scalar, F32, 0, comm), 0);
  assert_int_equal(ncclAllReduce(data, data, 1, F64, op, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, COUNT, F32, op, comm, NULL), 0);
  assert_int_equal(ncclRedOpDestroy(op, comm), 0);
  assert_int_equal(ncclRedOpDestroy(op, comm), INVALID_ARGUMENT);
  assert_int_equal(ncclRedOpDestroy(SUM, comm), INVALID_ARGUMENT);
  assert_int_equal(cudaStreamSynchronize(NULL), 0);
  check_data(data, 3);

  assert_int_equal(ncclMemFree(device_scalar), 0);
  assert_int_equal(ncclCommDestroy(comm), 0);
  assert_int_equal(cudaFree(data), 0);
}

/* Failures of the device and wrong arguments have a text of their own, with the values. */
static void test_texts(void** state) {
  (void)state;
  communicator comm, fewer;
  float* const data = new_data(1);
  void* place = data;
  int nobody = 9;
  assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
  assert_int_equal(ncclAllReduce(data, data, 1, 77, SUM, comm, NULL), INVALID_ARGUMENT);
  assert_int_equal(ncclAllReduce(data, data, (size_t)1 << 40, F32, SUM, comm, NULL),
                   INVALID_ARGUMENT);
  assert_non_null(
      strstr(ncclGetLastError(NULL), "ncclAllReduce: CUDA's error 1 for sendbuff at 0x"));
  assert_non_null(strstr(ncclGetLastError(NULL), "(4398046511104 bytes)"));
  assert_int_not_equal(ncclMemAlloc(&place, (size_t)1 << 50), 0);
  assert_non_null(strstr(ncclGetLastError(NULL), "ncclMemAlloc: CUDA's error 2"));
  assert_int_equal(ncclCommShrink(comm, &nobody, 1, &fewer, NULL, 0), INVALID_ARGUMENT);
  assert_non_null(strstr(ncclGetLastError(NULL), "no rank 9 of 1 ranks"));

  assert_int_equal(ncclMemFree(NULL), 0);
  assert_int_equal(ncclMemAlloc(&place, 0), 0);
  assert_null(place);
  assert_int_equal(ncclCommFinalize(NULL), 0);

  assert_int_equal(ncclGroupStart(), 0);
  assert_int_equal(ncclAllReduce(data, data, 1, F32, SUM, comm, NULL), 0);
  assert_int_equal(ncclCommRevoke(comm, 0), 0);
  assert_int_equal(ncclGroupEnd(), REMOTE_ERROR);
  assert_int_equal(ncclCommDestroy(comm), 0);
  assert_int_equal(cudaFree(data), 0);
}

static void test_states(void** state) {
  (void)state;
  int value = 0;
  void* place = NULL;
  communicator comm;
  float* const data = new_data(1);
  assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
  void *registered = NULL, *window = NULL;
  assert_int_equal(ncclCommRegister(comm, data, COUNT * sizeof(float), &registered), 0);
  assert_int_equal(ncclCommRegister(comm, &value, 4, &place), INVALID_ARGUMENT);
  assert_int_equal(ncclCommWindowRegister(comm, data, 4096, &window, 1), 0);
  assert_int_equal(ncclWinGetUserPtr(comm, window, &place), 0);
  assert_ptr_equal(place, data);
  assert_int_equal(ncclWinGetUserPtr(comm, registered, &place), INVALID_ARGUMENT);
  assert_int_equal(ncclCommDeregister(comm, window), INVALID_ARGUMENT);
  assert_int_equal(ncclCommDeregister(comm, registered), 0);
  assert_int_equal(ncclCommDeregister(comm, registered), INVALID_ARGUMENT);
  assert_int_equal(ncclCommWindowDeregister(comm, window), 0);

  uint64_t bytes = 5;
  assert_int_equal(ncclCommSuspend(comm, 0), INVALID_ARGUMENT);
  assert_int_equal(ncclCommSuspend(comm, 1), 0);
  assert_int_equal(ncclCommMemStats(comm, 1, &bytes), 0);
  assert_int_equal(bytes, 1);
  assert_int_equal(ncclAllReduce(data, data, 1, F32, SUM, comm, NULL), INVALID_USAGE);
  assert_int_equal(ncclCommResume(comm), 0);
  assert_int_equal(ncclCommResume(comm), INVALID_USAGE);
  assert_int_equal(ncclCommMemStats(comm, 3, &bytes), 0);
  assert_int_equal(bytes, 0);
  assert_int_equal(ncclCommMemStats(comm, 4, &bytes), INVALID_ARGUMENT);
  for (int i = 0; i < 10; ++i) assert_non_null(ncclGetErrorString(i));
  assert_non_null(strstr(ncclGetLastError(comm), "there is no statistic 4"));
  assert_int_equal(ncclCommRevoke(comm, 1), INVALID_ARGUMENT);
  assert_int_equal(ncclCommRevoke(comm, 0), 0);
  assert_int_equal(ncclAllReduce(data, data, 1, F32, SUM, comm, NULL), REMOTE_ERROR);
  assert_non_null(strstr(ncclGetLastError(comm), "revoked"));
  assert_int_equal(ncclCommDestroy(comm), 0);
  assert_int_equal(cudaFree(data), 0);
}

/* A program may end while an operation waits for a rank that never comes. */
static void test_exit(void** state) {
  (void)state;
  run_processes("exit", 2, -1);
}

static void leave_waiting(rank* self) {
  float* data = NULL;
  CHECK(cudaMallocAsync((void**)&data, 4096, self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  if (self->number == 0)
    CHECK(ncclAllReduce(data, data, 10, F32, SUM, self->comm, self->stream) == 0);
  usleep(20000);
  exit(0);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*body)(rank*);
  } kBodies[] = {{"derived", derived}, {"captured", captured}, {"exit", leave_waiting}};
  for (size_t i = 0; argc > 4 && i < sizeof kBodies / sizeof kBodies[0]; ++i) {
    if (strcmp(argv[2], kBodies[i].name) != 0) continue;
    rank self = rank_of_process(argv, kBodies[i].body);
    run_thread(&self);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exit),           cmocka_unit_test(test_groups),
      cmocka_unit_test(test_derived),        cmocka_unit_test(test_failed_group),
      cmocka_unit_test(test_captures),       cmocka_unit_test(test_streams),
      cmocka_unit_test(test_polled),         cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_own_reductions), cmocka_unit_test(test_states),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
