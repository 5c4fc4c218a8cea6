/* Fourier transforms: what they refuse, and that they are work of a stream like any other. Their
 * results are compared in test_fft_values.cpp. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

#include <kernelmill/helpers.h>

enum {
  kComplex = KM_FFT_KIND_COMPLEX,
  kToComplex = KM_FFT_KIND_REAL_TO_COMPLEX,
  kToReal = KM_FFT_KIND_COMPLEX_TO_REAL,
  kForward = KM_FFT_DIRECTION_FORWARD,
  kInverse = KM_FFT_DIRECTION_INVERSE,
  kF32 = KM_DATA_TYPE_F32,
  kNumbers = 64
};

typedef struct fft_state {
  const fixture* f;
  km_fft fft;                 /* 4 lines of 8 complex numbers */
  km_slice slices[2];         /* 64 complex numbers of f32 each */
  km_array input, output;     /* their beginnings */
  float values[2 * kNumbers]; /* those of slice 0 */
} fft_state;

static void refuse(km_status expected, km_status given, const char* text) {
  EXPECT(expected, given);
  expect_message(text);
}
#define INVALID(call, text) refuse(KM_ERROR_INVALID_ARGUMENT, (call), (text))

static fft_state begin(const fixture* f) {
  fft_state s;
  const km_fft_shape shape = km_fft_lines(kComplex, kF32, 8, 4);
  if (is_fake(f)) skip(); /* it computes nothing */
  memset(&s, 0, sizeof s);
  s.f = f;
  for (int i = 0; i < 2 * kNumbers; ++i) s.values[i] = (float)(i * 37 % 11) - 5;
  for (int i = 0; i < 2; ++i) {
    OK(km_slice_create(f->context, kNumbers, 8, KM_SLICE_ZEROED, &s.slices[i]));
  }
  OK(km_slice_upload(f->stream, s.slices[0], 0, s.values, sizeof s.values));
  OK(km_fft_create(f->stream, &shape, &s.fft));
  s.input = km_place(s.slices[0], 0);
  s.output = km_place(s.slices[1], 0);
  return s;
}

static void end(const fft_state* s) {
  for (int i = 0; i < 2; ++i) OK(km_slice_destroy(s->slices[i]));
  OK(km_fft_destroy(s->fft));
}

static km_status run(const fft_state* s) {
  return km_fft_execute(s->fft, kForward, &s->input, &s->output);
}

/* The sum of the first line's numbers, which is its first result. */
static void expect_sum(const fft_state* s, const float* values) {
  float seen[2], wanted[2] = {0, 0};
  for (int i = 0; i < 16; ++i) wanted[i % 2] += values[i];
  OK(km_slice_download(s->f->stream, s->slices[1], s->output.offset * 8, seen, sizeof seen));
  assert_true(fabsf(seen[0] - wanted[0]) < 1e-4F && fabsf(seen[1] - wanted[1]) < 1e-4F);
}

static void expect_refused_shape(const fixture* f, const km_fft_shape* shape, const char* text) {
  km_fft fft = NULL;
  INVALID(km_fft_create(f->stream, shape, &fft), text);
  assert_null(fft);
}

static void shapes_are_checked(void** state) {
  const fixture* f = *state;
  const km_fft_shape good = km_fft_lines(kComplex, kF32, 8, 4);
  km_fft_shape shape = good;
  km_fft fft = NULL;
  if (is_fake(f)) skip();
  INVALID(km_fft_create(f->stream, NULL, &fft), "shape is null");
  INVALID(km_fft_create(f->stream, &good, NULL), "out_fft is null");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_fft_create(NULL, &good, &fft));
  shape.kind = 0;
  expect_refused_shape(f, &shape, "shape->kind is 0; it can be 1 to 3");
  shape.kind = 4;
  expect_refused_shape(f, &shape, "shape->kind is 4");
  shape = good;
  shape.type = KM_DATA_TYPE_C32;
  expect_refused_shape(f, &shape, "shape->type is 3; it is that of real numbers");
  shape = good;
  shape.reserved = 9;
  expect_refused_shape(f, &shape, "shape->reserved is 9");
  shape = good;
  shape.rank = 0;
  expect_refused_shape(f, &shape, "shape->rank is 0; it can be 1 to 3");
  shape.rank = 4;
  expect_refused_shape(f, &shape, "shape->rank is 4");
  shape.rank = 2;
  expect_refused_shape(f, &shape, "shape->sizes[1] is 0; a dimension has at least 1");
  shape = good;
  shape.sizes[2] = 5;
  expect_refused_shape(f, &shape, "shape->sizes[2] is 5; it has to be 0 beyond the rank 1");
  shape = good;
  shape.batch_count = 0;
  expect_refused_shape(f, &shape, "shape->batch_count is 0");
  OK(km_fft_destroy(NULL));
}

static void sizes_do_not_overflow(void** state) {
  const fixture* f = *state;
  const km_fft_shape good = km_fft_lines(kComplex, kF32, 8, 4);
  km_fft_shape shape = good;
  km_fft fft = NULL;
  if (is_fake(f)) skip();
  shape.batch_count = UINT64_MAX;
  expect_refused_shape(f, &shape, "shape->input would have more than 2^58 bytes");
  shape = good;
  shape.rank = 3;
  shape.sizes[0] = shape.sizes[1] = shape.sizes[2] = UINT64_C(1) << 22;
  expect_refused_shape(f, &shape, "shape->input would have more than 2^58 bytes");
  shape = good;
  shape.output = (km_fft_layout){{0, 0, 0}, UINT64_C(1) << 60, 1};
  expect_refused_shape(f, &shape, "shape->output would have more than 2^58 bytes");
  shape.output = (km_fft_layout){{0, 0, 0}, 1, UINT64_MAX / 2};
  expect_refused_shape(f, &shape, "shape->output would have more than 2^58 bytes");
  shape = good;
  shape.batch_count = UINT64_C(1) << 50;
  refuse(KM_ERROR_OUT_OF_DEVICE_MEMORY, km_fft_create(f->stream, &shape, &fft),
         "shape->input has 72057594037927936 bytes; device ");
}

static void layouts_are_checked(void** state) {
  const fixture* f = *state;
  km_fft_shape good = km_fft_lines(kComplex, kF32, 4, 3), shape;
  km_fft fft;
  if (is_fake(f)) skip();
  good.rank = 2;
  good.sizes[1] = 8;
  shape = good;
  shape.input.stride = 1;
  expect_refused_shape(f, &shape, "shape->input.distance is 0, but other members");
  shape.input.distance = 32;
  expect_refused_shape(f, &shape, "shape->input.extents[1] is 0; the dimension has 8 elements");
  shape.input.extents[1] = 8;
  OK(km_fft_create(f->stream, &shape, &fft));
  OK(km_fft_destroy(fft));
  shape.input.stride = 0;
  expect_refused_shape(f, &shape, "shape->input.stride is 0, but other members");
  shape = good;
  shape.input = (km_fft_layout){{4, 8, 2}, 1, 32};
  expect_refused_shape(f, &shape, "shape->input.extents[2] is 2; it has to be 0 beyond the rank 2");
  /* Inputs may overlap, outputs may not. */
  shape = good;
  shape.input = (km_fft_layout){{0, 8, 0}, 1, 1};
  OK(km_fft_create(f->stream, &shape, &fft));
  OK(km_fft_destroy(fft));
  shape.output = (km_fft_layout){{0, 8, 0}, 1, 31};
  expect_refused_shape(f, &shape, "the batch has one every 31 elements, of which");
  shape.output = (km_fft_layout){{0, 8, 0}, 2, 1};
  expect_refused_shape(f, &shape, "dimension 1 has one every 2 elements, of which");
  shape.output = (km_fft_layout){{0, 8, 0}, 3, 1}; /* they interleave */
  OK(km_fft_create(f->stream, &shape, &fft));
  OK(km_fft_destroy(fft));
}

static void arguments_are_checked(void** state) {
  const fixture* f = *state;
  fft_state s = begin(f);
  const km_fft_shape forward = km_fft_lines(kToComplex, kF32, 8, 1);
  const km_fft_shape inverse = km_fft_lines(kToReal, kF32, 8, 1);
  uint64_t address;
  km_array other;
  km_fft real;
  INVALID(km_fft_execute(s.fft, 0, &s.input, &s.output), "direction is 0; it can be 1 (forward)");
  INVALID(km_fft_execute(s.fft, 3, &s.input, &s.output), "direction is 3");
  INVALID(km_fft_execute(s.fft, kForward, NULL, &s.output), "input is null");
  INVALID(km_fft_execute(s.fft, kForward, &s.input, NULL), "output is null");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_fft_execute(NULL, kForward, &s.input, &s.output));
  OK(km_fft_create(f->stream, &forward, &real));
  INVALID(km_fft_execute(real, kInverse, &s.input, &s.output), "is forward (1)");
  OK(km_fft_destroy(real));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_fft_execute(real, kForward, &s.input, &s.output));
  OK(km_fft_create(f->stream, &inverse, &real));
  INVALID(km_fft_execute(real, kForward, &s.input, &s.output), "is inverse (2)");
  OK(km_fft_destroy(real));
  /* 32 of 64 elements are used. */
  s.input.offset = 32;
  OK(run(&s));
  s.input.offset = 33;
  refuse(KM_ERROR_OUT_OF_BOUNDS, run(&s), "256 bytes at offset 264 of the input");
  s.input.offset = UINT64_MAX / 4;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, run(&s));
  s.input.offset = 0;
  s.output.offset = 33;
  refuse(KM_ERROR_OUT_OF_BOUNDS, run(&s), "of the output");
  /* An address does as well as a slice. */
  OK(km_slice_address(s.slices[1], &address));
  s.output = (km_array){0, address, 32, 0};
  OK(run(&s));
  s.output.offset = 33;
  refuse(KM_ERROR_OUT_OF_BOUNDS, run(&s), "256 bytes at output");
  s.output = (km_array){0, address + 4, 0, 0};
  INVALID(run(&s), "which is not a multiple of 8 bytes");
  s.output = (km_array){s.input.slice, address, 0, 0};
  INVALID(run(&s), "output has a slice and an address");
  /* In place is fine, and so are halves of one slice; otherwise both are apart. */
  other = s.input;
  OK(km_fft_execute(s.fft, kForward, &s.input, &other));
  other.offset = 32;
  OK(km_fft_execute(s.fft, kForward, &s.input, &other));
  other.offset = 31;
  INVALID(km_fft_execute(s.fft, kForward, &s.input, &other), "output, which is written, overlaps");
  end(&s);
}

static void wait_in_callback(void* go, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)go)) usleep(100);
}

static void calls_join_the_stream(void** state) {
  fixture* f = *state;
  fft_state s = begin(f);
  atomic_int go = 0;
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(run(&s));
  OK(km_slice_fill_u32(f->stream, s.slices[0], 0, 0, 128));
  EXPECT(KM_NOT_READY, km_stream_query(f->stream)); /* the call did not wait */
  OK(km_slice_destroy(s.slices[0]));                /* kept until it is done */
  OK(km_fft_destroy(s.fft));
  atomic_store(&go, 1);
  expect_sum(&s, s.values);
  OK(km_slice_destroy(s.slices[1]));
}

static void calls_can_be_captured(void** state) {
  fixture* f = *state;
  fft_state s = begin(f);
  km_graph graph;
  km_graph_exec exec;
  km_graph_node_info info = {.struct_size = sizeof info};
  uint64_t nodes[2], count = 0, size = 0;
  char dot[2000];
  OK(km_stream_begin_capture(f->stream));
  OK(run(&s));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_fft_destroy(s.fft)); /* the graph keeps what it needs */
  OK(km_graph_nodes(graph, nodes, 2, &count));
  assert_int_equal(count, 1);
  OK(km_graph_node_info_get(graph, nodes[0], &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_LIBRARY);
  OK(km_graph_dot(graph, dot, sizeof dot, &size));
  assert_non_null(strstr(dot, "library"));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_destroy(graph));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 16; ++i) s.values[i] = (float)(i + round);
    OK(km_slice_upload(f->stream, s.slices[0], 0, s.values, sizeof s.values));
    OK(km_graph_exec_launch(exec, f->stream));
    expect_sum(&s, s.values);
  }
  OK(km_graph_exec_destroy(exec));
  s.fft = NULL;
  end(&s);
}

/* One plan in two streams and in a graph at the same time, with memory that each has for itself. */
static void one_plan_runs_several_times_at_once(void** state) {
  enum { kSide = 128, kBytes = kSide * kSide * 8, kRounds = 20 };
  static float ones[2 * kSide * kSide]; /* complex ones */
  fixture* f = *state;
  fft_state s = begin(f);
  km_fft_shape shape = km_fft_lines(kToReal, kF32, kSide, 1);
  km_stream stream;
  km_slice places[3];
  float seen[3][kSide];
  km_graph graph;
  km_graph_exec exec;
  km_fft fft;
  shape.rank = 2;
  shape.sizes[1] = kSide;
  OK(km_stream_create(f->context, 0, 0, &stream));
  OK(km_fft_create(f->stream, &shape, &fft));
  for (int i = 0; i < 3; ++i) OK(km_slice_create(f->context, kBytes, 1, 0, &places[i]));
  for (int i = 0; i < kSide * kSide; ++i) ones[2 * i] = 1;
  OK(km_slice_upload(f->stream, places[0], 0, ones, kBytes));
  const km_array input = km_place(places[0], 0);
  const km_array first = km_place(places[1], 0), second = km_place(places[2], 0);
  OK(km_stream_begin_capture(f->stream));
  OK(km_fft_execute(fft, kInverse, &input, &second));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_stream_synchronize(f->stream));
  for (int i = 0; i < kRounds; ++i) {
    OK(km_fft_execute(fft, kInverse, &input, &first));
    OK(km_graph_exec_launch(exec, stream));
  }
  OK(km_stream_synchronize(stream));
  for (int i = 1; i < 3; ++i) {
    OK(km_slice_download(f->stream, places[i], 0, seen[i], sizeof seen[i]));
    for (int k = 1; k < kSide; ++k) assert_true(fabsf(seen[i][k]) < 0.1F);
    assert_true(fabsf(seen[i][0] - (float)kSide * kSide) < 0.1F);
  }
  assert_memory_equal(seen[1], seen[2], sizeof seen[1]);
  for (int i = 0; i < 3; ++i) OK(km_slice_destroy(places[i]));
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
  OK(km_fft_destroy(fft));
  OK(km_stream_destroy(stream));
  end(&s);
}

static void profiles_name_the_call(void** state) {
  fixture* f = *state;
  fft_state s = begin(f);
  km_profile_row row = {.struct_size = sizeof row};
  OK(km_profiler_start(f->context));
  OK(run(&s));
  OK(km_stream_synchronize(f->stream));
  OK(km_profiler_stop(f->context));
  OK(km_profiler_row_get(f->context, 0, &row));
  assert_string_equal(row.name, "km_fft_execute");
  assert_int_equal(row.kind, KM_PROFILE_KIND_KERNEL);
  assert_int_equal(row.count, 1);
  end(&s);
}

static void slices_of_other_contexts_need_peer_access(void** state) {
  fixture* f = *state;
  fft_state s = begin(f);
  km_context other;
  km_slice slice;
  OK(km_context_create(f->device, &other));
  OK(km_slice_create(other, kNumbers, 8, KM_SLICE_ZEROED, &slice));
  s.input = km_place(slice, 0);
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, run(&s));
  OK(km_context_enable_peer_access(f->context, other));
  OK(run(&s));
  OK(km_slice_destroy(slice));
  OK(km_context_destroy(other));
  end(&s);
}

static void failed_and_reset_contexts(void** state) {
  fixture* f = *state;
  fft_state s = begin(f);
  const km_fft_shape shape = km_fft_lines(kComplex, kF32, 8, 4);
  km_function crash = load_kernel(f, "crash");
  km_fft fft = NULL;
  EXPECT(KM_SUCCESS, launch(f, crash, 1, 1, NULL, 0));
  km_stream_synchronize(f->stream);
  EXPECT_TRAP(f, run(&s));
  EXPECT_TRAP(f, km_fft_create(f->stream, &shape, &fft));
  if (!comes_back_after_fault(f)) return;
  EXPECT(KM_ERROR_CONTEXT_LOST, run(&s));
  OK(km_function_destroy(crash));
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_are_checked),
      cmocka_unit_test(sizes_do_not_overflow),
      cmocka_unit_test(layouts_are_checked),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(calls_join_the_stream),
      cmocka_unit_test(calls_can_be_captured),
      cmocka_unit_test(one_plan_runs_several_times_at_once),
      cmocka_unit_test(profiles_name_the_call),
      cmocka_unit_test(slices_of_other_contexts_need_peer_access),
      FAULTING_TEST(failed_and_reset_contexts),
  };
  return RUN_ON_DEVICES("fft", tests);
}
