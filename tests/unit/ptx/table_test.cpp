// The table of instructions: sound, and every form of it readable and printable.

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
    if (forms[i].min_sm > kNewestSm) continue;
    for (bool full : {false, true}) {
      std::string instruction = example_of(forms[i], full);
      std::string text = with_targets(instruction);
      text.replace(text.find("8.3"), 3, "9.5");
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
    if (form.min_sm <= kNewestSm || form.any_modifiers) continue;
    std::string instruction = example_of(form, true);
    auto module = parse(with_targets(instruction), "t.ptx");
    ASSERT_FALSE(module) << instruction;
    EXPECT_NE(module.error().message.find("needs '.target sm_1"), std::string::npos)
        << module.error().message;
  }
}

}  // namespace
}  // namespace km::ptx::test
