// Solvers of km::blas objects: small matrices whose factors and values are known.
#include <cmath>
#include <complex>

#include "support.h"

namespace {

using km_test::status_of;
using Complex = std::complex<double>;

bool is_missing() {
  km::context context("cpu");
  const km::stream stream(context);
  const km::slice<double> a(context, 1);
  const km::slice<std::int32_t> info(context, 1);
  const km::nothrow::blas blas = *km::nothrow::blas::create(stream);
  return km::solve_potrf(blas, KM_BLAS_TRIANGLE_LOWER, 1, a, info).status() ==
         KM_ERROR_BLAS_UNAVAILABLE;
}

struct Solve : km_test::Fixture {
  void SetUp() override {
    if (is_missing()) GTEST_SKIP() << "there is no BLAS library here";
  }
  km::blas blas{stream};
  km::slice<std::int32_t> info{context, 2};

  template <class T>
  km::slice<T> on_device(const std::vector<T>& numbers) {
    return km::slice<T>::copy_of(stream, numbers);
  }
  template <class T>
  void expect(const km::slice<T>& slice, const std::vector<T>& expected) {
    const std::vector<T> found = slice.to_vector(stream);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(std::abs(found[i] - expected[i]), 0, 1e-5) << i;
    }
  }
  void expect_info(std::vector<std::int32_t> expected) {
    const std::vector<std::int32_t> found = info.to_vector(stream);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found[i], expected[i]);
  }
};

TEST_F(Solve, CholeskySolvesABatchOfASlice) {
  const km::slice<double> a = on_device<double>({4, 2, 2, 5, 1, 2, 2, 1});
  const km::slice<double> b = on_device<double>({8, 12, 1, 1});
  km::solve_potrf(blas, KM_BLAS_TRIANGLE_LOWER, 2, a, info, 2);
  expect_info({0, 2});
  km::solve_potrs(blas, KM_BLAS_TRIANGLE_LOWER, 2, 1, a, b, info);
  expect<double>(b, {1, 2});
}

TEST_F(Solve, LuSolvesTheTransposedSystem) {
  const km::slice<Complex> a = on_device<Complex>({{0, 0}, {0, 2}, {1, 0}, {0, 0}});
  const km::slice<Complex> b = on_device<Complex>({{3, 0}, {4, 0}});
  const km::slice<std::int32_t> pivots(context, 2);
  km::solve_getrf(blas, 2, 2, a, pivots, info);
  km::solve_getrs(blas, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE, 2, 1, a, pivots, b, info);
  expect_info({0});
  EXPECT_EQ(pivots.to_vector(stream), (std::vector<std::int32_t>{2, 2}));
  expect<Complex>(b, {{0, 2}, {3, 0}});  // A^H x = b
}

TEST_F(Solve, QrMakesAndAppliesQ) {
  const km::slice<float> a = on_device<float>({3, 0, 4, 5}), c = on_device<float>({3, 4});
  const km::slice<float> tau(context, 2);
  km::solve_geqrf(blas, 2, 2, a, tau, info);
  km::solve_ormqr(blas, KM_BLAS_SIDE_LEFT, KM_BLAS_OPERATION_TRANSPOSE, 2, 1, 2, a, tau, c, info);
  expect<float>(c, {-5, 0});
  km::solve_orgqr(blas, 2, 2, 2, a, tau, info);
  expect_info({0});
  const std::vector<float> q = a.to_vector(stream);
  EXPECT_NEAR(q[0], -0.6f, 1e-6f);
  EXPECT_NEAR(q[2], -0.8f, 1e-6f);
}

TEST_F(Solve, EigenvaluesAndVectors) {
  const km::slice<Complex> a = on_device<Complex>({{2, 0}, {0, 1}, {0, -1}, {2, 0}});
  const km::slice<double> values(context, 2);
  km::solve_syevd(blas, KM_SOLVE_VECTORS_ALL, KM_BLAS_TRIANGLE_UPPER, 2, a, values, info);
  expect_info({0});
  expect<double>(values, {1, 3});
  for (const Complex& each : a.to_vector(stream)) {
    EXPECT_NEAR(std::abs(each), std::sqrt(0.5), 1e-12);
  }
}

TEST_F(Solve, SingularValuesOfAPart) {
  const km::slice<double> a = on_device<double>({9, 3, 0, 9, 0, 4, 9, 0, 0});
  const km::slice<double> values(context, 2), u(context, 6), vh(context, 4);
  km::solve_gesvd(blas, KM_SOLVE_VECTORS_THIN, 3, 2, km::mat(a, 3, 0, 1), values, u, vh, info);
  expect_info({0});
  expect<double>(values, {4, 3});
  const std::vector<double> left = u.to_vector(stream);
  EXPECT_NEAR(std::abs(left[2]), 1, 1e-12);  // the second row has the larger one
  km::solve_gesvd(blas, 2, 2, on_device<double>({0, 2, 1, 0}), values, info);
  expect<double>(values, {2, 1});
}

TEST_F(Solve, ErrorsAreThrownOrReturned) {
  const km::slice<double> a(context, 4);
  EXPECT_EQ(status_of([&] { km::solve_potrf(blas, KM_BLAS_TRIANGLE_LOWER, 3, a, info); }),
            KM_ERROR_OUT_OF_BOUNDS);
  const km::nothrow::blas other = *km::nothrow::blas::create(stream);
  EXPECT_EQ(km::solve_potrf(other, 7, 2, a, info).status(), KM_ERROR_INVALID_ARGUMENT);
}

}  // namespace
