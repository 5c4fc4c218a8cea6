#include "kernels/reduce/problem.h"

namespace km::bench {
namespace {

class OpenmpReduce : public Reduce {
 public:
  using Reduce::Reduce;
  void run() override {
    const float* const values = values_.data();
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (int i = 0; i < count_; ++i) sum += values[i];
    sum_[0] = sum;
  }
};

const Registration kTree("reduce_tree", make<OpenmpReduce>);
const Registration kShfl("reduce_shfl", make<OpenmpReduce>);

}  // namespace
}  // namespace km::bench
