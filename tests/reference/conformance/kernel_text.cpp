#include "kernel_text.h"

#include <algorithm>

#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

// Registers: %x1.. sources, %x0 and %p9 results, %l10 the offset of this element, %l11 the size of
// a column, %l12 where the next load comes from, %l13 where the next store goes.
constexpr const char* kPrologue =
    R"(.visible .entry varying(.param .u64 p_in, .param .u64 p_out, .param .u32 p_n)
{
  .reg .pred %p<12>; .reg .b16 %h<12>; .reg .b32 %r<24>; .reg .b64 %l<24>;
  .reg .f32 %f<12>; .reg .f64 %d<12>; .reg .b8 %b<4>;
  mov.u32 %r20, %ctaid.x;
  mov.u32 %r21, %ntid.x;
  mov.u32 %r22, %tid.x;
  INDEX
  ld.param.u32 %r14, [p_n];
  setp.ge.u32 %p10, %r13, %r14;
  @%p10 bra DONE;
  mul.wide.u32 %l10, %r13, 8;
  mul.wide.u32 %l11, %r14, 8;
  ld.param.u64 %l13, [p_out];
  add.s64 %l13, %l13, %l10;
)";

// All threads of a block compute the same in the second kernel, so that scalar code does it.
constexpr const char* kVaryingIndex = "mad.lo.s32 %r13, %r20, %r21, %r22;";
constexpr const char* kUniformIndex = "mov.u32 %r13, %r20;";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Loads source `number`, whose values are column `number - 1`.
std::string load_text(const Source& source, size_t number) {
  const std::string reg = register_prefix(source.type) + std::to_string(number);
  std::string text = "  ld.param.u64 %l12, [p_in];\n  add.s64 %l12, %l12, %l10;\n";
  text += "  mad.lo.u64 %l12, %l11, " + std::to_string(number - 1) + ", %l12;\n";
  if (source.type == Type::pred) {
    return text + "  ld.global.u32 %r12, [%l12];\n  setp.ne.u32 " + reg + ", %r12, 0;\n";
  }
  const Format* format = format_of(source.type);
  const bool real = source.type == Type::f32 || source.type == Type::f64;
  const std::string type =
      (format && real ? "f" : "u") + std::to_string(register_bits(source.type));
  return text + "  ld.global." + type + " " + reg + ", [%l12];\n";
}

std::string store_text(const std::string& reg, Type type) {
  const std::string advance = "  add.s64 %l13, %l13, %l11;\n";
  if (type == Type::pred) {
    return "  selp.u64 %l14, 1, 0, " + reg + ";\n  st.global.u64 [%l13], %l14;\n" + advance;
  }
  // The rest of the element of 8 bytes stays zero.
  const bool real = type == Type::f32 || type == Type::f64;
  const std::string suffix = (real ? "f" : "u") + std::to_string(register_bits(type));
  return "  st.global." + suffix + " [%l13], " + reg + ";\n" + advance;
}

/// Around the instruction: the flag set from %r15, and read into %r16 (0 or not).
std::string carry_in() {
  return "  and.b32 %r15, %r13, 1;\n  add.cc.u32 %r17, %r15, 0xffffffff;\n";
}

std::string carry_out() { return "  addc.u32 %r16, 0, 0;\n" + store_text("%r16", Type::u32); }

bool uses_carry(const Variant& variant) { return variant.reads_carry || variant.writes_carry; }

/// Register `number` has eight bits: `%b1`, whose value comes by `%r1`.
std::string byte_text(const Variant& variant, Type type, size_t number) {
  const std::string digits = std::to_string(number);
  if (variant.text.find("%b" + digits) == std::string::npos) return "";
  const bool is_signed = ptx::is_signed(type);
  if (number != 0) return "  cvt.u8.u32 %b" + digits + ", %r" + digits + ";\n";
  return std::string("  cvt.") + (is_signed ? "s32.s8" : "u32.u8") + " %r0, %b0;\n";
}

std::string variant_text(const Variant& variant) {
  std::string text;
  for (size_t i = 0; i < variant.sources.size(); ++i) {
    if (variant.sources[i].constant) continue;
    text +=
        load_text(variant.sources[i], i + 1) + byte_text(variant, variant.sources[i].type, i + 1);
  }
  if (uses_carry(variant)) text += carry_in();
  text += "  " + variant.text + "\n";
  text += byte_text(variant, variant.result, 0);
  if (uses_carry(variant)) text += carry_out();
  text += store_text(register_prefix(variant.result) + "0", variant.result);
  if (variant.second_result) text += store_text("%p9", Type::pred);
  return text;
}

}  // namespace

std::string module_text(std::span<const Variant* const> variants) {
  const bool is_newer =
      std::any_of(variants.begin(), variants.end(), [](const Variant* v) { return v->is_newer; });
  std::string text = module_header(is_newer) + kPrologue;
  for (const Variant* variant : variants) text += variant_text(*variant);
  text += "DONE:\n  ret;\n}\n";
  const std::string varying = replaced(text, "INDEX", kVaryingIndex);
  std::string uniform = replaced(text.substr(text.find(".visible")), "INDEX", kUniformIndex);
  uniform = replaced(uniform, "entry varying", "entry uniform");
  return varying + replaced(uniform, "p_", "q_");
}

size_t result_columns(const Variant& variant) {
  return 1 + (variant.second_result ? 1 : 0) + (uses_carry(variant) ? 1 : 0);
}

std::vector<uint64_t> expected(const Variant& variant,
                               const std::vector<std::vector<uint64_t>>& columns, uint64_t i,
                               bool carry) {
  std::vector<Bits> sources;
  for (size_t k = 0; k < variant.sources.size(); ++k) {
    const Source& source = variant.sources[k];
    const Bits value = source.constant ? source.value : columns[k][i];
    sources.push_back(truncate(value, ptx::size_bits(source.type)));
  }
  const Instruction& in = variant.instruction();
  const Outcome result = find_handler(in)({in, sources, carry});
  std::vector<uint64_t> values;
  if (uses_carry(variant)) {
    const bool flag = variant.writes_carry ? result.carry : carry;
    values.push_back(flag ? 1 : 0);
  }
  const unsigned bits = register_bits(variant.result);
  values.push_back(static_cast<uint64_t>(fill_register(result.d, variant.result, bits)));
  if (variant.second_result) values.push_back(result.p ? 1 : 0);
  return values;
}

std::vector<Type> signature_of(const Variant& variant) {
  std::vector<Type> types;
  for (const Source& source : variant.sources) types.push_back(source.type);
  return types;
}

}  // namespace km::reference
