#include "ptx/parser/function/forward_references.h"

#include <string>

namespace km::ptx {

void ForwardReferences::add(Use use, const Token& name, uint32_t index, uint32_t element) {
  references_.push_back({use, name, index, element});
}

void ForwardReferences::open_scope() {
  scopes_.open();
  starts_.push_back(references_.size());
}

Status ForwardReferences::close_scope() {
  size_t start = starts_.back();
  starts_.pop_back();
  bool outermost = starts_.empty();
  size_t kept = start;
  for (size_t i = start; i < references_.size(); ++i) {
    const Entity* entity = scopes_.find_innermost(references_[i].token.text);
    if (entity) {
      KM_TRY(resolve(references_[i], *entity));
    } else if (outermost) {
      return tokens_.error_at(references_[i].token,
                              "undefined label " + quote(references_[i].token.text));
    } else {
      references_[kept++] = references_[i];
    }
  }
  references_.resize(kept);
  scopes_.close();
  return {};
}

Status ForwardReferences::resolve(const Reference& reference, const Entity& entity) {
  const auto error = [&](const char* problem) {
    return tokens_.error_at(reference.token, quote(reference.token.text) + problem);
  };
  if (reference.use != Use::call_target_list && entity.kind != Entity::Kind::label) {
    return error(" is not a label");
  }
  if (reference.use == Use::table) {
    function_.target_lists[reference.index].labels[reference.element] = entity.id;
    return {};
  }
  Instruction& instruction = function_.code[reference.index];
  Operand& operand = instruction.operands[reference.element];
  operand.label = entity.id;
  if (reference.use == Use::branch) return {};
  const bool list = entity.kind == Entity::Kind::target_list;
  const bool prototype = entity.kind == Entity::Kind::prototype;
  const bool indexed = instruction.opcode == Opcode::brx;
  if (!list && (!prototype || indexed)) {
    return error(indexed ? " is not a list of branch targets"
                         : " is not a prototype or a list of functions");
  }
  operand.kind = list ? Operand::Kind::target_list : Operand::Kind::prototype;
  return {};
}

}  // namespace km::ptx
