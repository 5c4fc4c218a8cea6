// ptxas refuses these of wgmma, tensor maps, multimem and tcgen05, beside those that the forms
// exclude.
#include <string>

#include <gtest/gtest.h>

#include "ptx/ptx.h"

namespace km::ptx {
namespace {

/// The error of a kernel with this instruction; empty: there is none.
std::string error_of(const std::string& instruction,
                     const std::string& header = ".version 8.6\n.target sm_90a\n") {
  const std::string text =
      header +
      ".address_size 64\n.visible .entry k() {\n"
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

TEST(TensorRules, CountsOfArrivals) {
  EXPECT_EQ(error_of("mbarrier.init.shared.b64 [%r0], 1"), "");
  EXPECT_EQ(error_of("mbarrier.init.shared.b64 [%r0], 1048575"), "");
  EXPECT_EQ(error_of("mbarrier.init.shared.b64 [%r0], %r1"), "");
  expect_refused("mbarrier.init.shared.b64 [%r0], 0", "is 0, expected 1 to 1048575");
  expect_refused("mbarrier.init.shared.b64 [%r0], 1048576", "is 1048576, expected 1 to 1048575");
  expect_refused("mbarrier.arrive.shared.b64 %d0, [%r0], 0", "is 0, expected 1 to");
  expect_refused("mbarrier.arrive_drop.shared.b64 %d0, [%r0], 0", "is 0, expected 1 to");
  expect_refused("mbarrier.arrive.shared.b64 %d0, [%r0], -1", "expected 1 to");
  EXPECT_EQ(error_of("mbarrier.arrive.shared.b64 %d0, [%r0], 2000000"), "");
  EXPECT_EQ(error_of("mbarrier.arrive.expect_tx.shared.b64 %d0, [%r0], 0"), "");
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

std::string tensor_error(const std::string& instruction, const std::string& target = "sm_100a",
                         const std::string& version = "9.0") {
  return error_of(instruction, ".version " + version + "\n.target " + target + "\n");
}

void expect_tensor_error(const std::string& instruction, const std::string& reason,
                         const std::string& target = "sm_100a",
                         const std::string& version = "9.0") {
  const std::string error = tensor_error(instruction, target, version);
  EXPECT_NE(error.find(reason), std::string::npos) << instruction << ": " << error;
}

TEST(TensorRules, TensorMemory) {
  const std::string load = "tcgen05.ld.sync.aligned.";
  EXPECT_EQ(tensor_error(load + "16x128b.x1.b32 {%r0, %r1}, [%r2+4]"), "");
  EXPECT_EQ(tensor_error(load + "16x32bx2.x1.pack::16b.b32 {%f0}, [%r2], -1"), "");
  expect_tensor_error(load + "16x128b.x1.b32 {%r0}, [%r2]", "1 registers, expected 2");
  expect_tensor_error(load + "32x32b.x1.b32 %r0, [%r2]", "a vector in braces");
  expect_tensor_error(load + "16x256b.x64.b32 {%r0, %r1}, [%r2]", "not repeated so often");
  expect_tensor_error(load + "32x32b.x1.b32 {%r0}, [%d2]", "addresses in tensor memory have 32");
  expect_tensor_error("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d0], 48",
                      "in powers of two from 32 to 512, not 48");
  expect_tensor_error("tcgen05.ld.red.sync.aligned.32x32b.x1.min.u32 {%r0}, %r1, [%r2]",
                      "need '.x2' or more", "sm_103a");
  expect_tensor_error("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r0, %r1}, %r3, [%r2]",
                      "needs '.target sm_103a to sm_110a'");
  EXPECT_EQ(tensor_error("tcgen05.shift.cta_group::1.down [%r0]", "sm_103a"), "");
  expect_tensor_error("tcgen05.shift.cta_group::1.down [%r0]", "needs '.target", "sm_100f");
}

TEST(TensorRules, TensorCores) {
  const std::string plain = " [%r0], %d0, %d1, %r1, %p", of_tensor = " [%r0], [%r2], %d1, %r1, %p";
  const std::string mma = "tcgen05.mma.cta_group::1.kind::";
  EXPECT_EQ(tensor_error(mma + "f16" + plain + ", 15"), "");
  expect_tensor_error(mma + "f16" + plain + ", 16", "expected 0 to 15");
  expect_tensor_error(mma + "f16" + plain + ", 3", "needs '.target", "sm_110a");
  expect_tensor_error(mma + "i8" + plain, "'.kind::i8' needs", "sm_103a");
  expect_tensor_error(mma + "i8" + plain, "'.kind::i8' needs", "sm_100f");
  EXPECT_EQ(tensor_error(mma + "i8" + plain, "sm_110a"), "");
  expect_tensor_error(mma + "f16.ashift.collector::a::use" + of_tensor, "'.ashift' has neither");
  const std::string scaled = " [%r0], %d0, %d1, %r1, [%r2], [%r3], %p";
  EXPECT_EQ(tensor_error(mma + "mxf4.block_scale" + scaled), "");
  expect_tensor_error(mma + "mxf4.block_scale.block16" + scaled, "a scale for 32 elements");
  expect_tensor_error(mma + "mxf4nvf4.block_scale" + scaled, "needs '.block16'");
  expect_tensor_error(mma + "mxf4nvf4.block_scale.scale_vec::4X" + scaled, "needs '.version 8.7'",
                      "sm_100a", "8.6");
  expect_tensor_error(mma + "mxf8f6f4.block_scale.block32" + scaled, "needs '.version 8.8'",
                      "sm_100a", "8.7");
  expect_tensor_error(mma + "mxf8f6f4.block_scale.scale_vec::1X" + scaled, "'.scale_vec' needs",
                      "sm_100f");
}

}  // namespace
}  // namespace km::ptx
