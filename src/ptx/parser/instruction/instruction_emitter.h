// InstructionEmitter: instructions, written or made by the parser, appended to their function.
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

/// InstructionEmitter appends what one written instruction becomes.
class InstructionEmitter {
 public:
  /// Errors stand at the operands of `written`.
  InstructionEmitter(MnemonicTable& mnemonics, FormChooser& forms, FunctionContext& context,
                     const WrittenInstruction& written)
      : mnemonics_(mnemonics), forms_(forms), context_(context), written_(written) {}

  /// emit() chooses the form of an instruction and appends it.
  Status emit(Instruction&& instruction, const Mnemonic& mnemonic);

  /// choose_form() chooses the form of an instruction and appends nothing.
  Status choose_form(Instruction& instruction, const Mnemonic& mnemonic);

  /// emit_helper() appends an instruction in front of the one being read; its errors stand at the
  /// operand that needs it. `text` is a literal.
  Status emit_helper(std::string_view text, std::initializer_list<Operand> operands);

  /// find_made() is the mnemonic of a text that the parser has put together.
  Result<const Mnemonic*> find_made(std::string text);

 private:
  MnemonicTable& mnemonics_;
  FormChooser& forms_;
  FunctionContext& context_;
  const WrittenInstruction& written_;
};

}  // namespace km::ptx
