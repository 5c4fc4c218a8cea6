// ForwardReferences: labels and their like that a body uses before it declares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/function/scope.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// ForwardReferences keeps each use of a name until the scope closes that declares the name.
class ForwardReferences {
 public:
  /// Use tells what holds the name: a branch, a list of targets, or a branch or call by a list.
  enum class Use : uint8_t { branch, table, call_target_list };

  /// The names are those of `scopes`, and the uses are in `function`.
  ForwardReferences(const TokenStream& tokens, Function& function, FunctionScopes& scopes)
      : tokens_(tokens), function_(function), scopes_(scopes) {}

  /// add() notes that `name` is used by an instruction's operand, or by an element of a list.
  void add(Use use, const Token& name, uint32_t index, uint32_t element);

  /// open_scope() begins a scope of names.
  void open_scope();

  /// close_scope() ends it: names that it has declared get their meaning; the others wait for the
  /// outer one.
  Status close_scope();

 private:
  /// Reference is one use; `index` is an instruction's or a list's, `element` an operand of the
  /// former or an element of the latter.
  struct Reference {
    Use use = Use::branch;
    Token token;
    uint32_t index = 0;
    uint32_t element = 0;
  };

  /// resolve() stores the meaning of a name where it is used.
  Status resolve(const Reference& reference, const Entity& entity);

  const TokenStream& tokens_;
  Function& function_;
  FunctionScopes& scopes_;
  std::vector<Reference> references_;
  std::vector<size_t> starts_;  // of each open scope, in references_
};

}  // namespace km::ptx
