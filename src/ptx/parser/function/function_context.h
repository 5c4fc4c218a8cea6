// FunctionContext: the function whose body is being read, with the meaning of names in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/ir.h"
#include "ptx/parser/function/forward_references.h"
#include "ptx/parser/function/scope.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// FunctionContext owns the names of a function's body and adds to the function's tables.
class FunctionContext {
 public:
  /// `index` is the function's in `module`, which gets no other function meanwhile.
  FunctionContext(const TokenStream& tokens, ModuleBuilder& module, uint32_t index);

  FunctionContext(const FunctionContext&) = delete;
  FunctionContext& operator=(const FunctionContext&) = delete;

  /// module() is the module of the function.
  const Module& module() const { return module_.module(); }

  /// function() is the function as far as it has been read.
  Function& function() { return function_; }
  const Function& function() const { return function_; }

  /// scopes() has the names of the body, references() those that await their declaration.
  FunctionScopes& scopes() { return scopes_; }
  ForwardReferences& references() { return references_; }

  /// declare() gives a name to an entity of the innermost scope; `what` is the error's word for a
  /// name that is taken.
  Status declare(const Token& name, const Entity& entity, std::string_view what);

  /// declare_label() gives a name to number `id` of the entities of a kind that labels stand
  /// before.
  Status declare_label(const Token& name, Entity::Kind kind, uint32_t id);

  /// find() is the entity that a name means here: one of the body or a symbol of the module.
  std::optional<Entity> find(std::string_view name);

  /// undefined() is the error that a name means nothing.
  Error undefined(const Token& name) const;

  /// next_instruction() is the index of the instruction that will be added next.
  uint32_t next_instruction() const { return static_cast<uint32_t>(function_.code.size()); }

  /// temporary() is a fresh register that no name reaches.
  Operand temporary(Type type);

  /// register_type() is the type of a register.
  Type register_type(RegisterId id) const { return function_.registers[id].type; }

  /// is_predicate() tells if an operand is a register of type .pred.
  bool is_predicate(const Operand& operand) const;

  /// symbol_of() is the symbol that an operand of kind symbol or address names.
  const Symbol& symbol_of(const Operand& operand) const;

  /// pooled() is an operand that consists of others, elements() are those.
  Operand pooled(Operand::Kind kind, const std::vector<Operand>& elements);
  std::vector<Operand> elements(const Operand& operand) const;

  /// element() is number `index` of the operands that `operand` consists of.
  Operand& element(const Operand& operand, uint32_t index) {
    return function_.operand_pool[operand.first + index];
  }

  /// add_source_line() makes a place in the source that of the instructions to come, source_line()
  /// is its index in the function's table.
  void add_source_line(const SourceLine& line);
  uint32_t source_line() const { return source_line_; }

 private:
  const TokenStream& tokens_;
  ModuleBuilder& module_;
  Function& function_;
  FunctionScopes scopes_;
  ForwardReferences references_;
  uint32_t source_line_ = kNone;
};

}  // namespace km::ptx
