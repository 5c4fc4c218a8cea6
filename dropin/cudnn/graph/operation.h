// Operations of graphs, which run one after the other.
#pragma once

#include <span>

#include "dropin/cudnn/engine/layers/normalization.h"
#include "dropin/cudnn/engine/step.h"
#include "dropin/cudnn/graph/plan.h"

namespace km::cudnn {

/// The memory of one execution of a plan.
class Execution {
 public:
  /// `memory` has room for the plan's virtual tensors, from `workspace` on.
  Execution(cu::CUstream in, const Plan& plan, char* workspace, std::shared_ptr<const void> memory)
      : stream(in), plan_(plan), workspace_(workspace), memory_(std::move(memory)) {}

  /// An execution with the same memory of the program, and other memory for the plan's tensors.
  Execution(const Execution& other, char* workspace, std::shared_ptr<const void> memory)
      : stream(other.stream),
        plan_(other.plan_),
        workspace_(workspace),
        memory_(std::move(memory)),
        bound_(other.bound_),
        addresses_(other.addresses_),
        lent_values_(other.lent_values_) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Places the program's memory, or a value for a tensor that is passed by value.
  cudnnStatus_t bind(int64_t id, void* address);
  /// The view of the tensor that an operation's attribute names; without data if it names none.
  cudnnStatus_t view(const Descriptor& operation, cudnnBackendAttributeName_t name,
                     View* out) const;
  cudnnStatus_t view_of_tensor(const Descriptor& tensor, View* out) const;
  /// A number that is passed by value, or lies in device memory.
  cudnnStatus_t scalar(const Descriptor& operation, cudnnBackendAttributeName_t name, Scalar* out,
                       double otherwise) const;
  /// Memory of the current operation's own.
  char* scratch() const { return workspace_ + plan_.scratch[current]; }
  /// A tensor within the memory of the execution, which it keeps alive.
  View own_view(const Shape& shape, char* at) const {
    View found(shape, at);
    found.owner = memory_;
    return found;
  }
  const std::shared_ptr<const void>& memory() const { return memory_; }
  /// Places the same memory for the tensors of a plan within this one.
  cudnnStatus_t lend(const Plan& inner, Execution* to) const;
  /// Makes the dense copies of ragged tensors that the current operation reads, or brings those
  /// that it has written into the program's memory.
  cudnnStatus_t copy_ragged(const Descriptor& operation, bool is_read) const;
  /// The place of a virtual tensor.
  View virtual_view(int64_t id) const {
    return own_view(plan_.tensors.at(id).shape, workspace_ + plan_.offsets.at(id));
  }

  const cu::CUstream stream;
  size_t current = 0;  // the number of the operation that runs

 private:
  cudnnStatus_t copy_ragged_tensor(const Descriptor& tensor, bool is_read) const;
  cudnnStatus_t bound_view(const TensorInfo& info, View* out) const;

  const Plan& plan_;
  char* const workspace_;
  const std::shared_ptr<const void> memory_;
  std::map<int64_t, View> bound_;
  std::map<int64_t, void*> addresses_;  // all that the program has given
  // Values of tensors of inner plans, which the program's memory has during the call only.
  std::shared_ptr<std::map<int64_t, View>> lent_values_ =
      std::make_shared<std::map<int64_t, View>>();
};

/// How operations of one type are run.
struct OperationKind {
  cudnnBackendDescriptorType_t type;
  cudnnStatus_t (*run)(const Execution& execution, const Descriptor& operation);
  /// The attributes whose tensors are written.
  std::vector<cudnnBackendAttributeName_t> outputs;
  /// The bytes of the workspace that it needs for itself; null: none. Only called for operations
  /// without a problem.
  int64_t (*scratch_bytes)(const Descriptor& operation) = nullptr;
  /// Says why an operation cannot be run; null: all can.
  const char* (*problem)(const Descriptor& operation) = nullptr;
};
/// Null if operations of the type cannot be run.
const OperationKind* find_operation(cudnnBackendDescriptorType_t type);

cudnnStatus_t run_convolution(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_pointwise(const Execution& execution, const Descriptor& operation);
const char* pointwise_problem(const Descriptor& operation);
cudnnStatus_t run_matmul(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_reduction(const Execution& execution, const Descriptor& operation);
const char* reduction_problem(const Descriptor& operation);
cudnnStatus_t run_statistics(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_resample(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_resample_backward(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_norm(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_norm_backward(const Execution& execution, const Descriptor& operation);
const char* norm_problem(const Descriptor& operation);
cudnnStatus_t run_bn_finalize(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_bn_weights(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_reshape(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_transpose(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_slice(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_concat(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_rng(const Execution& execution, const Descriptor& operation);
cudnnStatus_t run_softmax(const Execution& execution, const Descriptor& operation);
const char* softmax_problem(const Descriptor& operation);
cudnnStatus_t run_page_load(const Execution& execution, const Descriptor& operation);
const char* page_load_problem(const Descriptor& operation);
cudnnStatus_t run_band_mask(const Execution& execution, const Descriptor& operation);
const char* band_mask_problem(const Descriptor& operation);
cudnnStatus_t run_attention(const Execution& execution, const Descriptor& operation);
int64_t attention_scratch(const Descriptor& operation);
const char* attention_problem(const Descriptor& operation);
cudnnStatus_t run_attention_backward(const Execution& execution, const Descriptor& operation);
int64_t attention_backward_scratch(const Descriptor& operation);
const char* attention_backward_problem(const Descriptor& operation);
/// Runs all operations of a plan.
cudnnStatus_t run_plan(Execution& execution, const Plan& plan);
/// Queues all operations of a plan, which each executable graph runs in memory of its own.
cudnnStatus_t queue_plan(cu::CUstream stream, std::shared_ptr<const Plan> plan,
                         std::span<const int64_t> ids, std::span<const int64_t> addresses);

}  // namespace km::cudnn
