// Products of 64-bit lanes, made of products of words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "simt/object/target.h"
#include "simt/passes/products/word_products.h"
#include "support/simt/machines.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The text after the pass for the machine; it is a valid module.
std::string with_word_products(const std::string& text, const char* machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic complaint;
  const auto module = llvm::parseAssemblyString(text, complaint, context);
  EXPECT_NE(module, nullptr) << complaint.getMessage().str();
  const auto target = make_target_machine(testing::machine_named(machine));
  EXPECT_TRUE(target);
  if (!module || !target) return "";
  prepare_module(*module, **target);
  make_word_products(*module, **target);
  std::string result;
  llvm::raw_string_ostream out(result);
  EXPECT_FALSE(llvm::verifyModule(*module, &out)) << result;
  module->print(out, nullptr);
  return result;
}

/// A function that stores the product of vectors %x and %y, which `factors` computes of %a and %b.
std::string product(const char* factors, const char* type = "<8 x i64>") {
  return "define void @km_entry(ptr %p, <8 x i32> %a, <8 x i32> %b) {\n" + std::string(factors) +
         "\n%product = mul " + type + " %x, %y\nstore " + type + " %product, ptr %p\nret void }";
}

size_t count(const std::string& text, const std::string& words) {
  size_t found = 0;
  for (size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++found;
  return found;
}

constexpr const char* kLong =
    "%x = load <8 x i64>, ptr %p\n"
    "%q = getelementptr i8, ptr %p, i64 64\n"
    "%y = load <8 x i64>, ptr %q";

TEST(WordProducts, HaveTheLowWordsProductAndHalvesOfTwoMore) {
  const std::string text = with_word_products(product(kLong), "neon");
  EXPECT_THAT(text, Not(HasSubstr("mul <8 x i64>")));
  EXPECT_EQ(count(text, "call <2 x i64> @llvm.aarch64.neon.umull"), 4);
  EXPECT_EQ(count(text, "mul <4 x i32>"), 4);
  EXPECT_EQ(count(text, "shl <8 x i64>"), 1);
}

TEST(WordProducts, StayAsTheyAreOnMachinesWithAnotherWay) {
  for (const char* machine : {"x86-64-v2", "avx2", "avx512"}) {
    EXPECT_THAT(with_word_products(product(kLong), machine), HasSubstr("mul <8 x i64>"));
  }
}

TEST(WordProducts, OfExtendedWordsAreOneInstruction) {
  const std::string with_signs = with_word_products(
      product("%x = sext <8 x i32> %a to <8 x i64>\n%y = sext <8 x i32> %b to <8 x i64>"), "neon");
  EXPECT_EQ(count(with_signs, "call <2 x i64> @llvm.aarch64.neon.smull"), 4);
  EXPECT_THAT(with_signs, Not(HasSubstr("shl")));
  // LLVM itself does not see extended words here.
  const std::string masked =
      with_word_products(product("%l = load <8 x i64>, ptr %p\n"
                                 "%x = and <8 x i64> %l, splat (i64 4294967295)\n"
                                 "%y = lshr <8 x i64> %l, splat (i64 32)"),
                         "neon");
  EXPECT_EQ(count(masked, "call <2 x i64> @llvm.aarch64.neon.umull"), 4);
  EXPECT_THAT(masked, Not(HasSubstr("mul <4 x i32>")));
}

TEST(WordProducts, OfOneExtendedWordHaveOneMore) {
  const std::string text = with_word_products(
      product("%x = load <8 x i64>, ptr %p\n%y = zext <8 x i32> %a to <8 x i64>"), "neon");
  EXPECT_EQ(count(text, "mul <4 x i32>"), 2);
  // A negative factor is no word without a sign.
  EXPECT_EQ(count(with_word_products(product("%x = sext <8 x i32> %b to <8 x i64>\n"
                                             "%y = zext <8 x i32> %a to <8 x i64>"),
                                     "neon"),
                  "mul <4 x i32>"),
            2);
}

TEST(WordProducts, OfConstantsNeedNoWordsAtRunTime) {
  const std::string constant = with_word_products(
      "define void @km_entry(ptr %p) {\n"
      "%x = load <2 x i64>, ptr %p\n"
      "%product = mul <2 x i64> %x, splat (i64 6364136223846793005)\n"
      "store <2 x i64> %product, ptr %p\n"
      "ret void }",
      "neon");
  EXPECT_EQ(count(constant, "lshr <2 x i64>"), 1);
  EXPECT_THAT(constant, HasSubstr("i32 1481765933"));
}

// The words of a loop's constant factor are made before the loop, and those of a phi behind all
// phis.
TEST(WordProducts, MakeWordsWhereTheFactorIs) {
  const std::string text = with_word_products(R"(
    define void @km_entry(ptr %p) {
    entry:
      %step = load <4 x i64>, ptr %p
      br label %loop
    loop:
      %x = phi <4 x i64> [ %step, %entry ], [ %next, %loop ]
      %i = phi i32 [ 0, %entry ], [ %j, %loop ]
      %next = mul <4 x i64> %x, %step
      %j = add i32 %i, 1
      %more = icmp ult i32 %j, 9
      br i1 %more, label %loop, label %end
    end:
      store <4 x i64> %next, ptr %p
      ret void
    })",
                                              "neon");
  const std::string before = text.substr(0, text.find("loop:"));
  EXPECT_EQ(count(before, "lshr <4 x i64>"), 1);
  EXPECT_EQ(count(text, "lshr <4 x i64>"), 2);
  EXPECT_THAT(text, Not(HasSubstr("mul <4 x i64>")));
}

// Scalars and single lanes have an instruction of their own.
TEST(WordProducts, LeaveOtherProducts) {
  const std::string text = with_word_products(R"(
    define i64 @km_entry(i64 %a, <4 x i32> %b, <1 x i64> %c, ptr %p) {
      %scalar = mul i64 %a, %a
      %words = mul <4 x i32> %b, %b
      %one = mul <1 x i64> %c, %c
      store <4 x i32> %words, ptr %p
      store <1 x i64> %one, ptr %p
      ret i64 %scalar
    })",
                                              "neon");
  EXPECT_THAT(text, HasSubstr("mul i64"));
  EXPECT_THAT(text, HasSubstr("mul <4 x i32> %b, %b"));
  EXPECT_THAT(text, HasSubstr("mul <1 x i64>"));
  EXPECT_THAT(text, Not(HasSubstr("umull")));
}

}  // namespace
}  // namespace km::simt
