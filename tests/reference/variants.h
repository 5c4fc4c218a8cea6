// Every way to write the instructions of the table that compute something.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptx/ptx.h"
#include "reference/operands.h"

namespace km::reference {

/// One source operand of a variant: read from a column of inputs, or a constant.
struct Source {
  Type type = Type::none;
  bool constant = false;
  uint64_t value = 0;
};

/// One instruction with registers as operands.
struct Variant {
  std::string mnemonic;  // "add.rn.ftz.f32"
  std::string text;      // with its operands, and the name of the second destination
  std::string form;      // the row of the table
  std::vector<Source> sources;
  Type result = Type::none;
  bool second_result = false;
  bool reads_carry = false, writes_carry = false;
  bool is_newer = false;                      // than sm_90, or of targets with a suffix
  std::shared_ptr<const ptx::Module> module;  // the instruction, parsed
  uint32_t index = 0;                         // in the code of its function

  const Instruction& instruction() const { return module->functions[0].code[index]; }
};

/// The first lines of a module; those of newer variants need a device of capability 10.0.
std::string module_header(bool is_newer);

/// All variants whose meaning the reference knows, in the order of the table.
std::vector<Variant> all_variants();

/// One operand of at most 32 bits, one result, and nothing else.
bool is_unary(const Variant& variant);
/// What the plain reference gives for each operand of such a variant, as the register holds it.
void unary_results(const Variant& variant, std::span<const uint64_t> operands,
                   std::span<uint64_t> results);

/// "%f" of f32, "%r" of 32 bits and the like.
std::string register_prefix(Type type);
/// The bits of the register that operands of the type use here.
unsigned register_bits(Type type);

}  // namespace km::reference
