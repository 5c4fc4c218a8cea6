/* BLAS calls: what they refuse, and that they are work of a stream like any other. Their results
 * are compared in test_blas_vectors.cpp and test_blas_level3.cpp. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { kRows = KM_BLAS_LAYOUT_ROWS, kPlain = KM_BLAS_OPERATION_NONE };

static const float kOne = 1, kZero = 0;

typedef struct blas_state {
  const fixture* f;
  km_blas blas;
  km_slice slices[3];
  km_blas_matrix a, b, c; /* 4 x 4 of f32, in slices of their own */
  km_blas_vector x, y, r; /* 4 elements of them */
} blas_state;

static uint64_t value_of(km_slice slice) { return (uint64_t)(uintptr_t)slice; }

static blas_state begin(const fixture* f) {
  blas_state s;
  float values[16];
  if (is_fake(f)) skip(); /* it computes nothing */
  memset(&s, 0, sizeof s);
  s.f = f;
  for (int i = 0; i < 16; ++i) values[i] = (float)(i + 1);
  OK(km_blas_create(f->stream, kRows, &s.blas));
  for (int i = 0; i < 3; ++i) {
    OK(km_slice_create(f->context, 16, 4, KM_SLICE_ZEROED, &s.slices[i]));
    OK(km_slice_upload(f->stream, s.slices[i], 0, values, sizeof values));
  }
  s.a = (km_blas_matrix){value_of(s.slices[0]), 0, 0, 4, 0};
  s.b = (km_blas_matrix){value_of(s.slices[1]), 0, 0, 4, 0};
  s.c = (km_blas_matrix){value_of(s.slices[2]), 0, 0, 4, 0};
  s.x = (km_blas_vector){value_of(s.slices[0]), 0, 0, 1};
  s.y = (km_blas_vector){value_of(s.slices[1]), 0, 0, 1};
  s.r = (km_blas_vector){value_of(s.slices[2]), 0, 0, 1};
  return s;
}

static void end(blas_state* s) {
  for (int i = 0; i < 3; ++i) OK(km_slice_destroy(s->slices[i]));
  OK(km_blas_destroy(s->blas));
}

static km_status gemm(const blas_state* s, uint64_t m, uint64_t n, uint64_t k) {
  return km_blas_gemm(s->blas, KM_DATA_TYPE_F32, kPlain, kPlain, m, n, k, &kOne, &s->a, &s->b,
                      &kZero, &s->c);
}
static km_status axpy(const blas_state* s, uint64_t n) {
  return km_blas_axpy(s->blas, KM_DATA_TYPE_F32, n, &kOne, &s->x, &s->y);
}

static float result_at(const blas_state* s, int slice, uint64_t index) {
  float value;
  OK(km_slice_download(s->f->stream, s->slices[slice], index * 4, &value, 4));
  return value;
}

static void refuse(km_status expected, km_status given, const char* text) {
  EXPECT(expected, given);
  expect_message(text);
}
#define INVALID(call, text) refuse(KM_ERROR_INVALID_ARGUMENT, (call), (text))

static void objects_are_made_for_a_layout(void** state) {
  fixture* f = *state;
  km_blas blas = NULL;
  INVALID(km_blas_create(f->stream, 0, &blas), "layout is 0");
  INVALID(km_blas_create(f->stream, 3, &blas), "layout is 3");
  INVALID(km_blas_create(f->stream, kRows, NULL), "out_blas is null");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_blas_create(NULL, kRows, &blas));
  assert_null(blas);
  OK(km_blas_destroy(NULL));
}

static void errors_name_the_argument_and_its_value(void** state) {
  blas_state s = begin(*state);
  const km_data_type f32 = KM_DATA_TYPE_F32;
  INVALID(km_blas_gemm(s.blas, 7, 1, 1, 4, 4, 4, &kOne, &s.a, &s.b, &kZero, &s.c),
          "type is 7 (no type); the routine takes f32, f64, c32, c64, f16, bf16");
  INVALID(km_blas_axpy(s.blas, KM_DATA_TYPE_F16, 4, &kOne, &s.x, &s.y),
          "type is 5 (f16); the routine takes f32, f64, c32, c64");
  INVALID(km_blas_rotm(s.blas, KM_DATA_TYPE_C32, 1, &s.x, &s.y, &kOne),
          "the routine takes f32, f64");
  INVALID(km_blas_gemm(s.blas, f32, 0, 1, 4, 4, 4, &kOne, &s.a, &s.b, &kZero, &s.c),
          "operation_a is 0");
  INVALID(km_blas_gemm(s.blas, f32, 1, 4, 4, 4, 4, &kOne, &s.a, &s.b, &kZero, &s.c),
          "operation_b is 4");
  INVALID(km_blas_syrk(s.blas, KM_DATA_TYPE_C32, 1, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE, 2, 2,
                       &kOne, &s.a, &kZero, &s.c),
          "operation is 3; it can be 1 or 2 here for complex types");
  INVALID(km_blas_trsv(s.blas, f32, 3, 1, 1, 4, &s.a, &s.y), "triangle is 3");
  INVALID(km_blas_trsv(s.blas, f32, 1, 1, 0, 4, &s.a, &s.y), "diagonal is 0");
  INVALID(km_blas_symm(s.blas, f32, 9, 1, 4, 4, &kOne, &s.a, &s.b, &kZero, &s.c), "side is 9");
  INVALID(gemm(&s, UINT64_C(1) << 31, 4, 4), "m is 2147483648; at most 2147483647");
  INVALID(km_blas_gemm(s.blas, f32, 1, 1, 4, 4, 4, NULL, &s.a, &s.b, &kZero, &s.c),
          "alpha is null");
  INVALID(km_blas_gemm(s.blas, f32, 1, 1, 4, 4, 4, &kOne, NULL, &s.b, &kZero, &s.c), "a is null");
  INVALID(km_blas_gemm(s.blas, f32, 1, 1, 4, 4, 4, &kOne, &s.a, &s.b, &kZero, NULL), "c is null");
  INVALID(km_blas_rot(s.blas, f32, 4, &s.x, &s.y, &kOne, NULL), "s is null");
  INVALID(km_blas_dot(s.blas, f32, 4, &s.x, &s.x, NULL), "result is null");
  s.b.leading_dimension = 3;
  INVALID(gemm(&s, 4, 4, 4), "b->leading_dimension is 3; lines of the matrix have 4 elements");
  s.b.leading_dimension = UINT64_C(1) << 40;
  INVALID(gemm(&s, 4, 4, 4), "b->leading_dimension is 1099511627776");
  s.y.increment = 0;
  INVALID(axpy(&s, 4), "y->increment is 0");
  s.y.increment = INT64_MIN;
  INVALID(axpy(&s, 4), "y->increment is -9223372036854775808");
  s.x.increment = -1;
  INVALID(km_blas_iamax(s.blas, f32, 4, &s.x, &s.r), "x->increment is -1");
  end(&s);
}

static void arrays_stay_within_their_slices(void** state) {
  blas_state s = begin(*state);
  fixture* f = *state;
  uint64_t address;
  s.x.offset = 13;
  refuse(KM_ERROR_OUT_OF_BOUNDS, axpy(&s, 4), "16 bytes at offset 52 of the x reach beyond");
  s.x.offset = 12;
  OK(axpy(&s, 4));
  s.x.increment = -2;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, axpy(&s, 4));
  s.x.offset = UINT64_MAX / 2;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, axpy(&s, 4));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, gemm(&s, 5, 4, 4));
  s.c.leading_dimension = 5;
  refuse(KM_ERROR_OUT_OF_BOUNDS, gemm(&s, 4, 4, 4), "76 bytes at offset 0 of the c");
  OK(gemm(&s, 3, 4, 4));
  s.c.leading_dimension = 4;
  s.a.offset = 1;
  refuse(KM_ERROR_OUT_OF_BOUNDS, gemm(&s, 4, 4, 4), "64 bytes at offset 4 of the a");
  s.a.offset = 0;
  s.c.stride = UINT64_MAX;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_blas_gemm_strided_batched(s.blas, KM_DATA_TYPE_F32, 1, 1, 2, 2, 2, &kOne, &s.a, &s.b,
                                      &kZero, &s.c, 2));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_blas_tpmv(s.blas, KM_DATA_TYPE_F32, 1, 1, 1, 6, &s.b, &s.r));
  /* An address does as well as a slice. */
  OK(km_slice_address(s.slices[0], &address));
  s.x = (km_blas_vector){0, address, 12, 1};
  OK(axpy(&s, 4));
  s.x.offset = 13;
  refuse(KM_ERROR_OUT_OF_BOUNDS, axpy(&s, 4), "16 bytes at x");
  s.x.address = 16;
  refuse(KM_ERROR_OUT_OF_BOUNDS, axpy(&s, 4), "lies in no allocation");
  s.x = (km_blas_vector){0, address + 2, 0, 1};
  INVALID(axpy(&s, 4), "which is not a multiple of 4 bytes");
  s.x = (km_blas_vector){value_of(s.slices[0]), address, 0, 1};
  INVALID(axpy(&s, 4), "x has a slice and an address");
  s.x = (km_blas_vector){value_of(s.slices[0]) ^ 1, 0, 0, 1};
  EXPECT(KM_ERROR_INVALID_HANDLE, axpy(&s, 4));
  expect_message("x is 0x");
  OK(km_stream_synchronize(f->stream));
  end(&s);
}

static void what_is_written_overlaps_nothing(void** state) {
  blas_state s = begin(*state);
  const km_data_type f32 = KM_DATA_TYPE_F32;
  const uint64_t a = s.a.slice;
  s.c.slice = a;
  INVALID(gemm(&s, 4, 4, 4), "c, which is written, overlaps a");
  s.c.slice = s.b.slice;
  INVALID(gemm(&s, 4, 4, 4), "c, which is written, overlaps b");
  /* Quarters of one matrix lie between each other. */
  s.b.slice = s.c.slice = a;
  s.b.offset = 2;
  s.c.offset = 8;
  OK(gemm(&s, 2, 2, 2));
  s.c.offset = 9;
  OK(km_blas_gemm(s.blas, f32, 1, 1, 2, 1, 2, &kOne, &s.a, &s.b, &kZero, &s.c));
  s.c.offset = 5;
  INVALID(gemm(&s, 2, 2, 2), "overlaps a");
  /* A row and a column meet in one element, two rows do not. */
  s.x = (km_blas_vector){a, 0, 0, 1};
  s.y = (km_blas_vector){a, 0, 2, 4};
  INVALID(axpy(&s, 4), "y, which is written, overlaps x");
  s.y = (km_blas_vector){a, 0, 4, 1};
  OK(axpy(&s, 4));
  s.x = (km_blas_vector){a, 0, 0, 2};
  s.y = (km_blas_vector){a, 0, 1, -2};
  OK(axpy(&s, 8));
  OK(km_blas_dot(s.blas, f32, 4, &s.x, &s.x, &s.r)); /* only read: fine */
  s.y = (km_blas_vector){a, 0, 0, 2};
  INVALID(km_blas_swap(s.blas, f32, 4, &s.x, &s.y), "x, which is written, overlaps y");
  /* Matrices of a batch. */
  s = begin(*state);
  s.c.stride = 3;
  INVALID(
      km_blas_gemm_strided_batched(s.blas, f32, 1, 1, 2, 4, 2, &kOne, &s.a, &s.b, &kZero, &s.c, 2),
      "the matrices of c overlap each other");
  s.c.stride = 0;
  INVALID(
      km_blas_gemm_strided_batched(s.blas, f32, 1, 1, 2, 2, 2, &kOne, &s.a, &s.b, &kZero, &s.c, 2),
      "the matrices of c overlap each other");
  s.c.stride = 2;
  OK(km_blas_gemm_strided_batched(s.blas, f32, 1, 1, 2, 2, 2, &kOne, &s.a, &s.b, &kZero, &s.c, 2));
  end(&s);
}

static void nothing_is_done_for_sizes_of_zero(void** state) {
  blas_state s = begin(*state);
  const km_blas_matrix nowhere = {0, 0, 0, 1, 0};
  const km_blas_vector nothing = {0, 0, 0, 1};
  const km_data_type f32 = KM_DATA_TYPE_F32;
  OK(km_blas_gemm(s.blas, f32, 1, 1, 0, 1, 1, &kOne, &nowhere, &s.b, &kZero, &nowhere));
  OK(km_blas_gemm_strided_batched(s.blas, f32, 1, 1, 1, 1, 1, &kOne, &nowhere, &nowhere, &kZero,
                                  &nowhere, 0));
  OK(km_blas_axpy(s.blas, f32, 0, &kOne, &nothing, &nothing));
  OK(km_blas_trsv(s.blas, f32, 1, 1, 1, 0, &nowhere, &nothing));
  OK(km_blas_gemv(s.blas, f32, 1, 4, 0, &kOne, &s.a, &nothing, &kZero, &s.y));
  assert_true(result_at(&s, 1, 0) == 1); /* as BLAS has it, also with a beta of 0 */
  OK(km_blas_dot(s.blas, f32, 0, &nothing, &nothing, &s.r));
  assert_true(result_at(&s, 2, 0) == 0);
  end(&s);
}

static void wait_in_callback(void* go, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)go)) usleep(100);
}

static void calls_join_the_stream(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  atomic_int go = 0;
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_slice_fill_u32(f->stream, s.slices[0], 0, 0x40000000, 16)); /* 2.0 */
  OK(gemm(&s, 4, 4, 4));
  OK(km_slice_fill_u32(f->stream, s.slices[0], 0, 0, 16));
  EXPECT(KM_NOT_READY, km_stream_query(f->stream)); /* the call did not wait */
  OK(km_slice_destroy(s.slices[1]));                /* kept until it is done */
  atomic_store(&go, 1);
  assert_true(result_at(&s, 2, 0) == 2 * (1 + 5 + 9 + 13));
  assert_true(result_at(&s, 2, 15) == 2 * (4 + 8 + 12 + 16));
  OK(km_slice_create(f->context, 16, 4, 0, &s.slices[1]));
  end(&s);
}

static void scalars_are_read_before_the_call_returns(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  atomic_int go = 0;
  float alpha = 3;
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_blas_scal(s.blas, KM_DATA_TYPE_F32, 16, &alpha, &s.x));
  alpha = 0;
  atomic_store(&go, 1);
  assert_true(result_at(&s, 0, 15) == 48);
  end(&s);
}

static void calls_can_be_captured(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  const float half = 0.5F;
  km_graph graph;
  km_graph_exec exec;
  km_graph_node_info info = {.struct_size = sizeof info};
  uint64_t nodes[2], count = 0, size = 0;
  char dot[2000];
  OK(km_stream_begin_capture(f->stream));
  OK(gemm(&s, 4, 4, 4));
  OK(km_blas_scal(s.blas, KM_DATA_TYPE_F32, 16, &half, &s.y));
  OK(km_stream_end_capture(f->stream, &graph));
  assert_true(result_at(&s, 2, 0) == 1); /* nothing has run */
  OK(km_graph_nodes(graph, nodes, 2, &count));
  assert_int_equal(count, 2);
  OK(km_graph_node_info_get(graph, nodes[1], &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_BLAS);
  assert_int_equal(info.dependency_count, 1);
  OK(km_graph_dot(graph, dot, sizeof dot, &size));
  assert_non_null(strstr(dot, "blas"));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_destroy(graph));
  for (int i = 0; i < 3; ++i) OK(km_graph_exec_launch(exec, f->stream));
  assert_true(result_at(&s, 2, 0) == (1 + 2 * 5 + 3 * 9 + 4 * 13) * 0.25F); /* of the third */
  assert_true(result_at(&s, 1, 15) == 2);
  /* What was captured is updated as a whole. */
  OK(km_stream_begin_capture(f->stream));
  OK(gemm(&s, 4, 4, 4));
  OK(km_blas_scal(s.blas, KM_DATA_TYPE_F32, 16, &kZero, &s.y));
  OK(km_stream_end_capture(f->stream, &graph));
  OK(km_graph_exec_update(exec, graph));
  OK(km_graph_exec_launch(exec, f->stream));
  OK(km_graph_destroy(graph));
  assert_true(result_at(&s, 1, 15) == 0);
  OK(km_graph_exec_destroy(exec));
  end(&s);
}

static void a_captured_call_keeps_no_stream(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  km_stream stream;
  km_blas blas;
  OK(km_stream_create(f->context, 0, 0, &stream));
  OK(km_blas_create(stream, kRows, &blas));
  OK(km_stream_begin_capture(stream));
  OK(km_blas_scal(blas, KM_DATA_TYPE_F32, 16, &kZero, &s.x));
  OK(km_blas_destroy(blas));
  OK(km_stream_destroy(stream)); /* with it goes the capture: waiting is allowed again */
  OK(km_context_synchronize(f->context));
  end(&s);
}

static void profiles_name_the_routine(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  km_profile_row row = {.struct_size = sizeof row};
  OK(km_profiler_start(f->context));
  OK(gemm(&s, 4, 4, 4));
  OK(km_stream_synchronize(f->stream));
  OK(km_profiler_stop(f->context));
  OK(km_profiler_row_get(f->context, 0, &row));
  assert_string_equal(row.name, "sgemm");
  assert_int_equal(row.kind, KM_PROFILE_KIND_KERNEL);
  assert_int_equal(row.count, 1);
  end(&s);
}

static void slices_of_other_contexts_need_peer_access(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  km_context other;
  km_slice slice;
  OK(km_context_create(f->device, &other));
  OK(km_slice_create(other, 16, 4, KM_SLICE_ZEROED, &slice));
  s.x.slice = value_of(slice);
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, axpy(&s, 4));
  OK(km_context_enable_peer_access(f->context, other));
  OK(axpy(&s, 4));
  OK(km_slice_destroy(slice));
  OK(km_context_destroy(other));
  end(&s);
}

static void read_only_files_are_not_written(void** state) {
  blas_state s = begin(*state);
  fixture* f = *state;
  char path[] = "/tmp/kernelmill-blas-XXXXXX";
  const float values[4] = {1, 2, 3, 4};
  km_slice mapped;
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, values, sizeof values), sizeof values);
  close(file);
  OK(km_slice_map_file(f->context, path, 0, 4, 4, KM_MAP_READ_ONLY, &mapped));
  s.x.slice = value_of(mapped);
  OK(axpy(&s, 4));
  s.y = s.x;
  s.x.slice = s.a.slice;
  refuse(KM_ERROR_NOT_PERMITTED, axpy(&s, 4), "read-only");
  assert_true(result_at(&s, 1, 3) == 8);
  OK(km_slice_destroy(mapped));
  unlink(path);
  end(&s);
}

static void failed_and_reset_contexts(void** state) {
  fixture* f = *state;
  blas_state s = begin(f);
  km_function crash = load_kernel(f, "crash");
  EXPECT(KM_SUCCESS, launch(f, crash, 1, 1, NULL, 0));
  km_stream_synchronize(f->stream);
  EXPECT_TRAP(f, axpy(&s, 4));
  if (!comes_back_after_fault(f)) return;
  EXPECT(KM_ERROR_CONTEXT_LOST, axpy(&s, 4));
  OK(km_function_destroy(crash));
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_are_made_for_a_layout),
      cmocka_unit_test(errors_name_the_argument_and_its_value),
      cmocka_unit_test(arrays_stay_within_their_slices),
      cmocka_unit_test(what_is_written_overlaps_nothing),
      cmocka_unit_test(nothing_is_done_for_sizes_of_zero),
      cmocka_unit_test(calls_join_the_stream),
      cmocka_unit_test(scalars_are_read_before_the_call_returns),
      cmocka_unit_test(calls_can_be_captured),
      cmocka_unit_test(a_captured_call_keeps_no_stream),
      cmocka_unit_test(profiles_name_the_routine),
      cmocka_unit_test(slices_of_other_contexts_need_peer_access),
      cmocka_unit_test(read_only_files_are_not_written),
      FAULTING_TEST(failed_and_reset_contexts),
  };
  return RUN_ON_DEVICES("blas", tests);
}
