// km_solve on thousands of random matrices of all types: their factors multiplied together are the
// matrix, and solutions satisfy their equations. Everything is compared in long double.
#include "solve_reference.h"

namespace blas_test {
namespace {

constexpr km_blas_layout kLayouts[] = {KM_BLAS_LAYOUT_ROWS, KM_BLAS_LAYOUT_COLUMNS};
constexpr int kRounds = 30;

km_blas_triangle draw_triangle() {
  return draw(0, 1) == 0 ? KM_BLAS_TRIANGLE_LOWER : KM_BLAS_TRIANGLE_UPPER;
}

template <class... Stored>
void upload(const Bench& bench, Stored&... each) {
  (each.upload(bench.f), ...);
}
template <class... Stored>
void take(const Bench& bench, Stored&... each) {
  (each.take(bench.f), ...);
}

/// Puts a Hermitian matrix into the triangle of each matrix, and gives the whole matrices.
template <class T>
std::vector<Dense> set_hermitian(Matrices<T>& a, km_blas_triangle triangle, bool is_positive) {
  std::vector<Dense> whole;
  for (uint64_t item = 0; item < a.count; ++item) {
    Dense stored = a.dense(item);
    for (uint64_t i = 0; i < a.rows; ++i) {
      stored.at(i, i) = stored.at(i, i).real();
      if (is_positive) stored.at(i, i) += 2 * static_cast<long double>(a.rows);
    }
    a.set(item, stored);
    whole.push_back(
        completed(a.dense(item), {Shape::kHermitian, triangle, KM_BLAS_DIAGONAL_STORED}));
  }
  return whole;
}

/// The other triangle, which is not the routine's, keeps its values.
template <class T>
void expect_other_triangle(const Matrices<T>& a, const std::vector<T>& before,
                           km_blas_triangle triangle) {
  for (uint64_t item = 0; item < a.count; ++item) {
    for (uint64_t i = 0; i < a.rows; ++i) {
      for (uint64_t j = 0; j < a.columns; ++j) {
        const bool is_other = triangle == KM_BLAS_TRIANGLE_LOWER ? j > i : j < i;
        if (!is_other) continue;
        assert_true(same_bits(a.data[a.place(item, i, j)], before[a.place(item, i, j)]));
      }
    }
  }
}

/// GPUs have the routine for matrices by columns only.
bool is_left_out(const Bench& bench) {
  return is_cuda(bench.f) && bench.layout == KM_BLAS_LAYOUT_ROWS;
}

template <class T>
void check_cholesky(const Bench& bench) {
  const km_data_type type = Traits<T>::kType;
  const uint64_t n = draw_order(), columns = is_left_out(bench) ? 0 : draw(0, 5);
  const uint64_t count = draw(1, 4);
  const km_blas_triangle triangle = draw_triangle();
  Matrices<T> a(bench, n, n, count), b(bench, n, columns, count);
  Infos info(count);
  const std::vector<Dense> whole = set_hermitian(a, triangle, true);
  const std::vector<T> before = a.data;
  const std::vector<Dense> right = [&] {
    std::vector<Dense> sides;
    for (uint64_t i = 0; i < count; ++i) sides.push_back(b.dense(i));
    return sides;
  }();
  upload(bench, a, b, info);
  const km_blas_matrix pa = a.argument(), pb = b.argument();
  const km_array pi = info.argument();
  OK(km_solve_potrf(bench.blas, type, triangle, n, count, &pa, &pi));
  info.expect_all(bench.f, 0);
  OK(km_solve_potrs(bench.blas, type, triangle, n, columns, count, &pa, &pb, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, b);
  expect_other_triangle(a, before, triangle);
  for (uint64_t i = 0; i < count; ++i) {
    const Dense factor =
        completed(a.dense(i), {Shape::kTriangular, triangle, KM_BLAS_DIAGONAL_STORED});
    const Dense other = transposed(factor, true);
    const bool is_lower = triangle == KM_BLAS_TRIANGLE_LOWER;
    expect_near<T>(is_lower ? product(factor, other) : product(other, factor), whole[i],
                   norm(whole[i]), n, "potrf");
    const Dense x = b.dense(i);
    expect_near<T>(product(whole[i], x), right[i], norm(whole[i]) * norm(x), n, "potrs");
  }
}

/// P A: the rows exchanged as the pivots say.
template <class T>
Dense exchanged(const Dense& a, const Arrays<T>& pivots, uint64_t item) {
  Dense result = a;
  for (uint64_t i = 0; i < pivots.length; ++i) {
    const auto row = static_cast<uint64_t>(pivots.at(item, i)) - 1;
    assert_in_range(row, i, a.rows - 1);
    for (uint64_t j = 0; j < a.columns; ++j) std::swap(result.at(i, j), result.at(row, j));
  }
  return result;
}

template <class T>
void check_lu(const Bench& bench) {
  if (is_left_out(bench)) return;
  const uint64_t m = draw_order(), n = draw_order(), least = std::min(m, n), count = draw(1, 4);
  Matrices<T> a(bench, m, n, count);
  Arrays<int32_t> pivots(least, count);
  Infos info(count);
  std::vector<Dense> before;
  for (uint64_t i = 0; i < count; ++i) before.push_back(a.dense(i));
  upload(bench, a, pivots, info);
  const km_blas_matrix pa = a.argument();
  const km_array pp = pivots.argument(), pi = info.argument();
  OK(km_solve_getrf(bench.blas, Traits<T>::kType, m, n, count, &pa, &pp, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, pivots);
  for (uint64_t i = 0; i < count; ++i) {
    const Dense factors = a.dense(i);
    Dense lower = part(factors, m, least), upper = part(factors, least, n);
    for (uint64_t row = 0; row < m; ++row) {
      for (uint64_t j = row; j < least; ++j) lower.at(row, j) = row == j ? 1 : 0;
    }
    for (uint64_t row = 0; row < least; ++row) {
      for (uint64_t j = 0; j < std::min(row, n); ++j) upper.at(row, j) = 0;
    }
    expect_near<T>(product(lower, upper), exchanged(before[i], pivots, i),
                   norm(lower) * norm(upper), least, "getrf");
  }
}

template <class T>
void check_lu_solution(const Bench& bench) {
  if (is_left_out(bench)) return;
  const km_data_type type = Traits<T>::kType;
  const uint64_t n = draw_order(), columns = draw(0, 5), count = draw(1, 4);
  const auto operation = static_cast<km_blas_operation>(draw(1, 3));
  Matrices<T> a(bench, n, n, count), b(bench, n, columns, count);
  Arrays<int32_t> pivots(n, count);
  Infos info(count);
  std::vector<Dense> before, right;
  for (uint64_t i = 0; i < count; ++i) {
    Dense shifted = a.dense(i);  // well conditioned, but its largest elements are not the diagonal
    for (uint64_t row = 0; row < n; ++row) shifted.at(row, (row + 1) % n) += n;
    a.set(i, shifted);
    before.push_back(a.dense(i));
    right.push_back(b.dense(i));
  }
  upload(bench, a, b, pivots, info);
  const km_blas_matrix pa = a.argument(), pb = b.argument();
  const km_array pp = pivots.argument(), pi = info.argument();
  OK(km_solve_getrf(bench.blas, type, n, n, count, &pa, &pp, &pi));
  OK(km_solve_getrs(bench.blas, type, operation, n, columns, count, &pa, &pp, &pb, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, b, pivots);
  for (uint64_t i = 0; i < count; ++i) {
    const Dense x = b.dense(i);
    expect_near<T>(product(apply(before[i], operation), x), right[i], norm(before[i]) * norm(x), n,
                   "getrs");
  }
}

template <class T>
void check_qr(const Bench& bench) {
  if (is_left_out(bench)) return;
  const km_data_type type = Traits<T>::kType;
  const uint64_t m = draw_order(), n = draw_order(), least = std::min(m, n), count = draw(1, 3);
  Matrices<T> a(bench, m, n, count);
  Arrays<T> tau(least, count);
  Infos info(count);
  std::vector<Dense> before;
  for (uint64_t i = 0; i < count; ++i) before.push_back(a.dense(i));
  upload(bench, a, tau, info);
  const km_blas_matrix pa = a.argument();
  const km_array pt = tau.argument(), pi = info.argument();
  OK(km_solve_geqrf(bench.blas, type, m, n, count, &pa, &pt, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, tau);
  std::vector<Dense> upper;
  for (uint64_t i = 0; i < count; ++i) {
    Dense r = part(a.dense(i), least, n);
    for (uint64_t row = 0; row < least; ++row) {
      for (uint64_t j = 0; j < std::min(row, n); ++j) r.at(row, j) = 0;
    }
    upper.push_back(r);
  }
  // Q of `least` columns takes the reflections' place: a wide matrix has columns behind them.
  OK(km_solve_orgqr(bench.blas, type, m, least, least, count, &pa, &pt, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a);
  for (uint64_t i = 0; i < count; ++i) {
    const Dense q = part(a.dense(i), m, least);
    expect_unitary<T>(q, "orgqr");
    expect_near<T>(product(q, upper[i]), before[i], norm(before[i]), m, "geqrf");
  }
}

/// Q of all m columns from k reflections, against its product with another matrix.
template <class T>
void check_reflections(const Bench& bench) {
  if (is_left_out(bench)) return;
  const km_data_type type = Traits<T>::kType;
  const uint64_t m = draw_order(), n = draw_order(), count = draw(1, 3);
  const km_blas_side side = draw(0, 1) == 0 ? KM_BLAS_SIDE_LEFT : KM_BLAS_SIDE_RIGHT;
  const uint64_t order = side == KM_BLAS_SIDE_LEFT ? m : n, k = draw(0, order);
  auto operation = static_cast<km_blas_operation>(draw(1, 3));
  if (kIsComplex<T> && operation == KM_BLAS_OPERATION_TRANSPOSE) operation = KM_BLAS_OPERATION_NONE;
  Matrices<T> a(bench, order, k, count), q(bench, order, order, count), c(bench, m, n, count);
  Arrays<T> tau(k, count);
  Infos info(count);
  std::vector<Dense> before;
  for (uint64_t i = 0; i < count; ++i) before.push_back(c.dense(i));
  upload(bench, a, c, tau, info);
  const km_blas_matrix pa = a.argument(), pc = c.argument();
  const km_array pt = tau.argument(), pi = info.argument();
  OK(km_solve_geqrf(bench.blas, type, order, k, count, &pa, &pt, &pi));
  OK(km_solve_ormqr(bench.blas, type, side, operation, m, n, k, count, &pa, &pt, &pc, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, c, tau);
  for (uint64_t i = 0; i < count; ++i) {
    Dense padded(order, order);
    const Dense reflections = a.dense(i);
    for (uint64_t row = 0; row < order; ++row) {
      for (uint64_t j = 0; j < k; ++j) padded.at(row, j) = reflections.at(row, j);
    }
    q.set(i, padded);
  }
  q.upload(bench.f);
  const km_blas_matrix pq = q.argument();
  OK(km_solve_orgqr(bench.blas, type, order, order, k, count, &pq, &pt, &pi));
  info.expect_all(bench.f, 0);
  take(bench, q);
  for (uint64_t i = 0; i < count; ++i) {
    expect_unitary<T>(q.dense(i), "orgqr of all columns");
    const Dense turned = apply(q.dense(i), operation);
    const bool is_left = side == KM_BLAS_SIDE_LEFT;
    expect_near<T>(c.dense(i), is_left ? product(turned, before[i]) : product(before[i], turned),
                   norm(before[i]), order, "ormqr");
  }
}

template <class T>
void expect_order(const Arrays<RealOf<T>>& values, uint64_t item, bool is_ascending) {
  for (uint64_t i = 1; i < values.length; ++i) {
    const RealOf<T> before = values.at(item, i - 1), after = values.at(item, i);
    assert_true(is_ascending ? before <= after : before >= after);
  }
}

/// Checks values that were computed without vectors against those with them.
template <class T>
void expect_same_values(const Arrays<RealOf<T>>& seen, const Arrays<RealOf<T>>& wanted,
                        uint64_t item, long double size) {
  Dense first(seen.length, 1), second(seen.length, 1);
  for (uint64_t i = 0; i < seen.length; ++i) {
    first.at(i, 0) = seen.at(item, i);
    second.at(i, 0) = wanted.at(item, i);
  }
  expect_near<T>(first, second, size, seen.length, "values without vectors");
}

template <class T>
Dense diagonal_of(const Arrays<RealOf<T>>& values, uint64_t item) {
  Dense result(values.length, values.length);
  for (uint64_t i = 0; i < values.length; ++i) result.at(i, i) = values.at(item, i);
  return result;
}

template <class T>
void check_eigen(const Bench& bench) {
  if (is_left_out(bench)) return;
  const km_data_type type = Traits<T>::kType;
  const uint64_t n = draw_order(), count = draw(1, 3);
  const km_blas_triangle triangle = draw_triangle();
  Matrices<T> a(bench, n, n, count), second(bench, n, n, count);
  Arrays<RealOf<T>> values(n, count), alone(n, count);
  Infos info(count);
  const std::vector<Dense> whole = set_hermitian(a, triangle, false);
  for (uint64_t i = 0; i < count; ++i) second.set(i, a.dense(i));
  upload(bench, a, second, values, alone, info);
  const km_blas_matrix pa = a.argument(), ps = second.argument();
  const km_array pv = values.argument(), pw = alone.argument(), pi = info.argument();
  OK(km_solve_syevd(bench.blas, type, KM_SOLVE_VECTORS_ALL, triangle, n, count, &pa, &pv, &pi));
  info.expect_all(bench.f, 0);
  OK(km_solve_syevd(bench.blas, type, KM_SOLVE_VECTORS_NONE, triangle, n, count, &ps, &pw, &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, second, values, alone);
  for (uint64_t i = 0; i < count; ++i) {
    const Dense vectors = a.dense(i);
    expect_unitary<T>(vectors, "vectors of syevd");
    expect_order<T>(values, i, true);
    expect_near<T>(product(whole[i], vectors), product(vectors, diagonal_of<T>(values, i)),
                   norm(whole[i]), n, "syevd");
    expect_same_values<T>(alone, values, i, norm(whole[i]));
  }
}

template <class T>
void check_singular(const Bench& bench) {
  const km_data_type type = Traits<T>::kType;
  uint64_t m = draw_order(), n = draw_order();
  if (is_cuda(bench.f)) {  // it takes tall matrices, by rows wide ones
    if ((m < n) != (bench.layout == KM_BLAS_LAYOUT_ROWS)) std::swap(m, n);
    m = std::max<uint64_t>(m, 1);
    n = std::max<uint64_t>(n, 1);
  }
  const uint64_t least = std::min(m, n), count = draw(1, 3);
  const bool is_all = draw(0, 1) == 0;
  const km_solve_vectors vectors = is_all ? KM_SOLVE_VECTORS_ALL : KM_SOLVE_VECTORS_THIN;
  Matrices<T> a(bench, m, n, count), second(bench, m, n, count);
  Matrices<T> u(bench, m, is_all ? m : least, count), vh(bench, is_all ? n : least, n, count);
  Arrays<RealOf<T>> values(least, count), alone(least, count);
  Infos info(count);
  std::vector<Dense> before;
  for (uint64_t i = 0; i < count; ++i) {
    before.push_back(a.dense(i));
    second.set(i, a.dense(i));
  }
  upload(bench, a, second, u, vh, values, alone, info);
  const km_blas_matrix pa = a.argument(), ps = second.argument(), pu = u.argument();
  const km_blas_matrix pvh = vh.argument();
  const km_array pv = values.argument(), pw = alone.argument(), pi = info.argument();
  OK(km_solve_gesvd(bench.blas, type, vectors, m, n, count, &pa, &pv, &pu, &pvh, &pi));
  info.expect_all(bench.f, 0);
  OK(km_solve_gesvd(bench.blas, type, KM_SOLVE_VECTORS_NONE, m, n, count, &ps, &pw, NULL, NULL,
                    &pi));
  info.expect_all(bench.f, 0);
  take(bench, a, second, u, vh, values, alone);
  for (uint64_t i = 0; i < count; ++i) {
    const Dense left = u.dense(i), right = vh.dense(i);
    expect_unitary<T>(left, "u of gesvd");
    expect_unitary<T>(transposed(right, true), "vh of gesvd");
    expect_order<T>(values, i, false);
    const Dense scaled = product(part(left, m, least), diagonal_of<T>(values, i));
    expect_near<T>(product(scaled, part(right, least, n)), before[i], norm(before[i]), m + n,
                   "gesvd");
    expect_same_values<T>(alone, values, i, norm(before[i]));
  }
}

template <template <class> class Checks>
void on_all(void** state) {
  const auto* f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  for (km_blas_layout layout : kLayouts) {
    const Bench bench(f, layout);
    for (int i = 0; i < kRounds; ++i) {
      Checks<float>::run(bench);
      Checks<double>::run(bench);
      Checks<C32>::run(bench);
      Checks<C64>::run(bench);
    }
  }
}

#define CHECKS(name, function)                                  \
  template <class T>                                            \
  struct name {                                                 \
    static void run(const Bench& bench) { function<T>(bench); } \
  }
CHECKS(Cholesky, check_cholesky);
CHECKS(Lu, check_lu);
CHECKS(LuSolution, check_lu_solution);
CHECKS(Qr, check_qr);
CHECKS(Reflections, check_reflections);
CHECKS(Eigen, check_eigen);
CHECKS(Singular, check_singular);
#undef CHECKS

}  // namespace
}  // namespace blas_test

int main() {
  using namespace blas_test;
  const CMUnitTest tests[] = {
      {"cholesky_factors_and_solutions", on_all<Cholesky>, NULL, NULL, NULL},
      {"lu_factors", on_all<Lu>, NULL, NULL, NULL},
      {"lu_solutions", on_all<LuSolution>, NULL, NULL, NULL},
      {"qr_factors", on_all<Qr>, NULL, NULL, NULL},
      {"products_with_reflections", on_all<Reflections>, NULL, NULL, NULL},
      {"eigenvalues_and_vectors", on_all<Eigen>, NULL, NULL, NULL},
      {"singular_values_and_vectors", on_all<Singular>, NULL, NULL, NULL},
  };
  setenv("KM_CPU_THREADS", "3", 0);  // batches are shared on any machine
  return RUN_ON_DEVICES("solve_random", tests);
}
