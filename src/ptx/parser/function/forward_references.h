// Uses of labels, target lists and prototypes before their declaration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/function/scope.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Keeps each use of a name until the scope that declares the name is closed.
class ForwardReferences {
 public:
  /// The kind of the use: in a branch, in a list of targets, or a branch or call by a list.
  enum class Use : uint8_t { branch, table, call_target_list };

  /// Names are looked up in `scopes`; the uses are in `function`.
  ForwardReferences(const TokenStream& tokens, Function& function, FunctionScopes& scopes)
      : tokens_(tokens), function_(function), scopes_(scopes) {}

  /// Records that operand or list element `element` of item `index` uses `name`.
  void add(Use use, const Token& name, uint32_t index, uint32_t element);

  /// Opens a scope of names.
  void open_scope();

  /// Closes the innermost scope: uses of names that it declares are resolved, all others move to
  /// the outer scope.
  Status close_scope();

 private:
  /// One use; `index` is that of an instruction or a list, `element` that of an operand or list
  /// element.
  struct Reference {
    Use use = Use::branch;
    Token token;
    uint32_t index = 0;
    uint32_t element = 0;
  };

  /// Stores the entity where the name is used.
  Status resolve(const Reference& reference, const Entity& entity);

  const TokenStream& tokens_;
  Function& function_;
  FunctionScopes& scopes_;
  std::vector<Reference> references_;
  std::vector<size_t> starts_;  // first reference of each open scope, in references_
};

}  // namespace km::ptx
