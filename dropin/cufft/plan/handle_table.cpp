// Handles of plans are numbers of a table: any other number is an error.
#include <unordered_map>

#include "dropin/cufft/plan/plan.h"

namespace km::cufft {
namespace {

/// The plans by handle. Numbers are not used again until all have been used.
class PlanTable {
 public:
  cufftHandle add(std::shared_ptr<LivePlan> plan) {
    const std::lock_guard lock(mutex_);
    do {
      last_ = last_ == INT32_MAX ? 1 : last_ + 1;
    } while (!plans_.try_emplace(last_, plan).second);
    return last_;
  }
  std::shared_ptr<LivePlan> find(cufftHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(handle);
    return found == plans_.end() ? nullptr : found->second;
  }
  std::shared_ptr<LivePlan> remove(cufftHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(handle);
    if (found == plans_.end()) return nullptr;
    std::shared_ptr<LivePlan> plan = std::move(found->second);
    plans_.erase(found);
    return plan;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::unordered_map<cufftHandle, std::shared_ptr<LivePlan>> plans_;
  cufftHandle last_ = 0;
};

/// The table is never destroyed, because other threads may make calls during exit.
PlanTable& plans() {
  union Forever {
    PlanTable table;
    Forever() : table() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.table;
}

}  // namespace

cufftResult create_plan(cufftHandle* handle) {
  const Driver* const driver = library::driver();
  if (driver == nullptr || library::enter_context(*driver) != cu::CUDA_SUCCESS) {
    return frame::fail(CUFFT_SETUP_FAILED, "there is no device");
  }
  auto plan = std::make_shared<Plan>();
  plan->driver = driver;
  const cufftHandle made = plans().add(std::make_shared<LivePlan>(std::move(plan)));
  const cufftResult given = give("plan", handle, made);
  if (given != CUFFT_SUCCESS) plans().remove(made);
  return given;
}

cufftResult destroy_plan(cufftHandle handle) {
  constexpr cufftHandle kNoPlan = -1;  // CUFFT_PLAN_NULL, which may be destroyed
  if (handle == kNoPlan || plans().remove(handle) != nullptr) return CUFFT_SUCCESS;
  return invalid_plan("the plan %d is not live", handle);
}

std::shared_ptr<LivePlan> find_plan(cufftHandle handle) { return plans().find(handle); }

}  // namespace km::cufft
