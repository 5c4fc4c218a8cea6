#include "kernels/spmv/problem.h"

namespace km::bench {
namespace {

class OpenmpScalar : public Spmv {
 public:
  using Spmv::Spmv;
  void run() override {
    const int *starts = starts_.data(), *columns = columns_.data();
    const float *values = values_.data(), *x = x_.data();
    float* const y = y_.data();
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows_; ++row) {
      float sum = 0.0f;
      for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
      y[row] = sum;
    }
  }
};

class OpenmpVector : public Spmv {
 public:
  using Spmv::Spmv;
  void run() override {
    const int *starts = starts_.data(), *columns = columns_.data();
    const float *values = values_.data(), *x = x_.data();
    float* const y = y_.data();
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows_; ++row) {
      float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
      for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
      y[row] = sum;
    }
  }
};

const Registration kScalar("spmv_scalar", make<OpenmpScalar>);
const Registration kVector("spmv_vector", make<OpenmpVector>);

}  // namespace
}  // namespace km::bench
