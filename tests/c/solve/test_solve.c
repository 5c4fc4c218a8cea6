/* Calls of km_solve: what they refuse, what info says, and that they are work of a stream like any
 * other. Their results are compared in test_solve_random.cpp. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

enum {
  kF64 = KM_DATA_TYPE_F64,
  kLower = KM_BLAS_TRIANGLE_LOWER,
  kPlain = KM_BLAS_OPERATION_NONE,
  kOrder = 3,
  kElements = 64
};

typedef struct solve_state {
  const fixture* f;
  km_blas blas;
  km_slice slices[3], numbers, infos;
  km_blas_matrix a, b, c; /* 3 x 3 of f64 by columns, in slices of their own */
  km_array values, info;  /* of f64 and of int32_t */
} solve_state;

static const double kPositive[9] = {4, 2, 2, 2, 5, 3, 2, 3, 6};

static uint64_t value_of(km_slice slice) { return (uint64_t)(uintptr_t)slice; }

static void put(const solve_state* s, int slice, uint64_t first, const double* values,
                uint64_t count) {
  OK(km_slice_upload(s->f->stream, s->slices[slice], first * 8, values, count * 8));
}

static solve_state begin(const fixture* f) {
  solve_state s;
  if (is_fake(f)) skip(); /* it computes nothing */
  memset(&s, 0, sizeof s);
  s.f = f;
  OK(km_blas_create(f->stream, KM_BLAS_LAYOUT_COLUMNS, &s.blas));
  for (int i = 0; i < 3; ++i) {
    OK(km_slice_create(f->context, kElements, 8, KM_SLICE_ZEROED, &s.slices[i]));
  }
  OK(km_slice_create(f->context, kElements, 8, KM_SLICE_ZEROED, &s.numbers));
  OK(km_slice_create(f->context, kElements, 4, 0, &s.infos));
  OK(km_slice_fill_u32(f->stream, s.infos, 0, 77, kElements));
  s.a = (km_blas_matrix){value_of(s.slices[0]), 0, 0, kOrder, 9};
  s.b = (km_blas_matrix){value_of(s.slices[1]), 0, 0, kOrder, 9};
  s.c = (km_blas_matrix){value_of(s.slices[2]), 0, 0, kOrder, 9};
  s.values = (km_array){value_of(s.numbers), 0, 0, kOrder};
  s.info = (km_array){value_of(s.infos), 0, 0, 1};
  put(&s, 0, 0, kPositive, 9);
  put(&s, 1, 0, kPositive, 9);
  return s;
}

static void end(solve_state* s) {
  for (int i = 0; i < 3; ++i) OK(km_slice_destroy(s->slices[i]));
  OK(km_slice_destroy(s->numbers));
  OK(km_slice_destroy(s->infos));
  OK(km_blas_destroy(s->blas));
}

static double element(const solve_state* s, int slice, uint64_t index) {
  double value;
  OK(km_slice_download(s->f->stream, s->slices[slice], index * 8, &value, 8));
  return value;
}
static int32_t info_of(const solve_state* s, uint64_t item) {
  int32_t value;
  OK(km_slice_download(s->f->stream, s->infos, item * 4, &value, 4));
  return value;
}

static km_status potrf(const solve_state* s, uint64_t n, uint64_t batch_count) {
  return km_solve_potrf(s->blas, kF64, kLower, n, batch_count, &s->a, &s->info);
}
static km_status getrf(const solve_state* s, uint64_t m, uint64_t n) {
  return km_solve_getrf(s->blas, kF64, m, n, 1, &s->a, &s->values, &s->info);
}
static km_status gesvd(const solve_state* s, km_solve_vectors vectors, uint64_t m, uint64_t n) {
  return km_solve_gesvd(s->blas, kF64, vectors, m, n, 1, &s->a, &s->values, &s->b, &s->c, &s->info);
}

static void refuse(km_status expected, km_status given, const char* text) {
  EXPECT(expected, given);
  expect_message(text);
}
#define INVALID(call, text) refuse(KM_ERROR_INVALID_ARGUMENT, (call), (text))

static void enumerations_have_to_be_known(void** state) {
  solve_state s = begin(*state);
  const km_data_type c64 = KM_DATA_TYPE_C64;
  EXPECT(KM_ERROR_INVALID_HANDLE, km_solve_potrf(NULL, kF64, 1, 3, 1, &s.a, &s.info));
  INVALID(km_solve_potrf(s.blas, KM_DATA_TYPE_F16, kLower, 3, 1, &s.a, &s.info),
          "type is 5; it can be 1 to 4 here");
  INVALID(km_solve_potrf(s.blas, kF64, 3, 3, 1, &s.a, &s.info), "triangle is 3");
  INVALID(km_solve_getrs(s.blas, kF64, 0, 3, 1, 1, &s.a, &s.values, &s.b, &s.info),
          "operation is 0");
  INVALID(km_solve_ormqr(s.blas, kF64, 9, kPlain, 3, 3, 3, 1, &s.a, &s.values, &s.b, &s.info),
          "side is 9");
  INVALID(km_solve_ormqr(s.blas, c64, 1, KM_BLAS_OPERATION_TRANSPOSE, 2, 2, 2, 1, &s.a, &s.values,
                         &s.b, &s.info),
          "operation is 2; it can be 1 or 3 here for complex types");
  INVALID(
      km_solve_syevd(s.blas, kF64, KM_SOLVE_VECTORS_THIN, kLower, 3, 1, &s.a, &s.values, &s.info),
      "vectors is 2; it can be 1 or 3 here");
  INVALID(gesvd(&s, 0, 3, 3), "vectors is 0");
  INVALID(gesvd(&s, 4, 3, 3), "vectors is 4");
  end(&s);
}

static void sizes_and_lines_have_to_fit(void** state) {
  solve_state s = begin(*state);
  INVALID(potrf(&s, UINT64_C(1) << 31, 1), "n is 2147483648; at most 2147483647");
  INVALID(potrf(&s, 3, UINT64_C(1) << 40), "batch_count is 1099511627776");
  INVALID(km_solve_orgqr(s.blas, kF64, 2, 3, 1, 1, &s.a, &s.values, &s.info),
          "n is 3; it can be at most m, which is 2");
  INVALID(km_solve_orgqr(s.blas, kF64, 3, 2, 3, 1, &s.a, &s.values, &s.info),
          "k is 3; it can be at most n, which is 2");
  INVALID(km_solve_ormqr(s.blas, kF64, KM_BLAS_SIDE_LEFT, kPlain, 2, 3, 3, 1, &s.a, &s.values, &s.b,
                         &s.info),
          "k is 3; it can be at most m, which is 2");
  INVALID(km_solve_ormqr(s.blas, kF64, KM_BLAS_SIDE_RIGHT, kPlain, 3, 2, 3, 1, &s.a, &s.values,
                         &s.b, &s.info),
          "k is 3; it can be at most n, which is 2");
  s.a.leading_dimension = 2;
  INVALID(potrf(&s, 3, 1), "a->leading_dimension is 2; lines of the matrix have 3 elements");
  /* The lines of a 3 x 2 matrix by columns are longer than those by rows. */
  INVALID(getrf(&s, 3, 2), "lines of the matrix have 3 elements");
  OK(getrf(&s, 2, 3));
  end(&s);
}

static void arrays_have_to_be_there(void** state) {
  solve_state s = begin(*state);
  INVALID(km_solve_potrf(s.blas, kF64, kLower, 3, 1, NULL, &s.info), "a is null");
  INVALID(km_solve_potrf(s.blas, kF64, kLower, 3, 1, &s.a, NULL), "info is null");
  INVALID(km_solve_potrs(s.blas, kF64, kLower, 3, 1, 1, &s.a, NULL, &s.info), "b is null");
  INVALID(km_solve_getrf(s.blas, kF64, 3, 3, 1, &s.a, NULL, &s.info), "pivots is null");
  INVALID(km_solve_geqrf(s.blas, kF64, 3, 3, 1, &s.a, NULL, &s.info), "tau is null");
  INVALID(km_solve_ormqr(s.blas, kF64, 1, kPlain, 3, 3, 3, 1, &s.a, &s.values, NULL, &s.info),
          "c is null");
  INVALID(km_solve_syevd(s.blas, kF64, 1, kLower, 3, 1, &s.a, NULL, &s.info),
          "eigenvalues is null");
  INVALID(km_solve_gesvd(s.blas, kF64, KM_SOLVE_VECTORS_ALL, 3, 3, 1, &s.a, &s.values, NULL, &s.c,
                         &s.info),
          "u is null");
  INVALID(km_solve_gesvd(s.blas, kF64, KM_SOLVE_VECTORS_ALL, 3, 3, 1, &s.a, &s.values, &s.b, NULL,
                         &s.info),
          "vh is null");
  OK(km_solve_gesvd(s.blas, kF64, KM_SOLVE_VECTORS_NONE, 3, 3, 1, &s.a, &s.values, NULL, NULL,
                    &s.info));
  end(&s);
}

static void arrays_stay_within_their_slices(void** state) {
  solve_state s = begin(*state);
  uint64_t address;
  s.a.offset = kElements - 8;
  refuse(KM_ERROR_OUT_OF_BOUNDS, potrf(&s, 3, 1), "72 bytes at offset 448 of the a reach beyond");
  s.a.offset = 0;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, potrf(&s, 3, 8)); /* 72 elements */
  s.info.offset = kElements;
  refuse(KM_ERROR_OUT_OF_BOUNDS, potrf(&s, 3, 1), "4 bytes at offset 256 of the info");
  s.info.offset = 0;
  /* Pivots have 4 bytes, tau and real values those of their type. */
  s.values.offset = 2 * kElements - 3;
  OK(getrf(&s, 3, 3));
  s.values.offset = 2 * kElements - 2;
  refuse(KM_ERROR_OUT_OF_BOUNDS, getrf(&s, 3, 3), "of the pivots");
  s.values.offset = kElements - 2;
  refuse(KM_ERROR_OUT_OF_BOUNDS, km_solve_geqrf(s.blas, kF64, 3, 3, 1, &s.a, &s.values, &s.info),
         "of the tau");
  refuse(KM_ERROR_OUT_OF_BOUNDS, gesvd(&s, KM_SOLVE_VECTORS_NONE, 3, 3), "of the singular_values");
  s.values.offset = UINT64_MAX / 2;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, getrf(&s, 3, 3));
  OK(km_slice_address(s.infos, &address));
  s.info = (km_array){0, address + 2, 0, 0};
  INVALID(potrf(&s, 3, 1), "which is not a multiple of 4 bytes");
  s.info = (km_array){0, address, 0, 0};
  OK(potrf(&s, 3, 1));
  end(&s);
}

static void results_overlap_nothing(void** state) {
  solve_state s = begin(*state);
  s.b = s.a;
  INVALID(km_solve_potrs(s.blas, kF64, kLower, 3, 3, 1, &s.a, &s.b, &s.info),
          "b, which is written, overlaps a");
  s.values.slice = s.a.slice;
  INVALID(getrf(&s, 3, 3), "a, which is written, overlaps pivots");
  s.values.slice = s.info.slice;
  INVALID(getrf(&s, 3, 3), "pivots, which is written, overlaps info");
  s.info.stride = 0;
  INVALID(potrf(&s, 3, 2), "the matrices of info overlap each other: its stride is 0 bytes");
  s.info.stride = 1;
  s.a.stride = 8;
  INVALID(potrf(&s, 3, 2), "the matrices of a overlap each other: its stride is 64 bytes");
  s.a.stride = 3; /* rows of three matrices between each other */
  s.a.leading_dimension = 9;
  OK(potrf(&s, 3, 3));
  end(&s);
}

static void sizes_of_zero_still_give_info(void** state) {
  solve_state s = begin(*state);
  const km_blas_matrix nowhere = {0, 0, 0, 1, 0};
  const km_array nothing = {0, 0, 0, 0};
  OK(km_solve_potrf(s.blas, kF64, kLower, 0, 2, &nowhere, &s.info));
  assert_int_equal(info_of(&s, 0), 0);
  assert_int_equal(info_of(&s, 1), 0);
  assert_int_equal(info_of(&s, 2), 77);
  OK(km_solve_potrf(s.blas, kF64, kLower, 1, 0, &nowhere, &nothing)); /* no matrix, no info */
  s.info.offset = 2;
  OK(km_solve_getrf(s.blas, kF64, 0, 1, 1, &nowhere, &nothing, &s.info));
  assert_int_equal(info_of(&s, 2), 0);
  s.info.offset = 3;
  OK(km_solve_getrs(s.blas, kF64, kPlain, 3, 0, 1, &s.a, &s.values, &s.b, &s.info));
  assert_int_equal(info_of(&s, 3), 0);
  s.info.offset = 4; /* no reflections: Q is the identity */
  OK(km_solve_ormqr(s.blas, kF64, 1, kPlain, 3, 3, 0, 1, &s.a, &nothing, &s.b, &s.info));
  assert_int_equal(info_of(&s, 4), 0);
  assert_true(element(&s, 1, 4) == kPositive[4]);
  s.info.offset = 5;
  if (is_cuda(s.f)) {
    EXPECT(KM_ERROR_NOT_SUPPORTED, gesvd(&s, KM_SOLVE_VECTORS_ALL, 3, 0));
    end(&s);
    return;
  }
  OK(gesvd(&s, KM_SOLVE_VECTORS_ALL, 3, 0)); /* all vectors of nothing */
  assert_int_equal(info_of(&s, 5), 0);
  for (int i = 0; i < 9; ++i) assert_true(element(&s, 1, i) == (i % 4 == 0));
  end(&s);
}

static void info_names_what_failed(void** state) {
  solve_state s = begin(*state);
  const double indefinite[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1},
               singular[9] = {1, 2, 4, 2, 4, 8, 1, 0, 1};
  put(&s, 0, 9, indefinite, 9);
  put(&s, 0, 18, kPositive, 9);
  OK(potrf(&s, 3, 3));
  assert_int_equal(info_of(&s, 0), 0);
  assert_int_equal(info_of(&s, 1), 2);
  assert_int_equal(info_of(&s, 2), 0);
  assert_true(element(&s, 0, 0) == 2 && element(&s, 0, 18) == 2); /* the others are factorized */
  put(&s, 0, 0, singular, 9);
  OK(getrf(&s, 3, 3));
  assert_int_equal(info_of(&s, 0), 2); /* the second column is twice the first */
  end(&s);
}

/* LAPACK's searches and iterations may not end with such numbers. GPUs give what cuSOLVER does. */
static void numbers_that_are_not_finite_end_soon(void** state) {
  solve_state s = begin(*state);
  const double values[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 9 * 3 && !is_cuda(s.f); ++i) {
    const int place = i % 9, row = place % 3, column = place / 3;
    double matrix[9];
    memcpy(matrix, kPositive, sizeof matrix);
    matrix[place] = values[i / 9];
    put(&s, 0, 0, matrix, 9);
    OK(potrf(&s, 3, 1));
    assert_int_equal(info_of(&s, 0), column > row ? 0 : row + 1);
    put(&s, 0, 0, matrix, 9);
    OK(getrf(&s, 3, 3));
    assert_int_equal(info_of(&s, 0), 0);
    assert_true(isnan(element(&s, 0, 8)));
    put(&s, 0, 0, matrix, 9);
    OK(km_solve_geqrf(s.blas, kF64, 3, 3, 1, &s.a, &s.values, &s.info));
    assert_int_equal(info_of(&s, 0), 0);
    put(&s, 0, 0, matrix, 9);
    OK(km_solve_syevd(s.blas, kF64, KM_SOLVE_VECTORS_ALL, kLower, 3, 1, &s.a, &s.values, &s.info));
    assert_int_equal(info_of(&s, 0), column > row ? 0 : 3);
    put(&s, 0, 0, matrix, 9);
    OK(gesvd(&s, KM_SOLVE_VECTORS_THIN, 3, 3));
    assert_int_equal(info_of(&s, 0), 3);
    assert_true(isnan(element(&s, 1, 0)) && isnan(element(&s, 2, 8)));
  }
  end(&s);
}

static void wrong_pivots_are_not_followed(void** state) {
  solve_state s = begin(*state);
  const int32_t wrong[][3] = {{0, 2, 3}, {1, -7, 3}, {1, 2, 4}, {1, 2, INT32_MAX}};
  for (int i = 0; i < 4 && !is_cuda(s.f); ++i) {
    OK(km_slice_upload(s.f->stream, s.numbers, 0, wrong[i], sizeof wrong[i]));
    OK(km_solve_getrs(s.blas, kF64, kPlain, 3, 3, 1, &s.a, &s.values, &s.b, &s.info));
    assert_int_equal(info_of(&s, 0), i < 2 ? i + 1 : 3);
    assert_true(element(&s, 1, 0) == kPositive[0]);
  }
  end(&s);
}

/* One factor for all right-hand sides: a that is only read may have a stride of 0. */
static void a_factor_serves_a_batch(void** state) {
  solve_state s = begin(*state);
  put(&s, 1, 9, kPositive, 9);
  OK(potrf(&s, 3, 1));
  s.a.stride = 0;
  OK(km_solve_potrs(s.blas, kF64, kLower, 3, 3, 2, &s.a, &s.b, &s.info));
  for (int i = 0; i < 18; ++i) {
    assert_true(fabs(element(&s, 1, i) - (i % 9 % 4 == 0)) < 1e-15 * 64);
  }
  end(&s);
}

static void calls_can_be_captured(void** state) {
  fixture* f = *state;
  solve_state s = begin(f);
  const double other[9] = {1, 0, 0, 0, 9, 0, 0, 0, 16};
  km_graph graph;
  km_graph_exec exec;
  km_graph_node_info node = {.struct_size = sizeof node};
  uint64_t nodes[2], count = 0, size = 0;
  char dot[2000];
  OK(km_stream_begin_capture(f->stream));
  OK(potrf(&s, 3, 1));
  OK(km_solve_potrs(s.blas, kF64, kLower, 3, 3, 1, &s.a, &s.b, &s.info));
  OK(km_stream_end_capture(f->stream, &graph));
  assert_int_equal(info_of(&s, 0), 77); /* nothing has run */
  OK(km_graph_nodes(graph, nodes, 2, &count));
  assert_int_equal(count, 2);
  OK(km_graph_node_info_get(graph, nodes[0], &node));
  assert_int_equal(node.kind, KM_GRAPH_NODE_LIBRARY);
  OK(km_graph_dot(graph, dot, sizeof dot, &size));
  assert_non_null(strstr(dot, "km_solve_potrf"));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_destroy(graph));
  OK(km_graph_exec_launch(exec, f->stream));
  assert_int_equal(info_of(&s, 0), 0);
  assert_true(element(&s, 0, 0) == 2 && fabs(element(&s, 1, 4) - 1) < 1e-14);
  put(&s, 0, 0, other, 9);
  put(&s, 1, 0, kPositive, 9);
  OK(km_graph_exec_launch(exec, f->stream));
  assert_true(element(&s, 0, 4) == 3 && element(&s, 0, 8) == 4);
  assert_true(fabs(element(&s, 1, 4) - 5.0 / 9) < 1e-15);
  OK(km_graph_exec_destroy(exec));
  end(&s);
}

/* cuSOLVER takes columns; some routines can solve the transposed problem instead. */
static void layouts_that_gpus_lack_are_refused(void** state) {
  solve_state s = begin(*state);
  km_blas rows;
  if (!is_cuda(s.f)) {
    end(&s);
    skip();
  }
  OK(km_blas_create(s.f->stream, KM_BLAS_LAYOUT_ROWS, &rows));
  refuse(KM_ERROR_NOT_SUPPORTED, km_solve_potrs(rows, kF64, kLower, 3, 3, 1, &s.a, &s.b, &s.info),
         "give km_blas_create KM_BLAS_LAYOUT_COLUMNS");
  refuse(KM_ERROR_NOT_SUPPORTED, gesvd(&s, KM_SOLVE_VECTORS_NONE, 2, 3),
         "needs at least as many rows as columns; this one is 2 x 3");
  OK(km_blas_destroy(rows));
  end(&s);
}

static void memory_is_kept_until_the_call_is_done(void** state) {
  fixture* f = *state;
  solve_state s = begin(f);
  OK(potrf(&s, 3, 1));
  OK(km_solve_potrs(s.blas, kF64, kLower, 3, 3, 1, &s.a, &s.b, &s.info));
  OK(km_slice_destroy(s.slices[0]));
  assert_true(fabs(element(&s, 1, 0) - 1) < 1e-14);
  OK(km_slice_create(f->context, 1, 8, 0, &s.slices[0]));
  end(&s);
}

static void profiles_name_the_function(void** state) {
  fixture* f = *state;
  solve_state s = begin(f);
  km_profile_row row = {.struct_size = sizeof row};
  OK(km_profiler_start(f->context));
  OK(potrf(&s, 3, 1));
  OK(km_stream_synchronize(f->stream));
  OK(km_profiler_stop(f->context));
  OK(km_profiler_row_get(f->context, 0, &row));
  assert_string_equal(row.name, "km_solve_potrf");
  assert_int_equal(row.kind, KM_PROFILE_KIND_KERNEL);
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(enumerations_have_to_be_known),
      cmocka_unit_test(sizes_and_lines_have_to_fit),
      cmocka_unit_test(arrays_have_to_be_there),
      cmocka_unit_test(arrays_stay_within_their_slices),
      cmocka_unit_test(results_overlap_nothing),
      cmocka_unit_test(sizes_of_zero_still_give_info),
      cmocka_unit_test(info_names_what_failed),
      cmocka_unit_test(numbers_that_are_not_finite_end_soon),
      cmocka_unit_test(wrong_pivots_are_not_followed),
      cmocka_unit_test(a_factor_serves_a_batch),
      cmocka_unit_test(calls_can_be_captured),
      cmocka_unit_test(layouts_that_gpus_lack_are_refused),
      cmocka_unit_test(memory_is_kept_until_the_call_is_done),
      cmocka_unit_test(profiles_name_the_function),
  };
  return RUN_ON_DEVICES("solve", tests);
}
