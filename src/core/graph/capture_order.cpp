#include "core/graph/capture_order.h"

#include <array>

#include "base/assert.h"
#include "core/graph/graph_operation.h"

namespace km {
namespace {

/// Calls `visit(list, range)` for each ordered use of the work, including its module's variables.
template <class Visit>
void for_uses(const GraphWork& work, Visit&& visit) {
  for (const MemoryUse& use : work.uses) visit(use.accesses, use.range);
  const auto* const kernel = work.as<KernelOperation>();
  const AccessList* const variables =
      kernel != nullptr ? kernel->function->module().variables() : nullptr;
  if (variables != nullptr) visit(variables, kAllVariables);
}

}  // namespace

void CaptureOrder::add_conflicts(const Graph& graph, const GraphWork& work, uint64_t chain,
                                 std::vector<uint64_t>* nodes) const {
  for_uses(work, [&](const AccessList* list, const AccessRange& range) {
    const auto found = uses_.find(list);
    if (found == uses_.end()) return;
    // The search starts with the latest use, because its node often runs after the earlier ones
    // already.
    for (auto use = found->second.rbegin(); use != found->second.rend(); ++use) {
      if (use->chain == chain || !use->range.conflicts_with(range)) continue;
      // The node may have been removed meanwhile.
      if (!graph.node(use->node) || graph.covers(*nodes, std::array{use->node})) continue;
      nodes->push_back(use->node);
    }
  });
}

void CaptureOrder::note(const std::shared_ptr<const GraphWork>& work, uint64_t chain,
                        uint64_t node) {
  for_uses(*work, [&](const AccessList* list, const AccessRange& range) {
    std::vector<Use>& uses = uses_[list];
    if (range.kind == AccessKind::kWrite) {
      std::erase_if(uses, [&](const Use& use) { return range.contains(use.range); });
    }
    KM_ASSERT(uses.empty() || uses.back().node <= node,
              "nodes are recorded in the order of their creation");
    uses.push_back({node, chain, range, work});
  });
}

}  // namespace km
