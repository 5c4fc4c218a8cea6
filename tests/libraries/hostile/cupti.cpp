#include "dropin/cupti/generated/api.h"
#include "hostile.h"

// The headers leave some functions out.
#define KM_CUPTI_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUPTI_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" result symbol parameters;
#include "dropin/cupti/generated/functions.def"
#undef KM_CUPTI_TEXT_FUNCTION
#undef KM_CUPTI_FUNCTION

namespace km::hostile {
namespace {

void refill() {
  static cu::CUcontext context = nullptr;
  static cu::CUstream stream = nullptr;
  if (context == nullptr) {
    cu::CUdevice device = 0;
    ASSERT_EQ(cu::cuInit(0), 0);
    ASSERT_EQ(cu::cuDeviceGet(&device, 0), 0);
    ASSERT_EQ(cu::cuDevicePrimaryCtxRetain(&context, device), 0);
    ASSERT_EQ(cu::cuCtxSetCurrent(context), 0);
    ASSERT_EQ(cu::cuStreamCreate(&stream, 0), 0);
    live<cu::CUcontext>() = {context};
    live<cu::CUstream>() = {stream};
  }
  CUpti_SubscriberHandle subscriber = nullptr;
  const auto hear = reinterpret_cast<CUpti_CallbackFunc>(do_nothing);
  if (cuptiSubscribe(&subscriber, hear, nullptr) == CUPTI_SUCCESS) {
    live<CUpti_SubscriberHandle>() = {subscriber};
  }
}

TEST(Hostile, Cupti) {
  Caller caller(refill);
#define KM_CUPTI_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUPTI_FUNCTION(symbol, result, parameters, arguments) caller.call_all(#symbol, symbol);
#include "dropin/cupti/generated/functions.def"
  EXPECT_GT(caller.calls(), 10000u);
  cuptiFinalize();
}

}  // namespace
}  // namespace km::hostile
