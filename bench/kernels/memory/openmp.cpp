#include <cstring>

#include "kernels/memory/problem.h"

namespace km::bench {
namespace {

constexpr uint64_t kPart = 1 << 18;

class OpenmpMemcpy : public Memcpy {
 public:
  using Memcpy::Memcpy;
  void run() override {
    const uint64_t size = to_.count();
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < size; i += kPart) {
      std::memcpy(to_.data() + i, from_.data() + i, std::min(kPart, size - i));
    }
  }
};

class OpenmpMemset : public Memset {
 public:
  using Memset::Memset;
  void run() override {
    const uint64_t size = to_.count();
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < size; i += kPart) {
      std::memset(to_.data() + i, kValue, std::min(kPart, size - i));
    }
  }
};

const Registration kMemcpy("memcpy", make<OpenmpMemcpy>);
const Registration kMemset("memset", make<OpenmpMemset>);

}  // namespace
}  // namespace km::bench
