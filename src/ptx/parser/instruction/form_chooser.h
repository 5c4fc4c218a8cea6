// FormChooser: the choice among the forms of the table, and operands brought to the chosen one.
#pragma once

#include "base/result.h"
#include "ptx/forms.h"
#include "ptx/ir.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/written_instruction.h"
#include "ptx/parser/literal.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// immediate_operand() is an operand that holds a constant as written, with its kind in `offset`,
/// until FormChooser gives it the operand's type.
Operand immediate_operand(const Constant& constant);

/// FormChooser finds the form that an instruction's operands fit.
class FormChooser {
 public:
  /// The instructions are those of the function of `context`.
  FormChooser(const TokenStream& tokens, FunctionContext& context)
      : tokens_(tokens), context_(context) {}

  /// choose() gives an instruction the first form of its mnemonic that fits, and its constants the
  /// form's types. Errors stand where `written` has the operands.
  Status choose(Instruction& instruction, const Mnemonic& mnemonic,
                const WrittenInstruction& written);

  /// convert_call_list() gives constants among a call's results or arguments the declared types.
  Status convert_call_list(const Instruction& call, unsigned operand,
                           const WrittenInstruction& written);

 private:
  /// no_form_error() is the error that an instruction has too few or too many operands.
  Error no_form_error(const Instruction& instruction, const Mnemonic& mnemonic,
                      const WrittenInstruction& written) const;

  /// check_and_convert() converts the constants among all operands.
  Status check_and_convert(Instruction& instruction, const Assignment& assignment,
                           const WrittenInstruction& written);

  /// convert() converts a constant, which is operand number `index` or part of it.
  Status convert(Operand& operand, Type type, unsigned index, const WrittenInstruction& written);

  const TokenStream& tokens_;
  FunctionContext& context_;
};

}  // namespace km::ptx
