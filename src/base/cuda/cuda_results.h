// The mapping between results of the CUDA driver and the library's statuses. The CUDA backend, the
// driver library and the C ABI share its table (cuda_results.def).
#pragma once

#include <cstdint>
#include <optional>

#include "kernelmill/base.h"

namespace km {

/// The status for a CUresult; nothing for a number that is not one.
std::optional<km_status> status_of_cuda(int32_t cuda_result);
/// The CUresult that corresponds to `status`; nothing for a number that is not a status.
std::optional<int32_t> cuda_of_status(km_status status);
/// "CUDA_ERROR_INVALID_VALUE"; null for a number that is not a CUresult. The text is static.
const char* cuda_result_name(int32_t cuda_result);

}  // namespace km
