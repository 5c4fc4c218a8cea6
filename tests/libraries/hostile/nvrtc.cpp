#include "dropin/nvrtc/generated/api.h"
#include "hostile.h"

namespace km::hostile {
namespace {

void refill() {
  static nvrtcProgram made = nullptr;
  size_t size = 0;
  if (nvrtcGetPTXSize(made, &size) != NVRTC_SUCCESS) {
    const char* const source = "__global__ void k() {}";
    nvrtcDestroyProgram(&made);
    ASSERT_EQ(nvrtcCreateProgram(&made, source, "k.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
    ASSERT_EQ(nvrtcCompileProgram(made, 0, nullptr), NVRTC_SUCCESS);
  }
  live<nvrtcProgram>() = {made};
}

/// Those that remove a folder's contents are not called with any folder.
bool writes_files(const std::string& name) {
  return name == "nvrtcInstallBundledHeaders" || name == "nvrtcRemoveBundledHeaders";
}

TEST(Hostile, Nvrtc) {
  refill();
  if (live<nvrtcProgram>().front() == nullptr) GTEST_SKIP() << "there is no NVRTC of NVIDIA's";
  Caller caller(refill);
#define KM_NVRTC_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVRTC_FUNCTION(symbol, result, parameters, arguments) \
  if (!writes_files(#symbol)) caller.call_all(#symbol, symbol);
#include "dropin/nvrtc/generated/functions.def"
  EXPECT_GT(caller.calls(), 1000u);
}

TEST(Hostile, NvrtcFolders) {
  for (const uint64_t each : wild_pointers().all()) {
    const auto* const folder = reinterpret_cast<const char*>(each);
    auto** const log = reinterpret_cast<const char**>(each);
    if (each == wild_pointers().readable().front()) continue;  // an empty name
    EXPECT_NE(nvrtcInstallBundledHeaders(folder, 0, nullptr), NVRTC_SUCCESS);
    EXPECT_NE(nvrtcRemoveBundledHeaders(folder, nullptr), NVRTC_SUCCESS);
    EXPECT_NE(nvrtcRemoveBundledHeaders(nullptr, log), NVRTC_SUCCESS);
  }
}

}  // namespace
}  // namespace km::hostile
