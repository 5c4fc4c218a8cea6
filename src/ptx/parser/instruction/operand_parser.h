// The operands of instructions: registers, constants, addresses, vectors and others.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/instruction_emitter.h"
#include "ptx/parser/instruction/written_instruction.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Parses the operands of the instructions of one function.
class OperandParser {
 public:
  /// `emitter` appends instructions that compute an operand; notes go to `written`.
  OperandParser(TokenStream& tokens, ExpressionParser& expressions, FunctionContext& context,
                InstructionEmitter& emitter, WrittenInstruction& written)
      : tokens_(tokens),
        expressions_(expressions),
        context_(context),
        emitter_(emitter),
        written_(written) {}

  /// Parses the operands of an instruction up to its semicolon.
  Status parse_all(Instruction& instruction);

  /// Parses an operand and adds it to the instruction.
  Status parse_next(Instruction& instruction);

  /// Parses an operand without brackets, as arguments and elements of vectors are.
  Result<Operand> parse_simple();

  /// Adds an operand whose position in the text is that of `at`.
  Status add(Instruction& instruction, const Operand& operand, const Token& at);

 private:
  Result<Operand> parse_operand();

  Result<Operand> parse_immediate();

  /// Parses `!%p`, `-%r`, or a constant that starts with an operator.
  Result<Operand> parse_negated();

  /// Parses an operand that starts with a name.
  Result<Operand> parse_named();

  /// Parses the suffix of a register or vector register: a component, a part select or an offset.
  Result<Operand> parse_register(const Entity& entity);

  /// Parses `%tid.x`, or all four components of `%tid` as a vector.
  Result<Operand> parse_special_register(const Token& name);

  /// Parses the suffix of a variable or function: an offset or an index.
  Result<Operand> parse_symbol(const Entity& entity);

  /// Parses the part select of a video instruction, such as `.b0`.
  Result<uint16_t> parse_selector();

  /// Parses `{a, b}`.
  Result<Operand> parse_vector();

  /// Parses an optional `|p` after `first`.
  Result<Operand> parse_pair_rest(Operand first);

  /// Parses `+constant` after a register; a helper instruction computes the sum.
  Result<Operand> parse_sum(const Operand& base);

  /// Parses `[3]`, `[%r]` or `[%r+1]` after an array: the address of the element, with the index in
  /// elements. Indices in registers are 32 bits, unsigned.
  Result<Operand> parse_element(Operand array);

  /// Computes the address of an element whose index is in a register.
  Result<Operand> compute_address(const Operand& array, Space space, const Operand& index,
                                  uint64_t element_bytes, const Token& at);

  /// Narrows an index to a 32-bit register.
  Result<Operand> narrow_index(const Operand& index, const Token& at);

  /// Parses `[base+offset]`, or the tuple `[a, b, {c, d}]`.
  Result<Operand> parse_address();

  /// Parses the elements of a tuple after the first one.
  Result<Operand> parse_tuple_rest(Operand first);

  /// The vector of all registers of a vector register's name.
  Operand whole_vector(const Entity& entity);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  FunctionContext& context_;
  InstructionEmitter& emitter_;
  WrittenInstruction& written_;
  bool after_component_ = false;  // the last operand is a component of a vector register
};

}  // namespace km::ptx
