// Transforms of a plan in its stream.
#pragma once

#include "dropin/cufft/plan/plan.h"

namespace km::cufft {

/// The arrays of one call, and what the function that was called says of them.
struct ExecuteRequest {
  const char* name = nullptr;  // of the function, for traces
  void* in = nullptr;
  void* out = nullptr;
  int direction = -1;  // of complex transforms
};

/// Queues a transform. The plan has been made.
cufftResult execute(const Plan& plan, const ExecuteRequest& request);
/// execute() if the plan's type is this one.
cufftResult execute_typed(const Plan& plan, cufftType type, const ExecuteRequest& request);

}  // namespace km::cufft
