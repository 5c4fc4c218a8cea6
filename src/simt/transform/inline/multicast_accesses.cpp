#include "simt/transform/inline/multicast_accesses.h"

#include <string>

#include "ptx/mnemonic.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

namespace {

/// The suffix ".relaxed.gpu.global.v4", with the parts that the instruction has.
std::string shared_parts(const Instruction& instruction) {
  std::string text;
  for (Modifier modifier :
       {Modifier::weak, Modifier::relaxed, Modifier::acquire, Modifier::release, Modifier::cta,
        Modifier::cluster, Modifier::gpu, Modifier::sys, Modifier::global}) {
    if (instruction.has(modifier)) text += "." + std::string(ptx::text_of(modifier));
  }
  return text;
}

std::string vector_part(const Instruction& instruction) {
  for (Modifier modifier : {Modifier::v2, Modifier::v4, Modifier::v8}) {
    if (instruction.has(modifier)) return "." + std::string(ptx::text_of(modifier));
  }
  return "";
}

std::string reduction_part(const Instruction& instruction) {
  for (Modifier modifier : {Modifier::add, Modifier::min, Modifier::max, Modifier::and_,
                            Modifier::or_, Modifier::xor_, Modifier::inc, Modifier::dec}) {
    if (instruction.has(modifier)) return "." + std::string(ptx::text_of(modifier));
  }
  return "";
}

bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}

bool is_byte_float(Type type) {
  switch (type) {
    case Type::e4m3:
    case Type::e4m3x2:
    case Type::e4m3x4:
    case Type::e5m2:
    case Type::e5m2x2:
    case Type::e5m2x4:
      return true;
    default:
      return false;
  }
}

/// The reduction of a single memory that replaces the reduction of all memories.
std::string reduction(const Instruction& instruction) {
  const Type type = instruction.type();
  std::string text = reduction_part(instruction);
  if (is_half(type)) text += ".noftz";
  text += vector_part(instruction);
  // Signed and unsigned sums have the same bits, so one type serves both.
  return text + "." +
         std::string(type == Type::s64 && instruction.has(Modifier::add) ? "u64"
                                                                         : ptx::text_of(type));
}

/// The mnemonic of the replacement; empty if there is none.
std::string access_of(const Instruction& instruction) {
  const std::string bits = "." + std::string(bits_type_text(ptx::size_bytes(instruction.type(0))));
  if (instruction.has(Modifier::bulk)) {
    const bool reduces = instruction.has(Modifier::reduce);
    return (reduces ? "cp.reduce" : "cp") +
           std::string(".async.bulk.global.shared::cta.bulk_group") +
           (reduces ? reduction(instruction) : "") +
           (instruction.has(Modifier::cp_mask) ? ".cp_mask" : "");
  }
  if (is_byte_float(instruction.type())) return "";
  const std::string parts = shared_parts(instruction), count = vector_part(instruction);
  if (instruction.has(Modifier::ld_reduce)) return "ld" + parts + count + bits;
  if (instruction.has(Modifier::st)) return "st" + parts + count + bits;
  return instruction.has(Modifier::red) ? "red" + parts + reduction(instruction) : "";
}

Instruction resolved(const Instruction& instruction, const std::string& mnemonic) {
  const auto& operands = instruction.operands;
  constexpr unsigned kWithSize = 3;
  if (instruction.operand_count < kWithSize) {
    return make_instruction(mnemonic, {operands[0], operands[1]}, instruction);
  }
  if (instruction.has(Modifier::cp_mask)) {
    return make_instruction(mnemonic, {operands[0], operands[1], operands[2], operands[3]},
                            instruction);
  }
  return make_instruction(mnemonic, {operands[0], operands[1], operands[2]}, instruction);
}

}  // namespace

void resolve_multicast(ptx::Function& function) {
  for (Instruction& instruction : function.code) {
    if (instruction.opcode != Opcode::multimem) continue;
    const std::string mnemonic = access_of(instruction);
    if (mnemonic.empty() || !ptx::read_mnemonic(mnemonic).error.empty()) continue;
    instruction = resolved(instruction, mnemonic);
  }
}

}  // namespace km::simt
