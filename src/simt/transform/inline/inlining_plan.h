// Decides which functions have one shared body in a kernel, to which calls jump; all others are
// copied to each call. Copies are faster, but a chain of n functions that each call the next one
// twice has 2^n of them.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/transform/inline/call_graph.h"

namespace km::simt {

/// The limit of a kernel's instructions including inlined functions: six times those of the largest
/// kernel found in a thousand files.
constexpr uint64_t kMostInstructions = 200'000;
/// The limit of nested copies.
constexpr uint32_t kDeepestCopies = 200;

/// The sizes of bodies if copies replace all calls except those in cycles; computed once per
/// module.
struct InliningCosts {
  explicit InliningCosts(const CallGraph& graph);

  const CallGraph& graph;
  std::vector<uint64_t> own;      // by node: without its callees
  std::vector<uint64_t> inlined;  // with its callees; saturated far beyond every limit
  std::vector<uint32_t> depth;    // nesting depth of copies below it
  std::vector<uint32_t> order;    // by node: its index in graph.callees_first()
};

class InliningPlan {
 public:
  /// Shares the bodies of recursive functions, and of as few others as keep the kernel within
  /// kMostInstructions: those that are large and called from several places.
  InliningPlan(const InliningCosts& costs, uint32_t kernel);

  bool is_shared(uint32_t function) const { return !shared_.empty() && shared_[function] != 0; }
  /// The kernel's estimated size with all bodies, in instructions.
  uint64_t instructions() const { return instructions_; }

 private:
  void find_reached(uint32_t kernel);
  uint64_t size_with(uint64_t largest_copy);

  const InliningCosts& costs_;
  std::vector<NodeId> reached_;    // callees first, the kernel last
  std::vector<uint32_t> sites_;    // by node: number of calls from reached functions
  std::vector<uint64_t> inlined_;  // by node
  std::vector<uint32_t> depth_;    // by node
  std::vector<uint8_t> shared_;    // by node; empty: none
  uint64_t instructions_ = 0;
};

}  // namespace km::simt
