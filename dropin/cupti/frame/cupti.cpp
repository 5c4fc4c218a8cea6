#include "dropin/cupti/frame/cupti.h"

#include <utility>

namespace km::cupti {
namespace {

thread_local CUptiResult last_error = CUPTI_SUCCESS;

}  // namespace

void CuptiLibrary::ended(const char*, CUptiResult result) {
  if (result != CUPTI_SUCCESS) last_error = result;
}

CUptiResult take_last_error() noexcept { return std::exchange(last_error, CUPTI_SUCCESS); }

const char* result_name(CUptiResult result) noexcept {
  switch (result) {
#define KM_CUPTI_RESULT(name) \
  case name:                  \
    return #name;
#include "dropin/cupti/generated/results.def"
#undef KM_CUPTI_RESULT
    default:
      return nullptr;
  }
}

}  // namespace km::cupti
