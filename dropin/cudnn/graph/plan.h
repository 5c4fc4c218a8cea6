// Plans: the operations of a graph in an order that they can run in, and places for the tensors
// between them in memory of the library's own: XLA gives none when it does not tune.
#pragma once

#include <map>

#include "dropin/cudnn/engine/view.h"
#include "dropin/cudnn/graph/descriptor.h"

namespace km::cudnn {

/// The contents of a tensor's descriptor.
struct TensorInfo {
  Shape shape;
  int64_t id = 0;
  bool is_virtual = false, is_by_value = false;
  std::vector<std::byte> constant;  // the value of a constant; empty: none
  // A ragged tensor's descriptor of where its batches begin, in units of so many elements; null: it
  // is not ragged. Operations use a dense copy of it.
  const Descriptor* offsets = nullptr;
  int64_t multiplier = 1;
};
/// Reads a final descriptor of a tensor.
cudnnStatus_t read_tensor(const Descriptor& descriptor, TensorInfo* out);

/// One operation and the tensors that it touches, by id.
struct PlannedOperation {
  DescriptorPointer descriptor;
  std::vector<int64_t> inputs, outputs;
};

/// A plan, which its graph owns.
struct Plan {
  std::vector<PlannedOperation> operations;
  std::map<int64_t, TensorInfo> tensors;
  // Places in an execution's memory, of virtual tensors and of dense copies of ragged ones.
  std::map<int64_t, int64_t> offsets;
  std::vector<int64_t> scratch;  // offset of each operation's own memory
  int64_t workspace_bytes = 0;   // of an execution
};

/// Makes the plan of a graph's operations. CUDNN_STATUS_NOT_SUPPORTED if one cannot be run.
cudnnStatus_t make_plan(const Descriptor& graph, std::shared_ptr<const Plan>* out);

}  // namespace km::cudnn
