#include "ptx/parser/instruction/instruction_emitter.h"

#include <utility>

namespace km::ptx {

Status InstructionEmitter::emit(Instruction&& instruction, const Mnemonic& mnemonic) {
  KM_TRY(choose_form(instruction, mnemonic));
  context_.function().code.push_back(std::move(instruction));
  return {};
}

Status InstructionEmitter::choose_form(Instruction& instruction, const Mnemonic& mnemonic) {
  return forms_.choose(instruction, mnemonic, written_);
}

Status InstructionEmitter::emit_helper(std::string_view text,
                                       std::initializer_list<Operand> operands) {
  const Token& at = written_.mnemonic_token;
  KM_ASSIGN(const Mnemonic* mnemonic, mnemonics_.find(at, text));
  Instruction helper;
  helper.location = {at.line, at.column};
  helper.source_line = context_.source_line();
  helper.opcode = mnemonic->opcode;
  for (const Operand& operand : operands) helper.operands[helper.operand_count++] = operand;
  WrittenInstruction place;
  place.mnemonic_token = at;
  place.operand_tokens.fill(written_.operand_tokens[written_.current_operand]);
  KM_TRY(forms_.choose(helper, *mnemonic, place));
  context_.function().code.push_back(std::move(helper));
  return {};
}

Result<const Mnemonic*> InstructionEmitter::find_made(std::string text) {
  return mnemonics_.find_made(written_.mnemonic_token, std::move(text));
}

}  // namespace km::ptx
