// Which branches are decided before any thread runs, and what is left of a kernel then.
#include "simt/transform/prune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

struct Pruned {
  std::shared_ptr<const ptx::Module> module;
  Kernel whole, storage;
  const Kernel* kernel = nullptr;
  Shapes shapes;
};

/// %r1, %r2: thread index along x and y; %r3: any number.
std::unique_ptr<Pruned> prune_body(const std::string& body, std::array<uint32_t, 3> block) {
  const std::string text =
      ".visible .entry k(.param .u64 out, .param .u32 any) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [out]; ld.param.u32 %r3, [any];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n" +
      body + "ret;\n}\n";
  auto result = std::make_unique<Pruned>();
  auto built = testing::kernel_of_text(text);
  if (!built.kernel) return result;
  result->module = std::move(built.module);
  result->whole = std::move(*built.kernel);
  result->kernel = &result->whole;
  ShapeOptions options;
  options.block = block;
  options.decide_branches = true;
  result->shapes = analyse_and_prune(result->kernel, result->storage, options);
  return result;
}

/// The offsets of the stores that are left, in order, as letters: 0 is A, 8 is B.
std::string stores_of(const Kernel& kernel) {
  std::string text;
  for (const BasicBlock& block : kernel.blocks) {
    for (const Inst& inst : block.insts) {
      if (inst.ptx->opcode != ptx::Opcode::st) continue;
      text += static_cast<char>('A' + inst.ptx->operands[0].offset / 8);
    }
  }
  std::sort(text.begin(), text.end());
  return text;
}

/// A where the predicate %p1 does not hold, B where it does.
std::string sides_of(const std::string& condition) {
  const auto pruned = prune_body(condition +
                                     "\n@%p1 bra YES;\n"
                                     "st.global.u32 [%rd1], %r1; bra.uni DONE;\n"
                                     "YES: st.global.u32 [%rd1+8], %r1;\nDONE:\n",
                                 {32, 8, 1});
  return pruned->kernel == nullptr ? "" : stores_of(*pruned->kernel);
}

TEST(Prune, ComparisonsWithinTheBoundsOfTheBlockAreDecided) {
  EXPECT_EQ(sides_of("setp.gt.s32 %p1, %r2, 7;"), "A");
  EXPECT_EQ(sides_of("setp.gt.s32 %p1, %r2, 6;"), "AB");
  EXPECT_EQ(sides_of("setp.lt.u32 %p1, %r2, 8;"), "B");
  EXPECT_EQ(sides_of("setp.lt.u32 %p1, %r2, 7;"), "AB");
  EXPECT_EQ(sides_of("setp.le.s32 %p1, %r1, 31;"), "B");
  EXPECT_EQ(sides_of("setp.ge.s32 %p1, %r1, 0;"), "B");
  EXPECT_EQ(sides_of("setp.eq.s32 %p1, %r1, 32;"), "A");
  EXPECT_EQ(sides_of("setp.ne.s32 %p1, %r1, 32;"), "B");
  EXPECT_EQ(sides_of("setp.eq.s32 %p1, %r1, 31;"), "AB");
  EXPECT_EQ(sides_of("setp.hs.u32 %p1, %r2, 8;"), "A");
  EXPECT_EQ(sides_of("setp.lt.s32 %p1, %r3, 0;"), "AB");
}

TEST(Prune, NegativeNumbersAreLargeOnesWithoutASign) {
  EXPECT_EQ(sides_of("sub.s32 %r4, %r2, 8; setp.lt.s32 %p1, %r4, 0;"), "B");
  EXPECT_EQ(sides_of("sub.s32 %r4, %r2, 8; setp.lt.u32 %p1, %r4, 8;"), "AB");  // never, in truth
  EXPECT_EQ(sides_of("add.s32 %r4, %r2, 2147483640; setp.gt.s32 %p1, %r4, 0;"), "B");
  EXPECT_EQ(sides_of("add.s32 %r4, %r2, 2147483641; setp.gt.s32 %p1, %r4, 0;"), "AB");  // wraps
}

TEST(Prune, BothResultsOfAComparison) {
  EXPECT_EQ(sides_of("setp.gt.s32 %p2|%p1, %r2, 7;"), "B");
  EXPECT_EQ(sides_of("setp.gt.s32 %p1|%p2, %r2, 7;"), "A");
}

TEST(Prune, WhatIsComputedOfBoundsHasBounds) {
  EXPECT_EQ(sides_of("max.s32 %r4, %r2, 24; setp.eq.s32 %p1, %r4, 24;"), "B");
  EXPECT_EQ(sides_of("min.s32 %r4, %r2, -1; setp.eq.s32 %p1, %r4, -1;"), "B");
  EXPECT_EQ(sides_of("min.u32 %r4, %r2, -1; setp.lt.u32 %p1, %r4, 8;"), "AB");
  EXPECT_EQ(sides_of("sub.s32 %r4, 31, %r2; shr.u32 %r4, %r4, 3; add.s32 %r4, %r4, 1;\n"
                     "and.b32 %r4, %r4, 3; setp.eq.s32 %p1, %r4, 0;"),
            "B");
  EXPECT_EQ(sides_of("setp.lt.s32 %p2, %r3, 5; setp.gt.s32 %p3, %r2, 7;\n"
                     "and.pred %p1, %p2, %p3;"),
            "A");
  EXPECT_EQ(sides_of("setp.lt.s32 %p2, %r3, 5; setp.lt.s32 %p3, %r2, 8;\n"
                     "or.pred %p1, %p2, %p3;"),
            "B");
  EXPECT_EQ(sides_of("setp.lt.s32 %p2, %r3, 5; setp.lt.s32 %p3, %r2, 8;\n"
                     "xor.pred %p1, %p2, %p3;"),
            "AB");
}

/// As NVRTC makes it of `for (k = threadIdx.y; k < 32; k += 8)`: one round, no loop.
TEST(Prune, ALoopThatEndsAfterItsFirstRoundIsNone) {
  const auto pruned = prune_body(
      "sub.s32 %r4, %r2, 32; mov.u32 %r5, 0;\n"
      "LOOP: st.global.u32 [%rd1], %r5; add.s32 %r5, %r5, %r3;\n"
      "add.s32 %r4, %r4, 32; setp.lt.s32 %p1, %r4, 0; @%p1 bra LOOP;\n"
      "st.global.u32 [%rd1+8], %r5;\n",
      {32, 8, 1});
  ASSERT_NE(pruned->kernel, nullptr);
  EXPECT_EQ(pruned->kernel, &pruned->storage);
  EXPECT_EQ(stores_of(*pruned->kernel), "AB");
  EXPECT_TRUE(pruned->shapes.loops.loops.empty());
  for (const BasicBlock& block : pruned->kernel->blocks) EXPECT_TRUE(block.phis.empty());
}

TEST(Prune, LoopsOfSeveralRoundsStay) {
  const auto pruned = prune_body(
      "mov.u32 %r4, %r2;\n"
      "LOOP: st.global.u32 [%rd1], %r4; add.s32 %r4, %r4, 8;\n"
      "setp.lt.s32 %p1, %r4, 32; @%p1 bra LOOP;\nst.global.u32 [%rd1+8], %r4;\n",
      {32, 8, 1});
  ASSERT_NE(pruned->kernel, nullptr);
  EXPECT_EQ(pruned->kernel, &pruned->whole);
  EXPECT_EQ(pruned->shapes.loops.loops.size(), 1u);
}

TEST(Prune, BothTargetsMayBeOneBlock) {
  const auto pruned = prune_body(
      "mov.u32 %r4, 5; setp.gt.s32 %p1, %r2, 7; @%p1 bra NEXT;\n"
      "NEXT: setp.gt.s32 %p2, %r3, 0; @%p2 bra DONE;\nmov.u32 %r4, 6;\n"
      "DONE: st.global.u32 [%rd1], %r4;\n",
      {32, 8, 1});
  ASSERT_NE(pruned->kernel, nullptr);
  EXPECT_EQ(stores_of(*pruned->kernel), "A");
  for (const BasicBlock& block : pruned->kernel->blocks) {
    for (const Phi& phi : block.phis) EXPECT_EQ(phi.inputs.size(), block.preds.size());
  }
}

}  // namespace
}  // namespace km::simt
