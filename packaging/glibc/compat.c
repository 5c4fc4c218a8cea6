// What the compiler's archives and headers take from a newer glibc than the oldest that a release
// runs on. Each library of a release links its own hidden copy. A function here passes the call on
// where the process's glibc has it.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Since glibc 2.32. Zero says that there may be other threads, which is always right.
char __libc_single_threaded = 0;

typedef int find_object(void *, struct dl_find_object *);
typedef int clock_wait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
typedef int clock_lock(pthread_mutex_t *, clockid_t, const struct timespec *);

static find_object *their_find_object;
static clock_wait *their_clock_wait;
static clock_lock *their_clock_lock;

// Runs when the library is loaded: the unwinder may not look symbols up.
__attribute__((constructor(101))) static void look_up(void) {
  their_find_object = (find_object *)dlsym(RTLD_DEFAULT, "_dl_find_object");
  their_clock_wait = (clock_wait *)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  their_clock_lock = (clock_lock *)dlsym(RTLD_DEFAULT, "pthread_mutex_clocklock");
  dlerror();  // a failed look-up is no error of the program's
}

struct search {
  uintptr_t address;
  struct dl_find_object *found;
};

static int contains(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  uintptr_t first = UINTPTR_MAX;
  uintptr_t last = 0;
  void *eh_frame = NULL;
  int here = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) {
      eh_frame = (void *)begin;
    }
    if (header->p_type != PT_LOAD) {
      continue;
    }
    first = begin < first ? begin : first;
    last = begin + header->p_memsz > last ? begin + header->p_memsz : last;
    here |= search->address - begin < header->p_memsz;
  }
  if (!here) {
    return 0;
  }
  memset(search->found, 0, sizeof *search->found);
  search->found->dlfo_map_start = (void *)first;
  search->found->dlfo_map_end = (void *)last;
  search->found->dlfo_eh_frame = eh_frame;
  return 1;
}

// Since glibc 2.35, for the unwinder of libgcc.
int _dl_find_object(void *address, struct dl_find_object *found) {
  if (their_find_object != NULL) {
    return their_find_object(address, found);
  }
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(contains, &search) == 1 && found->dlfo_eh_frame != NULL ? 0 : -1;
}

enum { kNanoseconds = 1000000000 };

// The moment of the system's clock at which another clock will show `when`. A clock that is set
// meanwhile makes a wait end early or late; who waits on a steady clock asks it after the wait.
static struct timespec on_realtime(clockid_t clock, const struct timespec *when) {
  struct timespec there;
  struct timespec here;
  if (clock == CLOCK_REALTIME || clock_gettime(clock, &there) != 0 ||
      clock_gettime(CLOCK_REALTIME, &here) != 0) {
    return *when;
  }
  struct timespec result = {.tv_nsec = here.tv_nsec + when->tv_nsec - there.tv_nsec};
  if (__builtin_sub_overflow(when->tv_sec, there.tv_sec, &result.tv_sec) ||
      __builtin_add_overflow(result.tv_sec, here.tv_sec, &result.tv_sec)) {
    result.tv_sec = INT64_MAX / 2;
  }
  while (result.tv_nsec < 0) {
    result.tv_nsec += kNanoseconds;
    result.tv_sec -= 1;
  }
  while (result.tv_nsec >= kNanoseconds) {
    result.tv_nsec -= kNanoseconds;
    result.tv_sec += 1;
  }
  return result;
}

static int valid(const struct timespec *when) {
  return when->tv_nsec >= 0 && when->tv_nsec < kNanoseconds;
}

// Since glibc 2.30, for std::condition_variable.
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *when) {
  if (their_clock_wait != NULL) {
    return their_clock_wait(condition, mutex, clock, when);
  }
  if (!valid(when)) {
    return EINVAL;
  }
  struct timespec moment = on_realtime(clock, when);
  return pthread_cond_timedwait(condition, mutex, &moment);
}

// Since glibc 2.30, for std::timed_mutex.
int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *when) {
  if (their_clock_lock != NULL) {
    return their_clock_lock(mutex, clock, when);
  }
  if (!valid(when)) {
    return EINVAL;
  }
  struct timespec moment = on_realtime(clock, when);
  return pthread_mutex_timedlock(mutex, &moment);
}

// Since glibc 2.36; LLVM names temporary files by it.
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getentropy(&number, sizeof number) == 0) {
    return number;
  }
  int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? -1 : read(file, &number, sizeof number);
  if (file >= 0) {
    close(file);
  }
  if (got != (ssize_t)sizeof number) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    number = (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)getpid();
  }
  return number;
}

// Since glibc 2.33; LLVM reports its use of memory by it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct mallinfo2 mallinfo2(void) {
  struct mallinfo old = mallinfo();
  return (struct mallinfo2){
    .arena = (unsigned)old.arena,
    .ordblks = (unsigned)old.ordblks,
    .smblks = (unsigned)old.smblks,
    .hblks = (unsigned)old.hblks,
    .hblkhd = (unsigned)old.hblkhd,
    .usmblks = (unsigned)old.usmblks,
    .fsmblks = (unsigned)old.fsmblks,
    .uordblks = (unsigned)old.uordblks,
    .fordblks = (unsigned)old.fordblks,
    .keepcost = (unsigned)old.keepcost,
  };
}
#pragma GCC diagnostic pop
