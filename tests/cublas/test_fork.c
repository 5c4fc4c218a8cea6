/* Children of a process whose threads are in calls of the driver, the runtime and cuBLAS: they end,
 * and what they call gives a status. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

typedef struct busy_threads {
  atomic_bool is_over;
  pthread_t threads[4];
} busy_threads;

static void do_nothing(void* ignored) { (void)ignored; }

static void* make_calls(void* argument) {
  busy_threads* busy = argument;
  while (!atomic_load(&busy->is_over)) {
    cudaStream_t stream;
    cublasHandle_t own;
    void* memory = NULL;
    if (cudaStreamCreate(&stream) != cudaSuccess) continue;
    cudaLaunchHostFunc(stream, do_nothing, NULL);
    cudaMalloc(&memory, 4096);
    if (cublasCreate_v2(&own) == OK_) {
      cublasSetStream_v2(own, stream);
      cublasDestroy_v2(own);
    }
    cudaFree(memory);
    cudaStreamDestroy(stream);
  }
  return NULL;
}

static int check_calls(void) {
  void* memory = NULL;
  cublasHandle_t made = NULL;
  int version = 0;
  if (cudaMalloc(&memory, 16) != cudaErrorInitializationError) return 1;
  if (cudaGetLastError() != cudaErrorInitializationError) return 2;
  if (cudaDeviceSynchronize() != cudaErrorInitializationError) return 3;
  if (cublasSetStream_v2(handle, NULL) != NOT_INITIALIZED) return 4;
  if (cublasCreate_v2(&made) != NOT_INITIALIZED) return 5;
  if (cublasDestroy_v2(handle) != NOT_INITIALIZED) return 6;
  return cudaRuntimeGetVersion(&version) == cudaSuccess && version >= 12000 ? 0 : 7;
}

static void end_child(int way) {
  alarm(20); /* instead of hanging */
  if (way == 0) exit(0);
  if (way == 1) _exit(0);
  if (way == 2) pthread_exit(NULL); /* the only thread: then as exit(0) */
  exit(check_calls());
}

static void children_of_busy_threads_end(void** state) {
  (void)state;
  busy_threads busy = {.is_over = 0};
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_create(&busy.threads[i], NULL, make_calls, &busy), 0);
  }
  int status = 0;
  for (int i = 0; i < 400 && status == 0; ++i) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) end_child(i % 4);
    assert_int_equal(waitpid(child, &status, 0), child);
  }
  atomic_store(&busy.is_over, 1);
  for (int i = 0; i < 4; ++i) pthread_join(busy.threads[i], NULL);
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(children_of_busy_threads_end),
  };
  return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
