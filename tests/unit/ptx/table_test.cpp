// The table of instructions: sound, and every form of it readable and printable.

#include "ptx/forms.h"
#include "ptx/names.h"
#include "support.h"

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

TEST(Table, CoverageListsEveryForm) {
  std::string table = coverage_table();
  size_t rows = 0;
  for (size_t at = table.find("\n| `"); at != table.npos; at = table.find("\n| `", at + 1)) ++rows;
  EXPECT_EQ(rows, all_forms().size());
  EXPECT_NE(table.find("`d:b32\\|p?, a:b32"), std::string::npos) << "bars are escaped";
  EXPECT_NE(table.find("| `lop3.b32` |"), std::string::npos);
}

/// Makes an instruction of a form: with every optional modifier, or with none.
class Example {
 public:
  Example(const Form& form, bool full) : form_(form), full_(full) {}

  std::string text() {
    std::string mnemonic(text_of(form_.opcode));
    for (const SyntaxGroup& group : form_.groups) {
      if (group.optional && !full_) continue;
      if (!group.types.empty()) {
        Type type = group.types.front();
        instruction_.types[instruction_.type_count++] = type;
        mnemonic += "." + std::string(text_of(type));
        continue;
      }
      Modifier modifier = choose(group);
      add(modifier);
      mnemonic += "." + std::string(text_of(modifier));
    }
    std::string operands;
    for (const OperandSpec& spec : form_.operands) {
      if (spec.needs && !instruction_.has(*spec.needs)) continue;
      if (spec.optional && !full_) continue;
      operands += (operands.empty() ? " " : ", ") + operand(spec);
    }
    return mnemonic + operands;
  }

 private:
  /// A second group of the same modifiers takes its last one, so that both stay apart.
  Modifier choose(const SyntaxGroup& group) {
    return instruction_.has(group.modifiers.front()) ? group.modifiers.back()
                                                     : group.modifiers.front();
  }

  void add(Modifier modifier) {
    auto bit = static_cast<uint32_t>(modifier);
    instruction_.modifier_bits[bit / 64] |= uint64_t{1} << (bit % 64);
    instruction_.modifiers.push_back(modifier);
  }

  std::string operand(const OperandSpec& spec) {
    switch (spec.shape) {
      case OperandShape::address:
        return "[%rd1+8]";
      case OperandShape::tuple:
        return "[%rd2, {%r1, %r2}]";
      case OperandShape::label:
        return "L";
      case OperandShape::table:
        return "T";
      case OperandShape::call:
        return "f";
      case OperandShape::value:
        break;
    }
    std::string text = value(spec);
    return spec.pair ? text + "|%p2" : text;
  }

  std::string value(const OperandSpec& spec) {
    if (spec.rule == TypeRule::immediate) return "1";
    uint32_t elements = element_count(spec, instruction_);
    bool split = spec.rule == TypeRule::split;
    if (split) elements = 2;
    std::string one = name(spec, operand_type(spec, instruction_, elements));
    bool vector = elements > 1 || spec.count_rule == CountRule::exact;
    if (!vector) return one;
    std::string text = "{" + one;
    for (uint32_t i = 1; i < elements; ++i) text += ", " + one;
    return text + "}";
  }

  static std::string name(const OperandSpec& spec, Type type) {
    if (spec.rule == TypeRule::pointer) return "%rd3";
    if (type == Type::pred) return spec.may_negate ? "!%p1" : "%p1";
    if (type == Type::f32) return "%f1";
    if (type == Type::f64) return "%fd1";
    switch (size_bits(type)) {
      case 8:
        return "%b1";
      case 16:
        return "%rs1";
      case 64:
        return "%rd1";
      case 128:
        return "%rq1";
      default:
        return "%r1";
    }
  }

  const Form& form_;
  const bool full_;
  Instruction instruction_;
};

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
      std::string instruction = Example(forms[i], full).text();
      std::string text = with_targets(instruction);
      text.replace(text.find("8.3"), 3, "9.5");
      auto module = parse(text, "t.ptx");
      ASSERT_TRUE(module) << instruction << "\n"
                          << form_text(forms[i]) << "\n"
                          << module.error().message;
      const Instruction& read = code_of(**module).front();
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
    std::string instruction = Example(form, true).text();
    auto module = parse(with_targets(instruction), "t.ptx");
    ASSERT_FALSE(module) << instruction;
    EXPECT_NE(module.error().message.find("sm_90a are supported"), std::string::npos)
        << module.error().message;
  }
}

}  // namespace
}  // namespace km::ptx::test
