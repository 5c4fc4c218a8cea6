/* Memory, events and pools that two processes share: this program starts itself as the other. */
#include "support.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { kWords = 1000 };

/* The handles that the other process gets; it answers with one byte when it has used them. */
typedef struct handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
  struct cudaMemPoolPtrExportData pooled;
  int pool; /* a descriptor that it has inherited */
} handles;

static void use_memory_and_event(const handles* h) {
  uint32_t* memory = NULL;
  cudaEvent_t event = NULL;
  OK(cudaIpcOpenMemHandle((void**)&memory, h->memory, cudaIpcMemLazyEnablePeerAccess));
  OK(cudaIpcOpenEventHandle(&event, h->event));
  assert_int_equal(read_u32(memory), 7);
  OK(launch_add(memory, kWords, NULL));
  OK(cudaEventRecord(event, NULL));
  OK(cudaEventSynchronize(event));
  OK(cudaEventDestroy(event));
  OK(cudaIpcCloseMemHandle(memory));
  EXPECT(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
  cudaGetLastError();
}

static void use_pool(handles* h) {
  cudaMemPool_t pool = NULL;
  uint32_t* memory = NULL;
  OK(cudaMemPoolImportFromShareableHandle(&pool, (void*)(uintptr_t)h->pool,
                                          cudaMemHandleTypePosixFileDescriptor, 0));
  OK(cudaMemPoolImportPointer((void**)&memory, pool, &h->pooled));
  assert_int_equal(read_u32(memory), 9);
  OK(launch_add(memory, kWords, NULL));
  OK(cudaFreeAsync(memory, NULL));
  OK(cudaStreamSynchronize(NULL));
  EXPECT(cudaErrorInvalidValue, cudaMallocFromPoolAsync((void**)&memory, 4, pool, NULL));
  cudaGetLastError();
  OK(cudaMemPoolDestroy(pool));
}

static int be_the_other_process(int channel) {
  handles h;
  if (read(channel, &h, sizeof h) != (ssize_t)sizeof h) return 1;
  use_memory_and_event(&h);
  use_pool(&h);
  return write(channel, "d", 1) == 1 ? 0 : 1;
}

static pid_t start_peer(int* channel) {
  int ends[2];
  char number[16];
  char* words[] = {"/proc/self/exe", number, NULL};
  pid_t process = 0;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  snprintf(number, sizeof number, "%d", ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  assert_int_equal(posix_spawn(&process, words[0], &actions, NULL, words, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  *channel = ends[0];
  return process;
}

static uint32_t* words_of(cudaMemPool_t pool, uint32_t value) {
  uint32_t values[kWords], *made = NULL;
  for (int i = 0; i < kWords; ++i) values[i] = value;
  if (pool == NULL) {
    OK(cudaMalloc((void**)&made, sizeof values));
  } else {
    OK(cudaMallocFromPoolAsync((void**)&made, sizeof values, pool, NULL));
  }
  OK(cudaMemcpy(made, values, sizeof values, cudaMemcpyHostToDevice));
  return made;
}

static cudaMemPool_t create_pool(enum cudaMemAllocationHandleType type) {
  struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                        .handleTypes = type,
                                        .location = {.type = cudaMemLocationTypeDevice, .id = 0}};
  cudaMemPool_t pool = NULL;
  OK(cudaMemPoolCreate(&pool, &properties));
  return pool;
}

static void another_process_uses_what_is_shared(void** state) {
  (void)state;
  NOT_ON_NVIDIAS_DRIVER(); /* it opens handles of processes with its modules only */
  handles h = {0};
  cudaEvent_t event = NULL;
  int channel = -1, own = -1, status = -1;
  char answer = 0;
  cudaMemPool_t pool = create_pool(cudaMemHandleTypePosixFileDescriptor);
  uint32_t* const memory = words_of(NULL, 7);
  uint32_t* const pooled = words_of(pool, 9);
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  OK(cudaIpcGetMemHandle(&h.memory, memory));
  OK(cudaIpcGetEventHandle(&h.event, event));
  OK(cudaMemPoolExportPointer(&h.pooled, pooled));
  OK(cudaMemPoolExportToShareableHandle(&own, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  h.pool = dup(own);
  close(own);
  const pid_t process = start_peer(&channel);
  close(h.pool);
  assert_int_equal(write(channel, &h, sizeof h), sizeof h);
  assert_int_equal(read(channel, &answer, 1), 1);
  OK(cudaEventSynchronize(event));
  assert_int_equal(read_u32(memory), 8);
  assert_int_equal(read_u32(memory + kWords - 1), 8);
  assert_int_equal(read_u32(pooled), 10);
  assert_int_equal(read_u32(pooled + kWords - 1), 10);
  assert_int_equal(waitpid(process, &status, 0), process);
  assert_int_equal(status, 0);
  close(channel);
  OK(cudaEventDestroy(event));
  OK(cudaFree(memory));
  OK(cudaFreeAsync(pooled, NULL));
  OK(cudaMemPoolDestroy(pool));
}

static void pools_say_who_may_use_them(void** state) {
  (void)state;
  cudaMemPool_t pool = create_pool(cudaMemHandleTypeNone);
  struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice, .id = 0};
  const struct cudaMemAccessDesc access = {device, cudaMemAccessFlagsProtReadWrite};
  enum cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  int types = -1, descriptor = -1;
  OK(cudaDeviceGetAttribute(&types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  assert_true((types & cudaMemHandleTypePosixFileDescriptor) != 0);
  OK(cudaMemPoolSetAccess(pool, &access, 1));
  OK(cudaMemPoolGetAccess(&flags, pool, &device));
  assert_int_equal(flags, cudaMemAccessFlagsProtReadWrite);
  EXPECT(cudaErrorInvalidValue, cudaMemPoolExportToShareableHandle(
                                    &descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  cudaGetLastError();
  OK(cudaMemPoolDestroy(pool));
}

int main(int count, char** words) {
  if (count == 2) return be_the_other_process(atoi(words[1]));
  const struct CMUnitTest tests[] = {
      TEST(another_process_uses_what_is_shared),
      TEST(pools_say_who_may_use_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
