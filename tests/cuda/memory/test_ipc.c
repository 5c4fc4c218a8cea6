/* Memory and events that two processes share: this program starts itself as the other one. */
#include "support.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

/* What the other process is asked to do, and what it answers. */
typedef enum verb {
  kOpenMemory, /* gives the first word */
  kAddOne,     /* to the words of the memory, by a kernel; gives the first word */
  kCloseMemory,
  kOpenEvent,
  kRecord,      /* the event, behind a kernel that waits for a word of the memory */
  kRelease,     /* that kernel */
  kWaitAndAdd,  /* the stream waits for the event and then adds one to the words */
  kSynchronize, /* the event */
  kQuery,
  kShareOwn,       /* memory of that process: gives a handle */
  kOpenPool,       /* by the descriptor `at`, which that process has inherited */
  kOpenPoolMemory, /* as kOpenMemory */
  kAllocateFromPool,
  kFreePoolMemory, /* in the stream's order */
} verb;

typedef struct request {
  verb what;
  unsigned words, at; /* how many, and the first one's place for kAddOne */
  CUipcMemHandle memory;
  CUipcEventHandle event;
  CUmemPoolPtrExportData pooled;
} request;

typedef struct answer {
  CUresult result;
  unsigned word;
  CUipcMemHandle memory;
} answer;

/* --- the other process --- */

typedef struct other {
  fixture* f;
  CUdeviceptr memory, flag, out, own;
  CUevent event;
  CUmemoryPool pool;
} other;

static CUresult add_one(const other* o, const request* r) {
  CUdeviceptr at = o->memory + 4 * (CUdeviceptr)r->at;
  unsigned words = r->words;
  void* arguments[] = {&at, &words};
  return cuLaunchKernel(kernel(o->f, "add_one"), (words + 255) / 256, 1, 1, 256, 1, 1, 0,
                        o->f->stream, arguments, NULL);
}

static CUresult record_behind_a_kernel(other* o) {
  void* arguments[] = {&o->flag, &o->out};
  OK(cuMemsetD32(o->flag, 0, 1));
  OK(cuLaunchKernel(kernel(o->f, "slow"), 1, 1, 1, 1, 1, 1, 0, o->f->stream, arguments, NULL));
  return cuEventRecord(o->event, o->f->stream);
}

static CUresult use_pool(other* o, request* r, answer* a) {
  CUdeviceptr none = 0;
  switch (r->what) {
    case kOpenPool:
      return cuMemPoolImportFromShareableHandle(&o->pool, (void*)(uintptr_t)r->at,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    case kOpenPoolMemory: {
      const CUresult opened = cuMemPoolImportPointer(&o->memory, o->pool, &r->pooled);
      return opened != CUDA_SUCCESS ? opened : cuMemcpyDtoH(&a->word, o->memory, 4);
    }
    case kAllocateFromPool:
      EXPECT(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, o->pool));
      return cuMemAllocFromPoolAsync(&none, 4, o->pool, o->f->stream);
    case kFreePoolMemory: {
      const CUresult freed = cuMemFreeAsync(o->memory, o->f->stream);
      return freed != CUDA_SUCCESS ? freed : cuStreamSynchronize(o->f->stream);
    }
    default:
      return CUDA_ERROR_UNKNOWN;
  }
}

static CUresult do_one(other* o, request* r, answer* a) {
  switch (r->what) {
    case kOpenMemory: {
      const CUresult opened =
          cuIpcOpenMemHandle(&o->memory, r->memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
      return opened != CUDA_SUCCESS ? opened : cuMemcpyDtoH(&a->word, o->memory, 4);
    }
    case kAddOne: {
      const CUresult launched = add_one(o, r);
      if (launched != CUDA_SUCCESS) return launched;
      OK(cuStreamSynchronize(o->f->stream));
      return cuMemcpyDtoH(&a->word, o->memory, 4);
    }
    case kCloseMemory:
      return cuIpcCloseMemHandle(o->memory);
    case kOpenEvent:
      return cuIpcOpenEventHandle(&o->event, r->event);
    case kRecord:
      return record_behind_a_kernel(o);
    case kRelease: {
      CUstream beside = NULL; /* the copy must not wait for the kernel */
      const unsigned one = 1;
      OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
      OK(cuMemcpyHtoDAsync(o->flag, &one, 4, beside));
      return cuStreamDestroy(beside);
    }
    case kWaitAndAdd: {
      const CUresult waiting = cuStreamWaitEvent(o->f->stream, o->event, 0);
      return waiting != CUDA_SUCCESS ? waiting : add_one(o, r);
    }
    case kSynchronize:
      return cuEventSynchronize(o->event);
    case kQuery:
      return cuEventQuery(o->event);
    case kShareOwn:
      OK(cuMemsetD32(o->own, 77, 1));
      return cuIpcGetMemHandle(&a->memory, o->own);
    default:
      return use_pool(o, r, a);
  }
}

static int be_the_other_process(int channel) {
  void* state = NULL;
  other o = {0};
  request r;
  set_up(&state);
  o.f = state;
  OK(cuMemAlloc(&o.flag, 4));
  OK(cuMemAlloc(&o.out, 4));
  OK(cuMemAlloc(&o.own, 4));
  while (read(channel, &r, sizeof r) == (ssize_t)sizeof r) {
    answer a = {0};
    a.result = do_one(&o, &r, &a);
    if (write(channel, &a, sizeof a) != (ssize_t)sizeof a) return 1;
  }
  return tear_down(&state);
}

/* --- this process --- */

typedef struct peer {
  pid_t process;
  int channel;
} peer;

static peer start_peer(void) {
  peer made = {0};
  int ends[2];
  char number[16];
  char* words[] = {"/proc/self/exe", number, NULL};
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  snprintf(number, sizeof number, "%d", ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  assert_int_equal(posix_spawn(&made.process, words[0], &actions, NULL, words, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  made.channel = ends[0];
  return made;
}

static void end_peer(const peer* p) {
  int status = 0;
  close(p->channel);
  assert_int_equal(waitpid(p->process, &status, 0), p->process);
  assert_int_equal(status, 0);
}

static answer ask(const peer* p, request r) {
  answer a = {0};
  assert_int_equal(write(p->channel, &r, sizeof r), sizeof r);
  assert_int_equal(read(p->channel, &a, sizeof a), sizeof a);
  return a;
}

static answer ask_for(const peer* p, verb what) {
  const request r = {.what = what};
  return ask(p, r);
}

static request open_request(CUdeviceptr memory) {
  request r = {.what = kOpenMemory};
  OK(cuIpcGetMemHandle(&r.memory, memory));
  return r;
}

static unsigned word_at(CUdeviceptr at) {
  unsigned word = 0;
  OK(cuMemcpyDtoH(&word, at, 4));
  return word;
}

static void both_processes_see_one_memory(void** state) {
  static const unsigned kWords[] = {1, 1000, 300000, 3000001};
  const peer p = start_peer();
  (void)state;
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; ++i) {
    const unsigned words = kWords[i];
    CUdeviceptr memory = 0, neighbour = 0;
    OK(cuMemAlloc(&memory, 4 * (size_t)words));
    OK(cuMemAlloc(&neighbour, 4));
    OK(cuMemsetD32(memory, 40 + (unsigned)i, words));
    OK(cuMemsetD32(neighbour, 5, 1));
    answer a = ask(&p, open_request(memory));
    assert_int_equal(a.result, CUDA_SUCCESS);
    assert_int_equal(a.word, 40 + i);
    const request add = {.what = kAddOne, .words = words};
    a = ask(&p, add);
    assert_int_equal(a.result, CUDA_SUCCESS);
    assert_int_equal(a.word, 41 + i);
    assert_int_equal(word_at(memory), 41 + i);
    assert_int_equal(word_at(memory + 4 * (CUdeviceptr)(words - 1)), 41 + i);
    assert_int_equal(word_at(neighbour), 5);
    OK(cuMemsetD32(memory, 7, 1));
    const request none = {.what = kAddOne, .words = 1, .at = words - 1};
    assert_int_equal(ask(&p, none).word, words == 1 ? 8 : 7);
    assert_int_equal(ask_for(&p, kCloseMemory).result, CUDA_SUCCESS);
    assert_int_equal(ask_for(&p, kCloseMemory).result, CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(memory));
    OK(cuMemFree(neighbour));
  }
  end_peer(&p);
}

static void the_same_handle_opens_at_one_address(void** state) {
  const peer p = start_peer();
  CUdeviceptr first = 0, second = 0;
  (void)state;
  const answer a = ask_for(&p, kShareOwn);
  assert_int_equal(a.result, CUDA_SUCCESS);
  OK(cuIpcOpenMemHandle(&first, a.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  OK(cuIpcOpenMemHandle(&second, a.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  assert_int_equal(first, second);
  OK(cuIpcCloseMemHandle(first));
  assert_int_equal(word_at(second), 77);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(second));
  OK(cuIpcCloseMemHandle(second));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(second));
  end_peer(&p);
  EXPECT(CUDA_ERROR_INVALID_HANDLE,
         cuIpcOpenMemHandle(&first, a.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

static void what_comes_after_a_free_is_not_shared(void** state) {
  enum { kWords = 2 << 20 };
  const peer p = start_peer();
  CUdeviceptr memory = 0;
  (void)state;
  OK(cuMemAlloc(&memory, 4 * kWords));
  OK(cuMemsetD32(memory, 3, kWords));
  const request opening = open_request(memory);
  assert_int_equal(ask(&p, opening).word, 3);
  OK(cuMemFree(memory));
  OK(cuMemAlloc(&memory, 4 * kWords)); /* at the same place */
  OK(cuMemsetD32(memory, 9, kWords));
  const request look = {.what = kAddOne, .words = 1};
  assert_int_equal(ask(&p, look).word, 4);
  assert_int_equal(word_at(memory), 9);
  assert_int_equal(ask_for(&p, kCloseMemory).result, CUDA_SUCCESS);
  assert_int_equal(ask(&p, opening).result, CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemFree(memory));
  end_peer(&p);
}

typedef struct busy {
  const fixture* f;
  CUdeviceptr memory;
  unsigned rounds;
} busy;

static void* keep_adding(void* given) {
  const busy* b = given;
  CUdeviceptr memory = b->memory;
  unsigned words = 1024;
  void* arguments[] = {&memory, &words};
  OK(cuCtxSetCurrent(b->f->context));
  for (unsigned i = 0; i < b->rounds; ++i) {
    OK(cuLaunchKernel(kernel(b->f, "add_one"), 4, 1, 1, 256, 1, 1, 0, b->f->stream, arguments,
                      NULL));
  }
  OK(cuStreamSynchronize(b->f->stream));
  return NULL;
}

/* Small allocations share pages: kernels write to this one while its neighbours are shared. */
static void memory_is_in_use_while_it_is_shared(void** state) {
  const fixture* f = *state;
  for (int turn = 0; turn < 20; ++turn) {
    /* Each size is of another slab. */
    const size_t bytes = (size_t)(4096 + 4096 * turn);
    CUdeviceptr memory = 0, neighbour = 0;
    CUipcMemHandle handle;
    pthread_t thread;
    OK(cuMemAlloc(&memory, bytes));
    OK(cuMemAlloc(&neighbour, bytes));
    OK(cuMemsetD32(memory, 0, 1024));
    busy b = {f, memory, 300};
    assert_int_equal(pthread_create(&thread, NULL, keep_adding, &b), 0);
    usleep(500);
    OK(cuIpcGetMemHandle(&handle, neighbour));
    pthread_join(thread, NULL);
    unsigned words[1024];
    OK(cuMemcpyDtoH(words, memory, sizeof words));
    for (int i = 0; i < 1024; ++i) assert_int_equal(words[i], 300);
    OK(cuMemFree(memory));
    OK(cuMemFree(neighbour));
  }
}

static void events_order_processes(void** state) {
  const fixture* f = *state;
  const peer p = start_peer();
  CUdeviceptr memory = 0;
  CUevent event = NULL;
  OK(cuMemAlloc(&memory, 4));
  OK(cuMemsetD32(memory, 0, 1));
  OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  OK(cuEventQuery(event)); /* never recorded */
  request r = {.what = kOpenEvent};
  OK(cuIpcGetEventHandle(&r.event, event));
  assert_int_equal(ask(&p, r).result, CUDA_SUCCESS);
  assert_int_equal(ask(&p, open_request(memory)).result, CUDA_SUCCESS);

  /* The other process records, and this one waits. */
  assert_int_equal(ask_for(&p, kRecord).result, CUDA_SUCCESS);
  EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  OK(cuStreamWaitEvent(f->stream, event, 0));
  OK(cuMemsetD32Async(memory, 1, 1, f->stream));
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
  assert_int_equal(ask_for(&p, kQuery).result, CUDA_ERROR_NOT_READY);
  assert_int_equal(ask_for(&p, kRelease).result, CUDA_SUCCESS);
  OK(cuEventSynchronize(event));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(word_at(memory), 1);

  /* This one records, 1500 times, and the other one waits for the last. */
  for (int i = 0; i < 1500; ++i) OK(cuEventRecord(event, f->stream));
  OK(cuMemsetD32Async(memory, 10, 1, f->stream));
  OK(cuEventRecord(event, f->stream));
  const request add = {.what = kWaitAndAdd, .words = 1};
  assert_int_equal(ask(&p, add).result, CUDA_SUCCESS);
  const request more = {.what = kAddOne, .words = 1};
  assert_int_equal(ask(&p, more).word, 12);
  assert_int_equal(ask_for(&p, kSynchronize).result, CUDA_SUCCESS);
  assert_int_equal(ask_for(&p, kQuery).result, CUDA_SUCCESS);
  OK(cuEventDestroy(event));
  OK(cuMemFree(memory));
  end_peer(&p);
}

static CUmemoryPool create_pool(CUmemAllocationHandleType type) {
  CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                               .handleTypes = type,
                               .location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};
  CUmemoryPool pool = NULL;
  OK(cuMemPoolCreate(&pool, &properties));
  return pool;
}

/* A descriptor of the pool that a process started from here inherits. */
static int export_pool(CUmemoryPool pool) {
  int own = -1;
  OK(cuMemPoolExportToShareableHandle(&own, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  const int inherited = dup(own);
  close(own);
  return inherited;
}

static void both_processes_see_a_pools_memory(void** state) {
  static const unsigned kWords[] = {1, 1000, 300000};
  const fixture* f = *state;
  CUmemoryPool pool = create_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const int descriptor = export_pool(pool);
  const peer p = start_peer();
  close(descriptor);
  request r = {.what = kOpenPool, .at = (unsigned)descriptor};
  assert_int_equal(ask(&p, r).result, CUDA_SUCCESS);
  assert_int_equal(ask_for(&p, kAllocateFromPool).result, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; ++i) {
    const unsigned words = kWords[i];
    CUdeviceptr memory = 0;
    OK(cuMemAllocFromPoolAsync(&memory, 4 * (size_t)words, pool, f->stream));
    OK(cuMemsetD32Async(memory, 40, words, f->stream));
    OK(cuStreamSynchronize(f->stream));
    r.what = kOpenPoolMemory;
    OK(cuMemPoolExportPointer(&r.pooled, memory));
    answer a = ask(&p, r);
    assert_int_equal(a.result, CUDA_SUCCESS);
    assert_int_equal(a.word, 40);
    const request add = {.what = kAddOne, .words = words};
    assert_int_equal(ask(&p, add).word, 41);
    assert_int_equal(word_at(memory + 4 * (CUdeviceptr)(words - 1)), 41);
    assert_int_equal(ask_for(&p, kFreePoolMemory).result, CUDA_SUCCESS);
    assert_int_equal(ask_for(&p, kFreePoolMemory).result, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(word_at(memory), 41); /* this process still has it */
    OK(cuMemFreeAsync(memory, f->stream));
  }
  memset(&r.pooled, 0, sizeof r.pooled);
  assert_int_equal(ask(&p, r).result, CUDA_ERROR_INVALID_VALUE);
  end_peer(&p);
  OK(cuMemPoolDestroy(pool));
}

static void pools_that_are_not_shared_are_refused(void** state) {
  const fixture* f = *state;
  CUmemoryPool own = create_pool(CU_MEM_HANDLE_TYPE_NONE), imported = NULL;
  CUmemoryPool shared = create_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CUmemPoolPtrExportData data = {0};
  CUdeviceptr memory = 0, opened = 0;
  const CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  int descriptor = -1, types = -1;
  OK(cuDeviceGetAttribute(&types, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0));
  assert_int_equal(types, type);
  OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES, &types));
  assert_int_equal(types, CU_MEM_HANDLE_TYPE_NONE);
  OK(cuMemPoolGetAttribute(shared, CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES, &types));
  assert_int_equal(types, type);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(&descriptor, own, type, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(&descriptor, shared, type, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(NULL, shared, type, 0));
  for (int i = -1; i < 3; ++i) {
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuMemPoolImportFromShareableHandle(&imported, (void*)(intptr_t)i, type, 0));
  }
  OK(cuMemAllocFromPoolAsync(&memory, 64, own, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&data, memory));
  OK(cuMemFreeAsync(memory, f->stream));
  OK(cuMemAllocFromPoolAsync(&memory, 64, shared, f->stream));
  OK(cuMemPoolExportPointer(&data, memory));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&opened, shared, &data));
  OK(cuMemFreeAsync(memory, f->stream));
  OK(cuMemPoolDestroy(own));
  OK(cuMemPoolDestroy(shared));
}

static void what_cannot_be_shared_is_refused(void** state) {
  const fixture* f = *state;
  CUdeviceptr memory = 0, managed = 0, pooled = 0;
  CUipcMemHandle handle;
  CUipcEventHandle event_handle;
  CUevent event = NULL;
  void* host = NULL;
  OK(cuMemAlloc(&memory, 100));
  OK(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemAllocHost(&host, 100));
  OK(cuMemAllocAsync(&pooled, 100, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(NULL, memory));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, managed));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)host));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, pooled));
  OK(cuIpcGetMemHandle(&handle, memory));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&pooled, handle, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(NULL, handle, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&pooled, handle, 2));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
  int capable = 0;
  OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
  assert_int_equal(capable, 1);
  OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, managed));
  assert_int_equal(capable, 0);

  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcGetEventHandle(&event_handle, event));
  OK(cuEventDestroy(event));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&event_handle, event));
  OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  OK(cuIpcGetEventHandle(&event_handle, event));
  CUevent opened = NULL;
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&opened, event_handle));
  if (!on_nvidias_driver()) {
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    OK(cuGraphCreate(&graph, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
    OK(cuGraphDestroy(graph));
  }
  OK(cuEventDestroy(event));
}

/* Handles that nobody made: each is refused. */
static void garbage_is_refused(void** state) {
  CUipcMemHandle memory;
  CUipcEventHandle event;
  CUdeviceptr at = 0;
  CUevent opened = NULL;
  (void)state;
  const peer p = start_peer();
  const answer real = ask_for(&p, kShareOwn);
  srand(17);
  for (int i = 0; i < 2000; ++i) {
    memory = real.memory;
    /* Half of them differ from a real one in one byte. */
    for (int j = 0; j < (i % 2 != 0 ? 1 : 64); ++j)
      memory.reserved[rand() % 56] ^= (char)(1 + rand() % 255);
    memcpy(&event, &memory, sizeof event);
    const CUresult given = cuIpcOpenMemHandle(&at, memory, 1);
    if (given == CUDA_SUCCESS) OK(cuIpcCloseMemHandle(at)); /* another part of that memory */
    assert_true(cuIpcOpenEventHandle(&opened, event) != CUDA_SUCCESS);
  }
  end_peer(&p);
}

int main(int count, char** words) {
  if (count == 2) return be_the_other_process(atoi(words[1]));
  const struct CMUnitTest tests[] = {
      TEST(both_processes_see_one_memory),
      TEST(the_same_handle_opens_at_one_address),
      TEST(what_comes_after_a_free_is_not_shared),
      TEST(memory_is_in_use_while_it_is_shared),
      TEST(events_order_processes),
      TEST(both_processes_see_a_pools_memory),
      TEST(pools_that_are_not_shared_are_refused),
      TEST(what_cannot_be_shared_is_refused),
      TEST(garbage_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
