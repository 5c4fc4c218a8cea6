#include "ptx/parser/function/function_context.h"

#include <string>

#include "ptx/checks/verifier.h"
#include "ptx/names.h"

namespace km::ptx {

FunctionContext::FunctionContext(const TokenStream& tokens, ModuleBuilder& module, uint32_t index)
    : tokens_(tokens),
      module_(module),
      function_(module.module().functions[index]),
      scopes_(function_, module.names()),
      references_(tokens, function_, scopes_) {}

Status FunctionContext::declare(const Token& name, const Entity& entity, std::string_view what) {
  if (scopes_.declare(name.text, entity)) return {};
  return tokens_.error_at(name, "duplicate " + std::string(what) + " " + quote(name.text));
}

Status FunctionContext::declare_label(const Token& name, Entity::Kind kind, uint32_t id) {
  Entity entity;
  entity.kind = kind;
  entity.id = id;
  return declare(name, entity, "label");
}

std::optional<Entity> FunctionContext::find(std::string_view name) {
  if (auto entity = scopes_.find(name)) return entity;
  const auto known = module_.find(name);
  if (!known) return std::nullopt;
  Entity entity;
  entity.kind = Entity::Kind::module_symbol;
  entity.id = *known;
  return entity;
}

Error FunctionContext::undefined(const Token& name) const {
  if (!name.text.starts_with('%')) {
    return tokens_.error_at(name, "undefined name " + quote(name.text));
  }
  constexpr size_t kTooShortToGuess = 5;  // short names such as %r7 are similar to too many others
  bool guess = name.text.size() >= kTooShortToGuess;
  return tokens_.error_at(name, "undefined register " + quote(name.text) +
                                    (guess ? suggest_special_register(name.text.substr(1)) : ""));
}

Operand FunctionContext::temporary(Type type) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = scopes_.add_register("%part", type);
  return operand;
}

bool FunctionContext::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg && register_type(operand.reg) == Type::pred;
}

const Symbol& FunctionContext::symbol_of(const Operand& operand) const {
  return km::ptx::symbol_of(module_.module(), function_, operand);
}

Operand FunctionContext::pooled(Operand::Kind kind, const std::vector<Operand>& elements) {
  std::vector<Operand>& pool = function_.operand_pool;
  Operand operand;
  operand.kind = kind;
  operand.first = static_cast<uint32_t>(pool.size());
  operand.count = static_cast<uint32_t>(elements.size());
  pool.insert(pool.end(), elements.begin(), elements.end());
  return operand;
}

std::vector<Operand> FunctionContext::elements(const Operand& operand) const {
  const auto first = function_.operand_pool.begin() + operand.first;
  return {first, first + operand.count};
}

void FunctionContext::add_source_line(const SourceLine& line) {
  source_line_ = static_cast<uint32_t>(function_.source_lines.size());
  function_.source_lines.push_back(line);
}

}  // namespace km::ptx
