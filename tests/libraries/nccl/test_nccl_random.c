/* Random calls of libnccl with right and wrong arguments: each gives a result, none ends the
 * process or stands still, and a communicator that is made afterwards works. KM_TEST_CALLS says how
 * many. */
#include "nccl_ranks.h"

int ncclAllReduceConfig(const void*, void*, size_t, int, int, communicator, cudaStream_t, void*);
int ncclGatherConfig(const void*, void*, size_t, int, int, communicator, cudaStream_t, void*);
int ncclParamBind(void**, const char*);
int ncclParamGetParameter(const char*, const char**, int*);
int ncclParamGetAllParameterKeys(const char***, int*);
int ncclPutSignal(void);
int ncclDevCommCreate(void);
int ncclSetEncryption(void*);

enum { COMMS = 12, STREAMS = 4, BYTES = 1 << 16 };

static uint64_t state = 88172645463325252ULL;
static uint64_t next_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 11;
}
static int below(int limit) { return (int)(next_number() % (uint64_t)limit); }

static communicator comms[COMMS];
static cudaStream_t streams[STREAMS];
static char *device_memory, *pinned_memory;
static char host_memory[4096];
static int depth;

static communicator any_comm(void) {
  static const communicator kWrong[] = {NULL, (void*)8, (void*)-1, (void*)0x7000000000000000};
  return below(10) == 0 ? kWrong[below(4)] : comms[below(COMMS)];
}
static void* any_place(void) {
  switch (below(12)) {
    case 0:
      return NULL;
    case 1:
      return (void*)8;
    case 2:
      return host_memory;
    case 3:
      return pinned_memory + below(64) * 8;
    case 4:
      return device_memory + BYTES - 8;
    default:
      return device_memory + below(512) * 8;
  }
}
static size_t any_count(void) {
  static const size_t kCounts[] = {0, 1, 7, 100, 1000, 1000, 1 << 20, (size_t)1 << 60, SIZE_MAX};
  return kCounts[below(9)];
}
static int any_type(void) { return below(12) == 0 ? below(40) - 20 : below(TYPES); }
static int any_op(void) { return below(OPS + 3); }
static int any_rank(void) { return below(10) == 0 ? below(10) - 5 : below(3); }
static cudaStream_t any_stream(void) {
  return below(40) == 0 ? (cudaStream_t)(void*)77777 : streams[below(STREAMS)];
}

static int call_operation(int kind) {
  void *const in = any_place(), *const out = below(3) == 0 ? in : any_place();
  switch (kind) {
    case 0:
      return ncclAllReduce(in, out, any_count(), any_type(), any_op(), any_comm(), any_stream());
    case 1:
      return ncclReduce(in, out, any_count(), any_type(), any_op(), any_rank(), any_comm(),
                        any_stream());
    case 2:
      return ncclBroadcast(in, out, any_count(), any_type(), any_rank(), any_comm(), any_stream());
    case 3:
      return ncclAllGather(in, out, any_count(), any_type(), any_comm(), any_stream());
    case 4:
      return ncclReduceScatter(in, out, any_count(), any_type(), any_op(), any_comm(),
                               any_stream());
    case 5:
      return ncclAlltoAll(in, out, any_count(), any_type(), any_comm(), any_stream());
    case 6:
      return ncclGather(in, out, any_count(), any_type(), any_rank(), any_comm(), any_stream());
    case 7:
      return ncclScatter(in, out, any_count(), any_type(), any_rank(), any_comm(), any_stream());
    case 8:
      return ncclSend(in, any_count(), any_type(), any_rank(), any_comm(), any_stream());
    case 9:
      return ncclRecv(out, any_count(), any_type(), any_rank(), any_comm(), any_stream());
    case 10:
      return ncclAllReduceConfig(in, out, any_count(), any_type(), any_op(), any_comm(),
                                 any_stream(), any_place());
    case 11:
      return ncclGatherConfig(in, out, any_count(), any_type(), any_rank(), any_comm(),
                              any_stream(), any_place());
    default:
      return ncclBcast(out, any_count(), any_type(), any_rank(), any_comm(), any_stream());
  }
}

/* Both ranks of a pair make one call, so that it ends well. */
static int call_pair(void) {
  const int pair = below(COMMS / 2) * 2, type = below(TYPES), op = below(OPS);
  const size_t count = (size_t)below(2000);
  int result = ncclGroupStart();
  ++depth;
  for (int i = 0; i < 2; ++i) {
    char* const data = device_memory + (size_t)i * (BYTES / 2);
    result |= ncclAllReduce(data, data, count, type, op, comms[pair + i], streams[i]);
  }
  --depth;
  return result | ncclGroupEnd();
}

static int make_pair(void) {
  const int place = below(COMMS / 2) * 2;
  if (depth != 0) return 0;
  for (int i = 0; i < 2; ++i) ncclCommAbort(comms[place + i]);
  return ncclCommInitAll(&comms[place], 2, NULL);
}

static int call_query(int kind) {
  switch (kind) {
    case 0:
      return ncclCommCount(any_comm(), any_place());
    case 1:
      return ncclCommUserRank(any_comm(), any_place());
    case 2:
      return ncclCommCuDevice(any_comm(), any_place());
    case 3:
      return ncclCommGetAsyncError(any_comm(), any_place());
    case 4:
      return ncclGetErrorString(below(20)) == NULL || ncclGetLastError(any_comm()) == NULL ? 99 : 0;
    case 5:
      return ncclRedOpCreatePreMulSum(any_place(), any_place(), any_type(), below(3), any_comm());
    case 6:
      return ncclRedOpDestroy(any_op(), any_comm());
    case 7:
      return ncclCommRegister(any_comm(), any_place(), any_count(), any_place());
    case 8:
      return ncclCommDeregister(any_comm(), any_place());
    case 9:
      return ncclCommWindowRegister(any_comm(), any_place(), any_count(), any_place(), below(20));
    case 10:
      return ncclWinGetUserPtr(any_comm(), any_place(), any_place());
    case 11:
      return ncclCommMemStats(any_comm(), below(6) - 1, any_place());
    case 12:
      return below(2) == 0 ? ncclCommSuspend(any_comm(), below(3)) : ncclCommResume(any_comm());
    case 13:
      return ncclGroupSimulateEnd(any_place()) == 0 ? depth = 0 : 5;
    case 14:
      return ncclParamBind(any_place(), any_place());
    case 15:
      return ncclParamGetParameter(any_place(), any_place(), any_place());
    case 16:
      return ncclParamGetAllParameterKeys(any_place(), any_place());
    case 17:
      return below(2) == 0 ? ncclPutSignal() : ncclDevCommCreate();
    case 18:
      return ncclSetEncryption(any_place());
    default:
      return ncclGetVersion(any_place());
  }
}

/* Calls that wait for other ranks, which do not come: each takes the time limit. */
static int call_start(void) {
  communicator made = NULL;
  unique_id id;
  memset(&id, below(256), sizeof id);
  if (depth != 0) return 0;
  switch (below(4)) {
    case 0:
      return ncclCommInitRank(below(4) == 0 ? NULL : &made, below(3), id, below(3) - 1);
    case 1:
      return ncclCommInitRankConfig(&made, 1, id, 0, any_place());
    case 2:
      return ncclCommSplit(any_comm(), below(5) - 3, below(5), below(4) == 0 ? NULL : &made,
                           below(3) == 0 ? any_place() : NULL);
    default:
      return ncclCommGrow(any_comm(), below(5) - 1, any_place(), below(4) - 2, &made, NULL);
  }
}

static int call_any(int number) {
  if (number % 1500 == 0) return call_start();
  switch (below(16)) {
    case 0:
      if (depth > 3) return 0;
      ++depth;
      return ncclGroupStart();
    case 1:
    case 2:
    case 3:
      if (depth != 0) --depth;
      return ncclGroupEnd();
    case 4:
      return make_pair();
    case 5:
      return below(8) == 0 ? ncclCommFinalize(any_comm()) : 0;
    case 6:
      return below(40) == 0 ? ncclCommRevoke(any_comm(), below(2)) : 0;
    case 7:
    case 8:
      return call_query(below(20));
    case 9:
    case 10:
    case 11:
      return call_pair();
    default:
      return below(8) == 0 ? call_operation(below(13)) : 0;
  }
}

static void test_random(void** unused) {
  (void)unused;
  const char* const wanted = getenv("KM_TEST_CALLS");
  const int calls = wanted != NULL ? atoi(wanted) : 6000;
  assert_int_equal(cudaMalloc((void**)&device_memory, BYTES), 0);
  assert_int_equal(cudaMallocHost((void**)&pinned_memory, BYTES), 0);
  memset(device_memory, 0, BYTES);
  for (int i = 1; i < STREAMS; ++i) {
    assert_int_equal(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), 0);
  }
  for (int i = 0; i < COMMS; i += 2) assert_int_equal(ncclCommInitAll(&comms[i], 2, NULL), 0);
  for (int i = 0; i < calls; ++i) {
    const int result = call_any(i);
    assert_in_range(result, 0, 15); /* results of two calls are joined */
  }
  while (ncclGroupEnd() != INVALID_USAGE || depth > 0) --depth;
  for (int i = 0; i < COMMS; ++i) ncclCommAbort(comms[i]);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  communicator pair[2];
  assert_int_equal(ncclCommInitAll(pair, 2, NULL), 0);
  float* const data = (float*)(void*)device_memory;
  for (int i = 0; i < 2000; ++i) data[i] = (float)(1 + i / 1000);
  assert_int_equal(ncclGroupStart(), 0);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(
        ncclAllReduce(data + 1000 * i, data + 1000 * i, 1000, F32, SUM, pair[i], streams[1]), 0);
  }
  assert_int_equal(ncclGroupEnd(), 0);
  assert_int_equal(cudaStreamSynchronize(streams[1]), 0);
  for (int i = 0; i < 2000; ++i) assert_true(data[i] == 3);
  for (int i = 0; i < 2; ++i) assert_int_equal(ncclCommDestroy(pair[i]), 0);
}

int main(void) {
  setenv("KM_COMM_TIMEOUT_S", "1", 1);
  setenv("KM_LOG", "off", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
