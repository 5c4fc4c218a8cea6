// BLAS: each routine is compared with its definition, computed here.
#include <algorithm>
#include <cmath>
#include <complex>

#include "support.h"

namespace {

using km_test::status_of;
using Complex = std::complex<float>;

template <class T>
T conjugate(T value) {
  return value;
}
template <class T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}
template <class T>
T number(int i) {
  return static_cast<T>(static_cast<float>((i * 7) % 11 - 5));
}
template <>
Complex number<Complex>(int i) {
  return {static_cast<float>((i * 7) % 11 - 5), static_cast<float>((i * 3) % 5 - 2)};
}

bool is_missing() {
  km::context context("cpu");
  const km::stream stream(context);
  const km::slice<float> x(context, 1);
  const km::nothrow::blas blas = *km::nothrow::blas::create(stream);
  return blas.scal(1, 1.0f, x).status() == KM_ERROR_BLAS_UNAVAILABLE;
}

template <class T>
struct Blas : km_test::Fixture {
  static constexpr int kN = 5;
  using Numbers = std::vector<T>;

  void SetUp() override {
    if (is_missing()) GTEST_SKIP() << "there is no BLAS library here";
  }
  km::blas blas{stream};

  static Numbers numbers(int count, int first) {
    Numbers made;
    for (int i = 0; i < count; ++i) made.push_back(number<T>(first + i));
    return made;
  }
  km::slice<T> on_device(const Numbers& numbers) { return km::slice<T>::copy_of(stream, numbers); }
  void expect(const km::slice<T>& slice, const Numbers& expected) {
    const Numbers found = slice.to_vector(stream);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(std::abs(found[i] - expected[i]), 0, 1e-3) << i;
    }
  }
  // A dense matrix with only a triangle, and perhaps ones on its diagonal, of another.
  static Numbers lower(const Numbers& a, bool is_unit) {
    Numbers made(a.size());
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j <= i; ++j) made[at(i, j)] = i == j && is_unit ? T(1) : a[at(i, j)];
    }
    return made;
  }
  static std::size_t at(int i, int j) { return static_cast<std::size_t>(i * kN + j); }
  static Numbers times(const Numbers& a, const Numbers& x) {
    Numbers y(kN);
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j)
        y[static_cast<std::size_t>(i)] += a[at(i, j)] * x[static_cast<std::size_t>(j)];
    }
    return y;
  }
  static Numbers product(const Numbers& a, const Numbers& b) {
    Numbers c(a.size());
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        for (int k = 0; k < kN; ++k) c[at(i, j)] += a[at(i, k)] * b[at(k, j)];
      }
    }
    return c;
  }
  static Numbers flipped(const Numbers& a, bool is_conjugate) {
    Numbers made(a.size());
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j)
        made[at(j, i)] = is_conjugate ? conjugate(a[at(i, j)]) : a[at(i, j)];
    }
    return made;
  }
  static Numbers sum(const Numbers& a, const Numbers& b) {
    Numbers made(a.size());
    std::transform(a.begin(), a.end(), b.begin(), made.begin(), std::plus<T>());
    return made;
  }
  // Hermitian, or symmetric: the lower triangle mirrored.
  static Numbers mirrored(const Numbers& a, bool is_conjugate) {
    Numbers made = a;
    for (int i = 0; i < kN; ++i) {
      if (is_conjugate) made[at(i, i)] = T(std::real(a[at(i, i)]));
      for (int j = 0; j < i; ++j)
        made[at(j, i)] = is_conjugate ? conjugate(a[at(i, j)]) : a[at(i, j)];
    }
    return made;
  }
  // The elements of the lower triangle, line by line.
  static Numbers packed(const Numbers& a) {
    Numbers made;
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j <= i; ++j) made.push_back(a[at(i, j)]);
    }
    return made;
  }
  // A triangle or square cut to `k` diagonals below the main one, and as band lines of k + 1.
  static Numbers cut(const Numbers& a, int k) {
    Numbers made(a.size());
    for (int i = 0; i < kN; ++i) {
      for (int j = std::max(0, i - k); j <= i; ++j) made[at(i, j)] = a[at(i, j)];
    }
    return made;
  }
  static Numbers band(const Numbers& a, int k) {
    Numbers made(static_cast<std::size_t>(kN * (k + 1)));
    for (int i = 0; i < kN; ++i) {
      for (int j = std::max(0, i - k); j <= i; ++j) {
        made[static_cast<std::size_t>(i * (k + 1) + k - i + j)] = a[at(i, j)];
      }
    }
    return made;
  }
};

using Types = testing::Types<float, double, Complex>;
struct TypeNames {
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, float> ? "f32" : std::is_same_v<T, double> ? "f64" : "c32";
  }
};
TYPED_TEST_SUITE(Blas, Types, TypeNames);

constexpr auto kLower = KM_BLAS_TRIANGLE_LOWER;
constexpr auto kNone = KM_BLAS_OPERATION_NONE;
constexpr auto kTransposed = KM_BLAS_OPERATION_TRANSPOSE;
constexpr auto kStored = KM_BLAS_DIAGONAL_STORED;
constexpr auto kUnit = KM_BLAS_DIAGONAL_UNIT;

TYPED_TEST(Blas, VectorsAreScaledAddedCopiedAndExchanged) {
  using T = TypeParam;
  const auto x = this->numbers(5, 0), y = this->numbers(5, 5);
  const auto a = this->on_device(x), b = this->on_device(y);
  this->blas.axpy(5, 2, a, b);
  auto expected = y;
  for (std::size_t i = 0; i < 5; ++i) expected[i] += T(2) * x[i];
  this->expect(b, expected);
  this->blas.scal(2, 3, km::vec(a, 2, 1));  // elements 1 and 3
  auto scaled = x;
  scaled[1] *= T(3);
  scaled[3] *= T(3);
  this->expect(a, scaled);
  this->blas.swap(5, a, b);
  this->expect(a, expected);
  this->blas.copy(5, b, a);
  this->expect(a, scaled);
}

TYPED_TEST(Blas, VectorsAreReduced) {
  using T = TypeParam;
  using Real = km::detail::real_number<T>;
  const auto x = this->numbers(5, 0), y = this->numbers(5, 5);
  const auto a = this->on_device(x), b = this->on_device(y);
  const auto out = km::slice<T>::zeroed(this->context, 2);
  const auto reals = km::slice<Real>::zeroed(this->context, 2);
  const auto index = km::slice<std::uint64_t>::zeroed(this->context, 1);
  this->blas.dot(5, a, b, out);
  this->blas.dotc(5, a, b, km::vec(out, 1, 1));
  T dot{}, dotc{};
  Real squares{}, magnitudes{}, largest{-1};
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    dot += x[i] * y[i];
    dotc += conjugate(x[i]) * y[i];
    squares += std::norm(x[i]);
    const Real size = std::abs(std::real(x[i])) + std::abs(std::imag(x[i]));
    magnitudes += size;
    if (size > largest) {
      largest = size;
      place = i;
    }
  }
  this->expect(out, {dot, dotc});
  this->blas.nrm2(5, a, reals);
  this->blas.asum(5, a, km::vec(reals, 1, 1));
  this->blas.iamax(5, a, index);
  EXPECT_NEAR(reals.to_vector(this->stream)[0], std::sqrt(squares), 1e-4);
  EXPECT_NEAR(reals.to_vector(this->stream)[1], magnitudes, 1e-4);
  EXPECT_EQ(index.to_vector(this->stream)[0], place);
}

TYPED_TEST(Blas, Rotations) {
  using T = TypeParam;
  using Real = km::detail::real_number<T>;
  T first(3), second(4), s{};
  Real c{};
  km::blas::rotg(first, second, c, s);
  EXPECT_NEAR(std::abs(first), 5, 1e-4);
  EXPECT_NEAR(c, 0.6, 1e-4);
  const auto a = this->on_device({T(3)}), b = this->on_device({T(4)});
  this->blas.rot(1, a, b, c, std::real(s));
  this->expect(a, {T(5)});
  this->expect(b, {T(0)});
  if constexpr (std::is_floating_point_v<T>) {
    std::array<T, 5> parameters{};
    T d1 = 1, d2 = 1, x1 = 1;
    km::blas::rotmg(d1, d2, x1, T(1), parameters);
    const auto x = this->on_device({T(1)}), y = this->on_device({T(1)});
    this->blas.rotm(1, x, y, parameters);
    this->expect(y, {T(0)});
  }
}

TYPED_TEST(Blas, MatricesTimesVectors) {
  const auto a = this->numbers(25, 0), x = this->numbers(5, 3), y = this->numbers(5, 8);
  const auto da = this->on_device(a), dx = this->on_device(x);
  auto dy = this->on_device(y);
  this->blas.gemv(kNone, 5, 5, 1, da, dx, 1, dy);
  this->expect(dy, this->sum(this->times(a, x), y));
  dy = this->on_device(y);
  this->blas.gemv(kTransposed, 5, 5, 1, km::mat(da, 5), dx, 0, dy);
  this->expect(dy, this->times(this->flipped(a, false), x));
  const auto hermitian = this->mirrored(a, true);
  this->blas.symv(kLower, 5, 1, this->on_device(hermitian), dx, 0, dy);
  this->expect(dy, this->times(hermitian, x));
  this->blas.spmv(kLower, 5, 1, this->on_device(this->packed(hermitian)), dx, 0, dy);
  this->expect(dy, this->times(hermitian, x));
  const auto narrow = this->mirrored(this->cut(hermitian, 2), true);
  this->blas.sbmv(kLower, 5, 2, 1, this->on_device(this->band(narrow, 2)), dx, 0, dy);
  this->expect(dy, this->times(narrow, x));
  const auto below = this->cut(a, 2);
  this->blas.gbmv(kNone, 5, 5, 2, 0, 1, this->on_device(this->band(below, 2)), dx, 0, dy);
  this->expect(dy, this->times(below, x));
}

TYPED_TEST(Blas, TrianglesTimesVectorsAndBack) {
  const auto a = this->numbers(25, 1), x = this->numbers(5, 3);
  const auto unit = this->lower(a, true), narrow = this->lower(this->cut(a, 1), true);
  const auto da = this->on_device(a), dp = this->on_device(this->packed(a)),
             db = this->on_device(this->band(a, 1));
  const auto dx = this->on_device(x);
  this->blas.trmv(kLower, kNone, kUnit, 5, da, dx);
  this->expect(dx, this->times(unit, x));
  this->blas.trsv(kLower, kNone, kUnit, 5, da, dx);
  this->expect(dx, x);
  this->blas.tpmv(kLower, kNone, kUnit, 5, dp, dx);
  this->expect(dx, this->times(unit, x));
  this->blas.tpsv(kLower, kNone, kUnit, 5, dp, dx);
  this->expect(dx, x);
  this->blas.tbmv(kLower, kNone, kUnit, 5, 1, db, dx);
  this->expect(dx, this->times(narrow, x));
  this->blas.tbsv(kLower, kNone, kUnit, 5, 1, db, dx);
  this->expect(dx, x);
}

TYPED_TEST(Blas, RankOneAndTwoUpdates) {
  using T = TypeParam;
  const auto x = this->numbers(5, 0), y = this->numbers(5, 5);
  const auto dx = this->on_device(x), dy = this->on_device(y);
  const auto outer = [&](const auto& u, const auto& v, bool is_conjugate) {
    std::vector<T> made(25);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        const T other = v[static_cast<std::size_t>(j)];
        made[this->at(i, j)] =
            u[static_cast<std::size_t>(i)] * (is_conjugate ? conjugate(other) : other);
      }
    }
    return made;
  };
  const auto zeros = [&] { return km::slice<T>::zeroed(this->context, 25); };
  auto a = zeros();
  this->blas.ger(5, 5, 1, dx, dy, a);
  this->expect(a, outer(x, y, false));
  a = zeros();
  this->blas.gerc(5, 5, 1, dx, dy, a);
  this->expect(a, outer(x, y, true));
  a = zeros();
  this->blas.syr(kLower, 5, 1, dx, a);
  this->expect(a, this->lower(outer(x, x, true), false));
  a = zeros();
  const auto both = this->sum(outer(x, y, true), outer(y, x, true));
  this->blas.syr2(kLower, 5, 1, dx, dy, a);
  this->expect(a, this->lower(both, false));
  a = zeros();
  this->blas.spr(kLower, 5, 1, dx, a);
  this->expect(a, this->packed(outer(x, x, true)));
  a = zeros();
  this->blas.spr2(kLower, 5, 1, dx, dy, a);
  this->expect(a, this->packed(both));
}

TYPED_TEST(Blas, ProductsOfMatrices) {
  const auto a = this->numbers(25, 0), b = this->numbers(25, 4), c = this->numbers(25, 9);
  const auto da = this->on_device(a), db = this->on_device(b);
  auto dc = this->on_device(c);
  this->blas.gemm(kNone, kTransposed, 5, 5, 5, 1, da, db, 1, dc);
  this->expect(dc, this->sum(this->product(a, this->flipped(b, false)), c));
  this->blas.gemm_strided_batched(kNone, kNone, 5, 5, 5, 1, km::mat(da, 5, 0), km::mat(db, 5, 25),
                                  0, km::mat(dc, 5, 25), 1);
  this->expect(dc, this->product(a, b));
  const auto symmetric = this->mirrored(a, false), hermitian = this->mirrored(a, true);
  this->blas.symm(KM_BLAS_SIDE_LEFT, kLower, 5, 5, 1, this->on_device(symmetric), db, 0, dc);
  this->expect(dc, this->product(symmetric, b));
  this->blas.hemm(KM_BLAS_SIDE_RIGHT, kLower, 5, 5, 1, this->on_device(hermitian), db, 0, dc);
  this->expect(dc, this->product(b, hermitian));
  const auto triangle = this->lower(a, true);
  this->blas.trmm(KM_BLAS_SIDE_LEFT, kLower, kNone, kUnit, 5, 5, 1, da, db);
  this->expect(db, this->product(triangle, b));
  this->blas.trsm(KM_BLAS_SIDE_LEFT, kLower, kNone, kUnit, 5, 5, 1, da, db);
  this->expect(db, b);
}

TYPED_TEST(Blas, RankKUpdates) {
  using T = TypeParam;
  const auto a = this->numbers(25, 0), b = this->numbers(25, 4);
  const auto da = this->on_device(a), db = this->on_device(b);
  const auto zeros = [&] { return km::slice<T>::zeroed(this->context, 25); };
  auto c = zeros();
  this->blas.syrk(kLower, kNone, 5, 5, 1, da, 0, c);
  this->expect(c, this->lower(this->product(a, this->flipped(a, false)), false));
  c = zeros();
  this->blas.herk(kLower, kNone, 5, 5, 1, da, 0, c);
  this->expect(c, this->lower(this->product(a, this->flipped(a, true)), false));
  for (const bool is_conjugate : {false, true}) {
    const auto both = this->sum(this->product(a, this->flipped(b, is_conjugate)),
                                this->product(b, this->flipped(a, is_conjugate)));
    c = zeros();
    if (is_conjugate) {
      this->blas.her2k(kLower, kNone, 5, 5, 1, da, db, 0, c);
    } else {
      this->blas.syr2k(kLower, kNone, 5, 5, 1, da, db, 0, c);
    }
    this->expect(c, this->lower(both, false));
  }
}

struct BlasRules : km_test::Fixture {};

TEST_F(BlasRules, HalvesAreMultipliedInFloats) {
  const km::half one{0x3C00}, two{0x4000};
  const auto a = km::slice<km::half>::copy_of(stream, std::vector<km::half>(4, two));
  const auto b = km::slice<km::half>::copy_of(stream, std::vector<km::half>(4, one));
  const auto c = km::slice<km::half>::zeroed(context, 4);
  km::blas(stream).gemm(kNone, kNone, 2, 2, 2, 1.0f, a, b, 0.0f, c);
  EXPECT_EQ(c.to_vector(stream)[3].bits, 0x4400);  // 4
  const auto d = km::slice<km::bfloat16>::copy_of(stream, std::vector<km::bfloat16>(4, {0x3F80}));
  const auto e = km::slice<km::bfloat16>::zeroed(context, 4);
  km::blas(stream, KM_BLAS_LAYOUT_COLUMNS).gemm(kNone, kNone, 2, 2, 2, 1.0f, d, d, 0.0f, e);
  EXPECT_EQ(e.to_vector(stream)[0].bits, 0x4000);  // 2
}

TEST_F(BlasRules, OperandsAreChecked) {
  if (is_missing()) GTEST_SKIP() << "there is no BLAS library here";
  const km::slice<float> x(context, 4), y(context, 4);
  const km::blas blas(stream);
  EXPECT_EQ(status_of([&] { blas.axpy(5, 1, x, y); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { blas.axpy(4, 1, x, km::vec(y, 0)); }), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { blas.axpy(4, 1, km::vec(x, 1, 1), y); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { blas.axpy(4, 1, x, x); }), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { blas.trsv(kLower, 9, kStored, 2, x, y); }), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { km::blas(km::stream{}); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { km::blas().scal(1, 1, x); }), KM_ERROR_INVALID_HANDLE);
  blas.scal(4, 1, km::vec<float>(km::device_address{x.address()}));
  blas.gemv(kNone, 2, 2, 1, km::mat<float>(km::device_address{x.address()}, 2), km::vec(y, 1, 0), 0,
            km::vec(y, 1, 2));
}

}  // namespace
