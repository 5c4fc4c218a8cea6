// What values gain from a thread or block to the next.
#include "simt/analysis/memory/index_strides.h"

#include <gtest/gtest.h>

#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

using Step = std::optional<int64_t>;

/// Of what `body` leaves in %rd9, in blocks of 32 x 8 threads.
struct Steps {
  Step by_thread, by_row, by_block;
};

Steps steps_of(const std::string& body) {
  const std::string text =
      ".visible .entry k(.param .u64 data, .param .u32 width) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;\n"
      "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [width];\n"
      "mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y;\n"
      "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;\n"
      "mad.lo.s32 %r6, %r4, %r5, %r2;\n" +  // the thread's column
      body +
      "st.global.u32 [%rd9], %r1;\nret;\n}\n";
  const auto [module, kernel] = testing::kernel_of_text(text);
  if (!kernel) return {};
  ShapeOptions options;
  options.block = {32, 8, 1};
  const Shapes shapes = analyse_shapes(*kernel, options);
  ValueId address = kNone;
  for (const BasicBlock& block : kernel->blocks) {
    for (const Inst& inst : block.insts) {
      if (inst.ptx->opcode == ptx::Opcode::st) address = inst.read(inst.ptx->operands[0].reg);
    }
  }
  const auto by = [&](ptx::SpecialRegister special, uint8_t dimension) {
    return IndexStrides(*kernel, shapes, special, dimension).of(address);
  };
  return {by(ptx::SpecialRegister::tid, 0), by(ptx::SpecialRegister::tid, 1),
          by(ptx::SpecialRegister::ctaid, 0)};
}

TEST(IndexStrides, ElementsOfARow) {
  const Steps steps = steps_of(
      "mad.lo.s32 %r7, %r3, %r1, %r6; mul.wide.s32 %rd2, %r7, 4; add.s64 %rd9, %rd1, %rd2;\n");
  EXPECT_EQ(steps.by_thread, Step(4));
  EXPECT_EQ(steps.by_row, Step());  // by the width, which is no constant
  EXPECT_EQ(steps.by_block, Step(128));
}

TEST(IndexStrides, TilesThatLieOneAfterTheOther) {
  const Steps steps = steps_of(
      "shl.b32 %r7, %r4, 8; shl.b32 %r8, %r3, 5; add.s32 %r9, %r7, %r8; add.s32 %r9, %r9, %r2;\n"
      "mul.wide.s32 %rd2, %r9, 4; add.s64 %rd9, %rd1, %rd2;\n");
  EXPECT_EQ(steps.by_thread, Step(4));
  EXPECT_EQ(steps.by_row, Step(128));
  EXPECT_EQ(steps.by_block, Step(1024));
}

TEST(IndexStrides, Columns) {
  const Steps steps =
      steps_of("mul.lo.s32 %r7, %r6, %r1; mul.wide.s32 %rd2, %r7, 4; add.s64 %rd9, %rd1, %rd2;\n");
  EXPECT_EQ(steps.by_thread, Step());
  EXPECT_EQ(steps.by_row, Step(0));
}

TEST(IndexStrides, ClampsAndDifferences) {
  const Steps clamped = steps_of(
      "add.s32 %r7, %r6, -1; max.s32 %r7, %r7, 0; sub.s32 %r8, %r1, 1; min.s32 %r7, %r7, %r8;\n"
      "mul.wide.s32 %rd2, %r7, 4; add.s64 %rd9, %rd1, %rd2;\n");
  EXPECT_EQ(clamped.by_thread, Step(4));
  EXPECT_EQ(clamped.by_block, Step(128));
  const Steps mirrored =
      steps_of("sub.s32 %r7, %r1, %r6; mul.wide.s32 %rd2, %r7, 8; add.s64 %rd9, %rd1, %rd2;\n");
  EXPECT_EQ(mirrored.by_thread, Step(-8));
  EXPECT_EQ(mirrored.by_block, Step(-256));
}

TEST(IndexStrides, OneForAll) {
  const Steps steps = steps_of("add.s64 %rd9, %rd1, 64;\n");
  EXPECT_EQ(steps.by_thread, Step(0));
  EXPECT_EQ(steps.by_block, Step(0));
  const Steps loaded = steps_of("ld.global.u64 %rd9, [%rd1];\n");
  EXPECT_EQ(loaded.by_thread, Step(0));
}

TEST(IndexStrides, WhatIsLoadedByEachIsNotKnown) {
  const Steps steps = steps_of(
      "mul.wide.s32 %rd2, %r6, 8; add.s64 %rd3, %rd1, %rd2; ld.global.u64 %rd9, [%rd3];\n");
  EXPECT_EQ(steps.by_thread, Step());
  EXPECT_EQ(steps.by_block, Step());
  const Steps lane =
      steps_of("mov.u32 %r7, %laneid; mul.wide.u32 %rd2, %r7, 4; add.s64 %rd9, %rd1, %rd2;\n");
  EXPECT_EQ(lane.by_thread, Step());
}

TEST(IndexStrides, WaysThatMeet) {
  const std::string ways =
      "setp.gt.u32 %p1, %r3, 3; @%p1 bra OTHER;\n"
      "mul.wide.s32 %rd2, %r6, 4; bra.uni MEET;\n"
      "OTHER: mul.wide.s32 %rd2, %r6, ";
  const std::string meet = ";\nMEET: add.s64 %rd9, %rd1, %rd2;\n";
  EXPECT_EQ(steps_of(ways + "4" + meet).by_thread, Step(4));
  EXPECT_EQ(steps_of(ways + "8" + meet).by_thread, Step());
}

}  // namespace
}  // namespace km::simt
