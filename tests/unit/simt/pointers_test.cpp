// How pointers that come as parameters should be aligned, by what is loaded and stored through
// them.
#include "simt/analysis/memory/pointers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

/// Bits wanted of the parameters a and b by `body`, which has them in %rd1 and %rd2.
std::pair<int, int> wanted(const std::string& body) {
  const auto built = testing::kernel_of_text(
      ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
      ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %rd<9>; .reg .b16 %h<3>;\n"
      ".reg .pred %p<2>;\n"
      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;\n" +
      body + "ret;\n}\n");
  if (!built.kernel) return {-1, -1};
  const std::vector<uint8_t> bits = wanted_alignments(*built.kernel);
  std::vector<int> found;
  for (const BasicBlock& block : built.kernel->blocks) {
    for (const Inst& inst : block.insts) {
      const bool is_parameter =
          inst.ptx->opcode == ptx::Opcode::ld && inst.ptx->operands[1].symbol != ptx::kNone;
      if (is_parameter) found.push_back(bits[inst.writes[0].second]);
    }
  }
  if (found.size() != 2) return {-1, -1};
  return {found[0], found[1]};
}

using Bits = std::pair<int, int>;

TEST(Pointers, SizeOfTheAccess) {
  EXPECT_EQ(wanted("ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1;\n"), Bits(2, 2));
  EXPECT_EQ(wanted("ld.global.u8 %h1, [%rd1]; st.global.u16 [%rd2], %h1;\n"), Bits(0, 1));
  EXPECT_EQ(wanted("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];\n"), Bits(4, 0));
}

TEST(Pointers, TermsOfASum) {
  const std::string sum =
      "cvta.to.global.u64 %rd3, %rd1; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;\n";
  EXPECT_EQ(wanted(sum + "ld.global.f32 %f1, [%rd5];\n"), Bits(2, 0));
  EXPECT_EQ(wanted("add.s64 %rd3, %rd1, %rd2; ld.global.f64 %d1, [%rd3];\n"), Bits(3, 3));
  EXPECT_EQ(wanted("mad.wide.u32 %rd3, %r1, 4, %rd2; atom.global.add.u32 %r2, [%rd3], 1;\n"),
            Bits(0, 2));
  EXPECT_EQ(wanted("shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4];\n"),
            Bits(2, 0));
}

TEST(Pointers, TheLargestAccessCounts) {
  EXPECT_EQ(wanted("ld.global.u32 %r2, [%rd1]; ld.global.u64 %rd3, [%rd1+8];\n"
                   "ld.global.u8 %h1, [%rd1];\n"),
            Bits(3, 0));
}

TEST(Pointers, ThroughALoop) {
  EXPECT_EQ(wanted("mov.u64 %rd3, %rd1;\n$loop:\nld.global.f32 %f1, [%rd3];\n"
                   "add.s64 %rd3, %rd3, 64; setp.ne.u64 %p1, %rd3, %rd2; @%p1 bra $loop;\n"),
            Bits(2, 0));
}

}  // namespace
}  // namespace km::simt
