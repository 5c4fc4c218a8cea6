// Which functions a kernel has one body of, to which calls jump; all others are copied to where
// they are called. Copies are quicker, but a chain of functions that call the next one twice has
// 2^n of them.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/transform/inline/call_graph.h"

namespace km::simt {

/// Instructions that a kernel may have with the functions that it calls: six times those of the
/// largest kernel in a thousand files.
constexpr uint64_t kMostInstructions = 200'000;
/// Bodies may be copied into each other so deep.
constexpr uint32_t kDeepestCopies = 200;

/// The size of bodies when copies replace all calls but those in cycles; made once for a module.
struct InliningCosts {
  explicit InliningCosts(const CallGraph& graph);

  const CallGraph& graph;
  std::vector<uint64_t> own;      // by node: without what it calls
  std::vector<uint64_t> inlined;  // with it; no more than a limit far beyond every budget
  std::vector<uint32_t> depth;    // of copies below it
  std::vector<uint32_t> order;    // by node: its place in graph.callees_first()
};

class InliningPlan {
 public:
  /// Shares the bodies of recursive functions, and else as few as keep the kernel within
  /// kMostInstructions: those whose copies would be large, and are called from several places.
  InliningPlan(const InliningCosts& costs, uint32_t kernel);

  bool is_shared(uint32_t function) const { return !shared_.empty() && shared_[function] != 0; }
  /// The kernel's estimated size with all bodies, in instructions.
  uint64_t instructions() const { return instructions_; }

 private:
  void find_reached(uint32_t kernel);
  uint64_t size_with(uint64_t largest_copy);

  const InliningCosts& costs_;
  std::vector<NodeId> reached_;    // callees first, the kernel last
  std::vector<uint32_t> sites_;    // by node: calls of it from what is reached
  std::vector<uint64_t> inlined_;  // by node
  std::vector<uint32_t> depth_;    // by node
  std::vector<uint8_t> shared_;    // by node; empty: none
  uint64_t instructions_ = 0;
};

}  // namespace km::simt
