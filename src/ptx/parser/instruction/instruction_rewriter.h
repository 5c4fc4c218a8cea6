// Rewrites written forms that the typed form does not have.
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

/// Rewrites array elements as operands, addresses without a state space, moves of vectors, and
/// loads whose result is only partly used.
class InstructionRewriter {
 public:
  /// New instructions are appended by `emitter`.
  InstructionRewriter(const TokenStream& tokens, FunctionContext& context,
                      InstructionEmitter& emitter, WrittenInstruction& written)
      : tokens_(tokens), context_(context), emitter_(emitter), written_(written) {}

  /// Removes braces around a single register, and replaces array elements by their addresses.
  Status rewrite_operands(Instruction& instruction, const Mnemonic& mnemonic);

  /// Gives an address without a state space the space of the variable that it names.
  Status name_space(Instruction& instruction, const Mnemonic*& mnemonic);

  /// Splits mov.v2 and mov.v4 into moves of their elements; all sources are read before the first
  /// destination is written.
  Status split_vector_move(const Instruction& instruction, const Mnemonic& mnemonic);

  /// Splits a load into loads of the elements with a byte in `used_bytes`, because the other
  /// elements may be outside of allocated memory.
  Status split_load(const Instruction& instruction, const Mnemonic& mnemonic, uint64_t used_bytes);

 private:
  /// The register that first receives a part of a load.
  struct Copy {
    Operand target, copy;
  };

  /// Replaces `{%r}` by `%r`.
  void unwrap(Operand& operand) const;

  /// True if operand `index` of a mov is a single register in braces, and the other operand is a
  /// register.
  bool is_plain_move(const Instruction& instruction, unsigned index) const;

  /// Computes `!%p` with an instruction of its own.
  Status negate_predicate(Operand& operand);

  /// Widens the base register of an address if it has 8 or 16 bits.
  Status widen_base(Operand& address);

  /// Replaces an array element, the current operand, by its address.
  Status address_element(Operand& operand, const Mnemonic& mnemonic);

  /// Converts the address of a variable to a generic one in a register.
  Status make_generic(Operand& address);

  /// Loads the used bytes of one element and returns the register with them.
  Result<Operand> load_part(const Instruction& load, const Mnemonic& mnemonic, uint32_t element,
                            uint64_t used, RegisterId target);

  const TokenStream& tokens_;
  FunctionContext& context_;
  InstructionEmitter& emitter_;
  WrittenInstruction& written_;
};

}  // namespace km::ptx
