// Masks as vectors of words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "simt/object/target.h"
#include "simt/passes/masks/word_masks.h"
#include "support/simt/machines.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The text after the pass for the machine; it is a valid module.
std::string with_word_masks(const char* text, const char* machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic complaint;
  const auto module = llvm::parseAssemblyString(text, complaint, context);
  EXPECT_NE(module, nullptr) << complaint.getMessage().str();
  const auto target = make_target_machine(testing::machine_named(machine));
  EXPECT_TRUE(target);
  if (!module || !target) return "";
  prepare_module(*module, **target);
  make_word_masks(*module, **target);
  std::string result;
  llvm::raw_string_ostream out(result);
  EXPECT_FALSE(llvm::verifyModule(*module, &out)) << result;
  module->print(out, nullptr);
  return result;
}

// A mask that a loop narrows, and that begins as bits.
constexpr const char* kLoop = R"(
  define void @km_entry(ptr %p, i16 %bits) {
  entry:
    %all = load <16 x i32>, ptr %p
    %start = bitcast i16 %bits to <16 x i1>
    br label %loop
  loop:
    %mask = phi <16 x i1> [ %start, %entry ], [ %rest, %loop ]
    %now = load <16 x i32>, ptr %p
    %above = icmp sgt <16 x i32> %now, %all
    %rest = select <16 x i1> %mask, <16 x i1> %above, <16 x i1> zeroinitializer
    %chosen = select <16 x i1> %rest, <16 x i32> %now, <16 x i32> %all
    store <16 x i32> %chosen, ptr %p
    %left = bitcast <16 x i1> %rest to i16
    %more = icmp ne i16 %left, 0
    br i1 %more, label %loop, label %end
  end:
    ret void
  })";

TEST(WordMasks, CrossBlocksAsWords) {
  const std::string text = with_word_masks(kLoop, "neon");
  EXPECT_THAT(text, HasSubstr("phi <16 x i32>"));
  EXPECT_THAT(text, HasSubstr("llvm.vector.reduce.umax.v4i32"));
  EXPECT_THAT(text, Not(HasSubstr("phi <16 x i1>")));
  EXPECT_THAT(text, Not(HasSubstr("bitcast")));
  EXPECT_THAT(text, Not(HasSubstr("select")));
}

TEST(WordMasks, StayAsTheyAreWhereThatIsBest) {
  EXPECT_THAT(with_word_masks(kLoop, "avx2"), HasSubstr("phi <16 x i1>"));
  EXPECT_THAT(with_word_masks(kLoop, "avx512"), HasSubstr("bitcast <16 x i1> %rest to i16"));
}

// A comparison and the only choice by it in one block are what instruction selection wants.
TEST(WordMasks, LeaveAChoiceBesideItsComparison) {
  const std::string text = with_word_masks(R"(
    define <4 x float> @km_entry(<4 x float> %a, <4 x float> %b) {
      %less = fcmp olt <4 x float> %a, %b
      %least = select <4 x i1> %less, <4 x float> %a, <4 x float> %b
      ret <4 x float> %least
    })",
                                           "neon");
  EXPECT_THAT(text, HasSubstr("select <4 x i1> %less"));
}

}  // namespace
}  // namespace km::simt
