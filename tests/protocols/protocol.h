// A random kernel whose threads wait for each other, and that ends on any machine that lets each
// thread go on: all its waits can be put in one order in which each comes after what it waits for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace km::protocols {

constexpr int64_t kAny = -1;

struct Protocol {
  std::string ptx;
  unsigned kernels = 1;  // "k0", "k1": launched on streams of their own, at the same time
  unsigned blocks = 1, threads = 1;
  uint64_t words = 0;             // of global memory, zero before
  std::vector<int64_t> expected;  // what they hold afterwards; kAny: anything

  /// True if threads wait by plain accesses, which GPUs make good and the memory model calls races.
  bool is_weak() const { return ptx.find("// weak") != std::string::npos; }
};

Protocol make_protocol(uint64_t seed);

}  // namespace km::protocols
