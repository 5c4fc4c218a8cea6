#include <cstring>

#include "kernels/memory/problem.h"

namespace km::bench {
namespace {

class LibcMemcpy : public Memcpy {
 public:
  using Memcpy::Memcpy;
  void run() override { std::memcpy(to_.data(), from_.data(), to_.count()); }
};

class LibcMemset : public Memset {
 public:
  using Memset::Memset;
  void run() override { std::memset(to_.data(), kValue, to_.count()); }
};

const Registration kMemcpy("memcpy", make<LibcMemcpy>);
const Registration kMemset("memset", make<LibcMemset>);

}  // namespace
}  // namespace km::bench
