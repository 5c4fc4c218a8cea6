// The operands of branches and calls.
#pragma once

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/form_chooser.h"
#include "ptx/parser/instruction/operand_parser.h"
#include "ptx/parser/instruction/written_instruction.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Parses operands that are labels, functions, or lists of these or of arguments.
class BranchParser {
 public:
  /// `operands` parses indices and arguments.
  BranchParser(TokenStream& tokens, FunctionContext& context, OperandParser& operands,
               FormChooser& forms, const WrittenInstruction& written)
      : tokens_(tokens), context_(context), operands_(operands), forms_(forms), written_(written) {}

  /// Parses the label of a bra.
  Status parse_branch(Instruction& instruction);

  /// Parses the index and the target list of a brx.idx.
  Status parse_indexed_branch(Instruction& instruction);

  /// Parses `(results), callee, (arguments), targets` of a call; only the callee is required.
  Status parse_call(Instruction& instruction);

 private:
  /// Parses results or arguments in parentheses.
  Status parse_list(Instruction& instruction);

  /// Adds an empty list for omitted results or arguments.
  Status add_empty_list(Instruction& instruction);

  /// Parses the name of a function, or of a register with a function's address.
  Status parse_callee(Instruction& instruction);

  /// Parses the prototype or the function list of an indirect call.
  Status parse_call_targets(Instruction& instruction);

  /// Adds an operand whose name may be declared later.
  Status add_reference(Instruction& instruction, Operand::Kind kind, const Token& name);

  TokenStream& tokens_;
  FunctionContext& context_;
  OperandParser& operands_;
  FormChooser& forms_;
  const WrittenInstruction& written_;
};

}  // namespace km::ptx
