// Instructions: guard, mnemonic, operands, and the choice among the forms of the table.
#include <algorithm>
#include <utility>

#include "ptx/checks/verifier.h"
#include "ptx/names.h"
#include "ptx/parser/parser.h"

namespace km::ptx {
namespace {

constexpr size_t kMostArguments = 4096;

}  // namespace

Status Parser::parse_instruction() {
  Instruction instruction;
  instruction.location = {token_.line, token_.column};
  instruction.source_line = source_line_;
  unified_address_ = false;
  notes_.fill({});
  KM_TRY(parse_guard(instruction));
  KM_ASSIGN(const Mnemonic* mnemonic, take_mnemonic());
  instruction.opcode = mnemonic->opcode;
  mnemonic_ = mnemonic;
  if (mnemonic->has(Modifier::unified)) {
    return error_at(mnemonic_token_, "'.unified' stands after the address: [a].unified");
  }
  switch (mnemonic->opcode) {
    case Opcode::bra:
      KM_TRY(parse_branch(instruction));
      break;
    case Opcode::brx:
      KM_TRY(parse_indexed_branch(instruction));
      break;
    case Opcode::call:
      KM_TRY(parse_call(instruction));
      break;
    default:
      KM_TRY(parse_operands(instruction));
      break;
  }
  KM_TRY(expect(';', "after the instruction"));
  if (unified_address_) {
    KM_ASSIGN(mnemonic, joined_mnemonic(std::string(mnemonic_token_.text) + ".unified"));
  }
  const auto used_bytes = std::exchange(used_bytes_, std::nullopt);
  KM_TRY(finish_operands(instruction, *mnemonic));
  KM_TRY(name_space(instruction, mnemonic));
  const bool vector = mnemonic->has(Modifier::v2) || mnemonic->has(Modifier::v4);
  if (mnemonic->opcode == Opcode::mov && vector) {
    return split_vector_move(instruction, *mnemonic);
  }
  if (used_bytes && mnemonic->opcode == Opcode::ld) {
    return split_load(instruction, *mnemonic, *used_bytes);
  }
  KM_TRY(choose_form(instruction, *mnemonic));
  function().code.push_back(std::move(instruction));
  return {};
}

Status Parser::parse_guard(Instruction& instruction) {
  if (!accept('@')) return {};
  instruction.guard_negated = accept('!');
  KM_ASSIGN(Token name, take_identifier("a predicate register"));
  auto entity = find_name(name.text);
  if (!entity) return undefined(name);
  bool predicate =
      entity->kind == Entity::Kind::reg && function().registers[entity->id].type == Type::pred;
  if (!predicate) {
    return error_at(name, "a guard must be a register of type .pred, found " + quote(name.text));
  }
  instruction.guard = entity->id;
  if (token_.kind != Token::Kind::identifier) return unexpected("an instruction after its guard");
  return {};
}

Result<const Mnemonic*> Parser::take_mnemonic() {
  mnemonic_token_ = lexer_.extend_mnemonic(token_);
  advance();
  std::string_view text = mnemonic_token_.text;
  if (token_.kind == Token::Kind::dotted) {  // blanks before a modifier
    auto joined = std::make_unique<std::string>(text);
    constexpr size_t kLongest = 1024;
    while (token_.kind == Token::Kind::dotted && joined->size() < kLongest) {
      joined->append(".").append(token_.text);
      advance();
    }
    text = *joined;
    joined_mnemonics_.push_back(std::move(joined));
  }
  return look_up_mnemonic(mnemonic_token_, text);
}

Result<const Mnemonic*> Parser::look_up_mnemonic(const Token& at, std::string_view text) {
  std::unique_ptr<Mnemonic>& known = mnemonics_[text];
  if (!known) {
    known = std::make_unique<Mnemonic>(read_mnemonic(text));
    known->text = text;
  }
  if (!known->error.empty()) {
    auto offset = static_cast<uint32_t>(known->error_offset);
    return error_at(at.line, at.column + offset, known->error);
  }
  return static_cast<const Mnemonic*>(known.get());
}

Status Parser::add_operand(Instruction& instruction, const Operand& operand, const Token& at) {
  if (instruction.operand_count == kMaxOperands) {
    return error_at(at, "too many operands for " + quote(mnemonic_token_.text));
  }
  operand_tokens_[instruction.operand_count] = at;
  instruction.operands[instruction.operand_count++] = operand;
  return {};
}

Status Parser::parse_operands(Instruction& instruction) {
  if (token_.is(';')) return {};
  do {
    Token at = token_;
    current_operand_ = std::min<unsigned>(instruction.operand_count, kMaxOperands - 1);
    operand_tokens_[current_operand_] = at;
    KM_ASSIGN(Operand operand, parse_operand());
    KM_TRY(add_operand(instruction, operand, at));
  } while (accept(','));
  return {};
}

Status Parser::parse_branch(Instruction& instruction) {
  KM_ASSIGN(Token label, take_identifier("a label"));
  Operand operand;
  operand.kind = Operand::Kind::label;
  auto index = static_cast<uint32_t>(function().code.size());
  pending_.push_back({PendingName::Use::branch, label, index, 0});
  return add_operand(instruction, operand, label);
}

Status Parser::parse_indexed_branch(Instruction& instruction) {
  Token at = token_;
  current_operand_ = 0;
  operand_tokens_[0] = at;
  KM_ASSIGN(Operand operand, parse_operand());
  KM_TRY(add_operand(instruction, operand, at));
  KM_TRY(expect(',', "between the index and the list of targets"));
  KM_ASSIGN(Token list, take_identifier("a list of branch targets"));
  Operand targets;
  targets.kind = Operand::Kind::target_list;
  auto index = static_cast<uint32_t>(function().code.size());
  pending_.push_back({PendingName::Use::call_target_list, list, index, 1});
  return add_operand(instruction, targets, list);
}

/// call (results), callee, (arguments), targets;  everything but the callee may be left out.
Status Parser::parse_call(Instruction& instruction) {
  if (token_.is('(')) {
    KM_TRY(parse_call_list(instruction));
    KM_TRY(expect(',', "after the results of a call"));
  } else {
    KM_TRY(add_operand(instruction, pooled(Operand::Kind::list, {}), token_));
  }
  KM_TRY(parse_callee(instruction));
  bool more = accept(',');
  if (more && token_.is('(')) {
    KM_TRY(parse_call_list(instruction));
    more = accept(',');
  } else {
    KM_TRY(add_operand(instruction, pooled(Operand::Kind::list, {}), token_));
  }
  if (more) KM_TRY(parse_call_targets(instruction));
  KM_TRY(convert_call_list(instruction, 0));
  return convert_call_list(instruction, 2);
}

Status Parser::parse_call_list(Instruction& instruction) {
  Token at = token_;
  advance();
  std::vector<Operand> elements;
  while (!token_.is(')')) {
    if (elements.size() == kMostArguments) return error_at(token_, "too many arguments");
    KM_ASSIGN(Operand element, parse_simple_operand());
    if (element.kind == Operand::Kind::vector) {  // a vector register is its parts
      const auto first = function().operand_pool.begin() + element.first;
      elements.insert(elements.end(), first, first + element.count);
    } else {
      elements.push_back(element);
    }
    if (!accept(',')) break;
  }
  KM_TRY(expect(')', "after the arguments of a call"));
  return add_operand(instruction, pooled(Operand::Kind::list, elements), at);
}

Status Parser::parse_callee(Instruction& instruction) {
  KM_ASSIGN(Token name, take_identifier("the name of a function or a register"));
  auto entity = find_name(name.text);
  if (!entity) {
    return error_at(name, "undefined function " + quote(name.text) +
                              ", a function must be declared before it is called");
  }
  Operand callee;
  if (entity->kind == Entity::Kind::reg) {
    callee.kind = Operand::Kind::reg;
    callee.reg = entity->id;
  } else if (entity->kind == Entity::Kind::module_symbol &&
             module_->symbols[entity->id].is_function) {
    callee.kind = Operand::Kind::symbol;
    callee.symbol = entity->id;
  } else {
    return error_at(name, quote(name.text) + " is no function");
  }
  return add_operand(instruction, callee, name);
}

Status Parser::parse_call_targets(Instruction& instruction) {
  KM_ASSIGN(Token name, take_identifier("a prototype or a list of functions"));
  Operand targets;
  auto entity = find_name(name.text);
  if (entity && entity->kind == Entity::Kind::module_symbol) {  // a jump table in memory
    targets.kind = Operand::Kind::symbol;
    targets.symbol = entity->id;
  } else if (entity && entity->kind == Entity::Kind::prototype) {
    targets.kind = Operand::Kind::prototype;
    targets.label = entity->id;
  } else {
    targets.kind = Operand::Kind::target_list;
    auto index = static_cast<uint32_t>(function().code.size());
    pending_.push_back({PendingName::Use::call_target_list, name, index, 3});
  }
  return add_operand(instruction, targets, name);
}

Status Parser::convert_call_list(const Instruction& instruction, unsigned index) {
  const Operand& list = instruction.operands[index];
  for (uint32_t i = 0; i < list.count; ++i) {
    Operand& element = function().operand_pool[list.first + i];
    if (element.kind != Operand::Kind::immediate) continue;
    Type type = argument_type(*module_, function(), instruction, index == 0, i);
    KM_TRY(convert_immediate(element, type, operand_tokens_[index]));
  }
  return {};
}

void Parser::apply_candidate(Instruction& instruction, const Mnemonic::Candidate& candidate) const {
  instruction.form = candidate.form;
  instruction.modifiers = candidate.modifiers;
}

Status Parser::choose_form(Instruction& instruction, const Mnemonic& mnemonic) {
  instruction.types = mnemonic.types;
  instruction.type_count = mnemonic.type_count;
  std::copy(mnemonic.modifier_bits.begin(), mnemonic.modifier_bits.end(),
            instruction.modifier_bits);
  std::optional<OperandProblem> problem;
  for (const Mnemonic::Candidate& candidate : mnemonic.candidates) {
    apply_candidate(instruction, candidate);
    auto assignment = assign_operands(all_forms()[candidate.form], instruction);
    if (!assignment) continue;
    auto found = find_operand_problem(*module_, function(), instruction, *assignment);
    if (!found) return check_and_convert(instruction, *assignment);
    if (!problem || found->operand >= problem->operand) problem = std::move(found);
  }
  if (problem) return error_at(operand_tokens_[problem->operand], problem->message);
  return no_form_error(instruction, mnemonic);
}

Error Parser::no_form_error(const Instruction& instruction, const Mnemonic& mnemonic) const {
  const Form& form = all_forms()[mnemonic.candidates.front().form];
  if (form.min_sm > kNewestSm) {
    Error error = error_at(mnemonic_token_,
                           quote(text_of(mnemonic.opcode)) +
                               " needs sm_100 or later, instructions up to sm_90a are supported");
    if (module_->target_sm >= form.min_sm) error.status = KM_ERROR_UNSUPPORTED_PTX;
    return error;
  }
  std::string counts;
  for (const Mnemonic::Candidate& candidate : mnemonic.candidates) {
    std::string count = operand_count_text(all_forms()[candidate.form], instruction);
    if (counts.find(count) == std::string::npos) counts += (counts.empty() ? "" : " or ") + count;
  }
  return error_at(mnemonic_token_, quote(mnemonic_token_.text) + " takes " + counts +
                                       " operands, found " +
                                       std::to_string(instruction.operand_count));
}

Status Parser::check_and_convert(Instruction& instruction, const Assignment& assignment) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    const OperandSpec& spec = *assignment[i];
    if (notes_[i].is_sum && spec.written) {
      return error_at(operand_tokens_[i], "a result needs a register, not a sum");
    }
    if (operand.kind == Operand::Kind::immediate) {
      KM_TRY(convert_immediate(operand, operand_type(spec, instruction), operand_tokens_[i]));
    }
    if (operand.kind != Operand::Kind::vector) continue;
    Type type = operand_type(spec, instruction, operand.count);
    for (uint32_t k = 0; k < operand.count; ++k) {
      Operand& element = function().operand_pool[operand.first + k];
      if (element.kind == Operand::Kind::immediate) {
        KM_TRY(convert_immediate(element, type, operand_tokens_[i]));
      }
    }
  }
  return {};
}

/// Until here an immediate holds the constant as written, with its kind in `offset`.
Status Parser::convert_immediate(Operand& operand, Type type, const Token& at) {
  Constant constant{static_cast<Constant::Kind>(operand.offset), operand.bits};
  bool fraction = mnemonic_token_.text.starts_with("createpolicy");
  if (fraction && type == Type::f32 && !constant.is_float()) {
    constant = *apply("*", constant, *read_real("1.0"));
  }
  const bool single = constant.kind == Constant::Kind::f32;
  const bool wrong_width = constant.is_float() && kind_of(type) == TypeKind::bits &&
                           type != (single ? Type::b32 : Type::b64);
  if (wrong_width) {
    return error_at(at, "a floating-point constant of " + std::string(single ? "32" : "64") +
                            " bits where ." + std::string(text_of(type)) + " is expected");
  }
  auto bits = bits_as(constant, type);
  if (!bits) {
    std::string name = "." + std::string(text_of(type));
    return error_at(at,
                    constant.is_float()
                        ? "a floating-point constant where an integer (" + name + ") is expected"
                        : "an integer constant where a floating-point value (" + name +
                              ") is expected: write 1.0, 0f3F800000 or 0d3FF0000000000000");
  }
  operand.bits = *bits;
  operand.offset = 0;
  return {};
}

}  // namespace km::ptx
