#include "ptx/parser/instruction/instruction_parser.h"

#include <string>
#include <utility>

namespace km::ptx {

InstructionParser::InstructionParser(TokenStream& tokens, ExpressionParser& expressions,
                                     MnemonicTable& mnemonics, FunctionContext& context)
    : tokens_(tokens),
      mnemonics_(mnemonics),
      context_(context),
      forms_(tokens, context),
      emitter_(mnemonics, forms_, context, written_),
      operands_(tokens, expressions, context, emitter_, written_),
      branches_(tokens, context, operands_, forms_, written_),
      rewriter_(tokens, context, emitter_, written_) {}

Status InstructionParser::parse() {
  Instruction instruction;
  instruction.location = {tokens_.current().line, tokens_.current().column};
  instruction.source_line = context_.source_line();
  written_.has_unified_address = false;
  written_.notes.fill({});
  KM_TRY(parse_guard(instruction));
  KM_ASSIGN(const Mnemonic* mnemonic, mnemonics_.take(written_.mnemonic_token));
  instruction.opcode = mnemonic->opcode;
  written_.mnemonic = mnemonic;
  if (mnemonic->has(Modifier::unified)) {
    return tokens_.error_at(written_.mnemonic_token,
                            "'.unified' stands after the address: [a].unified");
  }
  KM_TRY(parse_operands(instruction));
  KM_TRY(tokens_.expect(';', "after the instruction"));
  if (written_.has_unified_address) {
    const std::string text = std::string(written_.mnemonic_token.text) + ".unified";
    KM_ASSIGN(mnemonic, emitter_.find_made(text));
  }
  return emit(instruction, mnemonic);
}

Status InstructionParser::parse_guard(Instruction& instruction) {
  if (!tokens_.accept('@')) return {};
  instruction.guard_negated = tokens_.accept('!');
  KM_ASSIGN(Token name, tokens_.take_identifier("a predicate register"));
  const auto entity = context_.find(name.text);
  if (!entity) return context_.undefined(name);
  const bool predicate =
      entity->kind == Entity::Kind::reg && context_.register_type(entity->id) == Type::pred;
  if (!predicate) {
    return tokens_.error_at(name,
                            "a guard must be a register of type .pred, found " + quote(name.text));
  }
  instruction.guard = entity->id;
  if (!tokens_.at(Token::Kind::identifier)) {
    return tokens_.unexpected("an instruction after its guard");
  }
  return {};
}

Status InstructionParser::parse_operands(Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::bra:
      return branches_.parse_branch(instruction);
    case Opcode::brx:
      return branches_.parse_indexed_branch(instruction);
    case Opcode::call:
      return branches_.parse_call(instruction);
    default:
      return operands_.parse_all(instruction);
  }
}

Status InstructionParser::emit(Instruction& instruction, const Mnemonic* mnemonic) {
  const auto used_bytes = std::exchange(used_bytes_, std::nullopt);
  KM_TRY(rewriter_.rewrite_operands(instruction, *mnemonic));
  KM_TRY(rewriter_.name_space(instruction, mnemonic));
  const bool vector = mnemonic->has(Modifier::v2) || mnemonic->has(Modifier::v4);
  if (mnemonic->opcode == Opcode::mov && vector) {
    return rewriter_.split_vector_move(instruction, *mnemonic);
  }
  if (used_bytes && mnemonic->opcode == Opcode::ld) {
    return rewriter_.split_load(instruction, *mnemonic, *used_bytes);
  }
  return emitter_.emit(std::move(instruction), *mnemonic);
}

}  // namespace km::ptx
