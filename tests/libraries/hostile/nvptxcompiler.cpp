#include "dropin/nvptxcompiler/generated/api.h"
#include "hostile.h"

namespace km::hostile {
namespace {

constexpr char kPtx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

void refill() {
  static nvPTXCompilerHandle made = nullptr;
  size_t size = 0;
  if (nvPTXCompilerGetCompiledProgramSize(made, &size) != NVPTXCOMPILE_SUCCESS) {
    const char* const options[] = {"-arch=sm_80"};
    nvPTXCompilerDestroy(&made);
    ASSERT_EQ(nvPTXCompilerCreate(&made, sizeof kPtx - 1, kPtx), NVPTXCOMPILE_SUCCESS);
    ASSERT_EQ(nvPTXCompilerCompile(made, 1, options), NVPTXCOMPILE_SUCCESS);
  }
  live<nvPTXCompilerHandle>() = {made};
}

TEST(Hostile, NvPtxCompiler) {
  Caller caller(refill);
#define KM_NVPTXCOMPILER_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVPTXCOMPILER_FUNCTION(symbol, result, parameters, arguments) \
  caller.call_all(#symbol, symbol);
#include "dropin/nvptxcompiler/generated/functions.def"
  EXPECT_GT(caller.calls(), 1000u);
}

}  // namespace
}  // namespace km::hostile
