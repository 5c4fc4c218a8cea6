/* Sparse calls: what they refuse, and that they are work of a stream like any other. Their results
 * are compared in test_sparse.cpp. */
#include <math.h>
#include <string.h>

#include "support/testing.h"

#include <kernelmill/helpers.h>

enum { kPlain = KM_BLAS_OPERATION_NONE, kLower = KM_BLAS_TRIANGLE_LOWER };

static const float kOne = 1, kZero = 0;
static const km_data_type kF32 = KM_DATA_TYPE_F32;

/* Slices of 16 elements of 4 bytes, and the matrix 1 0 0 / 2 3 0 / 0 4 5 in them. */
enum { kOffsets, kIndices, kValues, kX, kY, kSlices };
typedef struct sparse_state {
  const fixture* f;
  km_blas blas;
  km_slice slices[kSlices];
  km_sparse_matrix a;
  km_blas_vector x, y;
  km_blas_matrix b, c; /* 3 x 3, where x and y are */
} sparse_state;

static void upload(const sparse_state* s, int slice, const void* values, uint64_t count) {
  OK(km_slice_upload(s->f->stream, s->slices[slice], 0, values, count * 4));
}

static void give_matrix(const sparse_state* s) {
  const int32_t offsets[] = {0, 1, 3, 5}, indices[] = {0, 0, 1, 2, 1};
  const float values[] = {1, 2, 3, 5, 4};
  upload(s, kOffsets, offsets, 4);
  upload(s, kIndices, indices, 5);
  upload(s, kValues, values, 5);
}

static sparse_state begin(const fixture* f) {
  sparse_state s;
  const float x[] = {1, 2, 3};
  if (is_fake(f)) skip(); /* it computes nothing */
  memset(&s, 0, sizeof s);
  s.f = f;
  OK(km_blas_create(f->stream, KM_BLAS_LAYOUT_ROWS, &s.blas));
  for (int i = 0; i < kSlices; ++i) {
    OK(km_slice_create(f->context, 16, 4, KM_SLICE_ZEROED, &s.slices[i]));
  }
  give_matrix(&s);
  upload(&s, kX, x, 3);
  s.a = km_sparse_csr(3, 3, 5);
  s.a.offsets = km_place(s.slices[kOffsets], 0);
  s.a.indices = km_place(s.slices[kIndices], 0);
  s.a.values = km_place(s.slices[kValues], 0);
  s.x = km_vector(s.slices[kX], 0, 1);
  s.y = km_vector(s.slices[kY], 0, 1);
  s.b = km_matrix(s.slices[kX], 0, 3);
  s.c = km_matrix(s.slices[kY], 0, 3);
  return s;
}

static void end(sparse_state* s) {
  for (int i = 0; i < kSlices; ++i) OK(km_slice_destroy(s->slices[i]));
  OK(km_blas_destroy(s->blas));
}

static km_status mv(const sparse_state* s) {
  return km_sparse_mv(s->blas, kF32, kPlain, &kOne, &s->a, &s->x, &kZero, &s->y);
}
static km_status mm(const sparse_state* s, uint64_t columns) {
  return km_sparse_mm(s->blas, kF32, kPlain, kPlain, columns, &kOne, &s->a, &s->b, &kZero, &s->c);
}
static km_status sv(const sparse_state* s) {
  return km_sparse_sv(s->blas, kF32, kPlain, kLower, KM_BLAS_DIAGONAL_STORED, &kOne, &s->a, &s->x,
                      &s->y);
}
static km_status sm(const sparse_state* s, uint64_t columns) {
  return km_sparse_sm(s->blas, kF32, kPlain, kLower, KM_BLAS_DIAGONAL_STORED, columns, &kOne, &s->a,
                      &s->b, &s->c);
}

static void expect_floats(const sparse_state* s, int slice, float first, float second,
                          float third) {
  float seen[3];
  OK(km_slice_download(s->f->stream, s->slices[slice], 0, seen, sizeof seen));
  assert_true(seen[0] == first && seen[1] == second && seen[2] == third);
}

static void refuse(km_status expected, km_status given, const char* text) {
  EXPECT(expected, given);
  expect_message(text);
}
#define INVALID(call, text) refuse(KM_ERROR_INVALID_ARGUMENT, (call), (text))

static void errors_name_the_argument_and_its_value(void** state) {
  sparse_state s = begin(*state), t = s;
  INVALID(km_sparse_mv(s.blas, KM_DATA_TYPE_F16, 1, &kOne, &s.a, &s.x, &kZero, &s.y), "type is 5");
  INVALID(km_sparse_mv(s.blas, kF32, 0, &kOne, &s.a, &s.x, &kZero, &s.y), "operation is 0");
  INVALID(km_sparse_mv(s.blas, kF32, 1, NULL, &s.a, &s.x, &kZero, &s.y), "alpha is null");
  INVALID(km_sparse_mv(s.blas, kF32, 1, &kOne, NULL, &s.x, &kZero, &s.y), "a is null");
  INVALID(km_sparse_mv(s.blas, kF32, 1, &kOne, &s.a, NULL, &kZero, &s.y), "x is null");
  INVALID(km_sparse_mv(s.blas, kF32, 1, &kOne, &s.a, &s.x, NULL, &s.y), "beta is null");
  INVALID(km_sparse_mv(s.blas, kF32, 1, &kOne, &s.a, &s.x, &kZero, NULL), "y is null");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_sparse_mv(NULL, kF32, 1, &kOne, &s.a, &s.x, &kZero, &s.y));
  t.a.format = 4;
  INVALID(mv(&t), "a->format is 4; it can be 1 to 3");
  t = s, t.a.index_size_bytes = 2;
  INVALID(mv(&t), "a->index_size_bytes is 2; offsets and indices have 4 or 8 bytes each");
  t = s, t.a.index_base = 2;
  INVALID(mv(&t), "a->index_base is 2");
  t = s, t.a.reserved = 7;
  INVALID(mv(&t), "a->reserved is 7; it has to be 0");
  t = s, t.a.rows = UINT64_C(1) << 31;
  INVALID(mv(&t), "a->rows is 2147483648; at most 2147483647");
  t = s, t.a.columns = UINT64_MAX;
  INVALID(mv(&t), "a->columns is 18446744073709551615");
  t = s, t.a.nonzeros = UINT64_C(1) << 31;
  INVALID(mv(&t), "a->nonzeros is 2147483648; at most 2147483647 is possible with indices of 4");
  t = s, t.x.increment = -1;
  INVALID(mv(&t), "x->increment is -1; vectors of sparse calls go forward");
  t = s, t.y.increment = 0;
  INVALID(mv(&t), "y->increment is 0");
  INVALID(km_sparse_mm(s.blas, kF32, 4, 1, 3, &kOne, &s.a, &s.b, &kZero, &s.c), "operation_a is 4");
  INVALID(km_sparse_mm(s.blas, kF32, 1, 0, 3, &kOne, &s.a, &s.b, &kZero, &s.c), "operation_b is 0");
  INVALID(mm(&s, UINT64_C(1) << 32), "columns is 4294967296");
  t = s, t.b.leading_dimension = 2;
  INVALID(mm(&t, 3), "b->leading_dimension is 2; lines of the matrix have 3 elements");
  t = s, t.a.columns = 2;
  INVALID(sv(&t), "a has 3 rows and 2 columns; a triangular matrix has as many of each");
  INVALID(sm(&t, 1), "a has 3 rows and 2 columns");
  INVALID(km_sparse_sv(s.blas, kF32, 1, 0, 1, &kOne, &s.a, &s.x, &s.y), "triangle is 0");
  INVALID(km_sparse_sm(s.blas, kF32, 1, 1, 3, 1, &kOne, &s.a, &s.b, &s.c), "diagonal is 3");
  end(&s);
}

static void arrays_stay_within_their_slices(void** state) {
  sparse_state s = begin(*state), t = s;
  t.a.offsets.offset = 13;
  refuse(KM_ERROR_OUT_OF_BOUNDS, mv(&t), "16 bytes at offset 52 of the a->offsets reach beyond");
  t = s, t.a.nonzeros = 17;
  refuse(KM_ERROR_OUT_OF_BOUNDS, mv(&t), "a->indices");
  t = s, t.a.values.offset = 12;
  refuse(KM_ERROR_OUT_OF_BOUNDS, mv(&t), "a->values");
  t = s, t.x.increment = 8;
  refuse(KM_ERROR_OUT_OF_BOUNDS, mv(&t), "the x");
  t = s, t.a.index_size_bytes = 8; /* whose numbers of nonzeros are huge */
  t.a.nonzeros = UINT64_C(1) << 60;
  refuse(KM_ERROR_OUT_OF_BOUNDS, mv(&t), "a->indices");
  t.a.nonzeros = UINT64_MAX;
  INVALID(mv(&t), "a->nonzeros is 18446744073709551615; at most 1152921504606846976");
  end(&s);
}

static void outputs_overlap_nothing(void** state) {
  sparse_state s = begin(*state), t = s;
  t.y = t.x;
  INVALID(mv(&t), "y, which is written, overlaps x");
  t = s, t.y = km_vector(s.slices[kValues], 0, 1);
  INVALID(mv(&t), "y, which is written, overlaps a->values");
  t = s, t.y = km_vector(s.slices[kX], 1, 1);
  INVALID(sv(&t), "y, which is written, overlaps x");
  t = s, t.x.increment = 2, t.y = km_vector(s.slices[kX], 0, 1);
  INVALID(sv(&t), "x and y begin at the same address, but their increments are 2 and 1");
  t = s, t.c = km_matrix(s.slices[kX], 0, 4);
  INVALID(sm(&t, 2), "b and c begin at the same address, but their leading dimensions are 3 and 4");
  t = s, t.y = t.x; /* in place */
  OK(sv(&t));
  expect_floats(&s, kX, 1, 0, 3 / 5.0F);
  end(&s);
}

static void nothing_is_done_for_sizes_of_zero(void** state) {
  sparse_state s = begin(*state), t = s;
  const float values[] = {7, 8, NAN}, two = 2;
  float seen[3];
  const km_array nowhere = {0, 0, 0, 0};
  upload(&s, kY, values, 3);
  t.a.rows = 0;
  OK(km_sparse_mv(s.blas, kF32, 1, &kOne, &t.a, &s.x, &kZero, &s.y));
  OK(mm(&s, 0));
  t.a.columns = 0;
  OK(sv(&t));
  /* No nonzeros, or no columns: y = beta y. */
  t = s, t.a.nonzeros = 0, t.a.indices = t.a.values = nowhere;
  OK(km_slice_fill_u32(s.f->stream, s.slices[kOffsets], 0, 0, 4));
  t.a.rows = 2;
  OK(km_sparse_mv(s.blas, kF32, 1, &kOne, &t.a, &s.x, &two, &s.y));
  t.a.columns = 0, t.x = (km_blas_vector){0, 0, 0, 1};
  OK(km_sparse_mv(s.blas, kF32, 1, &kOne, &t.a, &t.x, &two, &s.y));
  OK(km_slice_download(s.f->stream, s.slices[kY], 0, seen, sizeof seen));
  assert_true(seen[0] == 28 && seen[1] == 32 && isnan(seen[2]));
  end(&s);
}

static void the_other_triangle_is_not_used(void** state) {
  sparse_state s = begin(*state);
  const float values[] = {1, 2, 3, NAN, 4};
  const int32_t indices[] = {0, 0, 1, 2, 1};
  upload(&s, kValues, values, 5);
  upload(&s, kIndices, indices, 5);
  OK(km_sparse_sv(s.blas, kF32, 1, kLower, KM_BLAS_DIAGONAL_UNIT, &kOne, &s.a, &s.x, &s.y));
  expect_floats(&s, kY, 1, 0, 3);
  end(&s);
}

static void calls_can_be_captured(void** state) {
  const fixture* f = *state;
  sparse_state s = begin(f);
  const int32_t other_indices[] = {2, 0, 1, 2, 1};
  const float other_values[] = {10, 20, 30, 50, 40};
  km_graph graph;
  km_graph_exec exec;
  km_graph_node_info info = {.struct_size = sizeof info};
  uint64_t nodes[5], count = 0, size = 0;
  char dot[2000];
  km_sparse_matrix lower = s.a;
  lower.indices = km_place(s.slices[kIndices], 8);
  lower.values = km_place(s.slices[kValues], 8);
  OK(km_slice_copy(f->stream, s.slices[kIndices], 32, s.slices[kIndices], 0, 20));
  OK(km_slice_copy(f->stream, s.slices[kValues], 32, s.slices[kValues], 0, 20));
  OK(km_stream_begin_capture(f->stream));
  OK(mv(&s)); /* y = A x, x = L^-1 y */
  OK(km_sparse_sv(s.blas, kF32, 1, kLower, KM_BLAS_DIAGONAL_STORED, &kOne, &lower, &s.y, &s.x));
  OK(km_stream_end_capture(f->stream, &graph));
  expect_floats(&s, kY, 0, 0, 0); /* nothing has run */
  OK(km_graph_nodes(graph, nodes, 5, &count));
  assert_int_equal(count, 2);
  OK(km_graph_node_info_get(graph, nodes[1], &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_LIBRARY);
  assert_int_equal(info.dependency_count, 1);
  OK(km_graph_dot(graph, dot, sizeof dot, &size));
  assert_non_null(strstr(dot, "km_sparse_sv"));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_destroy(graph));
  OK(km_graph_exec_launch(exec, f->stream));
  expect_floats(&s, kY, 1, 8, 23);
  expect_floats(&s, kX, 1, 2, 3);
  upload(&s, kIndices, other_indices, 5);
  upload(&s, kValues, other_values, 5);
  OK(km_graph_exec_launch(exec, f->stream));
  expect_floats(&s, kY, 30, 80, 230);
  expect_floats(&s, kX, 30, 20 / 3.0F, (230 - 4 * (20 / 3.0F)) / 5);
  OK(km_graph_exec_destroy(exec));
  end(&s);
}

static void profiles_name_the_call(void** state) {
  const fixture* f = *state;
  sparse_state s = begin(f);
  km_profile_row row = {.struct_size = sizeof row};
  OK(km_profiler_start(f->context));
  OK(mm(&s, 3));
  OK(km_stream_synchronize(f->stream));
  OK(km_profiler_stop(f->context));
  OK(km_profiler_row_get(f->context, 0, &row));
  assert_string_equal(row.name, "km_sparse_mm");
  end(&s);
}

/* Ends the context with bad numbers in memory, of which the message tells. */
static int expect_end(sparse_state* s, int slice, const int32_t* numbers, uint64_t count,
                      km_status (*call)(const sparse_state*), const char* text) {
  upload(s, slice, numbers, count);
  /* A call of cuSPARSE has several parts, of which a later one may see that an earlier one failed.
   */
  const km_status queued = call(s);
  if (queued != KM_SUCCESS) assert_true(is_cuda(s->f) && queued == KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(s->f->stream));
  if (!is_cuda(s->f)) expect_message(text);
  EXPECT(KM_ERROR_ILLEGAL_ADDRESS, call(s)); /* it sticks */
  end(s);
  return comes_back_after_fault(s->f);
}

static km_status mm_of_two(const sparse_state* s) { return mm(s, 2); }
static km_status sm_of_two(const sparse_state* s) { return sm(s, 2); }

static void bad_indices_end_the_context(void** state) {
  fixture* f = *state;
  static const struct {
    km_status (*call)(const sparse_state*);
    int slice, wants_coo;
    int32_t numbers[5];
    const char* text;
  } cases[] = {
      {mv,
       kIndices,
       0,
       {0, 0, 3, 2, 1},
       "km_sparse_mv: a column index of row 1 in device memory is 3"},
      {mv, kIndices, 0, {-1, 0, 1, 2, 1}, "a column index of row 0 in device memory is -1"},
      {mv, kOffsets, 0, {0, 1, 3, 6, 0}, "an offset"},
      {mv, kOffsets, 0, {0, 4, 3, 5, 0}, "an offset"},
      {mm_of_two, kIndices, 0, {0, 0, 1, 2, 99}, "an index of line 2 in device memory is 99"},
      {sv, kIndices, 0, {0, 0, 1, 2, 4}, "km_sparse_sv: an index of line 2 in device memory is 4"},
      {sm_of_two, kOffsets, 0, {-2, 1, 3, 5, 0}, "an offset of line 0 in device memory is -2"},
      {mv, kOffsets, 1, {0, 1, 1, 2, 5}, "a row index of element 4 in device memory is 5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    sparse_state s = begin(f);
    if (cases[i].wants_coo) s.a.format = KM_SPARSE_FORMAT_COO;
    if (!expect_end(&s, cases[i].slice, cases[i].numbers, 5, cases[i].call, cases[i].text)) return;
    OK(km_stream_destroy(f->stream)); /* lost with the context */
    OK(km_stream_create(f->context, 0, 0, &f->stream));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_name_the_argument_and_its_value),
      cmocka_unit_test(arrays_stay_within_their_slices),
      cmocka_unit_test(outputs_overlap_nothing),
      cmocka_unit_test(nothing_is_done_for_sizes_of_zero),
      cmocka_unit_test(the_other_triangle_is_not_used),
      cmocka_unit_test(calls_can_be_captured),
      cmocka_unit_test(profiles_name_the_call),
      FAULTING_TEST(bad_indices_end_the_context),
  };
  return RUN_ON_DEVICES("sparse_calls", tests);
}
