#include "core/graph/graph_operation.h"

namespace km {

km_graph_node_kind CopyOperation::kind() const {
  switch (sides) {
    case CopySides::kDevice:
      return KM_GRAPH_NODE_COPY;
    case CopySides::kFromHost:
      return KM_GRAPH_NODE_UPLOAD;
    case CopySides::kToHost:
      return KM_GRAPH_NODE_DOWNLOAD;
  }
  return KM_GRAPH_NODE_INVALID;
}

km_graph_node_kind RowsCopyOperation::kind() const {
  switch (sides) {
    case CopySides::kDevice:
      return KM_GRAPH_NODE_COPY_3D;
    case CopySides::kFromHost:
      return KM_GRAPH_NODE_UPLOAD_3D;
    case CopySides::kToHost:
      return KM_GRAPH_NODE_DOWNLOAD_3D;
  }
  return KM_GRAPH_NODE_INVALID;
}

km_graph_node_kind GraphWork::kind() const {
  return std::visit([](const auto& each) -> km_graph_node_kind { return each.kind(); }, operation);
}

uint64_t GraphWork::written_bytes() const {
  return match(
      operation,
      [](const OneOf<CopyOperation, RowsCopyOperation, PeerCopyOperation, FillOperation,
                     RowsFillOperation> auto& each) { return each.size_bytes; },
      [](const OneOf<EmptyOperation, KernelOperation, HostOperation, ChildOperation, BlasOperation,
                     LibraryOperation, TaskOperation, MemoryOpsOperation, EventRecordOperation,
                     EventWaitOperation, ConditionalOperation> auto&) { return uint64_t{0}; });
}

const Graph* GraphWork::child() const {
  const auto* const found = as<ChildOperation>();
  return found != nullptr ? found->graph.get() : nullptr;
}

bool GraphWork::is_updatable() const {
  const auto* const kernel = as<KernelOperation>();
  return kernel != nullptr && kernel->update_handle != 0;
}

void add_use(GraphWork& work, const MemoryUse& use) {
  if (use.accesses == nullptr) return;
  work.uses.push_back(use);
  work.uses.back().memory = nullptr;  // `memories` keeps the memory
}

}  // namespace km
