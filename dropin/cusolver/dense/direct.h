// Solutions of linear systems and least squares problems in one step.
#pragma once

#include <vector>

#include "dropin/cusolver/dense/lapack.h"

namespace km::cusolver {

/// Systems A X = B, whose A and B are not changed; with m > n least squares problems.
template <class T>
struct LinearSystem {
  int m, n, nrhs;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  T* x;
  int ldx;
};

template <class T>
int solve_system(const LinearSystem<T>& system, int* pivots) {
  const int n = system.n;
  const MatrixCopy<T> factors(system.a, n, n, system.lda), x(system.b, n, system.nrhs, system.ldb);
  const Scratch<int> own(static_cast<size_t>(n));
  int* const rows = pivots == nullptr ? own.get() : pivots;
  int info = 0, ignored = 0;
  lapack<T>(kGetrf, n, n, factors.data(), factors.leading(), rows, &info);
  if (info != 0) return info;
  lapack<T>(kGetrs, 'N', n, system.nrhs, factors.data(), factors.leading(), rows, x.data(),
            x.leading(), &ignored);
  x.write(system.x, system.ldx);
  return 0;
}

template <class T>
int solve_least_squares(const LinearSystem<T>& system) {
  const int m = system.m, n = system.n;
  const MatrixCopy<T> factors(system.a, m, n, system.lda), x(system.b, m, system.nrhs, system.ldb);
  int info = 0;
  with_work<T>([&](T* work, int lwork) {
    lapack<T>(kGels, 'N', m, n, system.nrhs, factors.data(), factors.leading(), x.data(),
              x.leading(), work, lwork, &info);
  });
  if (info != 0) return info;
  for (int64_t j = 0; j < system.nrhs; ++j) {
    std::copy_n(x.data() + j * x.leading(), n, system.x + j * system.ldx);
  }
  return 0;
}

/// The norm of B - A X for each right-hand side.
template <class T>
std::vector<double> residual_norms(const LinearSystem<T>& system) {
  const T one(1), minus_one(-1);
  const MatrixCopy<T> rest(system.b, system.m, system.nrhs, system.ldb);
  if (system.m == 0) return std::vector<double>(static_cast<size_t>(system.nrhs));
  if (system.n != 0) {
    lapack<T>(kGemm, 'N', 'N', system.m, system.nrhs, system.n, minus_one, system.a, system.lda,
              system.x, system.ldx, one, rest.data(), rest.leading());
  }
  std::vector<double> norms;
  for (int64_t j = 0; j < system.nrhs; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < system.m; ++i) {
      sum += std::norm(std::complex<double>(rest.data()[i + j * rest.leading()]));
    }
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

}  // namespace km::cusolver
