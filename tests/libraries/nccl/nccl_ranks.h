/* NCCL's functions as the tests use them, and ranks that are threads or processes. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/comm_numbers.h"

enum {
  SUCCESS,
  CUDA_ERROR,
  SYSTEM_ERROR,
  INTERNAL_ERROR,
  INVALID_ARGUMENT,
  INVALID_USAGE,
  REMOTE_ERROR,
  IN_PROGRESS,
  TIMEOUT
};
enum { MOST_RANKS = 8 };

typedef struct {
  char bytes[128];
} unique_id;
typedef struct {
  size_t size;
  unsigned magic, version;
  int blocking;
  int rest[40];
} config;
typedef void* communicator;

int ncclGetVersion(int*);
int ncclGetUniqueId(unique_id*);
int ncclCommInitRank(communicator*, int, unique_id, int);
int ncclCommInitRankConfig(communicator*, int, unique_id, int, void*);
int ncclCommInitRankScalable(communicator*, int, int, int, unique_id*, void*);
int ncclCommInitAll(communicator*, int, const int*);
int ncclCommFinalize(communicator);
int ncclCommDestroy(communicator);
int ncclCommAbort(communicator);
int ncclCommRevoke(communicator, int);
int ncclCommSplit(communicator, int, int, communicator*, void*);
int ncclCommShrink(communicator, int*, int, communicator*, void*, int);
int ncclCommGetUniqueId(communicator, unique_id*);
int ncclCommGrow(communicator, int, const unique_id*, int, communicator*, void*);
int ncclCommGetAsyncError(communicator, int*);
int ncclCommCount(communicator, int*);
int ncclCommCuDevice(communicator, int*);
int ncclCommUserRank(communicator, int*);
int ncclCommSuspend(communicator, int);
int ncclCommResume(communicator);
int ncclCommMemStats(communicator, int, uint64_t*);
int ncclCommRegister(communicator, void*, size_t, void**);
int ncclCommDeregister(communicator, void*);
int ncclCommWindowRegister(communicator, void*, size_t, void**, int);
int ncclCommWindowDeregister(communicator, void*);
int ncclWinGetUserPtr(communicator, void*, void**);
int ncclMemAlloc(void**, size_t);
int ncclMemFree(void*);
const char* ncclGetErrorString(int);
const char* ncclGetLastError(communicator);
int ncclRedOpCreatePreMulSum(int*, void*, int, int, communicator);
int ncclRedOpDestroy(int, communicator);
int ncclAllReduce(const void*, void*, size_t, int, int, communicator, cudaStream_t);
int ncclReduce(const void*, void*, size_t, int, int, int, communicator, cudaStream_t);
int ncclBroadcast(const void*, void*, size_t, int, int, communicator, cudaStream_t);
int ncclBcast(void*, size_t, int, int, communicator, cudaStream_t);
int ncclAllGather(const void*, void*, size_t, int, communicator, cudaStream_t);
int ncclReduceScatter(const void*, void*, size_t, int, int, communicator, cudaStream_t);
int ncclAlltoAll(const void*, void*, size_t, int, communicator, cudaStream_t);
int ncclGather(const void*, void*, size_t, int, int, communicator, cudaStream_t);
int ncclScatter(const void*, void*, size_t, int, int, communicator, cudaStream_t);
int ncclSend(const void*, size_t, int, int, communicator, cudaStream_t);
int ncclRecv(void*, size_t, int, int, communicator, cudaStream_t);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclGroupSimulateEnd(void*);

/* One rank of a test. */
typedef struct rank rank;
struct rank {
  int number, count;
  unique_id id;
  communicator comm;
  cudaStream_t stream;
  void (*body)(rank*);
};

/* For ranks, which are not on the test's thread: the process ends. */
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, self->number, self->count, \
              #condition);                                                                         \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

static inline void open_rank(rank* self) {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices) == 0);
  CHECK(cudaSetDevice(self->number % devices) == 0);
  CHECK(cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking) == 0);
  CHECK(ncclCommInitRank(&self->comm, self->count, self->id, self->number) == 0);
}

static inline void close_rank(rank* self) {
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  CHECK(ncclCommDestroy(self->comm) == 0);
  CHECK(cudaStreamDestroy(self->stream) == 0);
}

static inline void* run_thread(void* argument) {
  rank* const self = argument;
  open_rank(self);
  self->body(self);
  close_rank(self);
  return NULL;
}

/* Ranks that have been started. */
typedef struct {
  int count;
  pthread_t threads[MOST_RANKS];
  rank ranks[MOST_RANKS];
} running_threads;

static inline void start_threads(running_threads* all, int count, void (*body)(rank*)) {
  unique_id id;
  assert_int_equal(ncclGetUniqueId(&id), 0);
  all->count = count;
  for (int i = 0; i < count; ++i) {
    all->ranks[i] = (rank){.number = i, .count = count, .id = id, .body = body};
    assert_int_equal(pthread_create(&all->threads[i], NULL, run_thread, &all->ranks[i]), 0);
  }
}
static inline void finish_threads(running_threads* all) {
  for (int i = 0; i < all->count; ++i) {
    assert_int_equal(pthread_join(all->threads[i], NULL), 0);
  }
}
static inline void run_threads(int count, void (*body)(rank*)) {
  running_threads all;
  start_threads(&all, count, body);
  finish_threads(&all);
}

typedef struct {
  int count;
  int killed; /* the rank that is killed; -1: none */
  pid_t children[MOST_RANKS];
} running_processes;

/* Runs this program again for each rank, with its number and the test's name; rank 0 makes the id
 * and gives it to the others by pipes. */
static inline running_processes start_processes(const char* name, int count, int killed) {
  int pipes[MOST_RANKS][2];
  running_processes all = {.count = count, .killed = killed};
  for (int i = 0; i < count; ++i) assert_int_equal(pipe(pipes[i]), 0);
  for (int i = 0; i < count; ++i) {
    all.children[i] = fork();
    if (all.children[i] != 0) continue;
    char words[2 + MOST_RANKS][16];
    char* arguments[5 + MOST_RANKS] = {"test", "--rank", (char*)name, words[0], words[1]};
    snprintf(words[0], 16, "%d", i);
    snprintf(words[1], 16, "%d", count);
    for (int j = 0; j < count; ++j) {
      snprintf(words[2 + j], 16, "%d", i == 0 ? pipes[j][1] : pipes[j][0]);
      arguments[5 + j] = words[2 + j];
    }
    char* whole[6 + MOST_RANKS];
    memcpy(whole, arguments, sizeof arguments);
    whole[5 + count] = NULL;
    execv("/proc/self/exe", whole);
    _exit(127);
  }
  for (int i = 0; i < count; ++i) {
    close(pipes[i][0]);
    close(pipes[i][1]);
  }
  return all;
}
static inline void finish_processes(const running_processes* all) {
  for (int i = 0; i < all->count; ++i) {
    int status = 0;
    assert_int_equal(waitpid(all->children[i], &status, 0), all->children[i]);
    if (i == all->killed) {
      assert_true(WIFSIGNALED(status));
    } else {
      assert_true(WIFEXITED(status));
      assert_int_equal(WEXITSTATUS(status), 0);
    }
  }
}

static inline void run_processes(const char* name, int count, int killed) {
  const running_processes all = start_processes(name, count, killed);
  finish_processes(&all);
}

/* The rank that a process is: --rank NAME NUMBER COUNT FILE... */
static inline rank rank_of_process(char** arguments, void (*body)(rank*)) {
  rank made = {.number = atoi(arguments[3]), .count = atoi(arguments[4]), .body = body};
  rank* const self = &made;
  if (made.number == 0) {
    CHECK(ncclGetUniqueId(&made.id) == 0);
    for (int i = 1; i < made.count; ++i) {
      CHECK(write(atoi(arguments[5 + i]), &made.id, sizeof made.id) == sizeof made.id);
    }
  } else {
    CHECK(read(atoi(arguments[5 + made.number]), &made.id, sizeof made.id) == sizeof made.id);
  }
  return made;
}
