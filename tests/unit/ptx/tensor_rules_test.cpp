// ptxas refuses these of wgmma, tensor maps and multimem, beside those that the forms exclude.
#include <string>

#include <gtest/gtest.h>

#include "ptx/ptx.h"

namespace km::ptx {
namespace {

/// The error of a kernel with this instruction; empty: there is none.
std::string error_of(const std::string& instruction) {
  const std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
      " .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .b16 %h<4>; .reg .f32 %f<9>; .reg .pred %p;\n " +
      instruction + ";\n ret;\n}\n";
  const auto module = parse(text, "t.ptx");
  return module ? "" : module.error().message;
}

void expect_refused(const std::string& instruction, const std::string& reason) {
  EXPECT_NE(error_of(instruction).find(reason), std::string::npos)
      << instruction << ": " << error_of(instruction);
}

TEST(TensorRules, Products) {
  const std::string product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.";
  const std::string sums = " {%f0, %f1, %f2, %f3}, %d0, %d1, %p, ";
  EXPECT_EQ(error_of(product + "f16" + sums + "1, -1, 0, 1"), "");
  expect_refused(product + "bf16" + sums + "1, 1, 0, 0", "the same type");
  expect_refused(product + "f16" + sums + "2, 1, 0, 0", "operand 5 is 2");
  expect_refused(product + "f16" + sums + "1, 0, 0, 0", "expected 1 or -1");
  expect_refused(product + "f16" + sums + "1, 1, 2, 0", "operand 7 is 2");
  expect_refused(
      "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0, %r1, %r2, %r3}, %d0, %d1, %r4, 1, "
      "%p",
      "operand 5 is 1");
  expect_refused("wgmma.wait_group.sync.aligned -1", "operand 1 is -1");
}

TEST(TensorRules, Copies) {
  const std::string copy = "cp.async.bulk.tensor.";
  const std::string to = ".shared::cluster.global", by = ".mbarrier::complete_tx::bytes [%r0], ";
  EXPECT_EQ(error_of(copy + "2d" + to + ".tile" + by + "[%d0, {%r1, %r2}], [%r3]"), "");
  EXPECT_EQ(error_of(copy + "3d" + to + ".im2col" + by + "[%d0, {%r1, %r2, %r4}], [%r3], {%h0}"),
            "");
  expect_refused(copy + "2d" + to + ".tile" + by + "[%d0, {%r1}], [%r3]", "1 coordinates");
  expect_refused(copy + "2d" + to + ".im2col" + by + "[%d0, {%r1, %r2}], [%r3]", "3 to 5");
  expect_refused(copy + "4d" + to + ".im2col" + by + "[%d0, {%r1, %r2, %r4, %r5}], [%r3], {%h0}",
                 "1 im2col offsets");
  expect_refused(copy + "3d.global.shared::cta.im2col.bulk_group [%d0, {%r1, %r2, %r3}], [%r0]",
                 "im2col_no_offs");
}

TEST(TensorRules, Maps) {
  const std::string replace = "tensormap.replace.tile.";
  EXPECT_EQ(error_of(replace + "box_dim.shared::cta.b1024.b32 [%r0], 4, %r1"), "");
  expect_refused(replace + "box_dim.shared::cta.b1024.b32 [%r0], 5, %r1", "operand 2 is 5");
  expect_refused(replace + "global_stride.shared::cta.b1024.b32 [%r0], 0, %r1", ".b64");
  expect_refused(replace + "elemtype.shared::cta.b1024.b32 [%r0], %r1", "must be a constant");
  expect_refused(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
      "aligned [%d0], [%r0], 64",
      "operand 3 is 64");
}

TEST(TensorRules, Multicast) {
  EXPECT_EQ(
      error_of("multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%d0]"), "");
  expect_refused("multimem.ld_reduce.relaxed.global.add.u32 %r0, [%d0]", "needs a scope");
  expect_refused("multimem.red.relaxed.gpu.global.add.b32 [%d0], %r0", "for bits");
  expect_refused("multimem.ld_reduce.global.min.f32 %f0, [%d0]", "only added");
  expect_refused("multimem.ld_reduce.global.min.acc::f32.v2.f16x2 {%r0, %r1}, [%d0]",
                 "need '.add'");
}

}  // namespace
}  // namespace km::ptx
