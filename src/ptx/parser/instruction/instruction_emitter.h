// Appends instructions to their function, both written and synthesized ones.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/instruction/form_chooser.h"
#include "ptx/parser/instruction/mnemonic_table.h"
#include "ptx/parser/instruction/written_instruction.h"

namespace km::ptx {

/// Appends the instructions for one written instruction.
class InstructionEmitter {
 public:
  /// Errors refer to the operands' positions in `written`.
  InstructionEmitter(MnemonicTable& mnemonics, FormChooser& forms, FunctionContext& context,
                     const WrittenInstruction& written)
      : mnemonics_(mnemonics), forms_(forms), context_(context), written_(written) {}

  /// Selects the form of an instruction and appends it.
  Status emit(Instruction&& instruction, const Mnemonic& mnemonic);

  /// Selects the form of an instruction without appending it.
  Status choose_form(Instruction& instruction, const Mnemonic& mnemonic);

  /// Appends an instruction before the current one, whose operand needs it; errors refer to that
  /// operand. `text` must be a string literal.
  Status emit_helper(std::string_view text, std::initializer_list<Operand> operands);

  /// The mnemonic for a text that the parser has composed.
  Result<const Mnemonic*> find_made(std::string text);

 private:
  MnemonicTable& mnemonics_;
  FormChooser& forms_;
  FunctionContext& context_;
  const WrittenInstruction& written_;
};

}  // namespace km::ptx
