// The function whose body is being parsed, with its names.
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

/// Owns the names of a function's body, and adds to the function's tables.
class FunctionContext {
 public:
  /// `index` is that of the function in `module`; no other function may be added meanwhile.
  FunctionContext(const TokenStream& tokens, ModuleBuilder& module, uint32_t index);

  FunctionContext(const FunctionContext&) = delete;
  FunctionContext& operator=(const FunctionContext&) = delete;

  /// The module that contains the function.
  const Module& module() const { return module_.module(); }

  /// The function as far as it has been parsed.
  Function& function() { return function_; }
  const Function& function() const { return function_; }

  /// The names of the body, and the uses that precede their declaration.
  FunctionScopes& scopes() { return scopes_; }
  ForwardReferences& references() { return references_; }

  /// Declares a name for an entity in the innermost scope; `what` describes a name that is taken in
  /// the error.
  Status declare(const Token& name, const Entity& entity, std::string_view what);

  /// Declares the label of entity `id`, a label, target list or prototype.
  Status declare_label(const Token& name, Entity::Kind kind, uint32_t id);

  /// The entity that a name refers to here, in the body or the module; nothing if it is undefined.
  std::optional<Entity> find(std::string_view name);

  /// The error for an undefined name.
  Error undefined(const Token& name) const;

  /// The index of the instruction that will be added next.
  uint32_t next_instruction() const { return static_cast<uint32_t>(function_.code.size()); }

  /// A new register, which no name in the text refers to.
  Operand temporary(Type type);

  /// The declared type of a register.
  Type register_type(RegisterId id) const { return function_.registers[id].type; }

  /// True if an operand is a register of type .pred.
  bool is_predicate(const Operand& operand) const;

  /// The symbol that an operand of kind symbol or address refers to.
  const Symbol& symbol_of(const Operand& operand) const;

  /// An operand made of other operands, which are copied to the pool; elements() returns them.
  Operand pooled(Operand::Kind kind, const std::vector<Operand>& elements);
  std::vector<Operand> elements(const Operand& operand) const;

  /// Element number `index` of a compound operand.
  Operand& element(const Operand& operand, uint32_t index) {
    return function_.operand_pool[operand.first + index];
  }

  /// Sets the source position of the following instructions; source_line() is its index in the
  /// function's table.
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
