/* A scripted MPI with MPICH's ABI, for processes that one test has forked: messages lie in memory
 * that the test gives them. Its variables:
 *   KM_FAKE_MPI_MEMORY   the file descriptor of that memory, of FAKE_MPI_BYTES zeros
 *   KM_FAKE_MPI_RANK, KM_FAKE_MPI_RANKS
 *   KM_FAKE_MPI_FAIL     "MPI_Isend 3": from the third call on, MPI_Isend gives the error 17
 *   KM_FAKE_MPI_VERSION  the text of the library's version
 *   KM_FAKE_MPI_LEVEL    the support of threads; 3 is MPI_THREAD_MULTIPLE
 * A call after MPI_Finalize, or with what is no object, ends the process, as real ones do. */
#include "library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int handle;
enum {
  WORLD = 0x44000000,
  ANY_SOURCE = -2,
  MOST_RANKS = 8,
  MOST_COMMS = 16,
  MOST_REQUESTS = 256,
  MOST_GROUPS = 8,
  SLOTS = 64,
  SLOT_BYTES = (256 << 10) + 1024,
  COMM = 0x4000, /* the first handle of each kind */
  GROUP = 0x5000,
  REQUEST = 0x6000,
  PATIENCE_S = 60,
  VERSION_BYTES = 8192 /* MPI_MAX_LIBRARY_VERSION_STRING */
};

typedef struct message {
  int is_used, comm, source, dest, tag, size_bytes;
  unsigned long number;
  unsigned char data[SLOT_BYTES];
} message;
/* A communicator that some of its members have asked for. */
typedef struct creation {
  int comm, tag, count, arrived, left;
  int members[MOST_RANKS];
} creation;
typedef struct shared {
  pthread_mutex_t mutex;
  int is_ready; /* 2: the mutex is made */
  int comms;
  unsigned long messages;
  creation creations[16];
  message slots[SLOTS];
} shared;
_Static_assert(sizeof(shared) <= FAKE_MPI_BYTES, "the test gives enough memory");

typedef struct members {
  int number, count; /* the communicator's number in all processes */
  int of[MOST_RANKS];
} members;
typedef struct request {
  int is_used, is_done, is_free, receives, comm, peer, tag, size_bytes;
  void* data;
  unsigned long order;
} request;

static shared* all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static members comms[MOST_COMMS], groups[MOST_GROUPS];
static request requests[MOST_REQUESTS];
static unsigned long requested;
static int rank, ranks, is_begun, is_over;

static void die(const char* text) {
  fprintf(stderr, "fake MPI: %s\n", text);
  abort();
}
static int number_in(const char* name, int fallback) {
  const char* const text = getenv(name);
  return text != NULL ? (int)strtol(text, NULL, 10) : fallback;
}

/* The script's error for this call of the function, or 0. */
static int begin(const char* name, int* calls) {
  const char* const script = getenv("KM_FAKE_MPI_FAIL");
  const size_t length = strlen(name);
  if (is_over) die("a call after MPI_Finalize");
  const int call = __atomic_add_fetch(calls, 1, __ATOMIC_SEQ_CST);
  if (script == NULL || strncmp(script, name, length) != 0 || script[length] != ' ') return 0;
  return call >= strtol(script + length, NULL, 10) ? FAKE_MPI_ERROR : 0;
}
#define BEGIN()                                   \
  static int calls;                               \
  {                                               \
    const int scripted = begin(__func__, &calls); \
    if (scripted != 0) return scripted;           \
  }

static void lock_all(void) {
  const int result = pthread_mutex_lock(&all->mutex);
  if (result != 0) pthread_mutex_consistent(&all->mutex); /* its holder was killed */
}
static void unlock_all(void) { pthread_mutex_unlock(&all->mutex); }

static void open_memory(void) {
  int expected = 0;
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED,
             number_in("KM_FAKE_MPI_MEMORY", -1), 0);
  if (all == MAP_FAILED) die("KM_FAKE_MPI_MEMORY is no file of memory");
  if (__atomic_compare_exchange_n(&all->is_ready, &expected, 1, 0, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST)) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&all->mutex, &attributes);
    __atomic_store_n(&all->is_ready, 2, __ATOMIC_SEQ_CST);
  }
  while (__atomic_load_n(&all->is_ready, __ATOMIC_SEQ_CST) != 2) usleep(100);
}

static members* find_comm(handle comm) {
  const int index = comm == WORLD ? 0 : comm - COMM;
  if (index < 0 || index >= MOST_COMMS || comms[index].count == 0) die("no communicator");
  return &comms[index];
}
static int place_in(const members* of, int process) {
  for (int i = 0; i < of->count; ++i) {
    if (of->of[i] == process) return i;
  }
  return -1;
}

static void try_send(request* each) {
  for (int i = 0; i < SLOTS; ++i) {
    message* const slot = &all->slots[i];
    if (slot->is_used) continue;
    slot->is_used = 1;
    slot->comm = each->comm;
    slot->source = rank;
    slot->dest = each->peer;
    slot->tag = each->tag;
    slot->size_bytes = each->size_bytes;
    slot->number = ++all->messages;
    memcpy(slot->data, each->data, (size_t)each->size_bytes);
    each->is_done = 1;
    return;
  }
}
static int fits(const request* each, const message* slot) {
  return slot->is_used && slot->comm == each->comm && slot->dest == rank &&
         slot->tag == each->tag && (each->peer == ANY_SOURCE || each->peer == slot->source);
}
static void try_receive(request* each) {
  message* first = NULL;
  for (int i = 0; i < SLOTS; ++i) {
    message* const slot = &all->slots[i];
    if (fits(each, slot) && (first == NULL || slot->number < first->number)) first = slot;
  }
  if (first == NULL) return;
  if (first->size_bytes > each->size_bytes) die("a message is longer than its place");
  memcpy(each->data, first->data, (size_t)first->size_bytes);
  first->is_used = 0;
  each->is_done = 1;
}
/* Moves on what can be moved, in the order of the calls. */
static void progress(void) {
  unsigned long last = 0;
  lock_all();
  for (;;) {
    request* next = NULL;
    for (int i = 0; i < MOST_REQUESTS; ++i) {
      request* const each = &requests[i];
      if (!each->is_used || each->is_done || each->order <= last) continue;
      if (next == NULL || each->order < next->order) next = each;
    }
    if (next == NULL) break;
    last = next->order;
    if (next->receives) try_receive(next);
    if (!next->receives) try_send(next);
    if (next->is_done && next->is_free) next->is_used = 0;
  }
  unlock_all();
}

static request* find_request(const handle* given) {
  const int index = *given - REQUEST;
  if (index < 0 || index >= MOST_REQUESTS || !requests[index].is_used) die("no request");
  return &requests[index];
}
static int add_request(request made, handle comm, handle* out) {
  const members* const of = find_comm(comm);
  made.comm = of->number;
  if (made.peer != ANY_SOURCE) made.peer = of->of[made.peer];
  if (made.size_bytes > SLOT_BYTES) die("a message is too long for the fake");
  pthread_mutex_lock(&mutex);
  made.is_used = 1;
  made.order = ++requested;
  for (int i = 0; i < MOST_REQUESTS; ++i) {
    if (requests[i].is_used) continue;
    requests[i] = made;
    *out = REQUEST + i;
    progress();
    pthread_mutex_unlock(&mutex);
    return 0;
  }
  die("too many requests");
  return 0;
}

int MPI_Initialized(int* out) {
  BEGIN();
  *out = is_begun;
  return 0;
}
int MPI_Finalized(int* out) {
  *out = is_over; /* allowed at any time */
  return 0;
}
int MPI_Get_library_version(char* text, int* length) {
  const char* const given = getenv("KM_FAKE_MPI_VERSION");
  *length = snprintf(text, VERSION_BYTES, "%s",
                     given != NULL ? given : "MPICH Version:\t4.0 (fake)\nand more");
  return 0;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  BEGIN();
  (void)argc, (void)argv, (void)required;
  open_memory();
  rank = number_in("KM_FAKE_MPI_RANK", 0);
  ranks = number_in("KM_FAKE_MPI_RANKS", 1);
  comms[0].count = ranks;
  for (int i = 0; i < ranks; ++i) comms[0].of[i] = i;
  is_begun = 1;
  *provided = number_in("KM_FAKE_MPI_LEVEL", 3);
  return 0;
}
int MPI_Query_thread(int* level) {
  BEGIN();
  *level = number_in("KM_FAKE_MPI_LEVEL", 3);
  return 0;
}
int MPI_Finalize(void) {
  BEGIN();
  is_over = 1;
  return 0;
}

int MPI_Comm_rank(handle comm, int* out) {
  BEGIN();
  *out = place_in(find_comm(comm), rank);
  return 0;
}
int MPI_Comm_size(handle comm, int* out) {
  BEGIN();
  *out = find_comm(comm)->count;
  return 0;
}
int MPI_Comm_set_errhandler(handle comm, handle handler) {
  BEGIN();
  (void)handler;
  find_comm(comm);
  return 0;
}
static handle add_group(const members* given) {
  for (int i = 0; i < MOST_GROUPS; ++i) {
    if (groups[i].count != 0) continue;
    groups[i] = *given;
    return GROUP + i;
  }
  die("too many groups");
  return 0;
}
int MPI_Comm_group(handle comm, handle* out) {
  BEGIN();
  pthread_mutex_lock(&mutex);
  *out = add_group(find_comm(comm));
  pthread_mutex_unlock(&mutex);
  return 0;
}
int MPI_Group_incl(handle group, int count, const int* of, handle* out) {
  BEGIN();
  members made = {0, count, {0}};
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < count; ++i) made.of[i] = groups[group - GROUP].of[of[i]];
  *out = add_group(&made);
  pthread_mutex_unlock(&mutex);
  return 0;
}
int MPI_Group_free(handle* group) {
  BEGIN();
  pthread_mutex_lock(&mutex);
  groups[*group - GROUP].count = 0;
  pthread_mutex_unlock(&mutex);
  return 0;
}

/* The creation that this process joins: the first of its members and tag that it is not part of. */
static creation* arrive(const members* of, int tag) {
  creation* found = NULL;
  for (int i = 0; i < 16; ++i) {
    creation* const each = &all->creations[i];
    if (each->count == of->count && each->tag == tag && each->arrived < each->count &&
        memcmp(each->members, of->of, sizeof of->of) == 0) {
      found = each;
    }
  }
  for (int i = 0; i < 16 && found == NULL; ++i) {
    creation* const each = &all->creations[i];
    if (each->count != 0) continue;
    each->comm = ++all->comms;
    each->tag = tag;
    each->count = of->count;
    each->arrived = each->left = 0;
    memcpy(each->members, of->of, sizeof of->of);
    found = each;
  }
  if (found == NULL) die("too many communicators at once");
  ++found->arrived;
  return found;
}
int MPI_Comm_create_group(handle comm, handle group, int tag, handle* out) {
  BEGIN();
  members made;
  find_comm(comm);
  pthread_mutex_lock(&mutex);
  made = groups[group - GROUP];
  pthread_mutex_unlock(&mutex);
  lock_all();
  creation* const own = arrive(&made, tag);
  for (int i = 0; own->arrived < own->count; ++i) {
    unlock_all();
    if (i > PATIENCE_S * 10000) die("MPI_Comm_create_group has waited for a minute");
    usleep(100);
    lock_all();
  }
  made.number = own->comm;
  if (++own->left == own->count) own->count = 0;
  unlock_all();
  pthread_mutex_lock(&mutex);
  for (int i = 1; i < MOST_COMMS; ++i) {
    if (comms[i].count != 0) continue;
    comms[i] = made;
    *out = COMM + i;
    pthread_mutex_unlock(&mutex);
    return 0;
  }
  die("too many communicators");
  return 0;
}
int MPI_Comm_free(handle* comm) {
  BEGIN();
  pthread_mutex_lock(&mutex);
  find_comm(*comm)->count = 0;
  pthread_mutex_unlock(&mutex);
  return 0;
}

int MPI_Isend(const void* data, int count, handle type, int to, int tag, handle comm, handle* out) {
  BEGIN();
  (void)type;
  const request made = {.peer = to, .tag = tag, .size_bytes = count, .data = (void*)(size_t)data};
  return add_request(made, comm, out);
}
int MPI_Irecv(void* data, int count, handle type, int from, int tag, handle comm, handle* out) {
  BEGIN();
  (void)type;
  const request made = {.receives = 1, .peer = from, .tag = tag, .size_bytes = count, .data = data};
  return add_request(made, comm, out);
}
int MPI_Test(handle* given, int* out, void* status) {
  BEGIN();
  (void)status;
  pthread_mutex_lock(&mutex);
  progress();
  request* const own = find_request(given);
  *out = own->is_done;
  if (own->is_done) own->is_used = 0;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int MPI_Wait(handle* given, void* status) {
  BEGIN();
  int is_done = 0;
  for (int i = 0; !is_done; ++i) {
    if (i > PATIENCE_S * 10000) die("MPI_Wait has waited for a minute");
    if (i != 0) usleep(100);
    if (MPI_Test(given, &is_done, status) != 0) return FAKE_MPI_ERROR;
  }
  return 0;
}
int MPI_Cancel(handle* given) {
  BEGIN();
  pthread_mutex_lock(&mutex);
  progress();
  find_request(given)->is_done = 1;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int MPI_Request_free(handle* given) {
  BEGIN();
  pthread_mutex_lock(&mutex);
  request* const own = find_request(given);
  own->is_free = 1;
  if (own->is_done) own->is_used = 0;
  pthread_mutex_unlock(&mutex);
  return 0;
}
