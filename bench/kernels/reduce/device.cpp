#include <algorithm>

#include "hosts/on_device.h"
#include "kernels/reduce/problem.h"

namespace km::bench {
namespace {

/// Passes over ever fewer partial sums until one is left.
class DeviceReduceTree : public OnDevice<Reduce> {
 public:
  explicit DeviceReduceTree(uint64_t count) : OnDevice("reduce", count) {
    Buffer from = input(values_);
    for (int left = count_; left > 1;) {
      const int blocks = (left + 511) / 512;
      const Buffer to = blocks == 1 ? output(sum_) : scratch(4ull * blocks);
      add_kernel("reduce_tree", {static_cast<uint32_t>(blocks)}, {kBlock}, from, to, left);
      from = to;
      left = blocks;
    }
  }
};

/// As many blocks as a large device holds at a time, and one that adds what they leave.
class DeviceReduceShfl : public OnDevice<Reduce> {
 public:
  explicit DeviceReduceShfl(uint64_t count) : OnDevice("reduce", count) {
    const int blocks = std::min((count_ + 255) / 256, 1024);
    const Buffer sums = scratch(4ull * blocks);
    add_kernel("reduce_shfl", {static_cast<uint32_t>(blocks)}, {kBlock}, input(values_), sums,
               count_);
    add_kernel("reduce_shfl", {1}, {kBlock}, sums, output(sum_), blocks);
  }
};

const Registration kTree("reduce_tree", make<DeviceReduceTree>);
const Registration kShfl("reduce_shfl", make<DeviceReduceShfl>);

}  // namespace
}  // namespace km::bench
