// Kernels that spend their time on loads at every lane's own address.
#include "simt/analysis/memory/gathers.h"

#include <gtest/gtest.h>

#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

/// A walk along a list from the thread's own element on; `body` is in the loop.
std::string walk(const std::string& body) {
  return ".visible .entry k(.param .u64 next, .param .u64 out) {\n"
         ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b32 s[64];\n"
         "ld.param.u64 %rd1, [next]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
         "$loop:\n"
         "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n"
         "ld.global.u32 %r1, [%rd4];\n" +
         body +
         "setp.ne.u32 %p1, %r1, 0;\n"
         "@%p1 bra $loop;\n"
         "st.global.u32 [%rd2], %r1;\nret;\n}\n";
}

Shapes shapes_of(const Kernel& kernel, uint32_t lanes) {
  ShapeOptions options;
  options.block = {64, 1, 1};
  options.lanes = lanes;
  return analyse_shapes(kernel, options);
}

bool is_bound(const std::string& text) {
  const auto built = testing::kernel_of_text(text);
  if (!built.kernel) return false;
  return is_bound_by_gathers(*built.kernel, shapes_of(*built.kernel, kWarpLanes));
}

std::string adds(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += "add.u32 %r3, %r3, %r1;\n";
  return text;
}

TEST(Gathers, WalksAlongLists) {
  EXPECT_TRUE(is_bound(walk("")));
  EXPECT_FALSE(is_bound(walk(adds(9))));
  EXPECT_TRUE(is_bound(walk("shfl.sync.bfly.b32 %r4, %r1, 1, 31, 0xffffffff;\n")));
}

TEST(Gathers, OnlyLoadsStoresAndArithmetic) {
  EXPECT_FALSE(is_bound(walk("atom.global.add.u32 %r4, [%rd2], 1;\n")));
  EXPECT_FALSE(is_bound(walk("ld.shared.u32 %r4, [s];\n")));
  EXPECT_FALSE(is_bound(walk("ld.volatile.global.u32 %r4, [%rd2];\n")));
  EXPECT_FALSE(is_bound(walk("membar.gl;\n")));
}

TEST(Gathers, OfOneLaneNothingVaries) {
  const auto walking = testing::kernel_of_text(walk(""));
  EXPECT_TRUE(all_values_are_uniform(shapes_of(*walking.kernel, 1)));
  EXPECT_FALSE(all_values_are_uniform(shapes_of(*walking.kernel, 8)));
  const auto adding = testing::kernel_of_text(walk("atom.global.add.u32 %r4, [%rd2], 1;\n"));
  EXPECT_TRUE(all_values_are_uniform(shapes_of(*adding.kernel, 1)));
  EXPECT_FALSE(all_values_are_uniform(shapes_of(*adding.kernel, 8)));
}

}  // namespace
}  // namespace km::simt
