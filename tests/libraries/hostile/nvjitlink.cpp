#include "dropin/nvjitlink/generated/api.h"
#include "hostile.h"

namespace km::hostile {
namespace {

constexpr char kPtx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

void refill() {
  static nvJitLinkHandle made = nullptr;
  size_t size = 0;
  if (nvJitLinkGetLinkedCubinSize(made, &size) != NVJITLINK_SUCCESS) {
    const char* options[] = {"-arch=sm_80"};
    nvJitLinkDestroy(&made);
    ASSERT_EQ(nvJitLinkCreate(&made, 1, options), NVJITLINK_SUCCESS);
    ASSERT_EQ(nvJitLinkAddData(made, NVJITLINK_INPUT_PTX, kPtx, sizeof kPtx, "k"),
              NVJITLINK_SUCCESS);
    ASSERT_EQ(nvJitLinkComplete(made), NVJITLINK_SUCCESS);
  }
  live<nvJitLinkHandle>() = {made};
}

TEST(Hostile, NvJitLink) {
  Caller caller(refill);
#define KM_NVJITLINK_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVJITLINK_FUNCTION(symbol, result, parameters, arguments) \
  caller.call_all(#symbol, symbol);
#include "dropin/nvjitlink/generated/functions.def"
  EXPECT_GT(caller.calls(), 1000u);
}

}  // namespace
}  // namespace km::hostile
