// BranchParser: the operands of branches and calls.
#pragma once

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/form_chooser.h"
#include "ptx/parser/instruction/operand_parser.h"
#include "ptx/parser/instruction/written_instruction.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// BranchParser reads operands that are labels, functions, and lists of them or of arguments.
class BranchParser {
 public:
  /// `operands` reads indices and arguments.
  BranchParser(TokenStream& tokens, FunctionContext& context, OperandParser& operands,
               FormChooser& forms, const WrittenInstruction& written)
      : tokens_(tokens), context_(context), operands_(operands), forms_(forms), written_(written) {}

  /// parse_branch() reads the label of a bra.
  Status parse_branch(Instruction& instruction);

  /// parse_indexed_branch() reads the index and the list of targets of a brx.
  Status parse_indexed_branch(Instruction& instruction);

  /// parse_call() reads `(results), callee, (arguments), targets` of a call; everything but the
  /// callee may be left out.
  Status parse_call(Instruction& instruction);

 private:
  /// parse_list() reads results or arguments in brackets.
  Status parse_list(Instruction& instruction);

  /// add_empty_list() adds results or arguments that are left out.
  Status add_empty_list(Instruction& instruction);

  /// parse_callee() reads the name of a function, or of a register with the address of one.
  Status parse_callee(Instruction& instruction);

  /// parse_call_targets() reads the prototype or the list of functions of an indirect call.
  Status parse_call_targets(Instruction& instruction);

  /// add_reference() adds an operand whose name may be declared later.
  Status add_reference(Instruction& instruction, Operand::Kind kind, const Token& name);

  TokenStream& tokens_;
  FunctionContext& context_;
  OperandParser& operands_;
  FormChooser& forms_;
  const WrittenInstruction& written_;
};

}  // namespace km::ptx
