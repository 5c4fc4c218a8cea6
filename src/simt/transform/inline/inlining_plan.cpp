#include "simt/transform/inline/inlining_plan.h"

#include <algorithm>

namespace km::simt {

namespace {

constexpr uint64_t kFreeInstructions = 40'000;  // size up to which a kernel may grow by copies
// Beyond that size, growth relative to the code without copies.
constexpr uint64_t kMostGrowth = 2;
constexpr uint64_t kHuge = uint64_t{1}
                           << 40;          // saturation limit, for which sums of two do not wrap
constexpr uint64_t kJumpInstructions = 4;  // cost of a jump to a shared body and back
constexpr uint64_t kBodyInstructions = 8;  // cost of a copy even if its body is empty
// Cost of a comparison per function that a pointer may hold.
constexpr uint64_t kTestInstructions = 3;
// Arguments and results are moved in pieces of this size.
constexpr uint64_t kPieceBytes = 8;

uint64_t bounded(uint64_t size) { return std::min(size, kHuge); }

/// The cost of the body, the moves of arguments and results, and tables of registers, labels and
/// variables at a quarter of an instruction per entry.
uint64_t own_size(const ptx::Function& function) {
  uint64_t moves = 0;
  for (const auto* list : {&function.params, &function.returns}) {
    for (ptx::SymbolId id : *list) moves += function.symbols[id].size_bytes / kPieceBytes + 1;
  }
  const uint64_t entries =
      function.registers.size() + function.labels.size() + function.symbols.size();
  return bounded(function.code.size() + entries / 4 + moves + kBodyInstructions);
}

}  // namespace

InliningCosts::InliningCosts(const CallGraph& call_graph) : graph(call_graph) {
  const auto& functions = graph.module().functions;
  const size_t count = graph.calls().size();
  own.assign(count, 0);
  for (size_t f = 0; f < functions.size(); ++f) own[f] = own_size(functions[f]);
  inlined.assign(count, 0);
  depth.assign(count, 0);
  order.assign(count, 0);
  uint32_t place = 0;
  for (NodeId node : graph.callees_first()) {
    order[node] = place++;
    const bool is_set = node >= functions.size();
    uint64_t sum = own[node];
    for (NodeId callee : graph.calls()[node]) {
      const bool copied = callee >= functions.size() || !graph.is_recursive(callee);
      sum = bounded(sum + (copied ? inlined[callee] : kJumpInstructions));
      if (is_set) sum = bounded(sum + kTestInstructions);
      if (copied) depth[node] = std::max(depth[node], depth[callee] + (is_set ? 0 : 1));
    }
    inlined[node] = sum;
  }
}

InliningPlan::InliningPlan(const InliningCosts& costs, uint32_t kernel) : costs_(costs) {
  const bool copies_all = !costs.graph.reaches_recursion(kernel) &&
                          costs.inlined[kernel] <= kFreeInstructions &&
                          costs.depth[kernel] <= kDeepestCopies;
  instructions_ = costs.inlined[kernel];
  if (copies_all) return;
  find_reached(kernel);
  uint64_t once = 0;
  for (NodeId node : reached_) once = bounded(once + costs.own[node]);
  const uint64_t most = std::clamp(kMostGrowth * once, kFreeInstructions, kMostInstructions);
  for (uint64_t largest = most;; largest /= 2) {
    instructions_ = size_with(largest);
    if (instructions_ <= most || largest == 0) return;
  }
}

void InliningPlan::find_reached(uint32_t kernel) {
  const size_t count = costs_.graph.calls().size();
  sites_.assign(count, 0);
  inlined_.assign(count, 0);
  depth_.assign(count, 0);
  shared_.assign(count, 0);
  reached_ = {kernel};
  for (size_t i = 0; i < reached_.size(); ++i) {
    for (NodeId callee : costs_.graph.calls()[reached_[i]]) {
      if (sites_[callee]++ == 0 && callee != kernel) reached_.push_back(callee);
    }
  }
  std::sort(reached_.begin(), reached_.end(),
            [&](NodeId a, NodeId b) { return costs_.order[a] < costs_.order[b]; });
  // A call through a pointer copies each function of its set, so the set's call sites count as
  // theirs.
  const size_t functions = costs_.graph.module().functions.size();
  for (auto node = reached_.rbegin(); node != reached_.rend(); ++node) {
    if (*node < functions) continue;
    for (NodeId callee : costs_.graph.calls()[*node]) sites_[callee] += sites_[*node] - 1;
  }
}

/// Selects the shared functions such that no copy is larger than `largest_copy`, and returns the
/// kernel's size.
uint64_t InliningPlan::size_with(uint64_t largest_copy) {
  const size_t functions = costs_.graph.module().functions.size();
  uint64_t bodies = 0;
  for (NodeId node : reached_) {
    const bool is_set = node >= functions;
    inlined_[node] = costs_.own[node];
    depth_[node] = 0;
    for (NodeId callee : costs_.graph.calls()[node]) {
      const uint64_t call = shared_[callee] != 0 ? kJumpInstructions : inlined_[callee];
      inlined_[node] = bounded(inlined_[node] + call + (is_set ? kTestInstructions : 0));
      if (shared_[callee] == 0) {
        depth_[node] = std::max(depth_[node], depth_[callee] + (is_set ? 0 : 1));
      }
    }
    if (node == reached_.back()) break;  // the kernel itself
    if (is_set) continue;
    shared_[node] = costs_.graph.is_recursive(node) || depth_[node] >= kDeepestCopies ||
                    (sites_[node] > 1 && inlined_[node] > largest_copy);
    if (shared_[node] != 0) bodies = bounded(bodies + inlined_[node]);
  }
  return bounded(bodies + inlined_[reached_.back()]);
}

}  // namespace km::simt
