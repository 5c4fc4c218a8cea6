#include <atomic>

#include "kernels/launch/problem.h"

namespace km::bench {
namespace {

/// Fork and join of a parallel loop whose iterations do nothing: what starting work costs there.
void fork_and_join(uint32_t iterations) {
#pragma omp parallel for schedule(static)
  for (uint32_t i = 0; i < iterations; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

class OpenmpEmptyBlocks : public EmptyBlocks {
 public:
  using EmptyBlocks::EmptyBlocks;
  void run() override { fork_and_join(blocks_); }
};

class OpenmpPipelined : public Pipelined {
 public:
  using Pipelined::Pipelined;
  void run() override {
    for (uint64_t i = 0; i < launches_; ++i) fork_and_join(1);
  }
};

class OpenmpChain : public Chain {
 public:
  using Chain::Chain;
  void run() override {
    float* const data = data_.data();
    for (uint64_t i = 0; i < launches_; ++i) {
#pragma omp parallel for simd schedule(static)
      for (int k = 0; k < kCount; ++k) data[k] += 1.0f;
    }
  }
};

const Registration kEmpty("launch", make<OpenmpEmptyBlocks>);
const Registration kPipelined("launch_pipelined", make<OpenmpPipelined>);
const Registration kChain("launch_chain", make<OpenmpChain>);

}  // namespace
}  // namespace km::bench
