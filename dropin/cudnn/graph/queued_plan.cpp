// Executions of plans in streams and in graphs.
#include <cstdlib>
#include <new>

#include "dropin/cudnn/graph/operation.h"
#include "dropin/library/graph_instances.h"

namespace km::cudnn {
namespace {

using Works = std::vector<std::shared_ptr<const library::Work>>;

/// Memory for the tensors of one run of a plan at a time; it ends with the operations that use it.
std::shared_ptr<char> take_memory(const Plan& plan) {
  const auto bytes = static_cast<size_t>(plan.workspace_bytes);
  std::shared_ptr<char> memory(bytes == 0 ? nullptr : static_cast<char*>(std::malloc(bytes)),
                               std::free);
  if (bytes != 0 && memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// One call of cudnnBackendExecute: the plan and the memory that the program has given.
class QueuedPlan {
 public:
  QueuedPlan(cu::CUstream stream, std::shared_ptr<const Plan> plan)
      : plan_(std::move(plan)), execution_(stream, *plan_, nullptr, nullptr) {}

  cudnnStatus_t bind(int64_t id, void* address) { return execution_.bind(id, address); }
  /// Makes the plan's operations, in memory of their own.
  cudnnStatus_t make(std::vector<QueuedStep>* out) const {
    const std::shared_ptr<char> memory = take_memory(*plan_);
    Execution execution(execution_, memory.get(), memory);
    StepCollector collector;
    LIB_TRY(run_plan(execution, *plan_));
    *out = std::move(collector.steps);
    return CUDNN_STATUS_SUCCESS;
  }
  /// The operations of an executable graph. Empty if they cannot be made.
  std::shared_ptr<const Works> for_graph(uint64_t graph) {
    return graphs_.get(graph, [&] {
      std::vector<QueuedStep> steps;
      auto works = std::make_shared<const Works>();
      if (make(&steps) != CUDNN_STATUS_SUCCESS) return works;
      Works made;
      for (QueuedStep& each : steps) made.push_back(std::move(each.work));
      works = std::make_shared<const Works>(std::move(made));
      return works;
    });
  }
  bool has_memory() const { return plan_->workspace_bytes != 0; }

 private:
  const std::shared_ptr<const Plan> plan_;
  Execution execution_;  // without memory for the plan's tensors
  library::GraphInstances<const Works> graphs_;
};

/// One operation of a plan, which knows the call that it is of.
class PlanWork final : public library::Work {
 public:
  PlanWork(std::shared_ptr<const Work> work, std::shared_ptr<QueuedPlan> plan, size_t index)
      : work_(std::move(work)), plan_(std::move(plan)), index_(index) {}
  const char* name() const noexcept override { return work_->name(); }
  uint64_t pieces() const noexcept override { return work_->pieces(); }
  uint64_t estimated_ns() const noexcept override { return work_->estimated_ns(); }
  cu::CUresult run(uint64_t piece) const override { return work_->run(piece); }
  std::shared_ptr<const Work> for_graph(uint64_t graph) const override {
    const std::shared_ptr<const Works> own = plan_->for_graph(graph);
    if (own->size() <= index_) throw std::bad_alloc();
    return {own, (*own)[index_].get()};
  }

 private:
  const std::shared_ptr<const Work> work_;
  const std::shared_ptr<QueuedPlan> plan_;
  const size_t index_;
};

}  // namespace

cudnnStatus_t queue_plan(cu::CUstream stream, std::shared_ptr<const Plan> plan,
                         std::span<const int64_t> ids, std::span<const int64_t> addresses) {
  const auto queued = std::make_shared<QueuedPlan>(stream, std::move(plan));
  for (size_t i = 0; i < ids.size(); ++i) {
    LIB_TRY(queued->bind(ids[i], reinterpret_cast<void*>(addresses[i])));
  }
  std::vector<QueuedStep> steps;
  LIB_TRY(queued->make(&steps));
  for (size_t i = 0; i < steps.size(); ++i) {
    std::shared_ptr<const library::Work> work = std::move(steps[i].work);
    if (queued->has_memory()) work = std::make_shared<PlanWork>(std::move(work), queued, i);
    LIB_TRY(queue_step(stream, std::move(work), steps[i].arrays));
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace km::cudnn
