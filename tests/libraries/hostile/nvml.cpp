#include "dropin/nvml/structures.h"
#include "hostile.h"

// The headers leave some functions out.
#define KM_NVML_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVML_FUNCTION(symbol, result, parameters, arguments) extern "C" result symbol parameters;
#include "dropin/nvml/generated/functions.def"
#undef KM_NVML_TEXT_FUNCTION
#undef KM_NVML_FUNCTION

namespace km::hostile {
namespace {

void refill() {
  nvmlDevice_t device = nullptr;
  nvmlInit_v2();
  nvmlDeviceGetHandleByIndex_v2(0, &device);
  live<nvmlDevice_t>() = {device};
}

TEST(Hostile, Nvml) {
  Caller caller(refill);
#define KM_NVML_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVML_FUNCTION(symbol, result, parameters, arguments) caller.call_all(#symbol, symbol);
#include "dropin/nvml/generated/functions.def"
  EXPECT_GT(caller.calls(), 10000u);
}

}  // namespace
}  // namespace km::hostile
