/* Garbage, stale and wrong-type handles into every entry: refused, without effect, without a crash.
 */
#define KM_HANDLES_AS_U64
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/testing.h"

typedef struct call_values {
  unsigned char* out; /* room for the out-parameters */
  const char* text;
  void* bytes;
  km_launch_config config;
} call_values;

typedef struct handle_call {
  const char* name;
  km_status (*call)(const uint64_t* handles, call_values* values);
  int handle_count;
  int types[3];
  int null_is_fine; /* for the first handle */
} handle_call;

static void* out_at(call_values* values, int index);

#include "generated/handle_calls.h"

enum { OUT_COUNT = 4, OUT_BYTES = OUT_COUNT * OUT_ROOM_BYTES, UNTOUCHED = 0x5A };
enum { CALL_COUNT = sizeof handle_calls / sizeof handle_calls[0], STALE_COUNT = 64 };

static void* out_at(call_values* values, int index) { return values->out + index * OUT_ROOM_BYTES; }

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* One live object of each type, and handles that were live once. */
typedef struct objects {
  uint64_t live[HANDLE_TYPE_COUNT];
  uint64_t stale[HANDLE_TYPE_COUNT][STALE_COUNT];
} objects;

static km_status create_blas(uint64_t stream, uint64_t* out) {
  return km_blas_create(stream, KM_BLAS_LAYOUT_ROWS, out);
}

static km_status create_fft(uint64_t stream, uint64_t* out) {
  const km_fft_shape shape = {.kind = KM_FFT_KIND_COMPLEX,
                              .type = KM_DATA_TYPE_F32,
                              .rank = 1,
                              .sizes = {8},
                              .batch_count = 1};
  return km_fft_create(stream, &shape, out);
}

static km_status create_comm(uint64_t stream, uint64_t* out) {
  uint64_t context;
  km_comm_id id;
  OK(km_stream_context(stream, &context));
  km_status status = km_comm_id_create(context, &id);
  if (status == KM_SUCCESS) status = km_comm_create(context, &id, 1, 0, out);
  OK(km_context_destroy(context));
  return status;
}

/* On a device that has no such library, one of the CPU will do: these tests are about handles. */
static uint64_t create_in(uint64_t stream, km_status (*create)(uint64_t, uint64_t*)) {
  uint64_t made = 0, device, context, other;
  if (create(stream, &made) == KM_SUCCESS) return made;
  OK(km_device_open("cpu", &device));
  OK(km_context_create(device, &context));
  OK(km_stream_create(context, 0, 0, &other));
  OK(create(other, &made));
  OK(km_stream_destroy(other));
  OK(km_context_destroy(context));
  OK(km_device_destroy(device));
  return made;
}

static void create_all(const fixture* f, uint64_t* handles) {
  OK(km_device_open(f->uri, &handles[HANDLE_DEVICE]));
  OK(km_context_create(handles[HANDLE_DEVICE], &handles[HANDLE_CONTEXT]));
  OK(km_stream_create(handles[HANDLE_CONTEXT], 0, 0, &handles[HANDLE_STREAM]));
  OK(km_event_create(handles[HANDLE_CONTEXT], 0, &handles[HANDLE_EVENT]));
  OK(km_host_memory_create(handles[HANDLE_CONTEXT], 64, 0, &handles[HANDLE_HOST_MEMORY]));
  OK(km_slice_create(handles[HANDLE_CONTEXT], 16, 4, 0, &handles[HANDLE_SLICE]));
  OK(km_program_create("", 0, NULL, &handles[HANDLE_PROGRAM]));
  OK(km_pool_create(handles[HANDLE_CONTEXT], 0, &handles[HANDLE_POOL]));
  OK(km_module_load_ptx(handles[HANDLE_CONTEXT], test_ptx, strlen(test_ptx), NULL,
                        &handles[HANDLE_MODULE]));
  OK(km_module_function(handles[HANDLE_MODULE], "noop", &handles[HANDLE_FUNCTION]));
  OK(km_launch_create(handles[HANDLE_STREAM], handles[HANDLE_FUNCTION], &handles[HANDLE_LAUNCH]));
  OK(km_graph_create(handles[HANDLE_CONTEXT], &handles[HANDLE_GRAPH]));
  OK(km_graph_exec_create(handles[HANDLE_GRAPH], &handles[HANDLE_GRAPH_EXEC]));
  handles[HANDLE_BLAS] = create_in(handles[HANDLE_STREAM], create_blas);
  handles[HANDLE_FFT] = create_in(handles[HANDLE_STREAM], create_fft);
  handles[HANDLE_COMM] = create_in(handles[HANDLE_STREAM], create_comm);
  OK(km_tune_create(handles[HANDLE_DEVICE], test_ptx, 0, "noop", &handles[HANDLE_TUNE]));
}

static void destroy_all(const uint64_t* handles) {
  OK(km_device_destroy(handles[HANDLE_DEVICE]));
  OK(km_context_destroy(handles[HANDLE_CONTEXT]));
  OK(km_stream_destroy(handles[HANDLE_STREAM]));
  OK(km_event_destroy(handles[HANDLE_EVENT]));
  OK(km_host_memory_destroy(handles[HANDLE_HOST_MEMORY]));
  OK(km_slice_destroy(handles[HANDLE_SLICE]));
  OK(km_program_destroy(handles[HANDLE_PROGRAM]));
  OK(km_pool_destroy(handles[HANDLE_POOL]));
  OK(km_module_destroy(handles[HANDLE_MODULE]));
  OK(km_function_destroy(handles[HANDLE_FUNCTION]));
  OK(km_launch_destroy(handles[HANDLE_LAUNCH]));
  OK(km_graph_destroy(handles[HANDLE_GRAPH]));
  OK(km_graph_exec_destroy(handles[HANDLE_GRAPH_EXEC]));
  OK(km_blas_destroy(handles[HANDLE_BLAS]));
  OK(km_fft_destroy(handles[HANDLE_FFT]));
  OK(km_comm_destroy(handles[HANDLE_COMM]));
  OK(km_tune_destroy(handles[HANDLE_TUNE]));
}

static void create_objects(const fixture* f, objects* all) {
  for (int i = 0; i < STALE_COUNT; ++i) {
    uint64_t handles[HANDLE_TYPE_COUNT];
    create_all(f, handles);
    for (int type = 0; type < HANDLE_TYPE_COUNT; ++type) all->stale[type][i] = handles[type];
    destroy_all(handles);
  }
  create_all(f, all->live);
}

static int is_live(const objects* all, uint64_t handle) {
  for (int type = 0; type < HANDLE_TYPE_COUNT; ++type) {
    if (all->live[type] == handle) return 1;
  }
  return 0;
}

/* A value that is not a live handle of the type. */
static uint64_t bad_handle(const objects* all, int type, uint64_t kind, int null_is_fine) {
  const uint64_t random = next_random();
  uint64_t bad = random;
  switch (kind % 8) {
    case 0:
      return all->stale[type][random % STALE_COUNT];
    case 1:
      return all->live[(type + 1 + (int)(random % (HANDLE_TYPE_COUNT - 1))) % HANDLE_TYPE_COUNT];
    case 2:
      bad = all->live[type] ^ ((uint64_t)1 << (random % 64));
      break;
    case 3:
      bad = all->live[type] + (random % 16) - 8;
      break;
    case 4:
      bad = (uint64_t)(uintptr_t)&all->live[random % HANDLE_TYPE_COUNT];
      break;
    case 5:
      bad = (all->live[type] & 0xFFFFFFFF00000000u) | (random & 0xFFFFFFFFu);
      break;
    case 6:
      bad = null_is_fine ? ~(uint64_t)0 : 0;
      break;
    default:
      break;
  }
  return is_live(all, bad) ? ~(uint64_t)0 : bad;
}

static void check_call(const objects* all, const handle_call* entry, call_values* values,
                       uint64_t rounds) {
  static unsigned char untouched[OUT_BYTES];
  memset(untouched, UNTOUCHED, sizeof untouched);
  for (uint64_t round = 0; round < rounds; ++round) {
    uint64_t handles[3] = {0, 0, 0};
    const int wrong = (int)(round % (uint64_t)entry->handle_count);
    for (int i = 0; i < entry->handle_count; ++i) handles[i] = all->live[entry->types[i]];
    handles[wrong] = bad_handle(all, entry->types[wrong], round / (uint64_t)entry->handle_count,
                                entry->null_is_fine && wrong == 0);
    const km_status status = entry->call(handles, values);
    if (status != KM_ERROR_INVALID_HANDLE) {
      print_error("%s accepted handle %d, 0x%llx: status %d\n", entry->name, wrong,
                  (unsigned long long)handles[wrong], status);
      fail();
    }
    if (memcmp(values->out, untouched, OUT_BYTES) != 0) {
      print_error("%s changed an out-parameter\n", entry->name);
      fail();
    }
  }
}

static void bad_handles_into_every_entry(void** state) {
  fixture* f = *state;
  objects* all = malloc(sizeof *all);
  char bytes[64] = "";
  call_values values = {malloc(OUT_BYTES), "text", bytes, {{1, 1, 1}, {1, 1, 1}, 0}};
  const char* asked = getenv("KM_TEST_HANDLE_ROUNDS");
  const uint64_t rounds = asked != NULL ? strtoull(asked, NULL, 10) : 100000;
  assert_non_null(all);
  assert_non_null(values.out);
  memset(values.out, UNTOUCHED, OUT_BYTES);
  create_objects(f, all);
  for (int i = 0; i < CALL_COUNT; ++i) check_call(all, &handle_calls[i], &values, rounds);
  destroy_all(all->live); /* all of them are alive still */
  free(values.out);
  free(all);
}

static void bad_handles_among_the_slices_of_a_launch(void** state) {
  fixture* f = *state;
  objects* all = malloc(sizeof *all);
  const fill_index_arguments arguments = {0, 0, 0};
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  km_function function = load_kernel(f, "fill_index");
  assert_non_null(all);
  create_objects(f, all);
  for (uint64_t round = 0; round < 20000; ++round) {
    const km_launch_slice slice = {0, 0, bad_handle(all, HANDLE_SLICE, round, 0), 0};
    EXPECT(KM_ERROR_INVALID_HANDLE,
           km_launch_kernel(f->stream, function, &config, &arguments, sizeof arguments, &slice, 1));
  }
  destroy_all(all->live);
  OK(km_function_destroy(function));
  free(all);
}

/* In a child that was forked, live handles help nobody. */
static int check_forked(const objects* all, call_values* values) {
  static unsigned char untouched[OUT_BYTES];
  memset(untouched, UNTOUCHED, sizeof untouched);
  for (int i = 0; i < CALL_COUNT; ++i) {
    uint64_t handles[3] = {0, 0, 0};
    for (int k = 0; k < handle_calls[i].handle_count; ++k) {
      handles[k] = all->live[handle_calls[i].types[k]];
    }
    if (handle_calls[i].call(handles, values) != KM_ERROR_FORKED) {
      fprintf(stderr, "%s works in a forked child\n", handle_calls[i].name);
      return 1;
    }
    if (memcmp(values->out, untouched, OUT_BYTES) != 0) return 2;
  }
  return 0;
}

static void every_entry_is_refused_after_fork(void** state) {
  fixture* f = *state;
  objects* all = calloc(1, sizeof *all);
  char bytes[64] = "";
  call_values values = {malloc(OUT_BYTES), "text", bytes, {{1, 1, 1}, {1, 1, 1}, 0}};
  int status = 0;
  assert_non_null(all);
  assert_non_null(values.out);
  memset(values.out, UNTOUCHED, OUT_BYTES);
  create_all(f, all->live);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(check_forked(all, &values));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  destroy_all(all->live);
  free(values.out);
  free(all);
}

/* What takes long, writes files, or takes the objects of the others away. */
static int is_left_out(const handle_call* entry) {
  const char* names[] = {"km_context_reset",      "km_program_compile",    "km_module_load_source",
                         "km_module_save_object", "km_profiler_write",     "km_module_load_file",
                         "km_slice_map_file",     "km_module_load_program"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    if (strcmp(entry->name, names[i]) == 0) return 1;
  }
  return entry->null_is_fine; /* destroys */
}

/* A handle among the results goes at once; anything else is no live handle. */
static void destroy_result(uint64_t value) {
  if (value == 0) return;
  for (int i = 0; i < CALL_COUNT; ++i) {
    call_values none = {NULL, NULL, NULL, {{0, 0, 0}, {0, 0, 0}, 0}};
    const uint64_t handles[3] = {value, 0, 0};
    if (handle_calls[i].null_is_fine && handle_calls[i].handle_count == 1) {
      handle_calls[i].call(handles, &none);
    }
  }
}

typedef struct crowd {
  const objects* all;
  uint64_t seed;
  int calls, unknown;
} crowd;

static void* call_everything(void* argument) {
  crowd* one = argument;
  char bytes[64] = "";
  call_values values = {malloc(OUT_BYTES), "text", bytes, {{1, 1, 1}, {1, 1, 1}, 0}};
  uint64_t random = one->seed;
  if (values.out == NULL) return NULL;
  for (int round = 0; round < one->calls; ++round) {
    uint64_t handles[3] = {0, 0, 0};
    const char* name = NULL;
    random = random * 6364136223846793005u + 1442695040888963407u;
    const handle_call* entry = &handle_calls[(random >> 33) % CALL_COUNT];
    if (is_left_out(entry)) continue;
    for (int i = 0; i < entry->handle_count; ++i) handles[i] = one->all->live[entry->types[i]];
    memset(values.out, 0, OUT_BYTES);
    values.out[0] = sizeof(uint64_t); /* a struct_size */
    const km_status status = entry->call(handles, &values);
    if (km_status_name(status, &name) != KM_SUCCESS) ++one->unknown;
    if (status != KM_SUCCESS) continue;
    for (int i = 0; i < OUT_COUNT; ++i) {
      uint64_t value;
      memcpy(&value, values.out + i * OUT_ROOM_BYTES, sizeof value);
      if (!is_live(one->all, value)) destroy_result(value);
    }
  }
  free(values.out);
  return NULL;
}

static void every_entry_is_called_from_many_threads(void** state) {
  fixture* f = *state;
  enum { THREADS = 6, CALLS = 3000 };
  objects* all = calloc(1, sizeof *all);
  pthread_t threads[THREADS];
  crowd members[THREADS];
  assert_non_null(all);
  create_all(f, all->live);
  for (int i = 0; i < THREADS; ++i) {
    members[i] = (crowd){all, 12345u + (uint64_t)i, CALLS, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, call_everything, &members[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(members[i].unknown, 0);
  }
  destroy_all(all->live); /* all of them are alive still */
  free(all);
}

static void messages_say_why(void** state) {
  fixture* f = *state;
  km_event event;
  EXPECT(KM_ERROR_INVALID_HANDLE, km_stream_query(0));
  expect_message("km_stream_query: stream is null; expected a km_stream");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_stream_query(0x1234));
  expect_message("stream is 0x1234, which is not a handle of this library");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_record(f->stream, f->stream));
  expect_message("a km_stream; expected a km_event");
  OK(km_event_create(f->context, 0, &event));
  OK(km_event_destroy(event));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_destroy(event));
  expect_message("a km_event that was destroyed already");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_event_query(event + 5));
  expect_message("a km_event that was never given out");
}

static void destroying_null_is_fine(void** state) {
  (void)state;
  OK(km_device_destroy(0));
  OK(km_context_destroy(0));
  OK(km_stream_destroy(0));
  OK(km_event_destroy(0));
  OK(km_host_memory_destroy(0));
  OK(km_slice_destroy(0));
  OK(km_program_destroy(0));
  OK(km_pool_destroy(0));
  OK(km_module_destroy(0));
  OK(km_function_destroy(0));
  OK(km_launch_destroy(0));
  OK(km_graph_destroy(0));
  OK(km_graph_exec_destroy(0));
  OK(km_blas_destroy(0));
  OK(km_fft_destroy(0));
  OK(km_comm_destroy(0));
  OK(km_tune_destroy(0));
}

/* All orders of destroying are equal; this one is parents first. */
static void parents_first(void** state) {
  fixture* f = *state;
  uint64_t handles[HANDLE_TYPE_COUNT];
  create_all(f, handles);
  OK(km_launch_set_grid(handles[HANDLE_LAUNCH], 1, 1, 1));
  OK(km_launch_set_block(handles[HANDLE_LAUNCH], 1, 1, 1));
  OK(km_device_destroy(handles[HANDLE_DEVICE]));
  OK(km_context_destroy(handles[HANDLE_CONTEXT]));
  OK(km_module_destroy(handles[HANDLE_MODULE]));
  OK(km_function_destroy(handles[HANDLE_FUNCTION]));
  OK(km_launch_submit(handles[HANDLE_LAUNCH]));
  OK(km_stream_synchronize(handles[HANDLE_STREAM]));
  OK(km_stream_destroy(handles[HANDLE_STREAM]));
  OK(km_launch_submit(handles[HANDLE_LAUNCH]));
  OK(km_launch_destroy(handles[HANDLE_LAUNCH]));
  OK(km_event_destroy(handles[HANDLE_EVENT]));
  OK(km_host_memory_destroy(handles[HANDLE_HOST_MEMORY]));
  OK(km_slice_destroy(handles[HANDLE_SLICE]));
  OK(km_program_destroy(handles[HANDLE_PROGRAM]));
  OK(km_pool_destroy(handles[HANDLE_POOL]));
  OK(km_graph_destroy(handles[HANDLE_GRAPH]));
  OK(km_graph_exec_destroy(handles[HANDLE_GRAPH_EXEC]));
  OK(km_blas_destroy(handles[HANDLE_BLAS]));
  OK(km_fft_destroy(handles[HANDLE_FFT]));
  OK(km_comm_destroy(handles[HANDLE_COMM]));
  OK(km_tune_destroy(handles[HANDLE_TUNE]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_handles_into_every_entry),
      cmocka_unit_test(bad_handles_among_the_slices_of_a_launch),
      cmocka_unit_test(every_entry_is_refused_after_fork),
      cmocka_unit_test(every_entry_is_called_from_many_threads),
      cmocka_unit_test(messages_say_why),
      cmocka_unit_test(destroying_null_is_fine),
      cmocka_unit_test(parents_first),
  };
  return RUN_ON_DEVICES("handles", tests);
}
