#include "ptx/parser/instruction/branch_parser.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace km::ptx {
namespace {

constexpr size_t kMostArguments = 4096;

}  // namespace

Status BranchParser::parse_branch(Instruction& instruction) {
  KM_ASSIGN(Token label, tokens_.take_identifier("a label"));
  return add_reference(instruction, Operand::Kind::label, label);
}

Status BranchParser::parse_indexed_branch(Instruction& instruction) {
  KM_TRY(operands_.parse_next(instruction));
  KM_TRY(tokens_.expect(',', "between the index and the list of targets"));
  KM_ASSIGN(Token list, tokens_.take_identifier("a list of branch targets"));
  return add_reference(instruction, Operand::Kind::target_list, list);
}

Status BranchParser::add_reference(Instruction& instruction, Operand::Kind kind,
                                   const Token& name) {
  using Use = ForwardReferences::Use;
  Operand operand;
  operand.kind = kind;
  const Use use = kind == Operand::Kind::label ? Use::branch : Use::call_target_list;
  context_.references().add(use, name, context_.next_instruction(), instruction.operand_count);
  return operands_.add(instruction, operand, name);
}

Status BranchParser::parse_call(Instruction& instruction) {
  if (tokens_.at('(')) {
    KM_TRY(parse_list(instruction));
    KM_TRY(tokens_.expect(',', "after the results of a call"));
  } else {
    KM_TRY(add_empty_list(instruction));
  }
  KM_TRY(parse_callee(instruction));
  bool more = tokens_.accept(',');
  if (more && tokens_.at('(')) {
    KM_TRY(parse_list(instruction));
    more = tokens_.accept(',');
  } else {
    KM_TRY(add_empty_list(instruction));
  }
  if (more) KM_TRY(parse_call_targets(instruction));
  KM_TRY(forms_.convert_call_list(instruction, 0, written_));
  return forms_.convert_call_list(instruction, 2, written_);
}

Status BranchParser::parse_list(Instruction& instruction) {
  Token at = tokens_.current();
  tokens_.advance();
  std::vector<Operand> elements;
  while (!tokens_.at(')')) {
    if (elements.size() == kMostArguments) return tokens_.error_here("too many arguments");
    KM_ASSIGN(Operand element, operands_.parse_simple());
    if (element.kind == Operand::Kind::vector) {  // a vector register counts as its components
      const std::vector<Operand> parts = context_.elements(element);
      elements.insert(elements.end(), parts.begin(), parts.end());
    } else {
      elements.push_back(element);
    }
    if (!tokens_.accept(',')) break;
  }
  KM_TRY(tokens_.expect(')', "after the arguments of a call"));
  return operands_.add(instruction, context_.pooled(Operand::Kind::list, elements), at);
}

Status BranchParser::add_empty_list(Instruction& instruction) {
  return operands_.add(instruction, context_.pooled(Operand::Kind::list, {}), tokens_.current());
}

Status BranchParser::parse_callee(Instruction& instruction) {
  KM_ASSIGN(Token name, tokens_.take_identifier("the name of a function or a register"));
  const auto entity = context_.find(name.text);
  if (!entity) {
    return tokens_.error_at(name, "undefined function " + quote(name.text) +
                                      ", a function must be declared before it is called");
  }
  Operand callee;
  if (entity->kind == Entity::Kind::reg) {
    callee.kind = Operand::Kind::reg;
    callee.reg = entity->id;
  } else if (entity->kind == Entity::Kind::module_symbol &&
             context_.module().symbols[entity->id].is_function) {
    callee.kind = Operand::Kind::symbol;
    callee.symbol = entity->id;
  } else {
    return tokens_.error_at(name, quote(name.text) + " is not a function");
  }
  return operands_.add(instruction, callee, name);
}

Status BranchParser::parse_call_targets(Instruction& instruction) {
  KM_ASSIGN(Token name, tokens_.take_identifier("a prototype or a list of functions"));
  const auto entity = context_.find(name.text);
  Operand targets;
  if (entity && entity->kind == Entity::Kind::module_symbol) {  // a jump table in memory
    targets.kind = Operand::Kind::symbol;
    targets.symbol = entity->id;
  } else if (entity && entity->kind == Entity::Kind::prototype) {
    targets.kind = Operand::Kind::prototype;
    targets.label = entity->id;
  } else {
    return add_reference(instruction, Operand::Kind::target_list, name);
  }
  return operands_.add(instruction, targets, name);
}

}  // namespace km::ptx
