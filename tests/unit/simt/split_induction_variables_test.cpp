// Addresses that a loop with barriers moves on: what each thread has of its own, and what it
// shares.
#include "simt/transform/split_induction_variables.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "simt/analysis/shape.h"
#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

struct Transformed {
  std::shared_ptr<const ptx::Module> module;
  ptx::Function function;
  Kernel kernel;
  Shapes shapes;
};

/// A loop of %r3 rounds whose body is `body`; %rd1 is the argument, %rd2 + 4 %tid.x. %rd3 is an
/// address of each thread's own, %rd4 a number that all threads have, %rd5 one of their own.
std::unique_ptr<Transformed> transform_body(const std::string& body,
                                            const std::string& after = "") {
  const std::string text =
      ".visible .entry k(.param .u64 out, .param .u32 any) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [out]; ld.param.u32 %r3, [any];\n"
      "mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd3, %rd1, %rd5;\n"
      "mul.wide.s32 %rd4, %r3, 64; mov.u64 %rd2, %rd1;\n"
      "LOOP:\n" +
      body + "sub.s32 %r3, %r3, 1; setp.ne.s32 %p1, %r3, 0; @%p1 bra LOOP;\n" + after + "ret;\n}\n";
  auto result = std::make_unique<Transformed>();
  auto built = testing::kernel_of_text(text);
  if (!built.kernel) return result;
  result->module = std::move(built.module);
  result->kernel = std::move(*built.kernel);
  result->function = *result->kernel.function;
  split_induction_variables(result->kernel, result->function);
  ShapeOptions options;
  options.block = {64, 1, 1};
  result->shapes = analyse_shapes(result->kernel, options);
  return result;
}

/// Phis of 64 bits that are the same for all threads, and others.
std::string phis_of(const std::unique_ptr<Transformed>& transformed) {
  unsigned same = 0, own = 0;
  for (const BasicBlock& block : transformed->kernel.blocks) {
    for (const Phi& phi : block.phis) {
      if (ptx::size_bits(transformed->kernel.values[phi.result].type) != 64) continue;
      ++(transformed->shapes.values[phi.result].is_uniform() ? same : own);
    }
  }
  return std::to_string(same) + " same, " + std::to_string(own) + " own";
}

const std::string kBarrier = "bar.sync 0;\n";
const std::string kStore = "st.global.u32 [%rd3], %r1;\n";

TEST(SplitInductionVariables, CountsAConstantStepOnce) {
  const auto transformed = transform_body(kStore + kBarrier + "add.s64 %rd3, %rd3, 64;\n");
  EXPECT_EQ(phis_of(transformed), "1 same, 0 own");
}

TEST(SplitInductionVariables, CountsAStepOfAllThreadsOnce) {
  EXPECT_EQ(phis_of(transform_body(kStore + kBarrier + "add.s64 %rd3, %rd3, %rd4;\n")),
            "1 same, 0 own");
  EXPECT_EQ(phis_of(transform_body(kStore + kBarrier + "add.s64 %rd3, %rd4, %rd3;\n")),
            "1 same, 0 own");
}

TEST(SplitInductionVariables, LeavesWhatIsNotMovedOnByAllAlike) {
  EXPECT_EQ(phis_of(transform_body(kStore + kBarrier + "add.s64 %rd3, %rd3, %rd5;\n")),
            "0 same, 1 own");
  EXPECT_EQ(phis_of(transform_body(kStore + kBarrier + "add.s64 %rd3, %rd3, %rd3;\n")),
            "0 same, 1 own");
  EXPECT_EQ(phis_of(transform_body(kStore + kBarrier + "shl.b64 %rd3, %rd3, 1;\n")),
            "0 same, 1 own");
  EXPECT_EQ(phis_of(transform_body(kStore + kBarrier + "@%p2 add.s64 %rd3, %rd3, 64;\n")),
            "0 same, 1 own");
}

TEST(SplitInductionVariables, LeavesLoopsWithoutBarriers) {
  EXPECT_EQ(phis_of(transform_body(kStore + "add.s64 %rd3, %rd3, 64;\n")), "0 same, 1 own");
}

TEST(SplitInductionVariables, LeavesWhatIsReadBehindTheLoop) {
  const std::string loop = kStore + kBarrier + "add.s64 %rd3, %rd3, 64;\n";
  EXPECT_EQ(phis_of(transform_body(loop, kStore)), "0 same, 1 own");
}

TEST(SplitInductionVariables, LeavesWhatAllThreadsHave) {
  const auto transformed =
      transform_body("st.global.u32 [%rd2], %r1;\n" + kBarrier + "add.s64 %rd2, %rd2, 64;\n");
  EXPECT_EQ(phis_of(transformed), "1 same, 0 own");
  EXPECT_TRUE(transformed->kernel.synthesized.empty());
}

TEST(SplitInductionVariables, KeepsANextAddressThatIsReadWhereItIsMade) {
  const auto transformed = transform_body(kBarrier + "add.s64 %rd3, %rd3, 64;\n" + kStore);
  EXPECT_EQ(phis_of(transformed), "1 same, 0 own");
  EXPECT_EQ(transformed->kernel.synthesized.size(), 1U);
  EXPECT_EQ(phis_of(transform_body("add.s64 %rd3, %rd3, 64;\n" + kBarrier + kStore)),
            "0 same, 1 own");
}

}  // namespace
}  // namespace km::simt
