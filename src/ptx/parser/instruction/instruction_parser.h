// The parser of instructions, from the guard to the semicolon.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/branch_parser.h"
#include "ptx/parser/instruction/form_chooser.h"
#include "ptx/parser/instruction/instruction_emitter.h"
#include "ptx/parser/instruction/instruction_rewriter.h"
#include "ptx/parser/instruction/mnemonic_table.h"
#include "ptx/parser/instruction/operand_parser.h"
#include "ptx/parser/instruction/written_instruction.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Parses the instructions of one function; it owns the parsers of their parts.
class InstructionParser {
 public:
  /// The instructions are appended to the function of `context`.
  InstructionParser(TokenStream& tokens, ExpressionParser& expressions, MnemonicTable& mnemonics,
                    FunctionContext& context);

  InstructionParser(const InstructionParser&) = delete;
  InstructionParser& operator=(const InstructionParser&) = delete;

  /// Parses one instruction and appends it.
  Status parse();

  /// Sets the bytes that are used of the next load's result (pragma used_bytes_mask).
  void note_used_bytes(uint64_t mask) { used_bytes_ = mask; }

 private:
  /// Parses `@%p` or `@!%p`.
  Status parse_guard(Instruction& instruction);

  /// Parses the operands, depending on the opcode.
  Status parse_operands(Instruction& instruction);

  /// Appends the parsed instruction, rewritten if necessary.
  Status emit(Instruction& instruction, const Mnemonic* mnemonic);

  TokenStream& tokens_;
  MnemonicTable& mnemonics_;
  FunctionContext& context_;
  WrittenInstruction written_;
  FormChooser forms_;
  InstructionEmitter emitter_;
  OperandParser operands_;
  BranchParser branches_;
  InstructionRewriter rewriter_;
  std::optional<uint64_t> used_bytes_;
};

}  // namespace km::ptx
