// The table of instructions: sound, and every form of it readable and printable.

#include <set>
#include <string>

#include "ptx/forms.h"
#include "ptx/names.h"
#include "support.h"
#include "support/form_example.h"

namespace km::ptx::test {
namespace {

TEST(Table, Compiles) {
  EXPECT_THAT(table_errors(), testing::IsEmpty());
  EXPECT_GT(all_forms().size(), 400u);
}

TEST(Table, NamesAreFoundAgain) {
  for (uint32_t i = 0; i < count::kOpcodes; ++i) {
    EXPECT_EQ(find_opcode(text_of(static_cast<Opcode>(i))), static_cast<Opcode>(i));
  }
  for (uint32_t i = 0; i < count::kModifiers; ++i) {
    EXPECT_EQ(find_modifier(text_of(static_cast<Modifier>(i))), static_cast<Modifier>(i));
    EXPECT_FALSE(find_type(text_of(static_cast<Modifier>(i))));
  }
  for (uint32_t i = 0; i < count::kSpecialRegisters; ++i) {
    auto special = static_cast<SpecialRegister>(i);
    EXPECT_EQ(find_special_register(text_of(special)), special);
  }
  EXPECT_EQ(text_of(Modifier::shared_cta), "shared::cta");
  EXPECT_EQ(text_of(Modifier::L1_no_allocate), "L1::no_allocate");
  EXPECT_EQ(text_of(Opcode::and_), "and");
  EXPECT_FALSE(find_type("none"));
}

std::string with_targets(const std::string& instruction) {
  std::string text = kernel("L:\nT: .branchtargets L;\n" + instruction + ";");
  size_t entry = text.find(".visible .entry");
  return text.insert(entry, ".func f;\n");
}

TEST(Table, EveryFormIsReadAndPrinted) {
  auto forms = all_forms();
  for (size_t i = 0; i < forms.size(); ++i) {
    if (forms[i].any_modifiers) continue;
    for (bool full : {false, true}) {
      std::string instruction = example_of(forms[i], full);
      std::string text = with_targets(instruction);
      text.replace(text.find("8.3"), 3, "9.5");
      text.replace(text.find("sm_90a"), 6, target_of(forms[i]));
      auto module = parse(text, "t.ptx");
      const bool is_old =
          !module && module.error().message.find("ended with PTX") != std::string::npos;
      if (is_old) continue;
      ASSERT_TRUE(module) << instruction << "\n"
                          << form_text(forms[i]) << "\n"
                          << module.error().message;
      if (is_rewritten(forms[i])) continue;
      const Instruction& read = code_of(**module).back();  // behind what it is rewritten to
      EXPECT_EQ(read.opcode, forms[i].opcode);
      // An earlier form may cover the same text; it must then be as good.
      EXPECT_LE(read.form, i) << instruction;
      std::string once = print(**module);
      auto again = parse(once, "again.ptx");
      ASSERT_TRUE(again) << once << again.error().message;
      EXPECT_EQ(print(**again), once);
    }
  }
}

TEST(Table, FormsBeyondSm90SayWhatTheyNeed) {
  for (const Form& form : all_forms()) {
    if (form.targets.least <= 90 || form.any_modifiers) continue;
    std::string instruction = example_of(form, true);
    auto module = parse(with_targets(instruction), "t.ptx");
    ASSERT_FALSE(module) << instruction;
    EXPECT_NE(module.error().message.find("needs '.target sm_1"), std::string::npos)
        << module.error().message;
  }
}

/// The family of the instruction that ends `body`.
Family family_in(std::string_view body) {
  const auto module = parse_good(kernel(body));
  return family_of(code_of(*module).back());
}

TEST(Families, FollowTheFormAndNotTheOpcodeAlone) {
  EXPECT_EQ(family_in("add.u32 %r1, %r2, %r3;"), Family::integer);
  EXPECT_EQ(family_in("add.cc.u32 %r1, %r2, %r3;"), Family::carry);
  EXPECT_EQ(family_in("add.f32 %f1, %f2, %f3;"), Family::real);
  EXPECT_EQ(family_in("add.f16 %h1, %h2, %h3;"), Family::half);
  EXPECT_EQ(family_in("div.s32 %r1, %r2, %r3;"), Family::division);
  EXPECT_EQ(family_in("div.rn.f32 %f1, %f2, %f3;"), Family::real);
  EXPECT_EQ(family_in("cvt.u32.u16 %r1, %rs1;"), Family::convert);
  EXPECT_EQ(family_in("cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;"), Family::narrow_float);
  EXPECT_EQ(family_in("cp.async.wait_all;"), Family::async_copy);
  EXPECT_EQ(family_in("wgmma.fence.sync.aligned;"), Family::warpgroup);
}

TEST(Families, OneOpcodeHasOneFamilyUnlessTypesOrEnginesDiffer) {
  // Arithmetic goes by type; bulk copies of tensors have an engine of their own; warps load and
  // store tensor memory, threads start its products.
  const std::set<std::string> several = {"abs", "add", "cp",  "cvt", "div", "fma", "mad",
                                         "max", "min", "mul", "neg", "rcp", "sub", "tcgen05"};
  for (unsigned i = 0; i < count::kOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    std::set<Family> families;
    for (const uint16_t form : forms_of(opcode)) {
      Instruction instruction;
      instruction.form = form;
      families.insert(family_of(instruction));
    }
    const std::string name(text_of(opcode));
    EXPECT_EQ(families.size() > 1, several.count(name) != 0) << name;
  }
}

TEST(Spaces, ModifiersNameOne) {
  EXPECT_TRUE(is_space(Modifier::shared_cluster));
  EXPECT_FALSE(is_space(Modifier::volatile_));
  const auto module = parse_good(kernel("ld.shared::cta.u32 %r1, [%rd1]; ld.u32 %r2, [%rd1];"));
  EXPECT_EQ(space_of(code_of(*module)[0]), Space::shared);
  EXPECT_EQ(space_of(code_of(*module)[1]), Space::generic);
}

}  // namespace
}  // namespace km::ptx::test
