/* Profiles: what is counted, what the files hold, what it costs. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

enum { COUNT = 4096 };

static int find_row(const fixture* f, km_profile_kind kind, const char* name,
                    km_profile_row* out_row) {
  uint32_t count = 0;
  OK(km_profiler_row_count(f->context, &count));
  for (uint32_t i = 0; i < count; ++i) {
    km_profile_row row = {.struct_size = sizeof row};
    OK(km_profiler_row_get(f->context, i, &row));
    if (row.kind != kind || strcmp(row.name, name) != 0) continue;
    *out_row = row;
    return 1;
  }
  return 0;
}

static km_profile_row row_of(const fixture* f, km_profile_kind kind, const char* name) {
  km_profile_row row;
  if (!find_row(f, kind, name, &row)) {
    print_error("there is no row for %s\n", name);
    fail();
  }
  assert_true(row.min_ns <= row.max_ns);
  assert_true(row.total_ns >= row.max_ns);
  assert_true(row.total_ns <= row.count * row.max_ns);
  return row;
}

static void run_work(const fixture* f, km_function scale, km_slice data, int launches) {
  scale_arguments arguments = {0, 1, COUNT};
  static uint32_t words[COUNT];
  OK(km_slice_address(data, &arguments.data));
  OK(km_slice_fill_u32(f->stream, data, 0, 0, COUNT));
  OK(km_slice_upload(f->stream, data, 0, words, sizeof words));
  for (int i = 0; i < launches; ++i) {
    OK(launch(f, scale, COUNT / 256, 256, &arguments, sizeof arguments));
  }
  OK(km_slice_download(f->stream, data, 0, words, sizeof words));
  OK(km_stream_synchronize(f->stream));
}

static void work_is_counted_while_it_records(void** state) {
  fixture* f = *state;
  km_profile_row row;
  uint32_t count = 77;
  if (is_fake(f) && !is_cuda(f)) {
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_profiler_start(f->context));
    skip();
  }
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  run_work(f, scale, data, 3); /* before the start */
  OK(km_profiler_row_count(f->context, &count));
  assert_int_equal(count, 0);
  OK(km_profiler_start(f->context));
  OK(km_profiler_start(f->context));
  OK(km_profiler_set_work(scale, 1000000, 32768));
  run_work(f, scale, data, 10);
  OK(km_profiler_stop(f->context));
  run_work(f, scale, data, 5); /* after the stop */
  row = row_of(f, KM_PROFILE_KIND_KERNEL, "scale");
  assert_int_equal(row.count, 10);
  assert_int_equal(row.operations, 10000000);
  assert_int_equal(row.size_bytes, 327680);
  assert_in_range(row.bytes_per_second, row.size_bytes, UINT64_MAX);
  assert_int_equal(row.operations_per_second / 1000,
                   (uint64_t)(1e10 * 1e6 / (double)row.total_ns) / 1000);
  assert_in_range(row.occupancy_percent, 1, 100);
  row = row_of(f, KM_PROFILE_KIND_UPLOAD, "upload");
  assert_int_equal(row.count, 1);
  assert_int_equal(row.size_bytes, COUNT * 4);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_DOWNLOAD, "download").count, 1);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_FILL, "fill").size_bytes, COUNT * 4);
  assert_in_range(row_of(f, KM_PROFILE_KIND_WAIT, "synchronize stream").count, 1, 1);
  OK(km_profiler_start(f->context)); /* goes on */
  run_work(f, scale, data, 2);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_KERNEL, "scale").count, 12);
  OK(km_profiler_clear(f->context));
  assert_false(find_row(f, KM_PROFILE_KIND_KERNEL, "scale", &row));
  km_profile_row none = {.struct_size = sizeof none};
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_row_get(f->context, 1000, &none));
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

static void graphs_show_their_nodes(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip();
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  km_graph graph;
  km_graph_exec exec;
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  scale_arguments arguments = {0, 1, COUNT};
  OK(km_slice_address(data, &arguments.data));
  OK(km_stream_begin_capture(f->stream));
  for (int i = 0; i < 4; ++i) {
    OK(launch(f, scale, COUNT / 256, 256, &arguments, sizeof arguments));
  }
  OK(km_slice_fill_u8(f->stream, data, 0, 0, 100));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_profiler_start(f->context));
  for (int i = 0; i < 3; ++i) OK(km_graph_exec_launch(exec, f->stream));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(row_of(f, KM_PROFILE_KIND_KERNEL, "scale").count, 12);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_FILL, "fill").size_bytes, 300);
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

static void ranges_nest_and_have_names(void** state) {
  fixture* f = *state;
  uint64_t range = 0, other = 0;
  if (is_fake(f)) skip();
  OK(km_profiler_range_push(f->context, "before"));
  OK(km_profiler_start(f->context));
  OK(km_profiler_range_pop(f->context)); /* it began outside: not kept */
  for (int i = 0; i < 3; ++i) {
    OK(km_profiler_range_push(f->context, "outer"));
    OK(km_profiler_range_push(f->context, "inner"));
    usleep(300);
    OK(km_profiler_range_pop(f->context));
    usleep(300);
    OK(km_profiler_range_pop(f->context));
  }
  EXPECT(KM_ERROR_NOT_FOUND, km_profiler_range_pop(f->context));
  expect_message("ends one that km_profiler_range_push opened");
  OK(km_profiler_range_start(f->context, "by number", &range));
  OK(km_profiler_range_start(f->context, "another", &other));
  OK(km_profiler_range_end(f->context, range));
  EXPECT(KM_ERROR_NOT_FOUND, km_profiler_range_end(f->context, range));
  expect_message("it has ended already");
  OK(km_profiler_range_end(f->context, other));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_range_push(f->context, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_range_start(f->context, NULL, &range));
  const km_profile_row outer = row_of(f, KM_PROFILE_KIND_RANGE, "outer");
  const km_profile_row inner = row_of(f, KM_PROFILE_KIND_RANGE, "inner");
  assert_int_equal(outer.count, 3);
  assert_true(inner.total_ns >= 900000);
  assert_true(outer.total_ns >= inner.total_ns + 900000);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_RANGE, "by number").count, 1);
  km_profile_row none;
  assert_false(find_row(f, KM_PROFILE_KIND_RANGE, "before", &none));
}

static void the_summary_is_a_table(void** state) {
  fixture* f = *state;
  char text[8192];
  uint64_t size = 0;
  if (is_fake(f)) skip();
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  OK(km_profiler_start(f->context));
  OK(km_profiler_set_work(scale, 1u << 30, 0));
  run_work(f, scale, data, 10);
  OK(km_profiler_summary(f->context, NULL, 0, &size));
  OK(km_profiler_summary(f->context, text, sizeof text, NULL));
  assert_int_equal(size, strlen(text) + 1);
  assert_non_null(strstr(text, "GFLOP/s"));
  assert_non_null(strstr(text, "scale "));
  assert_non_null(strstr(text, "upload "));
  EXPECT(KM_ERROR_BUFFER_TOO_SMALL, km_profiler_summary(f->context, text, 10, NULL));
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text;
  long size;
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  rewind(file);
  text = calloc(1, (size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  fclose(file);
  return text;
}

static void files_are_written(void** state) {
  fixture* f = *state;
  char path[64];
  if (is_fake(f)) skip();
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  OK(km_profiler_start(f->context));
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  OK(km_profiler_range_push(f->context, "say \"<hello>\" & \xff"));
  run_work(f, scale, data, 10);
  OK(km_profiler_range_pop(f->context));
  snprintf(path, sizeof path, "km_profile_%d.json", (int)getpid());
  OK(km_profiler_write(f->context, path));
  char* trace = read_file(path);
  assert_memory_equal(trace, "{\"displayTimeUnit\"", 18);
  assert_non_null(strstr(trace, "\"traceEvents\""));
  assert_non_null(strstr(trace, "\"name\":\"scale\",\"cat\":\"kernel\",\"ph\":\"X\""));
  assert_non_null(strstr(trace, "\"stream 0\""));
  assert_non_null(strstr(trace, "host thread"));
  assert_non_null(strstr(trace, "\"device memory\",\"ph\":\"C\""));
  assert_non_null(strstr(trace, "say \\\"<hello>\\\" & "));
  free(trace);
  remove(path);
  snprintf(path, sizeof path, "km_profile_%d.html", (int)getpid());
  OK(km_profiler_write(f->context, path));
  char* page = read_file(path);
  assert_non_null(strstr(page, "<!DOCTYPE html>"));
  assert_non_null(strstr(page, "<td>scale</td>"));
  assert_non_null(strstr(page, "say &quot;&lt;hello&gt;&quot; &amp;"));
  assert_non_null(strstr(page, "<svg class=\"timeline\""));
  assert_null(strstr(page, "http://"));
  assert_null(strstr(page, "https://"));
  assert_null(strstr(page, "<script"));
  free(page);
  remove(path);
  EXPECT(KM_ERROR_IO, km_profiler_write(f->context, "/nowhere/at/all.json"));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_write(f->context, ""));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_write(f->context, NULL));
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

/* A launch's shape, the call that queued it, and the compilation that it caused. */
static void traces_say_who_launched_what(void** state) {
  fixture* f = *state;
  char path[64];
  if (is_fake(f)) skip();
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  OK(km_profiler_start(f->context));
  run_work(f, scale, data, 1);
  snprintf(path, sizeof path, "km_profile_%d.json", (int)getpid());
  OK(km_profiler_write(f->context, path));
  char* trace = read_file(path);
  assert_non_null(strstr(trace, "\"grid\":\"16 x 1 x 1\",\"block\":\"256 x 1 x 1\""));
  assert_non_null(strstr(trace, "\"name\":\"launch scale\",\"cat\":\"call\""));
  assert_non_null(strstr(trace, "\"name\":\"queue upload\",\"cat\":\"call\""));
  assert_non_null(strstr(trace, "\"ph\":\"s\""));
  assert_non_null(strstr(trace, "\"ph\":\"f\",\"bp\":\"e\""));
  for (const char* word = "program\0machine\0date\0library\0"; *word; word += strlen(word) + 1) {
    assert_non_null(strstr(trace, word));
  }
  assert_null(strstr(trace, "\"empty\""));
  free(trace);
  remove(path);
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

static void empty_profiles_say_why(void** state) {
  fixture* f = *state;
  char path[64];
  const char* endings[] = {"json", "html"};
  if (is_fake(f)) skip();
  OK(km_profiler_start(f->context));
  for (int i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "km_profile_%d.%s", (int)getpid(), endings[i]);
    OK(km_profiler_write(f->context, path));
    char* text = read_file(path);
    assert_non_null(strstr(text, "Nothing was recorded: no kernel"));
    free(text);
    remove(path);
  }
}

static void blas_calls_count_operations(void** state) {
  fixture* f = *state;
  enum { M = 24, N = 16, K = 40 };
  const float one = 1, zero = 0;
  km_blas blas;
  if (is_fake(f)) skip();
  if (km_blas_create(f->stream, KM_BLAS_LAYOUT_COLUMNS, &blas) != KM_SUCCESS) skip();
  km_slice a, b, c;
  OK(km_slice_create(f->context, M * K, 4, KM_SLICE_ZEROED, &a));
  OK(km_slice_create(f->context, K * N, 4, KM_SLICE_ZEROED, &b));
  OK(km_slice_create(f->context, M * N, 4, KM_SLICE_ZEROED, &c));
  const km_blas_matrix ma = {.slice = (uint64_t)(uintptr_t)a, .leading_dimension = M};
  const km_blas_matrix mb = {.slice = (uint64_t)(uintptr_t)b, .leading_dimension = K};
  const km_blas_matrix mc = {.slice = (uint64_t)(uintptr_t)c, .leading_dimension = M};
  OK(km_profiler_start(f->context));
  const km_status given = km_blas_gemm(blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE,
                                       KM_BLAS_OPERATION_NONE, M, N, K, &one, &ma, &mb, &zero, &mc);
  if (given == KM_ERROR_BLAS_UNAVAILABLE) skip();
  OK(given);
  OK(km_stream_synchronize(f->stream));
  const km_profile_row row = row_of(f, KM_PROFILE_KIND_KERNEL, "sgemm");
  assert_int_equal(row.operations, 2 * M * N * K);
  assert_in_range(row.operations_per_second, 1, UINT64_MAX);
  OK(km_slice_destroy(a));
  OK(km_slice_destroy(b));
  OK(km_slice_destroy(c));
  OK(km_blas_destroy(blas));
}

/* Work that goes on when the context's handle is gone is recorded, or not, without harm. */
static void contexts_may_go_while_it_records(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip();
  for (int i = 0; i < 20; ++i) {
    fixture own = *f;
    OK(km_context_create(f->device, &own.context));
    OK(km_stream_create(own.context, 0, 0, &own.stream));
    km_slice data;
    OK(km_slice_create(own.context, 1 << 20, 4, 0, &data));
    OK(km_profiler_start(own.context));
    for (int k = 0; k < 5; ++k) OK(km_slice_fill_u32(own.stream, data, 0, 1, 1 << 20));
    OK(km_slice_destroy(data));
    OK(km_stream_destroy(own.stream));
    OK(km_context_destroy(own.context));
  }
}

typedef struct shared {
  const fixture* f;
  km_function noop;
} shared;

static void* launch_and_look(void* argument) {
  const shared* s = argument;
  const km_launch_config one = {{1, 1, 1}, {1, 1, 1}, 0};
  km_stream stream;
  OK(km_stream_create(s->f->context, 0, 0, &stream));
  for (int i = 0; i < 300; ++i) {
    uint32_t count = 0;
    OK(km_profiler_range_push(s->f->context, "turn"));
    OK(km_launch_kernel(stream, s->noop, &one, NULL, 0, NULL, 0));
    if (i % 50 == 0) OK(km_profiler_row_count(s->f->context, &count));
    if (i % 97 == 0) OK(km_profiler_start(s->f->context));
    OK(km_profiler_range_pop(s->f->context));
  }
  OK(km_stream_synchronize(stream));
  OK(km_stream_destroy(stream));
  return NULL;
}

static void threads_record_together(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip();
  shared s = {f, load_kernel(f, "noop")};
  pthread_t threads[4];
  OK(km_profiler_start(f->context));
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, launch_and_look, &s), 0);
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_KERNEL, "noop").count, 1200);
  assert_int_equal(row_of(f, KM_PROFILE_KIND_RANGE, "turn").count, 1200);
  OK(km_function_destroy(s.noop));
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double time_launches(const fixture* f, km_function function, const void* arguments,
                            uint64_t size, uint32_t grid) {
  enum { LAUNCHES = 100 };
  const double start = now_us();
  for (int i = 0; i < LAUNCHES; ++i) OK(launch(f, function, grid, 256, arguments, size));
  OK(km_stream_synchronize(f->stream));
  return (now_us() - start) / LAUNCHES;
}

/* Says what it costs: kernels of about 10 us, with and without, in turn; the best of many rounds of
 * each. What else the machine does decides too much for a limit. */
static void recording_costs(void** state) {
  fixture* f = *state;
  double off = 1e9, on = 1e9;
  if (is_fake(f)) skip();
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  uint32_t count = 1 << 14;
  OK(km_slice_create(f->context, 1 << 22, 4, KM_SLICE_ZEROED, &data));
  scale_arguments arguments = {0, 1, count};
  OK(km_slice_address(data, &arguments.data));
  for (double took = 0; took < 10 && count < 1 << 21;) { /* as many elements as take 10 us */
    count += count / 4 / 256 * 256;
    arguments.n = count;
    took = 1e9;
    for (int i = 0; i < 5; ++i) {
      const double once = time_launches(f, scale, &arguments, sizeof arguments, count / 256);
      if (once < took) took = once;
    }
  }
  for (int round = 0; round < 60; ++round) {
    double took = time_launches(f, scale, &arguments, sizeof arguments, count / 256);
    if (took < off) off = took;
    OK(km_profiler_start(f->context));
    took = time_launches(f, scale, &arguments, sizeof arguments, count / 256);
    OK(km_profiler_stop(f->context));
    if (took < on) on = took;
  }
  print_message("a kernel: %.3f us, recorded %.3f us: %+.1f%%\n", off, on, (on / off - 1) * 100);
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

/* The number of the kernel's row. */
static uint32_t index_of(const fixture* f, const char* kernel) {
  uint32_t count = 0, index = 0;
  km_profile_row row = {.struct_size = sizeof row};
  OK(km_profiler_row_count(f->context, &count));
  for (; index < count; ++index) {
    OK(km_profiler_row_get(f->context, index, &row));
    if (strcmp(row.name, kernel) == 0) break;
  }
  assert_true(index < count);
  return index;
}

static int counts_warps(void) { return getenv("KM_COUNTERS") != NULL; }

/* c.profiler.counters runs this with KM_COUNTERS=1, c.profiler without. */
static void counters_say_what_warps_did(void** state) {
  fixture* f = *state;
  const uint32_t warps = COUNT / 32;
  uint64_t lines = 0, totals = 0;
  uint32_t count = 77;
  if (is_fake(f) || is_cuda(f)) skip();
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  OK(km_profiler_start(f->context));
  run_work(f, scale, data, 2);
  const uint32_t row = index_of(f, "scale");
  OK(km_profiler_counter_count(f->context, row, &count));
  assert_int_equal(count != 0, counts_warps());
  for (uint32_t i = 0; i < count; ++i) {
    km_profile_counter each = {.struct_size = sizeof each};
    OK(km_profiler_counter_get(f->context, row, i, &each));
    assert_int_equal(each.is_total, lines == 0 && each.line == 0);
    assert_int_equal(each.line != 0, each.source[0] != '\0');
    if (each.line != 0) ++lines;
    if (each.is_total) ++totals;
    if (each.kind != KM_COUNTER_KIND_GLOBAL_LOAD && each.kind != KM_COUNTER_KIND_GLOBAL_STORE) {
      continue;
    }
    assert_int_equal(each.requests, 2 * warps);
    assert_int_equal(each.threads, 2 * COUNT);
    assert_int_equal(each.taken, 2 * warps * 4);
    assert_int_equal(each.ideal, each.taken);
  }
  /* A load, a store, a branch, instructions. */
  assert_int_equal(totals, counts_warps() ? 4 : 0);
  assert_int_equal(lines != 0, counts_warps());
  km_profile_counter none = {.struct_size = sizeof none};
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_counter_get(f->context, row, count, &none));
  expect_message("beyond the end of");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_counter_get(f->context, 1000, 0, &none));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_counter_count(f->context, 1000, &count));
  expect_message("row is 1000");
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

static void counters_are_switched_by_a_call(void** state) {
  fixture* f = *state;
  uint32_t count = 77;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_profiler_set_counters(f->context, 2));
  expect_message("enabled is 2");
  if (is_fake(f) || is_cuda(f)) {
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_profiler_set_counters(f->context, 1));
    expect_message("has no counters");
    OK(km_profiler_set_counters(f->context, 0));
    return;
  }
  km_function scale = load_kernel(f, "scale");
  km_slice data;
  OK(km_slice_create(f->context, COUNT, 4, 0, &data));
  OK(km_profiler_start(f->context));
  for (uint32_t enabled = 0; enabled < 2; ++enabled) {
    OK(km_profiler_set_counters(f->context, enabled));
    OK(km_profiler_clear(f->context));
    run_work(f, scale, data, 2);
    OK(km_profiler_counter_count(f->context, index_of(f, "scale"), &count));
    assert_int_equal(count != 0, enabled);
  }
  OK(km_profiler_set_counters(f->context, 0));
  OK(km_slice_destroy(data));
  OK(km_function_destroy(scale));
}

int main(void) {
  const struct CMUnitTest counters[] = {cmocka_unit_test(counters_say_what_warps_did)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_is_counted_while_it_records),
      cmocka_unit_test(graphs_show_their_nodes),
      cmocka_unit_test(ranges_nest_and_have_names),
      cmocka_unit_test(the_summary_is_a_table),
      cmocka_unit_test(files_are_written),
      cmocka_unit_test(traces_say_who_launched_what),
      cmocka_unit_test(empty_profiles_say_why),
      cmocka_unit_test(blas_calls_count_operations),
      cmocka_unit_test(contexts_may_go_while_it_records),
      cmocka_unit_test(threads_record_together),
      cmocka_unit_test(recording_costs),
      cmocka_unit_test(counters_say_what_warps_did),
      cmocka_unit_test(counters_are_switched_by_a_call),
  };
  /* KM_COUNTERS records from the beginning, which the other tests do not expect. */
  if (counts_warps()) return RUN_ON_DEVICES("profiler", counters);
  return RUN_ON_DEVICES("profiler", tests);
}
