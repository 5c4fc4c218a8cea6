// Selects the form of an instruction and converts its constants.
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

/// An operand that holds a constant as written, with its kind in `offset`, until FormChooser
/// converts it to the operand's type.
Operand immediate_operand(const Constant& constant);

/// Finds the form that fits an instruction's operands.
class FormChooser {
 public:
  /// The instructions belong to the function of `context`.
  FormChooser(const TokenStream& tokens, FunctionContext& context)
      : tokens_(tokens), context_(context) {}

  /// Selects the first form of the mnemonic that fits, and converts constants to the form's types.
  /// Errors refer to the operands' positions in `written`.
  Status choose(Instruction& instruction, const Mnemonic& mnemonic,
                const WrittenInstruction& written);

  /// Converts constants among a call's results or arguments to the declared types.
  Status convert_call_list(const Instruction& call, unsigned operand,
                           const WrittenInstruction& written);

 private:
  /// The error for an instruction with too few or too many operands.
  Error no_form_error(const Instruction& instruction, const Mnemonic& mnemonic,
                      const WrittenInstruction& written) const;

  /// Converts the constants among all operands.
  Status check_and_convert(Instruction& instruction, const Assignment& assignment,
                           const WrittenInstruction& written);

  /// Converts a constant, which is operand number `index` or a part of it.
  Status convert(Operand& operand, Type type, unsigned index, const WrittenInstruction& written);

  const TokenStream& tokens_;
  FunctionContext& context_;
};

}  // namespace km::ptx
