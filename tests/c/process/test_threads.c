/* Any call on any thread: objects used while another thread destroys them. */
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { kSlots = 4, kUsers = 3 };

typedef struct shared {
  const fixture* f;
  km_function function;
  _Atomic(uint64_t) slices[kSlots], streams[kSlots], events[kSlots];
  atomic_int done, wrong;
} shared;

static uint64_t rounds_of_test(void) {
  const char* asked = getenv("KM_TEST_THREAD_ROUNDS");
  return asked != NULL ? strtoull(asked, NULL, 10) : 2000;
}

/* The object was alive, or it was not: nothing else may come of it. */
static void note(shared* s, const char* call, km_status status) {
  if (status == KM_SUCCESS || status == KM_NOT_READY || status == KM_ERROR_INVALID_HANDLE) return;
  print_error("%s gave %d\n", call, status);
  ++s->wrong;
}

static void* use_objects(void* shared_state) {
  shared* s = shared_state;
  for (unsigned i = 0; !s->done; ++i) {
    const km_slice slice = (km_slice)atomic_load(&s->slices[i % kSlots]);
    const km_stream stream = (km_stream)atomic_load(&s->streams[i / 2 % kSlots]);
    const km_event event = (km_event)atomic_load(&s->events[i / 3 % kSlots]);
    const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
    /* Nothing is written: streams that write the same memory at once would race. */
    const fill_index_arguments arguments = {0, i, 0};
    const km_launch_slice entry = {0, 0, (uint64_t)slice, 0};
    uint64_t address = 0, offset = 0;
    uint32_t values[16];
    km_slice view = NULL;
    note(s, "download", km_slice_download(stream, slice, 0, values, sizeof values));
    note(s, "launch",
         km_launch_kernel(stream, s->function, &config, &arguments, sizeof arguments, &entry, 1));
    note(s, "record", km_event_record(event, stream));
    note(s, "wait", km_stream_wait_event(stream, event));
    note(s, "query", km_event_query(event));
    note(s, "query", km_stream_query(stream));
    if (km_slice_address(slice, &address) == KM_SUCCESS &&
        km_context_find_slice(s->f->context, address + 8, &view, &offset) == KM_SUCCESS) {
      note(s, "destroy", km_slice_destroy(view));
    }
    if (km_slice_view(slice, 1, 2, &view) == KM_SUCCESS) {
      note(s, "destroy", km_slice_destroy(view));
    }
    if (i % 64 == 0) note(s, "synchronize", km_stream_synchronize(stream));
  }
  return NULL;
}

static void replace_all(shared* s, unsigned slot) {
  km_slice slice;
  km_stream stream;
  km_event event;
  OK(km_slice_create(s->f->context, 16, 4, 0, &slice));
  OK(km_stream_create(s->f->context, 0, 0, &stream));
  OK(km_event_create(s->f->context, 0, &event));
  OK(km_slice_destroy((km_slice)atomic_exchange(&s->slices[slot], (uint64_t)slice)));
  OK(km_stream_destroy((km_stream)atomic_exchange(&s->streams[slot], (uint64_t)stream)));
  OK(km_event_destroy((km_event)atomic_exchange(&s->events[slot], (uint64_t)event)));
}

static void objects_are_destroyed_while_in_use(void** state) {
  fixture* f = *state;
  static shared s;
  pthread_t users[kUsers];
  memset(&s, 0, sizeof s);
  s.f = f;
  s.function = load_kernel(f, "fill_index");
  for (int i = 0; i < kUsers; ++i) {
    assert_int_equal(pthread_create(&users[i], NULL, use_objects, &s), 0);
  }
  const uint64_t rounds = rounds_of_test();
  for (uint64_t i = 0; i < rounds; ++i) replace_all(&s, (unsigned)(i % kSlots));
  s.done = 1;
  for (int i = 0; i < kUsers; ++i) pthread_join(users[i], NULL);
  for (int i = 0; i < kSlots; ++i) {
    OK(km_slice_destroy((km_slice)s.slices[i]));
    OK(km_stream_destroy((km_stream)s.streams[i]));
    OK(km_event_destroy((km_event)s.events[i]));
  }
  assert_int_equal(s.wrong, 0);
  OK(km_function_destroy(s.function));
  OK(km_context_synchronize(f->context));
}

typedef struct race {
  km_slice slice;
  atomic_int ready, winners;
} race;

static void* destroy_at_once(void* shared_race) {
  race* r = shared_race;
  while (!r->ready) {
  }
  if (km_slice_destroy(r->slice) == KM_SUCCESS) ++r->winners;
  return NULL;
}

static void only_one_of_many_destroys_succeeds(void** state) {
  fixture* f = *state;
  for (int round = 0; round < 100; ++round) {
    pthread_t threads[kUsers];
    race r = {0};
    OK(km_slice_create(f->context, 1, 1, 0, &r.slice));
    for (int i = 0; i < kUsers; ++i) pthread_create(&threads[i], NULL, destroy_at_once, &r);
    r.ready = 1;
    for (int i = 0; i < kUsers; ++i) pthread_join(threads[i], NULL);
    assert_int_equal(r.winners, 1);
  }
}

static void* create_and_destroy(void* fixture_state) {
  const fixture* f = fixture_state;
  intptr_t failures = 0;
  for (int i = 0; i < 300; ++i) {
    km_context context = NULL;
    km_stream stream = NULL;
    km_slice slice = NULL;
    failures += km_context_create(f->device, &context) != KM_SUCCESS;
    failures += km_context_default_stream(context, &stream) != KM_SUCCESS;
    failures += km_slice_create(context, 100, 4, KM_SLICE_ZEROED, &slice) != KM_SUCCESS;
    failures += km_context_destroy(context) != KM_SUCCESS;
    failures += km_slice_fill_u8(stream, slice, 0, 1, 400) != KM_SUCCESS;
    failures += km_slice_destroy(slice) != KM_SUCCESS;
    failures += km_stream_synchronize(stream) != KM_SUCCESS;
    failures += km_stream_destroy(stream) != KM_SUCCESS;
  }
  return (void*)failures;
}

static void contexts_come_and_go_on_many_threads(void** state) {
  pthread_t threads[kUsers];
  for (int i = 0; i < kUsers; ++i) pthread_create(&threads[i], NULL, create_and_destroy, *state);
  for (int i = 0; i < kUsers; ++i) {
    void* failures = NULL;
    pthread_join(threads[i], &failures);
    assert_null(failures);
  }
}

typedef struct reset_race {
  km_context context;
  atomic_int done;
  atomic_long made;
} reset_race;

static void* make_while_reset(void* shared_race) {
  static const char ptx[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry noop() { ret; }\n";
  reset_race* r = shared_race;
  while (!r->done) {
    km_stream stream = NULL;
    km_module module = NULL;
    km_slice slice = NULL;
    if (km_stream_create(r->context, 0, 0, &stream) == KM_SUCCESS) {
      km_stream_query(stream);
      km_stream_synchronize(stream);
      r->made += stream != NULL && km_stream_destroy(stream) == KM_SUCCESS;
    }
    if (km_module_load_ptx(r->context, ptx, 0, "noop", &module) == KM_SUCCESS) {
      r->made += module != NULL && km_module_destroy(module) == KM_SUCCESS;
    }
    if (km_slice_create(r->context, 64, 4, 0, &slice) == KM_SUCCESS) {
      r->made += slice != NULL && km_slice_destroy(slice) == KM_SUCCESS;
    }
  }
  return NULL;
}

/* A call that sees the error of a context that is being reset fails: it never succeeds without
 * having done anything. */
static void what_is_made_during_a_reset_is_whole_or_fails(void** state) {
  const fixture* f = *state;
  static reset_race r;
  pthread_t threads[kUsers];
  if (is_cuda(f)) skip(); /* there a reset is the process's */
  memset(&r, 0, sizeof r);
  OK(km_context_create(f->device, &r.context));
  for (int i = 0; i < kUsers; ++i) pthread_create(&threads[i], NULL, make_while_reset, &r);
  const long wanted = (long)rounds_of_test();
  for (long i = 0; i < wanted || r.made < wanted; ++i) OK(km_context_reset(r.context));
  r.done = 1;
  for (int i = 0; i < kUsers; ++i) pthread_join(threads[i], NULL);
  OK(km_context_destroy(r.context));
}

/* A line of a thread's status in /proc: the mask of blocked signals, one bit each. */
static int blocked_signals(const char* thread, uint64_t* mask) {
  char path[300], line[256];
  int found = 0;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  FILE* const file = fopen(path, "r");
  if (file == NULL) return 0; /* it has ended */
  while (!found && fgets(line, sizeof line, file) != NULL) {
    found = sscanf(line, "SigBlk: %" SCNx64, mask) == 1;
  }
  fclose(file);
  return found;
}

static int is_of_library(const char* thread) {
  char path[300], name[32] = "";
  snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
  FILE* const file = fopen(path, "r");
  if (file == NULL) return 0;
  const int is_one = fgets(name, sizeof name, file) != NULL && strncmp(name, "km-", 3) == 0;
  fclose(file);
  return is_one;
}

/* How many threads of the library there are; their masks are as they have to be. A thread names
   itself when it begins. */
static int check_masks(void) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  static const int of_the_host[] = {SIGINT, SIGTERM, SIGALRM, SIGPROF, SIGUSR1, SIGCHLD};
  int threads = 0;
  uint64_t mask = 0;
  const struct dirent* entry = NULL;
  DIR* const all = opendir("/proc/self/task");
  assert_non_null(all);
  while ((entry = readdir(all)) != NULL) {
    if (!is_of_library(entry->d_name) || !blocked_signals(entry->d_name, &mask)) continue;
    ++threads;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) {
      assert_int_equal(mask >> (own[i] - 1) & 1, 0);
    }
    for (size_t i = 0; i < sizeof of_the_host / sizeof of_the_host[0]; ++i) {
      assert_int_equal(mask >> (of_the_host[i] - 1) & 1, 1);
    }
  }
  closedir(all);
  return threads;
}

/* Workers, the compiler's threads, that of callbacks, and that of memory profiles. */
static void threads_of_the_library_have_one_signal_mask(void** state) {
  const fixture* f = *state;
  const fill_index_arguments nothing = {0, 0, 0};
  const km_status profiled = km_context_start_memory_profile(f->context, 1000000000);
  km_function function = load_kernel(f, "fill_index");
  OK(launch(f, function, 64, 128, &nothing, sizeof nothing));
  OK(km_stream_synchronize(f->stream));
  int threads = check_masks();
  if (profiled == KM_SUCCESS) {
    for (int i = 0; i < 5000 && threads == 0; ++i) {
      usleep(1000);
      threads = check_masks();
    }
    assert_true(threads > 0);
    OK(km_context_stop_memory_profile(f->context));
  }
  OK(km_function_destroy(function));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_are_destroyed_while_in_use),
      cmocka_unit_test(only_one_of_many_destroys_succeeds),
      cmocka_unit_test(contexts_come_and_go_on_many_threads),
      cmocka_unit_test(what_is_made_during_a_reset_is_whole_or_fails),
      cmocka_unit_test(threads_of_the_library_have_one_signal_mask),
  };
  return RUN_ON_DEVICES("threads", tests);
}
