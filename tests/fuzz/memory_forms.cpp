#include "memory_forms.h"

#include <set>

#include "ptx/forms.h"
#include "ptx/ptx.h"
#include "reference/variants.h"

namespace km::fuzz {
namespace {

using ptx::Form;
using ptx::Modifier;
using ptx::Opcode;
using ptx::OperandSpec;
using ptx::Type;

bool is_memory(Opcode opcode) {
  switch (opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
      return true;
    default:
      return false;
  }
}

/// One choice from every group of a form's syntax.
struct Choice {
  std::string mnemonic;
  ptx::Instruction in;  // types and modifiers only

  Choice(const Form& form, reference::Random& random) : mnemonic(ptx::text_of(form.opcode)) {
    in.opcode = form.opcode;
    for (const ptx::SyntaxGroup& group : form.groups) {
      const size_t options = group.modifiers.size() + group.types.size();
      const uint64_t pick = random.below(options + (group.optional ? 1 : 0));
      if (pick >= options) continue;
      if (pick < group.modifiers.size()) {
        add(group.modifiers[pick]);
      } else {
        in.types[in.type_count++] = group.types[pick - group.modifiers.size()];
        mnemonic += "." + std::string(ptx::text_of(in.types[in.type_count - 1u]));
      }
    }
  }

  void add(Modifier modifier) {
    const auto index = static_cast<uint32_t>(modifier);
    in.modifiers.push_back(modifier);
    in.modifier_bits[index / 64] |= uint64_t{1} << (index % 64);
    mnemonic += "." + std::string(ptx::text_of(modifier));
  }
};

/// Parameters are calls' business; asynchronous stores need a barrier object.
bool is_left_out(const Choice& choice) {
  for (Modifier modifier : {Modifier::param, Modifier::param_entry, Modifier::param_func,
                            Modifier::async, Modifier::bulk}) {
    if (choice.in.has(modifier)) return true;
  }
  return choice.in.type() == Type::b128;
}

/// Of reals PTX adds; minima and maxima it has of vectors of halves only.
bool is_undefined(const Choice& choice) {
  const bool real = choice.in.type() == Type::f32 || choice.in.type() == Type::f64;
  const bool atomic = choice.in.opcode == Opcode::atom || choice.in.opcode == Opcode::red;
  return real && atomic && !choice.in.has(Modifier::add);
}

std::string operand_text(const OperandSpec& spec, const ptx::Instruction& in) {
  if (spec.shape == ptx::OperandShape::address) return "[%y3]";
  const std::string reg = reference::register_prefix(ptx::operand_type(spec, in)) + "?";
  const uint32_t count = ptx::element_count(spec, in);
  if (count <= 1) return reg;
  std::string text = "{" + reg;
  for (uint32_t i = 1; i < count; ++i) text += ", " + reg;
  return text + "}";
}

std::string text_of(const Form& form, const Choice& choice) {
  std::string text = choice.mnemonic;
  const char* separator = " ";
  for (const OperandSpec& spec : form.operands) {
    if (spec.needs && !choice.in.has(*spec.needs)) continue;
    text += separator + operand_text(spec, choice.in);
    separator = ", ";
  }
  return text + ";";
}

std::string space_name(const ptx::Instruction& in) {
  if (in.opcode == Opcode::ldu) return "global";
  const ptx::Space space = ptx::space_of(in);
  return space == ptx::Space::generic ? "" : std::string(ptx::text_of(space));
}

/// True if PTX has this combination for the device under test, as the parser sees it.
bool parses(std::string text) {
  for (size_t at = text.find('?'); at != std::string::npos; at = text.find('?')) text[at] = '0';
  const std::string module =
      module_header() +
      ".visible .entry k() {\n"
      ".reg .b16 %h0; .reg .b32 %r0; .reg .b64 %l0, %y3; .reg .f32 %f0; .reg .f64 %d0;\n" +
      text + "\nret;\n}\n";
  return static_cast<bool>(ptx::parse(module, "memory"));
}

}  // namespace

std::vector<MemoryForm> memory_forms(unsigned samples, uint64_t seed) {
  std::vector<MemoryForm> all;
  std::set<std::string> known;
  reference::Random random(seed);
  for (const Form& form : ptx::all_forms()) {
    if (!is_memory(form.opcode)) continue;
    for (unsigned i = 0; i < samples; ++i) {
      const Choice choice(form, random);
      if (is_left_out(choice) || is_undefined(choice) || !known.insert(choice.mnemonic).second)
        continue;
      const std::string text = text_of(form, choice);
      if (!parses(text)) continue;
      const bool reads_only = choice.in.has(Modifier::nc) || form.opcode == Opcode::ldu;
      all.push_back(
          {choice.mnemonic, text, ptx::form_text(form), space_name(choice.in), reads_only});
    }
  }
  return all;
}

std::vector<std::string> address_lines(const MemoryForm& form, reference::Random& random) {
  std::string space = form.space;
  const bool generic = space.empty();
  if (generic) space = random.below(2) ? "global" : random.below(2) ? "shared" : "local";
  const bool atomic = form.mnemonic[0] == 'a' || form.mnemonic[0] == 'r';
  if (generic && space == "local" && atomic) space = "shared";
  if (space == "const") return {"mov.u64 %y3, table;"};
  if (form.reads_only) {
    return {"and.b32 %x14, %r" + std::to_string(random.below(kWords)) + ", 127;",
            "mad.wide.u32 %y3, %x14, 32, %in;"};
  }
  if (space == "local") {
    if (!generic) return {"mov.u64 %y3, own;"};
    return {"mov.u64 %y3, own;", "cvta.local.u64 %y3, %y3;"};
  }
  if (space == "shared") {
    std::vector<std::string> lines{"mov.u64 %y3, slots;", "mad.wide.u32 %y3, %self, 32, %y3;",
                                   "st.shared.v4.b32 [%y3], {%r4, %r5, %r2, %r7};",
                                   "st.shared.v2.b64 [%y3+16], {%l0, %l2};"};
    if (generic) lines.push_back("cvta.shared.u64 %y3, %y3;");
    return lines;
  }
  const std::string offset = std::to_string(kScratchOffset + 32 * random.below(2));
  return {"add.u64 %y3, %out, " + offset + ";"};
}

}  // namespace km::fuzz
