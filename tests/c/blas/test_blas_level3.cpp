// BLAS of level 3 against a naive reference in long double: all types, layouts, transpositions,
// sides and triangles, sizes that one thread does and sizes that several share.
#include "blas_reference.h"

namespace blas_test {
namespace {

constexpr km_blas_layout kLayouts[] = {KM_BLAS_LAYOUT_ROWS, KM_BLAS_LAYOUT_COLUMNS};
constexpr km_blas_operation kOperations[] = {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE,
                                             KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE};
constexpr km_blas_triangle kTriangles[] = {KM_BLAS_TRIANGLE_LOWER, KM_BLAS_TRIANGLE_UPPER};
constexpr km_blas_side kSides[] = {KM_BLAS_SIDE_LEFT, KM_BLAS_SIDE_RIGHT};
constexpr km_blas_diagonal kDiagonals[] = {KM_BLAS_DIAGONAL_STORED, KM_BLAS_DIAGONAL_UNIT};

/// The test's device, a BLAS object of a layout on it.
struct Bench {
  const fixture* f;
  km_blas_layout layout;
  km_blas blas = nullptr;
  Bench(const fixture* of, km_blas_layout order) : f(of), layout(order) {
    OK(km_blas_create(f->stream, layout, &blas));
  }
  ~Bench() { OK(km_blas_destroy(blas)); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
};

template <class T>
ScalarOf<T> scalar(float real, float imaginary) {
  if constexpr (kIsComplex<T>) {
    return {real, imaginary};
  } else {
    return real;
  }
}
template <class S>
Wide wide_scalar(S value) {
  if constexpr (std::is_arithmetic_v<S>) {
    return {value, 0};
  } else {
    return {value.real(), value.imag()};
  }
}

struct Sizes {
  uint64_t m, n, k;
};

template <class T>
void check_result(const Bench& bench, const StoredMatrix<T>& c, const Dense& wanted,
                  const Dense& sizes, uint64_t terms, const char* what) {
  const std::vector<T> seen = c.download(bench.f);
  assert_true(c.keeps_markers(seen));
  Dense stored = c.dense(seen), expected = wanted, bounds = sizes;
  for (uint64_t i = 0; i < c.rows; ++i) {
    for (uint64_t j = 0; j < c.columns; ++j) {
      if (c.is_stored(i, j)) continue;
      expected.at(i, j) = stored.at(i, j);  // the other triangle: the markers tell
      bounds.at(i, j) = 1;
    }
  }
  expect_close<T>(stored, expected, bounds, terms, what);
}

template <class T>
void check_gemm(const Bench& bench, const Sizes& size, km_blas_operation operation_a,
                km_blas_operation operation_b, ScalarOf<T> alpha, ScalarOf<T> beta) {
  const bool plain_a = operation_a == KM_BLAS_OPERATION_NONE;
  const bool plain_b = operation_b == KM_BLAS_OPERATION_NONE;
  StoredMatrix<T> a(bench.layout, plain_a ? size.m : size.k, plain_a ? size.k : size.m);
  StoredMatrix<T> b(bench.layout, plain_b ? size.k : size.n, plain_b ? size.n : size.k);
  StoredMatrix<T> c(bench.layout, size.m, size.n);
  if (beta == ScalarOf<T>(0)) std::fill(c.data.begin(), c.data.end(), marker<T>());
  a.upload(bench.f);
  b.upload(bench.f);
  c.upload(bench.f);
  const km_blas_matrix pa = a.argument(), pb = b.argument(), pc = c.argument();
  OK(km_blas_gemm(bench.blas, Traits<T>::kType, operation_a, operation_b, size.m, size.n, size.k,
                  &alpha, &pa, &pb, &beta, &pc));
  const Dense left = apply(a.dense(), operation_a), right = apply(b.dense(), operation_b);
  const Wide wide_alpha = wide_scalar(alpha), wide_beta = wide_scalar(beta);
  const Dense wanted = combined(wide_alpha, product(left, right), wide_beta, c.dense());
  const Dense sizes = combined(std::abs(wide_alpha), product(magnitudes(left), magnitudes(right)),
                               std::abs(wide_beta), magnitudes(c.dense()));
  check_result(bench, c, wanted, sizes, size.k, "gemm");
}

template <class T>
void gemm_of_type(const fixture* f) {
  for (km_blas_layout layout : kLayouts) {
    const Bench bench(f, layout);
    for (km_blas_operation a : kOperations) {
      for (km_blas_operation b : kOperations) {
        check_gemm<T>(bench, {7, 5, 9}, a, b, scalar<T>(1.5F, 0.5F), scalar<T>(-0.5F, 2));
        check_gemm<T>(bench, {1, 37, 3}, a, b, scalar<T>(1, 0), scalar<T>(0, 0));
        if ((a == KM_BLAS_OPERATION_NONE) != (b == KM_BLAS_OPERATION_TRANSPOSE)) continue;
        check_gemm<T>(bench, {131, 90, 70}, a, b, scalar<T>(-1, 1), scalar<T>(1, 0));
      }
    }
    check_gemm<T>(bench, {65, 33, 0}, 1, 1, scalar<T>(1, 0), scalar<T>(0.5F, 0));  // C = beta C
    check_gemm<T>(bench, {65, 33, 0}, 1, 1, scalar<T>(1, 0), scalar<T>(0, 0));
    check_gemm<T>(bench, {17, 16, 400}, 1, 2, scalar<T>(1, 0), scalar<T>(0, 0));
    check_gemm<T>(bench, {600, 530, 5}, 1, 1, scalar<T>(1, 0), scalar<T>(1, 0));
    check_gemm<T>(bench, {0, 5, 5}, 1, 1, scalar<T>(1, 0), scalar<T>(0, 0));
    check_gemm<T>(bench, {5, 0, 5}, 1, 1, scalar<T>(1, 0), scalar<T>(0, 0));
  }
}

void gemm_is_right(void** state) {
  auto* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
  gemm_of_type<float>(f);
  gemm_of_type<double>(f);
  gemm_of_type<C32>(f);
  gemm_of_type<C64>(f);
  gemm_of_type<Half>(f);
  gemm_of_type<Bfloat>(f);
}

/// Each element is the nearest to the sum in f32: small integers make every sum exact.
template <class T>
void check_rounding(const fixture* f) {
  const Bench bench(f, KM_BLAS_LAYOUT_ROWS);
  StoredMatrix<T> a(KM_BLAS_LAYOUT_ROWS, 9, 40), b(KM_BLAS_LAYOUT_ROWS, 40, 21);
  StoredMatrix<T> c(KM_BLAS_LAYOUT_ROWS, 9, 21);
  const auto fill = [](StoredMatrix<T>* matrix, int range) {
    for (uint64_t i = 0; i < matrix->rows; ++i) {
      for (uint64_t j = 0; j < matrix->columns; ++j) {
        const auto value = static_cast<int>(random_bits()() % static_cast<unsigned>(range)) - 8;
        matrix->data[matrix->place(i, j)] = nearest<T>(value);
      }
    }
  };
  fill(&a, 60);
  fill(&b, 50);
  a.upload(f);
  b.upload(f);
  c.upload(f);
  const float alpha = 0x1p-3F, beta = 0;
  const km_blas_matrix pa = a.argument(), pb = b.argument(), pc = c.argument();
  OK(km_blas_gemm(bench.blas, Traits<T>::kType, 1, 1, 9, 21, 40, &alpha, &pa, &pb, &beta, &pc));
  const std::vector<T> seen = c.download(f);
  const Dense exact = product(a.dense(), b.dense());
  for (uint64_t i = 0; i < 9; ++i) {
    for (uint64_t j = 0; j < 21; ++j) {
      const T wanted = nearest<T>(exact.at(i, j).real() / 8);
      assert_int_equal(seen[c.place(i, j)].bits & 0x7fff, wanted.bits & 0x7fff);
    }
  }
}

void halves_are_rounded_once(void** state) {
  if (is_fake(static_cast<fixture*>(*state))) skip();
  check_rounding<Half>(static_cast<fixture*>(*state));
  check_rounding<Bfloat>(static_cast<fixture*>(*state));
}

/// Infinities, NaNs, subnormals and what is too large for f16.
void halves_keep_special_values(void** state) {
  auto* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
  const uint16_t values[] = {0x0001, 0x03ff, 0x8001, 0x7c00, 0xfc00,
                             0x7e01, 0x7bff, 0x0000, 0x8000};
  constexpr uint64_t kCount = std::size(values);
  const Bench bench(f, KM_BLAS_LAYOUT_ROWS);
  const float one = 1, two = 2, zero = 0;
  uint16_t seen[kCount];
  km_slice x, unit, y;
  OK(km_slice_create(f->context, kCount, 2, 0, &x));
  OK(km_slice_create(f->context, 1, 2, 0, &unit));
  OK(km_slice_create(f->context, kCount, 2, 0, &y));
  OK(km_slice_upload(f->stream, x, 0, values, sizeof values));
  OK(km_slice_fill_u16(f->stream, unit, 0, 0x3c00, 1));
  const km_blas_matrix a = {reinterpret_cast<uint64_t>(x), 0, 0, 1, 0};
  const km_blas_matrix b = {reinterpret_cast<uint64_t>(unit), 0, 0, 1, 0};
  const km_blas_matrix c = {reinterpret_cast<uint64_t>(y), 0, 0, 1, 0};
  OK(km_blas_gemm(bench.blas, KM_DATA_TYPE_F16, 1, 1, kCount, 1, 1, &one, &a, &b, &zero, &c));
  OK(km_slice_download(f->stream, y, 0, seen, sizeof seen));
  for (uint64_t i = 0; i < kCount; ++i) {
    if (values[i] == 0x8000) continue;  // 0 + -0
    if (values[i] == 0x7e01 && is_cuda(f)) {
      assert_true((seen[i] & 0x7fff) > 0x7c00);  // a GPU has one NaN for all
      continue;
    }
    assert_int_equal(seen[i], values[i]);
  }
  OK(km_blas_gemm(bench.blas, KM_DATA_TYPE_F16, 1, 1, kCount, 1, 1, &two, &a, &b, &zero, &c));
  OK(km_slice_download(f->stream, y, 0, seen, sizeof seen));
  assert_int_equal(seen[0], 0x0002);
  assert_int_equal(seen[1], 0x07fe);
  assert_int_equal(seen[6], 0x7c00);  // twice the largest
  OK(km_slice_destroy(x));
  OK(km_slice_destroy(unit));
  OK(km_slice_destroy(y));
}

/// `count` products; matrices of C lie between each other when `interleaved`.
template <class T>
void check_batch(const fixture* f, km_blas_layout layout, uint64_t count, const Sizes& size,
                 bool interleaved, bool shared_a) {
  const Bench bench(f, layout);
  const bool by_rows = layout == KM_BLAS_LAYOUT_ROWS;
  const uint64_t line = by_rows ? size.n : size.m, lines = by_rows ? size.m : size.n;
  const uint64_t leading = interleaved ? line * count : line;
  const uint64_t stride = interleaved ? line : line * lines;
  Stored<T> a(size.m * size.k * (shared_a ? 1 : count)), b(size.k * size.n * count);
  Stored<T> c(lines * line * count);
  for (T& value : a.data) value = random_value<T>();
  for (T& value : b.data) value = random_value<T>();
  a.upload(f);
  b.upload(f);
  c.upload(f);
  const ScalarOf<T> alpha = scalar<T>(1, 0), beta = scalar<T>(0, 0);
  const km_blas_matrix pa = {reinterpret_cast<uint64_t>(a.slice), 0, 0, by_rows ? size.k : size.m,
                             shared_a ? 0 : size.m * size.k};
  const km_blas_matrix pb = {reinterpret_cast<uint64_t>(b.slice), 0, 0, by_rows ? size.n : size.k,
                             size.k * size.n};
  const km_blas_matrix pc = {reinterpret_cast<uint64_t>(c.slice), 0, 0, leading, stride};
  OK(km_blas_gemm_strided_batched(bench.blas, Traits<T>::kType, 1, 1, size.m, size.n, size.k,
                                  &alpha, &pa, &pb, &beta, &pc, count));
  const std::vector<T> seen = c.download(f);
  const auto element = [&](const std::vector<T>& data, uint64_t first, uint64_t step, uint64_t i,
                           uint64_t j) {
    return widen(data[first + (by_rows ? i * step + j : j * step + i)]);
  };
  for (uint64_t matrix = 0; matrix < count; ++matrix) {
    Dense left(size.m, size.k), right(size.k, size.n), result(size.m, size.n);
    for (uint64_t i = 0; i < size.m; ++i) {
      for (uint64_t k = 0; k < size.k; ++k) {
        left.at(i, k) = element(a.data, matrix * pa.stride, pa.leading_dimension, i, k);
      }
    }
    for (uint64_t k = 0; k < size.k; ++k) {
      for (uint64_t j = 0; j < size.n; ++j) {
        right.at(k, j) = element(b.data, matrix * pb.stride, pb.leading_dimension, k, j);
      }
    }
    for (uint64_t i = 0; i < size.m; ++i) {
      for (uint64_t j = 0; j < size.n; ++j) {
        result.at(i, j) = element(seen, matrix * stride, leading, i, j);
      }
    }
    expect_close<T>(result, product(left, right), product(magnitudes(left), magnitudes(right)),
                    size.k, "gemm_strided_batched");
  }
}

template <class T>
void batches_of_type(const fixture* f) {
  for (km_blas_layout layout : kLayouts) {
    check_batch<T>(f, layout, 1, {5, 6, 7}, false, false);
    check_batch<T>(f, layout, 3, {70, 66, 65}, true, false);
    check_batch<T>(f, layout, 40, {33, 20, 31}, false, true);
    check_batch<T>(f, layout, 9, {3, 2, 4}, true, true);
  }
}

void batches_are_right(void** state) {
  auto* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
  batches_of_type<float>(f);
  batches_of_type<C64>(f);
  batches_of_type<Half>(f);
  batches_of_type<Bfloat>(f);
}

template <class T>
void check_symm(const Bench& bench, Shape shape, km_blas_side side, km_blas_triangle triangle,
                const Sizes& size) {
  const uint64_t order = side == KM_BLAS_SIDE_LEFT ? size.m : size.n;
  StoredMatrix<T> a(bench.layout, order, order, Storage::kFull, 0, 0, triangle);
  StoredMatrix<T> b(bench.layout, size.m, size.n), c(bench.layout, size.m, size.n);
  a.upload(bench.f);
  b.upload(bench.f);
  c.upload(bench.f);
  const ScalarOf<T> alpha = scalar<T>(0.75F, 1), beta = scalar<T>(2, -1);
  const km_blas_matrix pa = a.argument(), pb = b.argument(), pc = c.argument();
  OK((shape == Shape::kHermitian ? km_blas_hemm : km_blas_symm)(
      bench.blas, Traits<T>::kType, side, triangle, size.m, size.n, &alpha, &pa, &pb, &beta, &pc));
  const Dense whole = completed(a.dense(), {shape, triangle, KM_BLAS_DIAGONAL_STORED});
  const bool left = side == KM_BLAS_SIDE_LEFT;
  const Dense wanted =
      combined(wide_scalar(alpha), left ? product(whole, b.dense()) : product(b.dense(), whole),
               wide_scalar(beta), c.dense());
  const Dense sizes = combined(std::abs(wide_scalar(alpha)),
                               left ? product(magnitudes(whole), magnitudes(b.dense()))
                                    : product(magnitudes(b.dense()), magnitudes(whole)),
                               std::abs(wide_scalar(beta)), magnitudes(c.dense()));
  check_result(bench, c, wanted, sizes, order, "symm");
}

template <class T>
void check_rank_k(const Bench& bench, Shape shape, bool is_double, km_blas_triangle triangle,
                  km_blas_operation operation, uint64_t n, uint64_t k) {
  const bool plain = operation == KM_BLAS_OPERATION_NONE;
  const bool hermitian = shape == Shape::kHermitian;
  StoredMatrix<T> a(bench.layout, plain ? n : k, plain ? k : n);
  StoredMatrix<T> b(bench.layout, plain ? n : k, plain ? k : n);
  StoredMatrix<T> c(bench.layout, n, n, Storage::kFull, 0, 0, triangle);
  a.upload(bench.f);
  b.upload(bench.f);
  c.upload(bench.f);
  // alpha and beta are real for herk, beta for her2k: what lies behind them is not read.
  const ScalarOf<T> alpha = scalar<T>(1.25F, hermitian && !is_double ? 0 : -0.5F);
  const ScalarOf<T> beta = scalar<T>(-2, hermitian ? 0 : 1);
  const km_blas_matrix pa = a.argument(), pb = b.argument(), pc = c.argument();
  const km_data_type type = Traits<T>::kType;
  if (is_double) {
    OK((hermitian ? km_blas_her2k : km_blas_syr2k)(bench.blas, type, triangle, operation, n, k,
                                                   &alpha, &pa, &pb, &beta, &pc));
  } else {
    OK((hermitian ? km_blas_herk : km_blas_syrk)(bench.blas, type, triangle, operation, n, k,
                                                 &alpha, &pa, &beta, &pc));
  }
  const Dense left = apply(a.dense(), operation), other = apply(b.dense(), operation);
  const Dense& right = is_double ? other : left;
  const Wide first = wide_scalar(alpha), second = hermitian ? std::conj(first) : first;
  Dense wanted = combined(first, product(left, transposed(right, hermitian)), wide_scalar(beta),
                          completed(c.dense(), {shape, triangle, KM_BLAS_DIAGONAL_STORED}));
  Dense sizes =
      combined(std::abs(first), product(magnitudes(left), transposed(magnitudes(right), false)),
               std::abs(wide_scalar(beta)), magnitudes(c.dense()));
  if (is_double) {
    wanted = combined(1, wanted, second, product(right, transposed(left, hermitian)));
    sizes = combined(1, sizes, std::abs(second),
                     product(magnitudes(right), transposed(magnitudes(left), false)));
  }
  check_result(bench, c, wanted, sizes, 2 * k, is_double ? "syr2k" : "syrk");
}

template <class T>
void check_triangular(const Bench& bench, bool is_solve, km_blas_side side,
                      km_blas_triangle triangle, km_blas_operation operation,
                      km_blas_diagonal diagonal, const Sizes& size) {
  const bool left = side == KM_BLAS_SIDE_LEFT;
  const uint64_t order = left ? size.m : size.n;
  StoredMatrix<T> a(bench.layout, order, order, Storage::kFull, 0, 0, triangle);
  for (uint64_t i = 0; i < order; ++i) {
    for (uint64_t j = 0; j < order; ++j) {
      if (!a.is_stored(i, j)) continue;
      T& value = a.data[a.place(i, j)];
      value = i == j ? T(3) + value : value / RealOf<T>(order);              // well conditioned
      if (i == j && diagonal == KM_BLAS_DIAGONAL_UNIT) value = marker<T>();  // not read
    }
  }
  StoredMatrix<T> b(bench.layout, size.m, size.n);
  a.upload(bench.f);
  b.upload(bench.f);
  const ScalarOf<T> alpha = scalar<T>(0.5F, 0.25F);
  const km_blas_matrix pa = a.argument(), pb = b.argument();
  OK((is_solve ? km_blas_trsm : km_blas_trmm)(bench.blas, Traits<T>::kType, side, triangle,
                                              operation, diagonal, size.m, size.n, &alpha, &pa,
                                              &pb));
  const Dense whole =
      apply(completed(a.dense(), {Shape::kTriangular, triangle, diagonal}), operation);
  const std::vector<T> seen = b.download(bench.f);
  assert_true(b.keeps_markers(seen));
  const Dense result = b.dense(seen), zero(size.m, size.n);
  const Dense scaled = combined(wide_scalar(alpha), b.dense(), 0, zero);
  // A solution is right when the product with it gives the right side again.
  const Dense factor = is_solve ? result : scaled;
  const Dense back = left ? product(whole, factor) : product(factor, whole);
  const Dense sizes = left ? product(magnitudes(whole), magnitudes(factor))
                           : product(magnitudes(factor), magnitudes(whole));
  expect_close<T>(is_solve ? back : result, is_solve ? scaled : back, sizes, order + 4,
                  is_solve ? "trsm" : "trmm");
}

template <class T>
void triangular_of_side(const Bench& bench, km_blas_side side, km_blas_triangle triangle,
                        const Sizes& size) {
  for (km_blas_operation operation : kOperations) {
    if (size.m > 100 && operation == KM_BLAS_OPERATION_NONE) continue;  // takes long
    for (km_blas_diagonal diagonal : kDiagonals) {
      check_triangular<T>(bench, false, side, triangle, operation, diagonal, size);
      check_triangular<T>(bench, true, side, triangle, operation, diagonal, size);
    }
  }
}

template <class T>
void rank_updates(const Bench& bench, km_blas_triangle triangle, const Sizes& size) {
  constexpr km_blas_operation kPlain = KM_BLAS_OPERATION_NONE;
  for (bool is_double : {false, true}) {
    for (km_blas_operation operation : {kPlain, km_blas_operation{KM_BLAS_OPERATION_TRANSPOSE}}) {
      check_rank_k<T>(bench, Shape::kSymmetric, is_double, triangle, operation, size.n, size.k);
    }
    for (km_blas_operation operation :
         {kPlain, km_blas_operation{KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE}}) {
      check_rank_k<T>(bench, Shape::kHermitian, is_double, triangle, operation, size.n, size.k);
    }
  }
}

template <class T>
void special_matrices_of_size(const Bench& bench, const Sizes& size) {
  for (km_blas_triangle triangle : kTriangles) {
    for (km_blas_side side : kSides) {
      check_symm<T>(bench, Shape::kSymmetric, side, triangle, size);
      check_symm<T>(bench, Shape::kHermitian, side, triangle, size);
      triangular_of_side<T>(bench, side, triangle, size);
    }
    rank_updates<T>(bench, triangle, size);
  }
}

template <class T>
void special_matrices_of_type(const fixture* f) {
  for (km_blas_layout layout : kLayouts) {
    const Bench bench(f, layout);
    special_matrices_of_size<T>(bench, {6, 5, 4});
    special_matrices_of_size<T>(bench, {130, 136, 30});
  }
}

void special_matrices_are_right(void** state) {
  auto* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
  special_matrices_of_type<float>(f);
  special_matrices_of_type<double>(f);
  special_matrices_of_type<C32>(f);
  special_matrices_of_type<C64>(f);
}

}  // namespace
}  // namespace blas_test

int main() {
  using namespace blas_test;
  const CMUnitTest tests[] = {
      cmocka_unit_test(gemm_is_right),
      cmocka_unit_test(halves_are_rounded_once),
      cmocka_unit_test(halves_keep_special_values),
      cmocka_unit_test(batches_are_right),
      cmocka_unit_test(special_matrices_are_right),
  };
  setenv("KM_CPU_THREADS", "3", 0); /* calls are cut up on any machine */
  return RUN_ON_DEVICES("blas_level3", tests);
}
