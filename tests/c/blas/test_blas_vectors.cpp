// BLAS of levels 1 and 2 against a naive reference in long double: all types, layouts, triangles,
// kinds of storage, increments of either sign; sizes that one thread does and that several share.
#include <array>
#include <cstring>
#include <random>

#include "blas_reference.h"

namespace blas_test {
namespace {

constexpr km_blas_operation kOperations[] = {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE,
                                             KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE};
constexpr km_blas_triangle kTriangles[] = {KM_BLAS_TRIANGLE_LOWER, KM_BLAS_TRIANGLE_UPPER};

template <class T>
ScalarOf<T> scalar(float real, float imaginary) {
  if constexpr (kIsComplex<T>) {
    return {real, imaginary};
  } else {
    return real;
  }
}
template <class T>
Wide wide_scalar(T value) {
  return widen(value);
}

struct Steps {
  int64_t x, y;
};
constexpr Steps kSteps[] = {{1, 1}, {2, 3}, {-1, 1}, {1, -2}, {-3, -1}};

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
void check_vector(const Bench& bench, const StoredVector<T>& v, const Dense& wanted,
                  const Dense& sizes, uint64_t terms, const char* what) {
  const std::vector<T> seen = v.download(bench.f);
  assert_true(v.keeps_markers(seen));
  expect_close<T>(v.dense(seen), wanted, sizes, terms, what);
}

/// x and y with increments, uploaded.
template <class T>
struct Pair {
  StoredVector<T> x, y;
  km_blas_vector px, py;
  Pair(const Bench& bench, uint64_t nx, uint64_t ny, const Steps& steps)
      : x(nx, steps.x), y(ny, steps.y) {
    x.upload(bench.f);
    y.upload(bench.f);
    px = x.argument();
    py = y.argument();
  }
};

template <class T>
void check_elementwise(const Bench& bench, uint64_t n, const Steps& steps) {
  const km_data_type type = Traits<T>::kType;
  const ScalarOf<T> alpha = scalar<T>(1.5F, -0.5F);
  const Dense zero(n, 1);
  {
    Pair<T> v(bench, n, n, steps);
    OK(km_blas_axpy(bench.blas, type, n, &alpha, &v.px, &v.py));
    check_vector(bench, v.y, combined(wide_scalar(alpha), v.x.dense(), 1, v.y.dense()),
                 combined(2, magnitudes(v.x.dense()), 1, magnitudes(v.y.dense())), 1, "axpy");
    OK(km_blas_scal(bench.blas, type, n, &alpha, &v.px));
    check_vector(bench, v.x, combined(wide_scalar(alpha), v.x.dense(), 0, zero),
                 combined(2, magnitudes(v.x.dense()), 0, zero), 1, "scal");
  }
  Pair<T> v(bench, n, n, steps);
  OK(km_blas_swap(bench.blas, type, n, &v.px, &v.py));
  check_vector(bench, v.x, v.y.dense(), zero, 0, "swap");
  check_vector(bench, v.y, v.x.dense(), zero, 0, "swap");
  OK(km_blas_copy(bench.blas, type, n, &v.px, &v.py));
  check_vector(bench, v.y, v.y.dense(), zero, 0, "copy");
  const RealOf<T> c = RealOf<T>(0.8), s = RealOf<T>(-0.6);
  Pair<T> r(bench, n, n, steps);
  OK(km_blas_rot(bench.blas, type, n, &r.px, &r.py, &c, &s));
  const Dense sizes = combined(1, magnitudes(r.x.dense()), 1, magnitudes(r.y.dense()));
  check_vector(bench, r.x, combined(c, r.x.dense(), s, r.y.dense()), sizes, 2, "rot");
  check_vector(bench, r.y, combined(c, r.y.dense(), -s, r.x.dense()), sizes, 2, "rot");
}

template <class T>
void check_rotm(const Bench& bench, const Steps& steps) {
  constexpr uint64_t n = 11;
  const T h[4] = {T(0.5), T(-2), T(3), T(0.25)};  // h11 h21 h12 h22
  for (int flag = -2; flag <= 1; ++flag) {
    const T parameters[5] = {T(flag), h[0], h[1], h[2], h[3]};
    Pair<T> v(bench, n, n, steps);
    OK(km_blas_rotm(bench.blas, Traits<T>::kType, n, &v.px, &v.py, parameters));
    const Wide h11 = flag == -2 || flag == 0 ? 1 : h[0], h22 = flag == -2 || flag == 0 ? 1 : h[3];
    const Wide h21 = flag == -2 ? 0 : flag == 1 ? -1 : h[1];
    const Wide h12 = flag == -2 ? 0 : flag == 1 ? 1 : h[2];
    const Dense sizes = combined(4, magnitudes(v.x.dense()), 4, magnitudes(v.y.dense()));
    check_vector(bench, v.x, combined(h11, v.x.dense(), h12, v.y.dense()), sizes, 2, "rotm");
    check_vector(bench, v.y, combined(h22, v.y.dense(), h21, v.x.dense()), sizes, 2, "rotm");
  }
}

template <class R>
R read_back(const fixture* f, km_slice slice) {
  R value;
  OK(km_slice_download(f->stream, slice, sizeof value, &value, sizeof value));
  return value;
}

template <class T>
void check_reductions(const Bench& bench, uint64_t n, const Steps& steps) {
  const km_data_type type = Traits<T>::kType;
  Pair<T> v(bench, n, n, steps);
  km_slice place;
  OK(km_slice_create(bench.f->context, 64, 1, KM_SLICE_ZEROED, &place));
  const km_blas_vector result = {reinterpret_cast<uint64_t>(place), 0, 1, 1};
  const Dense x = v.x.dense(), y = v.y.dense();
  const Dense sizes = product(transposed(magnitudes(x), false), magnitudes(y));
  const auto one = [](Wide value) {
    Dense dense(1, 1);
    dense.at(0, 0) = value;
    return dense;
  };
  OK(km_blas_dot(bench.blas, type, n, &v.px, &v.py, &result));
  expect_close<T>(one(widen(read_back<T>(bench.f, place))), product(transposed(x, false), y), sizes,
                  n, "dot");
  OK(km_blas_dotc(bench.blas, type, n, &v.px, &v.py, &result));
  expect_close<T>(one(widen(read_back<T>(bench.f, place))), product(transposed(x, true), y), sizes,
                  n, "dotc");
  long double squares = 0, sum = 0, largest = -1;
  uint64_t index = UINT64_MAX;
  for (uint64_t i = 0; i < n; ++i) {
    const Wide value = x.at(i, 0);
    const RealOf<T> size = static_cast<RealOf<T>>(std::fabs(value.real())) +
                           static_cast<RealOf<T>>(std::fabs(value.imag()));
    squares += std::norm(value);
    sum += size;
    if (size <= largest) continue;
    largest = size;
    index = i;
  }
  using R = RealOf<T>;
  OK(km_blas_nrm2(bench.blas, type, n, &v.px, &result));
  expect_close<R>(one(read_back<R>(bench.f, place)), one(std::sqrt(squares)),
                  one(std::sqrt(squares)), n, "nrm2");
  OK(km_blas_asum(bench.blas, type, n, &v.px, &result));
  expect_close<R>(one(read_back<R>(bench.f, place)), one(sum), one(sum), n, "asum");
  if (steps.x > 0) {
    OK(km_blas_iamax(bench.blas, type, n, &v.px, &result));
    assert_int_equal(read_back<uint64_t>(bench.f, place), index);
  }
  OK(km_slice_destroy(place));
}

template <class T>
void level1_of_type(const fixture* f) {
  const Bench bench(f, KM_BLAS_LAYOUT_ROWS);
  for (const Steps& steps : kSteps) {
    for (uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{37}, uint64_t{200001}}) {
      check_elementwise<T>(bench, n, steps);
      check_reductions<T>(bench, n, steps);
    }
    if constexpr (!kIsComplex<T>) check_rotm<T>(bench, steps);
  }
}

void level1_is_right(void** state) {
  auto* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
  level1_of_type<float>(f);
  level1_of_type<double>(f);
  level1_of_type<C32>(f);
  level1_of_type<C64>(f);
}

/// The numbers that rotations are made of: zeros, and such as have no squares.
template <class R>
std::vector<R> rotated_numbers() {
  const R most = std::numeric_limits<R>::max(), least = std::numeric_limits<R>::min();
  return {0, 1, -3, R(0.1), most / 4, -most / 8, least * 4, -least / 4};
}

template <class T>
void check_rotg(T first, T second) {
  using R = typename Traits<T>::Real;
  T a = first, b = second, s = 7;
  R c = 7;
  OK(km_blas_rotg(Traits<T>::kType, &a, &b, &c, &s));
  const Wide x = wide_scalar(first), y = wide_scalar(second), wide_s = wide_scalar(s);
  const long double epsilon = 16 * std::numeric_limits<R>::epsilon();
  const long double size = std::abs(x) + std::abs(y) + 4 * std::numeric_limits<R>::min();
  assert_true(std::fabs(c * static_cast<long double>(c) + std::norm(wide_s) - 1) <= epsilon);
  assert_true(std::abs(Wide(c) * x + wide_s * y - wide_scalar(a)) <= epsilon * size);
  assert_true(std::abs(Wide(c) * y - std::conj(wide_s) * x) <= epsilon * size);
}

template <class R>
void rotations_of(km_data_type type) {
  for (const R first : rotated_numbers<R>()) {
    for (const R second : rotated_numbers<R>()) {
      check_rotg<R>(first, second);
      check_rotg<std::complex<R>>({first, second}, {second / 2, first / 3});
      check_rotg<std::complex<R>>({first, 0}, {0, second});
      check_rotg<std::complex<R>>(0, {first, second});
    }
  }
  // From the one number that is left, as the reference says it.
  R a = 3, b = 4, c = 0, s = 0;
  OK(km_blas_rotg(type, &a, &b, &c, &s));
  assert_true(a == 5 && c == R(0.6) && s == R(0.8) && b == 1 / R(0.6));
}

/// H turns (x1, y1) into (x, 0), and d1 x1^2 + d2 y1^2 stays what it is.
template <class R>
void check_rotmg(R d1, R d2, R x1, R y1) {
  R parameters[5] = {7, 7, 7, 7, 7}, new_d1 = d1, new_d2 = d2, new_x1 = x1;
  OK(km_blas_rotmg(Traits<R>::kType, &new_d1, &new_d2, &new_x1, &y1, parameters));
  const int flag = static_cast<int>(parameters[0]);
  assert_true(flag >= -2 && flag <= 1);
  using Long = long double;
  const Long h11 = flag == 0 || flag == -2 ? 1 : Long(parameters[1]);
  const Long h21 = flag == 1 ? -1 : flag == -2 ? 0 : Long(parameters[2]);
  const Long h12 = flag == 1 ? 1 : flag == -2 ? 0 : Long(parameters[3]);
  const Long h22 = flag == 0 || flag == -2 ? 1 : Long(parameters[4]);
  const Long epsilon = 64 * std::numeric_limits<R>::epsilon();
  if (flag == -2) {
    assert_true(d2 * y1 == 0 && new_d1 == d1 && new_d2 == d2 && new_x1 == x1);
    return;
  }
  if (new_d1 == 0 && new_x1 == 0) {  // cannot be turned
    assert_true(flag == -1 && h11 == 0 && h22 == 0 && (d1 < 0 || d2 < 0));
    return;
  }
  assert_true(std::fabs(h11 * x1 + h12 * y1 - new_x1) <= epsilon * std::fabs(Long(new_x1)));
  assert_true(std::fabs(h21 * x1 + h22 * y1) <=
              epsilon * (std::fabs(h21 * x1) + std::fabs(h22 * y1)));
  const Long before = Long(d1) * x1 * x1 + Long(d2) * y1 * y1;
  const Long sizes = Long(d1) * x1 * x1 + std::fabs(Long(d2)) * y1 * y1;
  assert_true(std::fabs(Long(new_d1) * new_x1 * new_x1 - before) <= epsilon * sizes);
}

void rotations_are_made(void**) {
  rotations_of<float>(KM_DATA_TYPE_F32);
  rotations_of<double>(KM_DATA_TYPE_F64);
  for (const double d1 : {0.0, 0.5, 3.0, 1e9, 1e-9, -1.0}) {
    for (const double d2 : {0.0, 0.25, 2.0, 1e10, 1e-10, -0.125}) {
      for (const double x1 : {0.0, 1.0, -5.0, 0.01}) {
        for (const double y1 : {0.0, 2.0, -0.5}) {
          check_rotmg<double>(d1, d2, x1, y1);
          check_rotmg<float>(static_cast<float>(d1), static_cast<float>(d2), static_cast<float>(x1),
                             static_cast<float>(y1));
        }
      }
    }
  }
  double d = std::numeric_limits<double>::infinity(), other = 1, x = 1, y = 1, parameters[5];
  OK(km_blas_rotmg(KM_DATA_TYPE_F64, &d, &other, &x, &y, parameters)); /* comes to an end */
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_blas_rotg(KM_DATA_TYPE_F16, &d, &d, &d, &d));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_blas_rotg(KM_DATA_TYPE_F64, &d, nullptr, &d, &d));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_blas_rotmg(KM_DATA_TYPE_C64, &d, &d, &d, &d, &d));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_blas_rotmg(KM_DATA_TYPE_F64, &d, &d, &d, nullptr, &d));
}

/// The results of rotmg, in its order, into memory of the caller's choice.
template <class R>
void write_rotmg(unsigned char* memory, const std::array<size_t, 5>& at, R d1, R d2, R x1, R y1) {
  R entries[5];
  std::memcpy(entries, memory + at[4], sizeof entries);
  OK(km_blas_rotmg(Traits<R>::kType, &d1, &d2, &x1, &y1, entries));
  std::memcpy(memory + at[0], &d1, sizeof d1);
  std::memcpy(memory + at[1], &d2, sizeof d2);
  std::memcpy(memory + at[2], &x1, sizeof x1);
  const int flag = static_cast<int>(entries[0]);
  for (int i = 0; i < 5; ++i) {
    const bool is_diagonal = i == 1 || i == 4;
    const bool is_implied = i != 0 && (flag == -2 || (flag >= 0 && (flag == 1) != is_diagonal));
    if (!is_implied) std::memcpy(memory + at[4] + sizeof(R) * i, &entries[i], sizeof(R));
  }
}

/// Results that share memory with each other and with arguments, at odd addresses, of any bits.
template <class R>
void check_shared_rotations(std::mt19937_64* random) {
  unsigned char shared[48], expected[48];
  for (int round = 0; round < 20000; ++round) {
    for (unsigned char& byte : shared) byte = static_cast<unsigned char>((*random)());
    std::array<size_t, 5> at;  // of d1, d2, x1, y1, parameters
    for (size_t& place : at) place = (*random)() % 8;
    std::memcpy(expected, shared, sizeof shared);
    R values[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&values[i], shared + at[i], sizeof(R));
    write_rotmg<R>(expected, at, values[0], values[1], values[2], values[3]);
    OK(km_blas_rotmg(Traits<R>::kType, shared + at[0], shared + at[1], shared + at[2],
                     shared + at[3], shared + at[4]));
    assert_memory_equal(shared, expected, sizeof shared);
    OK(km_blas_rotg(Traits<R>::kType, shared + at[0], shared + at[1], shared + at[2],
                    shared + at[3]));
  }
}

void rotations_may_share_memory(void**) {
  std::mt19937_64 random(34);
  check_shared_rotations<float>(&random);
  check_shared_rotations<double>(&random);
}

/// y = alpha A x + beta y of any kind; `whole` is what A means.
template <class T>
void check_product(const Bench& bench, const Pair<T>& v, const Dense& whole, ScalarOf<T> alpha,
                   ScalarOf<T> beta, const char* what) {
  const Wide wide_alpha = wide_scalar(alpha), wide_beta = wide_scalar(beta);
  const Dense sizes =
      combined(std::abs(wide_alpha) * 1.5L, product(magnitudes(whole), magnitudes(v.x.dense())),
               std::abs(wide_beta) * 1.5L, magnitudes(v.y.dense()));
  check_vector(bench, v.y,
               combined(wide_alpha, product(whole, v.x.dense()), wide_beta, v.y.dense()), sizes,
               whole.columns + 2, what);
}

/// NaNs where a beta of 0 must not read.
template <class T>
void forget(const Bench& bench, Pair<T>* v) {
  OK(km_slice_fill_u8(bench.f->stream, v->y.slice, 0, 0xFF, v->y.data.size() * sizeof(T)));
  for (T& value : v->y.data) value = marker<T>();
}

template <class T>
void check_gemv(const Bench& bench, km_blas_operation operation, uint64_t m, uint64_t n,
                const Steps& steps, bool is_band, bool overwrites) {
  const bool plain = operation == KM_BLAS_OPERATION_NONE;
  StoredMatrix<T> a(bench.layout, m, n, is_band ? Storage::kBand : Storage::kFull, 2, 1);
  a.upload(bench.f);
  Pair<T> v(bench, plain ? n : m, plain ? m : n, steps);
  const ScalarOf<T> alpha = scalar<T>(-1.25F, 1);
  const ScalarOf<T> beta = overwrites ? scalar<T>(0, 0) : scalar<T>(0.5F, -1);
  if (overwrites) forget(bench, &v);
  const km_blas_matrix pa = a.argument();
  const km_data_type type = Traits<T>::kType;
  if (is_band) {
    OK(km_blas_gbmv(bench.blas, type, operation, m, n, 2, 1, &alpha, &pa, &v.px, &beta, &v.py));
  } else {
    OK(km_blas_gemv(bench.blas, type, operation, m, n, &alpha, &pa, &v.px, &beta, &v.py));
  }
  check_product(bench, v, apply(a.dense(), operation), alpha, beta, is_band ? "gbmv" : "gemv");
}

template <class T>
StoredMatrix<T> half_matrix(const Bench& bench, uint64_t n, Storage storage,
                            km_blas_triangle triangle) {
  const uint64_t k = 3;
  const bool lower = triangle == KM_BLAS_TRIANGLE_LOWER;
  return StoredMatrix<T>(bench.layout, n, n, storage, lower ? k : 0, lower ? 0 : k, triangle);
}

template <class T>
void check_symv(const Bench& bench, uint64_t n, Storage storage, km_blas_triangle triangle,
                const Steps& steps, bool overwrites) {
  StoredMatrix<T> a = half_matrix<T>(bench, n, storage, triangle);
  a.upload(bench.f);
  Pair<T> v(bench, n, n, steps);
  const ScalarOf<T> alpha = scalar<T>(2, -0.5F);
  const ScalarOf<T> beta = overwrites ? scalar<T>(0, 0) : scalar<T>(1, 1);
  if (overwrites) forget(bench, &v);
  const km_blas_matrix pa = a.argument();
  const km_data_type type = Traits<T>::kType;
  if (storage == Storage::kFull) {
    OK(km_blas_symv(bench.blas, type, triangle, n, &alpha, &pa, &v.px, &beta, &v.py));
  } else if (storage == Storage::kBand) {
    OK(km_blas_sbmv(bench.blas, type, triangle, n, 3, &alpha, &pa, &v.px, &beta, &v.py));
  } else {
    OK(km_blas_spmv(bench.blas, type, triangle, n, &alpha, &pa, &v.px, &beta, &v.py));
  }
  check_product(bench, v,
                completed(a.dense(), {Shape::kHermitian, triangle, KM_BLAS_DIAGONAL_STORED}), alpha,
                beta, "symv");
}

template <class T>
void check_triangular(const Bench& bench, uint64_t n, Storage storage, km_blas_triangle triangle,
                      km_blas_operation operation, km_blas_diagonal diagonal, int64_t step,
                      bool is_solve) {
  StoredMatrix<T> a = half_matrix<T>(bench, n, storage, triangle);
  for (uint64_t i = 0; i < n; ++i) {
    for (uint64_t j = 0; j < n; ++j) {
      if (!a.is_stored(i, j)) continue;
      T& value = a.data[a.place(i, j)];
      value = i == j ? T(3) + value : value / RealOf<T>(n);
    }
  }
  a.upload(bench.f);
  StoredVector<T> x(n, step);
  x.upload(bench.f);
  const km_blas_matrix pa = a.argument();
  const km_blas_vector px = x.argument();
  const km_data_type type = Traits<T>::kType;
  if (storage == Storage::kFull) {
    OK((is_solve ? km_blas_trsv : km_blas_trmv)(bench.blas, type, triangle, operation, diagonal, n,
                                                &pa, &px));
  } else if (storage == Storage::kBand) {
    OK((is_solve ? km_blas_tbsv : km_blas_tbmv)(bench.blas, type, triangle, operation, diagonal, n,
                                                3, &pa, &px));
  } else {
    OK((is_solve ? km_blas_tpsv : km_blas_tpmv)(bench.blas, type, triangle, operation, diagonal, n,
                                                &pa, &px));
  }
  const Dense whole =
      apply(completed(a.dense(), {Shape::kTriangular, triangle, diagonal}), operation);
  const std::vector<T> seen = x.download(bench.f);
  assert_true(x.keeps_markers(seen));
  const Dense result = x.dense(seen), before = x.dense();
  const Dense& factor = is_solve ? result : before;
  expect_close<T>(is_solve ? before : result, product(whole, factor),
                  product(magnitudes(whole), magnitudes(factor)), n + 4,
                  is_solve ? "trsv" : "trmv");
}

/// A + alpha x y^T, and its like.
template <class T>
void check_ger(const Bench& bench, uint64_t m, uint64_t n, const Steps& steps, bool conjugated) {
  StoredMatrix<T> a(bench.layout, m, n);
  a.upload(bench.f);
  Pair<T> v(bench, m, n, steps);
  const ScalarOf<T> alpha = scalar<T>(0.5F, 2);
  const km_blas_matrix pa = a.argument();
  OK((conjugated ? km_blas_gerc : km_blas_ger)(bench.blas, Traits<T>::kType, m, n, &alpha, &v.px,
                                               &v.py, &pa));
  const std::vector<T> seen = a.download(bench.f);
  assert_true(a.keeps_markers(seen));
  expect_close<T>(
      a.dense(seen),
      combined(wide_scalar(alpha), product(v.x.dense(), transposed(v.y.dense(), conjugated)), 1,
               a.dense()),
      combined(3, product(magnitudes(v.x.dense()), transposed(magnitudes(v.y.dense()), false)), 1,
               magnitudes(a.dense())),
      2, "ger");
}

template <class T>
void check_rank_update(const Bench& bench, uint64_t n, km_blas_triangle triangle,
                       const Steps& steps, bool is_packed, bool is_double) {
  StoredMatrix<T> a =
      half_matrix<T>(bench, n, is_packed ? Storage::kPacked : Storage::kFull, triangle);
  a.upload(bench.f);
  Pair<T> v(bench, n, n, steps);
  const ScalarOf<T> alpha = scalar<T>(0.75F, is_double ? 0.5F : 0);
  const km_blas_matrix pa = a.argument();
  const km_data_type type = Traits<T>::kType;
  if (is_double) {
    OK((is_packed ? km_blas_spr2 : km_blas_syr2)(bench.blas, type, triangle, n, &alpha, &v.px,
                                                 &v.py, &pa));
  } else {
    OK((is_packed ? km_blas_spr : km_blas_syr)(bench.blas, type, triangle, n, &alpha, &v.px, &pa));
  }
  const Dense x = v.x.dense(), y = is_double ? v.y.dense() : x;
  const Wide factor = wide_scalar(alpha);
  Dense wanted =
      combined(factor, product(x, transposed(y, true)), 1,
               completed(a.dense(), {Shape::kHermitian, triangle, KM_BLAS_DIAGONAL_STORED}));
  if (is_double) wanted = combined(1, wanted, std::conj(factor), product(y, transposed(x, true)));
  const Dense sizes = combined(4, product(magnitudes(x), transposed(magnitudes(y), false)), 1,
                               magnitudes(a.dense()));
  Dense both = combined(1, sizes, 4, product(magnitudes(y), transposed(magnitudes(x), false)));
  const std::vector<T> seen = a.download(bench.f);
  assert_true(a.keeps_markers(seen));
  Dense stored = a.dense(seen);
  for (uint64_t i = 0; i < n; ++i) {
    for (uint64_t j = 0; j < n; ++j) {
      if (!a.is_stored(i, j)) wanted.at(i, j) = stored.at(i, j);
    }
  }
  expect_close<T>(stored, wanted, both, 4, is_double ? "syr2" : "syr");
}

template <class T>
void triangles_of_storage(const Bench& bench, uint64_t n, Storage storage,
                          km_blas_triangle triangle, int64_t step, bool is_solve) {
  for (km_blas_operation operation : kOperations) {
    for (km_blas_diagonal diagonal : {KM_BLAS_DIAGONAL_STORED, KM_BLAS_DIAGONAL_UNIT}) {
      check_triangular<T>(bench, n, storage, triangle, operation, diagonal, step, is_solve);
    }
  }
}

template <class T>
void halves_of_size(const Bench& bench, uint64_t n, km_blas_triangle triangle, const Steps& steps,
                    bool flag) {
  for (Storage storage : {Storage::kFull, Storage::kBand, Storage::kPacked}) {
    check_symv<T>(bench, n, storage, triangle, steps, flag);
    triangles_of_storage<T>(bench, n, storage, triangle, steps.x, flag);
  }
  check_rank_update<T>(bench, n, triangle, steps, false, flag);
  check_rank_update<T>(bench, n, triangle, steps, true, flag);
}

template <class T>
void level2_of_size(const Bench& bench, uint64_t m, uint64_t n, const Steps& steps) {
  for (bool flag : {false, true}) {
    for (km_blas_operation operation : kOperations) {
      check_gemv<T>(bench, operation, m, n, steps, false, flag);
      check_gemv<T>(bench, operation, m, n, steps, true, flag);
    }
    check_ger<T>(bench, m, n, steps, flag);
    for (km_blas_triangle triangle : kTriangles) halves_of_size<T>(bench, n, triangle, steps, flag);
  }
}

template <class T>
void level2_of_type(const fixture* f) {
  for (km_blas_layout layout : {KM_BLAS_LAYOUT_ROWS, KM_BLAS_LAYOUT_COLUMNS}) {
    const Bench bench(f, layout);
    for (const Steps& steps : kSteps) level2_of_size<T>(bench, 9, 7, steps);
    level2_of_size<T>(bench, 1, 1, {1, 1});
    for (const Steps& steps : {Steps{1, 1}, Steps{-2, -1}}) {
      for (km_blas_operation operation : kOperations) {
        check_gemv<T>(bench, operation, 430, 390, steps, false, false);
      }
      check_ger<T>(bench, 430, 390, steps, true);
    }
  }
}

void level2_is_right(void** state) {
  auto* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();
  level2_of_type<float>(f);
  level2_of_type<double>(f);
  level2_of_type<C32>(f);
  level2_of_type<C64>(f);
}

}  // namespace
}  // namespace blas_test

int main() {
  using namespace blas_test;
  const CMUnitTest tests[] = {
      cmocka_unit_test(level1_is_right), cmocka_unit_test(rotations_are_made),
      cmocka_unit_test(rotations_may_share_memory), cmocka_unit_test(level2_is_right)};
  setenv("KM_CPU_THREADS", "3", 0); /* calls are cut up on any machine */
  return RUN_ON_DEVICES("blas_vectors", tests);
}
