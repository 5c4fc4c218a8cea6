/* Objects come and go from several threads: memory and file descriptors stay what they are. A
 * million cycles with KM_TEST_LONG=1, fewer otherwise. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { THREADS = 8, CYCLES_UNDER_WAY = 32, GROWTH_PAGES = 8192, KEPT_ALLOCATIONS = 4000 };

static atomic_long live; /* allocations of the library */

static void* take(void* user_data, uint64_t size_bytes, km_host_allocation_flags flags) {
  (void)user_data;
  (void)flags;
  ++live;
  return malloc(size_bytes);
}

static void give_back(void* user_data, void* pointer) {
  (void)user_data;
  --live;
  free(pointer);
}

typedef struct churn {
  const fixture* f;
  km_function function;
  km_pool pool;
  uint64_t cycles;
} churn;

static void one_cycle(const churn* c, uint64_t number) {
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  const fill_index_arguments arguments = {0, 3, 16};
  km_stream stream;
  km_event event;
  km_slice slice, pooled, view;
  km_launch_slice argument = {0, 0, 0, 0};
  uint32_t value = 0;
  OK(km_stream_create(c->f->context, 0, 0, &stream));
  OK(km_event_create(c->f->context, 0, &event));
  OK(km_slice_create(c->f->context, 64 + number % 7 * 100, 4, 0, &slice));
  OK(km_slice_view(slice, 0, 16, &view));
  OK(km_pool_allocate_on_stream(c->pool, stream, 16 + number % 5 * 100, 4, 0, &pooled));
  argument.slice = (uint64_t)(uintptr_t)pooled;
  OK(km_launch_kernel(stream, c->function, &config, &arguments, sizeof arguments, &argument, 1));
  OK(km_slice_copy(stream, view, 0, pooled, 0, 64));
  OK(km_event_record(event, stream));
  if (number % 16 == 0) {
    OK(km_slice_download(stream, view, 60, &value, 4));
    assert_int_equal(value, 18);
  }
  /* What is kept for reuse follows how much is under way at once: not more than this. */
  if (number % 4 == 0) OK(km_stream_synchronize(stream));
  OK(km_slice_destroy_on_stream(pooled, stream));
  OK(km_stream_destroy(stream));
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(view));
  if (number % 8 == 0) OK(km_event_synchronize(event));
  OK(km_event_destroy(event));
}

static void* run(void* argument) {
  const churn* c = argument;
  for (uint64_t i = 0; i < c->cycles; ++i) {
    one_cycle(c, i);
    /* Or a machine that is busy with other programs would have ever more under way. */
    if (i % CYCLES_UNDER_WAY == 0) OK(km_context_synchronize(c->f->context));
  }
  return NULL;
}

static void run_all(churn* c, uint64_t cycles) {
  pthread_t threads[THREADS];
  c->cycles = cycles / THREADS;
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run, c), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  OK(km_context_synchronize(c->f->context));
}

static long resident_pages(void) {
  long total = 0, resident = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  assert_non_null(statm);
  assert_int_equal(fscanf(statm, "%ld %ld", &total, &resident), 2);
  fclose(statm);
  return resident;
}

static int open_files(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  assert_non_null(folder);
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static void churn_is_flat(void** state) {
  const fixture* f = *state;
  const char* asked = getenv("KM_TEST_LONG");
  const uint64_t cycles = asked != NULL && strcmp(asked, "0") != 0 ? 1000000 : 24000;
  churn c = {f, load_kernel(f, "fill_index"), NULL, 0};
  if (is_fake(f)) skip(); /* its streams are for one thread each */
  OK(km_pool_create(f->context, 0, &c.pool));
  run_all(&c, 16000);
  const long pages = resident_pages();
  const int files = open_files();
  const long live_before = live;
  km_pool_info info = {sizeof info, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  run_all(&c, cycles);
  const long grown = resident_pages() - pages;
  OK(km_pool_info_get(c.pool, &info));
  print_message("%llu cycles: %ld allocations, %ld pages, %d files, %llu bytes of the pool\n",
                (unsigned long long)cycles, live - live_before, grown, open_files() - files,
                (unsigned long long)info.reserved_bytes);
  /* What is kept for reuse grows to the most that was ever under way at once, then no more. */
  assert_true(live - live_before < (long)cycles / 10 + KEPT_ALLOCATIONS);
  assert_true(grown < GROWTH_PAGES);
  assert_int_equal(open_files(), files);
  assert_int_equal(info.used_bytes, 0);
  assert_true(info.reserved_bytes < 4 << 20);
  OK(km_pool_destroy(c.pool));
  OK(km_function_destroy(c.function));
}

/* A stream, its default one, and work in both, lost with the context's reset. */
static void lose_streams(km_context context, uint64_t cycles) {
  for (uint64_t i = 0; i < cycles; ++i) {
    km_stream stream = NULL, own = NULL;
    km_slice slice = NULL;
    OK(km_context_default_stream(context, &stream));
    OK(km_stream_create(context, 0, 0, &own));
    OK(km_slice_create(context, 64, 4, 0, &slice));
    OK(km_slice_fill_u32(stream, slice, 0, 1, 16));
    OK(km_slice_fill_u32(own, slice, 64, 2, 16));
    OK(km_context_reset(context));
    OK(km_slice_destroy(slice));
    OK(km_stream_destroy(stream));
    OK(km_stream_destroy(own));
  }
}

static void resets_keep_nothing_of_what_they_lose(void** state) {
  enum { CYCLES = 2000, KEPT = 200 };
  const fixture* f = *state;
  km_context context = NULL;
  if (is_cuda(f)) skip(); /* there a reset is the process's */
  OK(km_context_create(f->device, &context));
  lose_streams(context, CYCLES);
  const long before = live;
  lose_streams(context, CYCLES);
  if (live - before >= KEPT)
    fail_msg("%ld allocations more after %d resets", live - before, CYCLES);
  OK(km_context_destroy(context));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(churn_is_flat),
      cmocka_unit_test(resets_keep_nothing_of_what_they_lose),
  };
  km_set_allocator(take, give_back, NULL); /* a sanitizer's build counts nothing */
  return RUN_ON_DEVICES("churn", tests);
}
