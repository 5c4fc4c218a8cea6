// NodeOrder, which nodes of a graph follow which.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace km::cpu {

/// The order that a graph's edges give its nodes, directly or through others.
class NodeOrder {
 public:
  /// The most nodes whose order is kept: it needs the square of their number in bits.
  static constexpr size_t kMostNodes = 8192;

  /// `dependencies` has, for each node, the numbers of the nodes that it depends on, all lower.
  explicit NodeOrder(std::span<const std::span<const uint32_t>> dependencies);

  /// True if one of the nodes follows the other. Work that kernels launch behind the graph has a
  /// number behind all nodes, and follows them.
  bool is_ordered(uint32_t a, uint32_t b) const;

 private:
  size_t words_;                  // of each node
  std::vector<uint64_t> before_;  // a bit for each node that comes before
};

}  // namespace km::cpu
