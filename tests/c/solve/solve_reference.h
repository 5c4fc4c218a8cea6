// The things that tests of km_solve share: batches of matrices and arrays in memory with markers
// between them, and norms of residuals in long double.
#pragma once

#include "blas/blas_reference.h"

namespace blas_test {

inline uint64_t draw(uint64_t least, uint64_t most) {
  return least + random_bits()() % (most - least + 1);
}

/// Mostly small orders, 0 among them, and sometimes ones for which LAPACK works in blocks.
inline uint64_t draw_order() { return draw(0, 9) == 0 ? draw(33, 70) : draw(0, 12); }

/// The test's device and a BLAS object of a layout on it.
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
Dense random_dense(uint64_t rows, uint64_t columns) {
  Dense result(rows, columns);
  for (Wide& value : result.values) value = widen(random_value<T>());
  return result;
}

template <class T>
T narrow(const Wide& value) {
  if constexpr (kIsComplex<T>) {
    return {static_cast<RealOf<T>>(value.real()), static_cast<RealOf<T>>(value.imag())};
  } else {
    return static_cast<T>(value.real());
  }
}

/// A batch of matrices, whose lines and whose distance are longer than needed.
template <class T>
struct Matrices : Stored<T> {
  km_blas_layout layout;
  uint64_t rows, columns, count, leading, stride;

  Matrices(const Bench& bench, uint64_t m, uint64_t n, uint64_t batch)
      : Stored<T>(0), layout(bench.layout), rows(m), columns(n), count(batch) {
    const bool by_rows = layout == KM_BLAS_LAYOUT_ROWS;
    leading = std::max<uint64_t>(by_rows ? n : m, 1) + draw(0, 3);
    stride = (by_rows ? m : n) * leading + draw(0, 5);
    this->offset = 3;
    this->data.assign(3 + stride * batch + 1, marker<T>());
    for (uint64_t item = 0; item < batch; ++item) set(item, random_dense<T>(m, n));
  }
  uint64_t place(uint64_t item, uint64_t i, uint64_t j) const {
    const bool by_rows = layout == KM_BLAS_LAYOUT_ROWS;
    return 3 + item * stride + (by_rows ? i * leading + j : j * leading + i);
  }
  void set(uint64_t item, const Dense& values) {
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t j = 0; j < columns; ++j) {
        this->data[place(item, i, j)] = narrow<T>(values.at(i, j));
      }
    }
  }
  Dense dense(const std::vector<T>& from, uint64_t item) const {
    Dense result(rows, columns);
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t j = 0; j < columns; ++j) result.at(i, j) = widen(from[place(item, i, j)]);
    }
    return result;
  }
  Dense dense(uint64_t item) const { return dense(this->data, item); }
  km_blas_matrix argument() const {
    return {reinterpret_cast<uint64_t>(this->slice), 0, this->offset, leading, stride};
  }
  /// Takes the device's values. What lies between lines and matrices has to have kept its own.
  void take(const fixture* f) {
    std::vector<T> seen = this->download(f), with = this->data;
    for (uint64_t item = 0; item < count; ++item) {
      for (uint64_t i = 0; i < rows; ++i) {
        for (uint64_t j = 0; j < columns; ++j) {
          with[place(item, i, j)] = seen[place(item, i, j)];
        }
      }
    }
    assert_memory_equal(with.data(), seen.data(), with.size() * sizeof(T));
    this->data = std::move(seen);
  }
};

/// Arrays of a batch: pivots, infos, values.
template <class T>
struct Arrays : Stored<T> {
  uint64_t length, count, stride;

  Arrays(uint64_t each, uint64_t batch)
      : Stored<T>(0), length(each), count(batch), stride(each + draw(0, 2)) {
    this->offset = 2;
    this->data.resize(2 + stride * batch + 1);
    std::memset(static_cast<void*>(this->data.data()), 0xEE, this->data.size() * sizeof(T));
  }
  T at(uint64_t item, uint64_t i) const { return this->data[2 + item * stride + i]; }
  km_array argument() const {
    return {reinterpret_cast<uint64_t>(this->slice), 0, this->offset, stride};
  }
  void take(const fixture* f) {
    std::vector<T> seen = this->download(f), with = this->data;
    for (uint64_t item = 0; item < count; ++item) {
      for (uint64_t i = 0; i < length; ++i) {
        with[2 + item * stride + i] = seen[2 + item * stride + i];
      }
    }
    assert_memory_equal(with.data(), seen.data(), with.size() * sizeof(T));
    this->data = std::move(seen);
  }
};

/// One info for each matrix of a batch.
struct Infos : Arrays<int32_t> {
  explicit Infos(uint64_t batch) : Arrays<int32_t>(1, batch) {}
  void expect_all(const fixture* f, int32_t wanted) {
    take(f);
    for (uint64_t item = 0; item < count; ++item) assert_int_equal(at(item, 0), wanted);
  }
};

inline long double norm(const Dense& a) {
  long double sum = 0;
  for (const Wide& value : a.values) sum += std::norm(value);
  return std::sqrt(sum);
}

inline Dense identity(uint64_t order) {
  Dense result(order, order);
  for (uint64_t i = 0; i < order; ++i) result.at(i, i) = 1;
  return result;
}

/// Rows and columns [first, first + count) of a matrix.
inline Dense part(const Dense& a, uint64_t rows, uint64_t columns) {
  Dense result(rows, columns);
  for (uint64_t i = 0; i < rows; ++i) {
    for (uint64_t j = 0; j < columns; ++j) result.at(i, j) = a.at(i, j);
  }
  return result;
}

/// Checks that two matrices differ by rounding only: `size` is a norm of what was added up, `order`
/// the number of operations on each element.
template <class T>
void expect_near(const Dense& seen, const Dense& wanted, long double size, uint64_t order,
                 const char* what) {
  const auto epsilon = static_cast<long double>(std::numeric_limits<RealOf<T>>::epsilon());
  const long double off = norm(combined(1, seen, -1, wanted));
  const long double bound = 4 * static_cast<long double>(order + 2) * epsilon * size;
  if (off <= bound) return;
  fail_msg("%s of type %d, %zu x %zu: off by %Lg, bound %Lg", what, Traits<T>::kType,
           static_cast<size_t>(seen.rows), static_cast<size_t>(seen.columns), off, bound);
}

/// Checks that the columns are orthonormal.
template <class T>
void expect_unitary(const Dense& q, const char* what) {
  expect_near<T>(product(transposed(q, true), q), identity(q.columns),
                 std::sqrt(static_cast<long double>(q.columns)), q.rows, what);
}

}  // namespace blas_test
