// Results of the CUDA driver and our statuses, in both directions: one table (cuda_results.def) for
// the CUDA backend, the driver library of our own, and callers.
#pragma once

#include <cstdint>
#include <optional>

#include "kernelmill/base.h"

namespace km {

/// The status for a CUresult; nothing for numbers that CUDA does not have.
std::optional<km_status> status_of_cuda(int32_t cuda_result);
/// The CUresult that CUDA gives where we give `status`; nothing for what is no status.
std::optional<int32_t> cuda_of_status(km_status status);
/// "CUDA_ERROR_INVALID_VALUE"; null for numbers that CUDA does not have.
const char* cuda_result_name(int32_t cuda_result);

}  // namespace km
