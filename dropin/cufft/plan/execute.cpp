#include "dropin/cufft/plan/execute.h"

#include "dropin/cufft/plan/callbacks.h"
#include "dropin/library/graph_instances.h"
#include "dropin/library/work.h"

namespace km::cufft {
namespace {

/// One call, from which each executable graph makes an execution with memory of its own.
struct QueuedTransform {
  std::shared_ptr<const fft::Transform> transform;
  fft::Binding binding;
  library::GraphInstances<const fft::Execution> graphs;
};

/// One stage of a transform. `call` is null if the stages share no memory but the program's.
class StageWork final : public library::Work {
 public:
  StageWork(const char* name, std::shared_ptr<const fft::Execution> execution, int stage,
            std::shared_ptr<QueuedTransform> call)
      : name_(name), execution_(std::move(execution)), stage_(stage), call_(std::move(call)) {}
  const char* name() const noexcept override { return name_; }
  uint64_t pieces() const noexcept override { return execution_->pieces(stage_); }
  uint64_t estimated_ns() const noexcept override { return execution_->estimated_ns(stage_); }
  cu::CUresult run(uint64_t piece) const override {
    execution_->run(stage_, piece);
    return cu::CUDA_SUCCESS;
  }
  std::shared_ptr<const Work> for_graph(uint64_t graph) const override {
    if (call_ == nullptr) return nullptr;
    auto own = call_->graphs.get(graph, [&] { return call_->transform->bind(call_->binding); });
    return std::make_shared<StageWork>(name_, std::move(own), stage_, call_);
  }

 private:
  const char* const name_;
  const std::shared_ptr<const fft::Execution> execution_;
  const int stage_;
  const std::shared_ptr<QueuedTransform> call_;
};

library::BlasArray array_of(const char* name, const char* base, const fft::Extent& extent,
                            bool is_written) {
  return library::whole_array(name, base - extent.below, extent.below + extent.above, is_written);
}

/// The arrays of a transform with the area that the program has given.
cufftResult find_work_area(const Plan& plan, const fft::Transform& transform,
                           fft::Binding* binding) {
  const size_t area_bytes = work_bytes(plan);
  if (!plan.allocates && plan.work_area == nullptr && area_bytes != 0) {
    return frame::fail(CUFFT_NO_WORKSPACE, "the plan has no work area, and may not allocate it");
  }
  if (plan.work_area != nullptr && area_bytes != 0 && transform.memory_bytes() <= area_bytes) {
    binding->work_area = plan.work_area;
  }
  return CUFFT_SUCCESS;
}

/// Queues all stages of a transform.
cufftResult queue(const Plan& plan, const std::shared_ptr<const fft::Transform>& transform,
                  const fft::Binding& binding, const char* name) {
  fft::Extent in, out;
  fft::find_extents(transform->shape(), &in, &out);
  const library::BlasArray arrays[] = {
      array_of("idata", binding.in, in, false), array_of("odata", binding.out, out, true),
      library::whole_array("workArea", plan.work_area, work_bytes(plan), true)};
  const std::span used(arrays, binding.work_area != nullptr ? 3 : 2);
  const std::shared_ptr<const fft::Execution> execution = transform->bind(binding);
  std::shared_ptr<QueuedTransform> call;
  if (binding.work_area == nullptr && execution->stages() > 1) {
    call = std::make_shared<QueuedTransform>();
    call->transform = transform;
    call->binding = binding;
  }
  for (int stage = 0; stage < execution->stages(); ++stage) {
    auto work = std::make_shared<StageWork>(name, execution, stage, call);
    LIB_CHECK(library::submit(plan.stream, std::move(work), used));
  }
  return CUFFT_SUCCESS;
}

}  // namespace

cufftResult execute(const Plan& plan, const ExecuteRequest& request) {
  if (request.in == nullptr) return invalid("idata is null");
  if (request.out == nullptr) return invalid("odata is null");
  const bool is_in_place = request.in == request.out && plan.in_place != nullptr;
  const std::shared_ptr<const fft::Transform>& transform =
      is_in_place ? plan.in_place : plan.transform;
  const bool is_complex = transform->shape().kind == fft::TransformKind::kComplex;
  if (is_complex && request.direction != -1 && request.direction != 1) {
    return invalid("direction is %d", request.direction);
  }
  LIB_CHECK(library::enter_context(*plan.driver));
  fft::Binding binding;
  binding.in = static_cast<char*>(request.in);
  binding.out = static_cast<char*>(request.out);
  binding.is_inverse = request.direction == 1;
  LIB_TRY(find_work_area(plan, *transform, &binding));
  const CallbackPair callbacks = callbacks_of(plan, transform->shape());
  if (!callbacks.are_set()) return queue(plan, transform, binding, request.name);
  CallbackRun run(plan, transform->shape(), callbacks);
  LIB_TRY(run.load(&binding));
  LIB_TRY(queue(plan, transform, binding, request.name));
  return run.store();
}

cufftResult execute_typed(const Plan& plan, cufftType type, const ExecuteRequest& request) {
  PlanRequest wanted;
  LIB_TRY(set_type(type, &wanted));
  const fft::TransformShape& own = plan.transform->shape();
  if (own.kind != wanted.kind || own.in_storage != wanted.storage) {
    return invalid("the plan is for another type of transform");
  }
  return execute(plan, request);
}

}  // namespace km::cufft
