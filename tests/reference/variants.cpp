#include "reference/variants.h"

#include <algorithm>

#include "ptx/selector.h"
#include "reference/values.h"

namespace km::reference {
namespace {

using ptx::Form;
using ptx::OperandSpec;

constexpr uint16_t kPlainTarget = 90;  // all of whose forms one module without a suffix can have

/// The words of one way to write a form, with what its operands depend on.
struct Mnemonic {
  std::string text;
  std::vector<Type> types;
  std::vector<Modifier> modifiers;

  bool has(Modifier modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }
};

void extend_all(std::vector<Mnemonic>& all, const ptx::SyntaxGroup& group) {
  std::vector<Mnemonic> longer;
  for (const Mnemonic& start : all) {
    if (group.optional) longer.push_back(start);
    for (Modifier modifier : group.modifiers) {
      Mnemonic next = start;
      next.text += "." + std::string(ptx::text_of(modifier));
      next.modifiers.push_back(modifier);
      longer.push_back(std::move(next));
    }
    for (Type type : group.types) {
      Mnemonic next = start;
      next.text += "." + std::string(ptx::text_of(type));
      next.types.push_back(type);
      longer.push_back(std::move(next));
    }
  }
  all = std::move(longer);
}

std::vector<Mnemonic> mnemonics_of(const Form& form) {
  std::vector<Mnemonic> all{{std::string(ptx::text_of(form.opcode)), {}, {}}};
  for (const ptx::SyntaxGroup& group : form.groups) extend_all(all, group);
  return all;
}

/// Opcodes that the interpreter runs by itself rather than as plain computations.
bool is_computation(ptx::Opcode opcode) {
  switch (opcode) {
    case Opcode::mov:
    case Opcode::ld:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::mma:
    case Opcode::wmma:
    case Opcode::wgmma:
    case Opcode::cp:
    case Opcode::multimem:
    case Opcode::tex:
    case Opcode::redux:
      return false;
    default:
      return true;
  }
}

/// How the operands of a form are written in one variant.
struct Choice {
  bool optional_present = false;
  bool constant_last = false;      // the last value that may be one is a constant
  uint64_t immediate = 0;          // for operands that must be constants
  std::vector<std::string> parts;  // part selects, by operand
  std::vector<bool> negated;       // by operand
};

/// Writes the operands; the kernel's registers are named by type and position.
class Writer {
 public:
  Writer(const Form& form, const Mnemonic& mnemonic, const Choice& choice)
      : form_(form), mnemonic_(mnemonic), choice_(choice) {
    for (size_t i = 0; i < mnemonic.types.size(); ++i) types_.types[i] = mnemonic.types[i];
  }

  Variant write() {
    Variant variant;
    variant.mnemonic = mnemonic_.text;
    std::string text;
    for (const OperandSpec& spec : form_.operands) {
      if (!is_present(spec)) continue;
      text += text.empty() ? " " : ", ";
      text += operand(spec, variant);
    }
    variant.text = mnemonic_.text + text + ";";
    variant.form = ptx::form_text(form_);
    variant.is_newer = form_.targets.least > kPlainTarget || form_.targets.suffix != 0;
    return variant;
  }

 private:
  bool is_present(const OperandSpec& spec) const {
    if (spec.needs) return mnemonic_.has(*spec.needs);
    return !spec.optional || choice_.optional_present;
  }

  std::string operand(const OperandSpec& spec, Variant& variant) {
    const size_t place = position_++;
    const Type type = ptx::operand_type(spec, types_);
    std::string part = place < choice_.parts.size() ? choice_.parts[place] : "";
    if (spec.written) {
      variant.result = type;
      variant.second_result = spec.pair;
      std::string text = prefix_of(spec, type) + "0" + part;
      return spec.pair ? text + "|%p9" : text;
    }
    const auto index = variant.sources.size() + 1;
    if (spec.count_rule == ptx::CountRule::exact) {
      std::string list;
      for (unsigned i = 0; i < spec.count; ++i) {
        variant.sources.push_back({type});
        list += (i ? ", " : "{") + prefix_of(spec, type) + std::to_string(index + i);
      }
      return list + "}";
    }
    if (spec.rule == ptx::TypeRule::immediate) {
      variant.sources.push_back({Type::b32, true, choice_.immediate});
      return std::to_string(choice_.immediate);
    }
    if (choice_.constant_last && is_last(spec)) {
      variant.sources.push_back({type, true, choice_.immediate});
      return literal(type);
    }
    variant.sources.push_back({type});
    const bool minus = place < choice_.negated.size() && choice_.negated[place];
    const char* sign = !minus ? "" : type == Type::pred ? "!" : "-";
    return sign + prefix_of(spec, type) + std::to_string(index) + part;
  }

  /// Registers of bytes are named only where the form takes no wider ones.
  static std::string prefix_of(const OperandSpec& spec, Type type) {
    const bool is_byte = spec.rule == ptx::TypeRule::same && ptx::size_bits(type) == 8;
    return is_byte ? "%b" : register_prefix(type);
  }

  /// The last operand that is a number.
  bool is_last(const OperandSpec& spec) const {
    const OperandSpec* last = nullptr;
    for (const OperandSpec& other : form_.operands) {
      if (!other.written && is_present(other) && ptx::operand_type(other, types_) != Type::pred) {
        last = &other;
      }
    }
    return last == &spec;
  }

  std::string literal(Type type) const {
    const Format* format = format_of(type);
    if (format == nullptr) return std::to_string(choice_.immediate);
    char text[32];
    std::snprintf(text, sizeof text, format->width == 64 ? "0d%016llX" : "0f%08llX",
                  static_cast<unsigned long long>(choice_.immediate));
    return text;
  }

  const Form& form_;
  const Mnemonic& mnemonic_;
  const Choice& choice_;
  Instruction types_;
  size_t position_ = 0;
};

/// Reads the instruction back through the parser; false where PTX does not have this variant.
bool parse(Variant& variant) {
  std::string text = module_header(variant.is_newer) +
                     ".visible .entry k() {\n"
                     ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %l<10>;\n"
                     ".reg .f32 %f<10>; .reg .f64 %d<10>; .reg .b8 %b<4>;\n";
  text += variant.text + "\nret;\n}\n";
  auto module = ptx::parse(text, "variant");
  if (!module) return false;
  variant.module = *module;
  const Instruction& in = variant.instruction();
  variant.writes_carry = in.has(Modifier::cc);
  variant.reads_carry =
      in.opcode == Opcode::addc || in.opcode == Opcode::subc || in.opcode == Opcode::madc;
  return find_handler(in) != nullptr;
}

bool has_parts(const Form& form) { return form.operands[0].may_select; }

bool is_packed_video(const Form& form) {
  const char last = ptx::text_of(form.opcode).back();
  return has_parts(form) && (last == '2' || last == '4');
}

/// Part selects that between them name every part once; merging needs the third operand.
std::vector<Choice> part_choices(const Form& form) {
  if (is_packed_video(form)) {
    const bool halves = ptx::text_of(form.opcode).back() == '2';
    if (halves) {
      return {{false, false, 0, {".h0", ".h03", ".h21"}, {}},
              {false, false, 0, {".h1", ".h10", ".h32"}, {}},
              {false, false, 0, {".h10", ".h22", ".h31"}, {}}};
    }
    return {{false, false, 0, {".b20", ".b0123", ".b7654"}, {}},
            {false, false, 0, {".b3", ".b6420", ".b7531"}, {}},
            {false, false, 0, {".b310", ".b3333", ".b4071"}, {}}};
  }
  std::vector<Choice> choices;
  const char* const parts[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1", ""};
  for (unsigned i = 0; i < 7; ++i) {
    const std::string a = parts[i], b = parts[(i + 2) % 7], d = parts[(i + 4) % 6];
    choices.push_back({false, false, 0, {"", a, b}, {}});
    choices.push_back({true, false, 0, {d, a, b}, {}});
  }
  return choices;
}

std::vector<Choice> choices_of(const Form& form, const Mnemonic& mnemonic) {
  bool optional = false, immediate = false;
  for (const OperandSpec& spec : form.operands) {
    optional = optional || spec.optional;
    immediate = immediate || spec.rule == ptx::TypeRule::immediate;
  }
  if (has_parts(form)) {
    std::vector<Choice> choices = part_choices(form);
    choices.push_back({});
    choices.push_back({true, false, 0, {}, {}});
    return choices;
  }
  if (form.opcode == Opcode::vmad) {
    std::vector<Choice> choices{{}, {false, false, 0, {"", ".b1", ".h1"}, {}}};
    choices.push_back({false, false, 0, {}, {false, true, false, false}});
    choices.push_back({false, false, 0, {}, {false, false, false, true}});
    return choices;
  }
  if (immediate) {
    std::vector<Choice> choices;
    for (uint64_t table :
         {0x00, 0x01, 0x1b, 0x3c, 0x6a, 0x80, 0x96, 0xca, 0xe8, 0xf1, 0xfe, 0xff}) {
      choices.push_back({true, false, table, {}, {}});
    }
    return choices;
  }
  const bool logic =
      mnemonic.has(Modifier::and_) || mnemonic.has(Modifier::or_) || mnemonic.has(Modifier::xor_);
  return {{optional && logic, false, 0, {}, {}}};
}

/// A constant for the last operand that is worth a case of its own.
uint64_t constant_for(const Mnemonic& mnemonic, size_t salt) {
  const Type type = mnemonic.types.empty() ? Type::b32 : mnemonic.types.back();
  if (type == Type::f32) {
    constexpr uint64_t kReals[] = {0x3f800000, 0x00000000, 0x80000000, 0x7f800000,
                                   0x40490fdb, 0x00000001, 0x7f7fffff, 0xbf000000};
    return kReals[salt % 8];
  }
  if (type == Type::f64) {
    constexpr uint64_t kReals[] = {0x3ff0000000000000, 0x0000000000000000, 0x8000000000000000,
                                   0x7ff0000000000000, 0x400921fb54442d18, 0x0000000000000001};
    return kReals[salt % 6];
  }
  constexpr uint64_t kIntegers[] = {1, 0, 7, 31, 32, 3, 255, 16, 2, 10};
  return kIntegers[salt % 10];
}

bool takes_constants(const Form& form, const Variant& variant) {
  if (variant.sources.size() < 2 || has_parts(form) || form.opcode == Opcode::vmad) return false;
  for (const Source& source : variant.sources) {
    if (source.constant) return false;
    const Format* format = format_of(source.type);
    if (format != nullptr && format->width < 32) return false;
  }
  return true;
}

void add_variants(const Form& form, const Mnemonic& mnemonic, std::vector<Variant>& all) {
  for (const Choice& choice : choices_of(form, mnemonic)) {
    Variant variant = Writer(form, mnemonic, choice).write();
    if (!parse(variant)) continue;
    const bool constants = takes_constants(form, variant);
    all.push_back(std::move(variant));
    if (!constants) continue;
    Choice with_constant = choice;
    with_constant.constant_last = true;
    with_constant.immediate = constant_for(mnemonic, all.size());
    Variant second = Writer(form, mnemonic, with_constant).write();
    if (parse(second)) all.push_back(std::move(second));
  }
}

}  // namespace

std::string module_header(bool is_newer) {
  const std::string first =
      is_newer ? ".version 9.5\n.target sm_100a\n" : ".version 8.5\n.target sm_90\n";
  return first + ".address_size 64\n";
}

std::string register_prefix(Type type) {
  switch (type) {
    case Type::pred:
      return "%p";
    case Type::f32:
      return "%f";
    case Type::f64:
      return "%d";
    default:
      break;
  }
  const unsigned bits = ptx::size_bits(type);
  return bits == 64 ? "%l" : bits == 16 ? "%h" : "%r";
}

unsigned register_bits(Type type) {
  const unsigned bits = ptx::size_bits(type);
  return bits < 16 && type != Type::pred ? 32 : bits;
}

bool is_unary(const Variant& variant) {
  return variant.sources.size() == 1 && !variant.sources[0].constant &&
         ptx::size_bits(variant.sources[0].type) <= 32 && !variant.second_result &&
         !variant.reads_carry && !variant.writes_carry;
}

void unary_results(const Variant& variant, std::span<const uint64_t> operands,
                   std::span<uint64_t> results) {
  const Instruction& in = variant.instruction();
  const Handler handler = find_handler(in);
  const unsigned bits = register_bits(variant.result);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Bits operand = operands[i];
    const Bits result = handler({in, {&operand, 1}}).d;
    results[i] = static_cast<uint64_t>(fill_register(result, variant.result, bits));
  }
}

std::vector<Variant> all_variants() {
  std::vector<Variant> all;
  for (const Form& form : ptx::all_forms()) {
    if (form.any_modifiers || form.operands.empty()) continue;
    if (!is_computation(form.opcode)) continue;
    for (const Mnemonic& mnemonic : mnemonics_of(form)) add_variants(form, mnemonic, all);
  }
  return all;
}

}  // namespace km::reference
