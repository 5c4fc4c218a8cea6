// OperandParser: registers, constants, addresses, vectors and what else an instruction takes.
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

/// OperandParser reads the operands of the instructions of one function.
class OperandParser {
 public:
  /// `emitter` gets the instructions that compute an operand; notes go to `written`.
  OperandParser(TokenStream& tokens, ExpressionParser& expressions, FunctionContext& context,
                InstructionEmitter& emitter, WrittenInstruction& written)
      : tokens_(tokens),
        expressions_(expressions),
        context_(context),
        emitter_(emitter),
        written_(written) {}

  /// parse_all() reads the operands of an instruction up to its semicolon.
  Status parse_all(Instruction& instruction);

  /// parse_next() reads an operand and adds it to the instruction.
  Status parse_next(Instruction& instruction);

  /// parse_simple() reads an operand without brackets of its own: all that an argument or an
  /// element of a vector can be.
  Result<Operand> parse_simple();

  /// add() adds an operand that was written at a token.
  Status add(Instruction& instruction, const Operand& operand, const Token& at);

 private:
  /// parse_operand() reads an operand of any kind.
  Result<Operand> parse_operand();

  /// parse_immediate() reads a constant.
  Result<Operand> parse_immediate();

  /// parse_negated() reads `!%p`, `-%r`, or a constant that begins with an operator.
  Result<Operand> parse_negated();

  /// parse_named() reads an operand that begins with a name.
  Result<Operand> parse_named();

  /// parse_register() reads what may follow the name of a register or of a vector of them.
  Result<Operand> parse_register(const Entity& entity);

  /// parse_special_register() reads `%tid.x`, or all four components of `%tid` as a vector.
  Result<Operand> parse_special_register(const Token& name);

  /// parse_symbol() reads what may follow the name of a variable or function.
  Result<Operand> parse_symbol(const Entity& entity);

  /// parse_selector() reads the part of a register that video instructions take, such as `.b0`.
  Result<uint16_t> parse_selector();

  /// parse_vector() reads `{a, b}`.
  Result<Operand> parse_vector();

  /// parse_pair_rest() reads `|p` after `first`, or nothing.
  Result<Operand> parse_pair_rest(Operand first);

  /// parse_sum() reads `+constant` after a register; an instruction in front computes the sum.
  Result<Operand> parse_sum(const Operand& base);

  /// parse_element() reads `[3]`, `[%r]` or `[%r+1]` after an array: the element's address, counted
  /// in elements. Indices in registers count as 32 bits without a sign.
  Result<Operand> parse_element(Operand array);

  /// compute_address() computes the address of an element whose index is in a register.
  Result<Operand> compute_address(const Operand& array, Space space, const Operand& index,
                                  uint64_t element_bytes, const Token& at);

  /// narrow_index() is an index in a register of 32 bits.
  Result<Operand> narrow_index(const Operand& index, const Token& at);

  /// parse_address() reads `[base+offset]`, or the tuple `[a, b, {c, d}]`.
  Result<Operand> parse_address();

  /// parse_tuple_rest() reads the elements of a tuple after the first one.
  Result<Operand> parse_tuple_rest(Operand first);

  /// whole_vector() is the vector of all registers that the name of one stands for.
  Operand whole_vector(const Entity& entity);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  FunctionContext& context_;
  InstructionEmitter& emitter_;
  WrittenInstruction& written_;
  bool after_component_ = false;  // the operand just read is a component of a vector register
};

}  // namespace km::ptx
