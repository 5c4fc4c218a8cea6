// Which steps test whether any lane comes to them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simt/analysis/thread_index_evaluator.h"
#include "simt/transform/linearize.h"
#include "simt/transform/regions.h"
#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

/// By block in the order of the text; the first one holds nothing.
std::vector<bool> guards_of(const std::string& body) {
  const auto [module, kernel] = testing::kernel_of_text(
      ".visible .entry k(.param .u64 to) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [to];\nmov.u32 %r1, %tid.x;\n" +
      body + "st.global.u32 [%rd1], %r2;\nret;\n}\n");
  if (!kernel) return {};
  ShapeOptions options;
  options.block = {32, 1, 1};
  const auto regions = find_regions(*kernel, UINT64_MAX);
  if (!regions) return {};
  const auto plan = linearize(*kernel, analyse_shapes(*kernel, options), regions->list[0], true);
  if (!plan) return {};
  std::vector<bool> guards;
  for (const Step& step : plan->steps) {
    if (guards.size() <= step.block) guards.resize(step.block + 1);
    guards[step.block] = step.guard;
  }
  return guards;
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

/// if (tid > 7) { if (tid > 9) {`inner` times} }
std::string nested(int inner) {
  return "setp.gt.u32 %p1, %r1, 7; mov.u32 %r2, 1; @!%p1 bra DONE;\n"
         "setp.gt.u32 %p2, %r1, 9; @!%p2 bra DONE;\n" +
         repeated("mad.lo.u32 %r2, %r2, %r1, %r2;\n", inner) + "DONE:\n";
}

TEST(Guards, ShortCodeIsNotTested) {
  EXPECT_EQ(guards_of(nested(4)), (std::vector<bool>{false, false, false, false, false}));
}

TEST(Guards, LongCodeIsTested) {
  EXPECT_EQ(guards_of(nested(12)), (std::vector<bool>{false, false, false, true, false}));
}

TEST(Guards, MuchLongerCodeIsTestedWhereLanesPartFirst) {
  EXPECT_EQ(guards_of(nested(40)), (std::vector<bool>{false, false, true, true, false}));
}

}  // namespace
}  // namespace km::simt
