// InstructionRewriter: written forms that become other instructions of the typed form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/instruction_emitter.h"
#include "ptx/parser/instruction/written_instruction.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// InstructionRewriter rewrites elements of arrays as operands, addresses without a state space,
/// moves of vectors, and loads of which a part is used.
class InstructionRewriter {
 public:
  /// `emitter` gets the instructions.
  InstructionRewriter(const TokenStream& tokens, FunctionContext& context,
                      InstructionEmitter& emitter, WrittenInstruction& written)
      : tokens_(tokens), context_(context), emitter_(emitter), written_(written) {}

  /// rewrite_operands() takes off braces around a single register, and makes addresses of elements
  /// of arrays.
  Status rewrite_operands(Instruction& instruction, const Mnemonic& mnemonic);

  /// name_space() gives an address without a state space that of the variable that it names.
  Status name_space(Instruction& instruction, const Mnemonic*& mnemonic);

  /// split_vector_move() makes moves of elements of mov.v2 and mov.v4: all elements are read before
  /// the first one is written.
  Status split_vector_move(const Instruction& instruction, const Mnemonic& mnemonic);

  /// split_load() makes loads of those elements of which `used_bytes` names a byte, so that the
  /// others may lie outside of memory.
  Status split_load(const Instruction& instruction, const Mnemonic& mnemonic, uint64_t used_bytes);

 private:
  /// Copy is a register that a part of a load goes to first.
  struct Copy {
    Operand target, copy;
  };

  /// unwrap() makes `%r` of `{%r}`.
  void unwrap(Operand& operand) const;

  /// is_plain_move() is true if braces around operand `index` of a mov stand around a register, and
  /// a register is on the other side.
  bool is_plain_move(const Instruction& instruction, unsigned index) const;

  /// negate_predicate() reads `!%p` by an instruction of its own.
  Status negate_predicate(Operand& operand);

  /// widen_base() widens the base of an address that is a register of 8 or 16 bits.
  Status widen_base(Operand& address);

  /// address_element() makes an address of the current operand, an element of an array.
  Status address_element(Operand& operand, const Mnemonic& mnemonic);

  /// make_generic() makes a generic address in a register of the address of a variable.
  Status make_generic(Operand& address);

  /// load_part() loads the used bytes of one element and returns the register that has them.
  Result<Operand> load_part(const Instruction& load, const Mnemonic& mnemonic, uint32_t element,
                            uint64_t used, RegisterId target);

  const TokenStream& tokens_;
  FunctionContext& context_;
  InstructionEmitter& emitter_;
  WrittenInstruction& written_;
};

}  // namespace km::ptx
