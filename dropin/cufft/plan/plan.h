// Plans of cuFFT: what handles stand for.
#pragma once

#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "dropin/cufft/frame/cufft.h"
#include "math/fft/transform.h"

namespace km::cufft {

using library::Driver;

constexpr int kMostRank = 3;
constexpr int kProperties = 4;
constexpr int kCallbackTypes = CUFFT_CB_UNDEFINED;

/// A function of the program that loads or stores the numbers of one type.
struct Callback {
  uint64_t function = 0;  // its address in device code; 0: none is set
  uint64_t caller_info = 0;
  size_t shared_bytes = 0;
  cu::CUfunction kernel = nullptr;  // that calls it; null: the driver finds it
  std::shared_ptr<void> module;     // that cufftXtSetJITCallback has loaded
};

/// One state of a plan.
struct Plan {
  const Driver* driver = nullptr;
  cu::CUstream stream = nullptr;
  std::shared_ptr<const fft::Transform> transform;  // null: not made yet
  // Real transforms of the basic layout have rows of another length when they run in place: this
  // plan is made when it is first needed.
  std::shared_ptr<const fft::Transform> in_place;
  bool is_basic = false;
  bool allocates = true;
  char* work_area = nullptr;  // of the program
  int work_area_policy = CUFFT_WORKAREA_PERFORMANCE;
  long long properties[kProperties]{};
  Callback callbacks[kCallbackTypes];

  bool is_made() const { return transform != nullptr; }
};

/// A plan that has a handle. Calls use the state that it has when they begin, without a lock: a
/// callback of CUPTI within a call, and other threads, may use and change it.
class LivePlan {
 public:
  explicit LivePlan(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  std::shared_ptr<const Plan> get() {
    const std::lock_guard lock(mutex_);
    return plan_;
  }
  /// Returns false if the state is not `seen` any more.
  bool replace(const std::shared_ptr<const Plan>& seen, std::shared_ptr<const Plan> changed) {
    const std::lock_guard lock(mutex_);
    if (plan_ != seen) return false;
    plan_.swap(changed);
    return true;
  }

 private:
  std::mutex mutex_;  // guards the member below
  std::shared_ptr<const Plan> plan_;
};

/// The arguments that describe a plan.
struct PlanRequest {
  int rank = 1;
  long long n[kMostRank]{};
  bool is_basic = true;  // the embeds and distances below are not given
  long long in_embed[kMostRank]{}, out_embed[kMostRank]{};
  long long in_stride = 1, out_stride = 1, in_distance = 0, out_distance = 0;
  long long batch = 1;
  fft::TransformKind kind = fft::TransformKind::kComplex;
  bool is_double = false;
  fft::Storage storage = fft::Storage::kFloat;
};

/// The types of a cufftType. CUFFT_INVALID_TYPE if there is none.
cufftResult set_type(cufftType type, PlanRequest* request);
/// The types of cufftXtMakePlanMany.
cufftResult set_types(cudaDataType in, cudaDataType out, cudaDataType execution,
                      PlanRequest* request);

/// The transform's shape, checked. `is_padded` gives the rows of a real array the length that they
/// have in place.
cufftResult shape_of(const PlanRequest& request, bool is_padded, fft::TransformShape* out);

/// A new plan, whose handle is written.
cufftResult create_plan(cufftHandle* handle);
cufftResult destroy_plan(cufftHandle handle);
std::shared_ptr<LivePlan> find_plan(cufftHandle handle);
/// Makes a plan, which may not have been made before.
cufftResult make_plan(Plan& plan, const PlanRequest& request);
/// The size of a request's work area.
cufftResult find_size(const PlanRequest& request, size_t* out);
/// The size of a plan's work area.
size_t work_bytes(const Plan& plan);

/// Runs a function on a copy of the plan's state, which becomes the state if it succeeds. It runs
/// again if the state has been changed meanwhile.
template <class Body>
cufftResult change_plan(LivePlan& live, Body&& body) {
  for (;;) {
    const std::shared_ptr<const Plan> seen = live.get();
    auto changed = std::make_shared<Plan>(*seen);
    const cufftResult result = body(*changed);
    if (result != CUFFT_SUCCESS || live.replace(seen, std::move(changed))) return result;
  }
}

/// Runs a function of a plan's state; one that takes a Plan& changes it.
template <class Body>
cufftResult call(cufftHandle handle, Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<FftLibrary>(function, [&]() -> cufftResult {
    const std::shared_ptr<LivePlan> found = find_plan(handle);
    if (found == nullptr) return invalid_plan("the plan %d is not live", handle);
    if (library::is_in_callback()) {
      return frame::fail(CUFFT_EXEC_FAILED, "host functions may not use a plan");
    }
    if constexpr (std::is_invocable_v<Body&, const Plan&>) {
      const std::shared_ptr<const Plan> state = found->get();
      return body(*state);
    } else {
      return change_plan(*found, body);
    }
  });
}
/// call() for plans that have been made.
template <class Body>
cufftResult call_made(cufftHandle handle, Body&& body,
                      const char* function = __builtin_FUNCTION()) {
  constexpr bool kReads = std::is_invocable_v<Body&, const Plan&>;
  using State = std::conditional_t<kReads, const Plan, Plan>;
  return call(
      handle,
      [&](State& plan) -> cufftResult {
        if (!plan.is_made()) return invalid_plan("the plan %d has not been made", handle);
        return body(plan);
      },
      function);
}

}  // namespace km::cufft
